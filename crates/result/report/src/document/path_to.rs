//! The path to a host as JSON.

use model::{PathConclusion, PathTo};
use schemars::JsonSchema;
use serde::Serialize;

use crate::shape::{document, schema};

document! {
    /// JSON document of `path DEST`.
    PathToDocument of (asked: &str, paths: Vec<(PathTo, PathConclusion)>) {
        /// Name and version of this shape.
        schema: PathToSchemaName = PathToSchemaName::V1,
        /// The host, as it was asked for.
        destination: String = asked.to_owned(),
        /// The path to each of its addresses that was searched: one for each IP version.
        paths: Vec<PathToEntry> = paths.into_iter().map(|(path, conclusion)| PathToEntry { path, conclusion }).collect(),
    }
}

/// A path and the conclusions from it.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct PathToEntry {
    /// The path.
    #[serde(flatten)]
    pub path: PathTo,
    /// Its cause and remedies.
    #[serde(flatten)]
    pub conclusion: PathConclusion,
}

schema!("wireproof-path/1": PathToSchemaName, path_to_schema of PathToDocument);
