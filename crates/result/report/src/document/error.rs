//! A failure as JSON.

use schemars::JsonSchema;
use serde::Serialize;

use crate::shape::{document, schema};

document! {
    /// JSON document of a command that fails and has printed no other document.
    ErrorDocument of (failure: FailureEntry, more: Vec<FailureEntry>, exit_status: u8) {
        /// Name and version of this shape.
        schema: ErrorSchemaName = ErrorSchemaName::V1,
        /// The exit status of the program.
        exit_status: u8 = exit_status,
        /// The failure, the first of several.
        #[serde(flatten)]
        failure: FailureEntry = failure,
        /// Failures after the first one, for example while changes were undone.
        more: Vec<FailureEntry> = more,
    }
}

schema!("wireproof-error/1": ErrorSchemaName, error_schema of ErrorDocument);

/// One failure.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FailureEntry {
    /// Kind of failure.
    pub kind: FailureCategory,
    /// The attempt, its object and the failure, as standard error has it; the advice is part of it.
    pub message: String,
    /// Advice; null where the message names no remedy of its own.
    pub advice: Option<String>,
}

/// Kinds of failures of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FailureCategory {
    /// The command line, or a file that it names, is wrong.
    Usage,
    /// The user lacks a right.
    Privilege,
    /// The store, or a run in it, cannot be used.
    Store,
    /// A bed could not be made, used or taken down.
    Bed,
    /// Another host cannot be reached or used.
    Host,
    /// A measurement could not be made.
    Measurement,
    /// A file could not be read or written.
    File,
    /// The kernel refused a call.
    Kernel,
    /// It was interrupted before there was anything to report.
    Interrupted,
    /// A fault in wireproof.
    Bug,
    /// Another failure.
    Other,
}
