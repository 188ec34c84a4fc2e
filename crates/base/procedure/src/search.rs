//! Searches for the highest load that meets a goal: several goals at once by RFC 9971 (MLRsearch), or one by halving.
//!
//! A search asks for a trial, gets its outcome, and asks for the next one. What it finds follows from the trials alone, by the
//! classification of RFC 9971, which [`assess()`] also draws from recorded trials.

mod assess;
mod binary;
mod bounds;
mod classify;
mod error;
mod grid;
mod mlr;
#[cfg(test)]
mod simulated;
mod stages;
#[cfg(test)]
mod tests;

use model::{
    Nanos,
    search::{AssessedGoal, PlannedSearch, SearchMethod},
};

pub use assess::assess;
pub use binary::BinarySearch;
pub use classify::{classify, conditional_throughput};
pub use error::SearchError;
pub use mlr::MlrSearch;

/// Trial that a search asks for (RFC 9971: Trial Input).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TrialInput {
    /// Intended load, in whole units.
    pub load: u64,
    /// Intended duration.
    pub duration: Nanos,
}

/// Outcome of a trial.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Outcome {
    /// Share of the expected frames that did not arrive.
    Loss(f64),
    /// The sender did not reach the load, but this one: the trial says nothing about the device.
    Unreached {
        /// Load that was offered; 0 where there is no trial at all.
        offered: u64,
    },
}

/// A search from the side of the program that measures.
pub trait Search {
    /// The next trial; the same one until its outcome is known. `None` at the end.
    fn ask(&mut self) -> Option<TrialInput>;

    /// Takes the outcome of the trial that was asked for.
    fn take(&mut self, outcome: Outcome);

    /// Assessment of each goal by the trials so far.
    fn results(&self) -> Vec<AssessedGoal>;
}

/// A search that has no trial yet; `None` where none can be made, which the check of a plan refuses.
pub(crate) fn begin(planned: PlannedSearch) -> Option<Box<dyn Search>> {
    let PlannedSearch { method, goals, min, max } = planned;
    match method {
        SearchMethod::Mlr => Some(Box::new(MlrSearch::new(goals, min, max).ok()?)),
        SearchMethod::Binary => Some(Box::new(BinarySearch::new(goals.into_iter().next()?, min, max).ok()?)),
    }
}
