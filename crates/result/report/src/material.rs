//! What a report is made of.

use model::{LimitOutcome, ReferenceComparison, Run};

/// Everything a report is made of.
#[derive(Clone, Copy, Debug)]
pub struct Material<'a> {
    /// What was measured.
    pub run: &'a Run,
    /// What its limits say.
    pub outcomes: &'a [LimitOutcome],
    /// How it stands to what others measured; `None` where that is not wanted.
    pub comparisons: Option<&'a [ReferenceComparison]>,
    /// The files that stand beside the report.
    pub files: &'a [RawFile],
}

/// A file beside the report: what it was made from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RawFile {
    /// Its name in the report's folder.
    pub name: String,
    /// Its length.
    pub bytes: usize,
    /// SHA-256 of its content, 64 hexadecimal digits.
    pub sha256: String,
}

impl<'a> Material<'a> {
    /// A run and what its limits say, nothing beside them.
    pub fn of(run: &'a Run, outcomes: &'a [LimitOutcome]) -> Self {
        Self { run, outcomes, comparisons: None, files: &[] }
    }
}
