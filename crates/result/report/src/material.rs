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
}

impl<'a> Material<'a> {
    /// A run and what its limits say, nothing beside them.
    pub fn of(run: &'a Run, outcomes: &'a [LimitOutcome]) -> Self {
        Self { run, outcomes, comparisons: None }
    }
}
