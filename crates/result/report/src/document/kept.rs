//! References, baselines and checked reports as JSON.

use model::{Reference, RunId};
use schemars::JsonSchema;
use serde::Serialize;

use crate::shape::{document, schema};

document! {
    /// JSON document of `references`.
    ReferencesDocument of (references: &[Reference], left_out: Vec<LeftOut>) {
        /// Name and version of this shape.
        schema: ReferencesSchemaName = ReferencesSchemaName::V1,
        /// Usable references: first those of the program, then the user's own.
        references: Vec<Reference> = references.to_vec(),
        /// The user's files that cannot be used.
        left_out: Vec<LeftOut> = left_out,
    }
}

schema!("wireproof-references/1": ReferencesSchemaName, references_schema of ReferencesDocument);

/// A file that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LeftOut {
    /// The file.
    pub file: String,
    /// The error, its place and its remedy.
    pub error: String,
}

document! {
    /// JSON document of `import`.
    ImportDocument of (reference: &Reference, file: String) {
        /// Name and version of this shape.
        schema: ImportSchemaName = ImportSchemaName::V1,
        /// The file that keeps it.
        file: String = file,
        /// The reference.
        reference: Reference = reference.clone(),
    }
}

schema!("wireproof-import/1": ImportSchemaName, import_schema of ImportDocument);

document! {
    /// JSON document of `baseline show` and `baseline set`.
    BaselinesDocument of (baselines: Vec<BaselineEntry>) {
        /// Name and version of this shape.
        schema: BaselinesSchemaName = BaselinesSchemaName::V1,
        /// The baselines; of `baseline set`, the new one.
        baselines: Vec<BaselineEntry> = baselines,
    }
}

schema!("wireproof-baseline/1": BaselinesSchemaName, baselines_schema of BaselinesDocument);

/// The run that later runs of a plan on a bed are compared with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct BaselineEntry {
    /// Name of the bed.
    pub bed: String,
    /// Name of the plan.
    pub plan: String,
    /// Name of the baseline; empty without one.
    pub name: String,
    /// The run.
    pub run: RunId,
    /// When that began (RFC 3339).
    pub started: String,
}

document! {
    /// JSON document of `report --check`.
    CheckDocument of (findings: Vec<String>, trusted_comment: Option<String>) {
        /// Name and version of this shape.
        schema: CheckSchemaName = CheckSchemaName::V1,
        /// Whether every file is as it was listed, or signed.
        in_order: bool = findings.is_empty(),
        /// Whether the signature is that of the given key.
        signed_by_key: bool = trusted_comment.is_some(),
        /// Comment of the signer in the signature; null without one of the given key.
        trusted_comment: Option<String> = trusted_comment,
        /// Faults, a file each, in words.
        findings: Vec<String> = findings,
    }
}

schema!("wireproof-check/1": CheckSchemaName, check_schema of CheckDocument);
