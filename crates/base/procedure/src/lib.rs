//! Decides what is measured next, from the plan and the trials so far. Pure.
//!
//! Each section of a plan is measured by a [`Procedure`]. A [`Course`] goes through all of them, once for each repeat. A run that
//! is resumed replays its stored trials into a course, which then asks for the rest.
//!
//! A new procedure is a module beside `steps`, `ladder`, `searching` and `rfc2544`, a [`model::plan::Method`], and a line in [`Course::of`].

mod course;
mod ladder;
mod left_out;
pub mod rfc2544;
pub mod search;
mod searching;
mod steps;
#[cfg(test)]
mod tests;

use std::{fmt::Debug, ops::Range};

use model::{ProbeSpec, Trial};

pub use course::{Course, Remaining, planned, steps};
pub use left_out::{lacks_address, left_out, needs_agent, proof};
pub use searching::{ExpectedTrials, foreseen};

/// One way of going through a section of a plan.
pub trait Procedure: Debug {
    /// The next item to measure, from what came of all that was asked for before in this repeat.
    fn next(&self, past: &[PastTrial]) -> Next;

    /// Items that will still be asked for if all goes as planned; of a search, an estimate.
    fn expected(&self, past: &[PastTrial]) -> Vec<Configuration>;
}

/// Probe of a trial, and its ends.
#[derive(Clone, Debug, PartialEq)]
pub struct Configuration {
    /// The probe.
    pub spec: ProbeSpec,
    /// The bed's senders that are in it (see [`model::Bed::senders`]).
    pub senders: Range<usize>,
}

/// A trial that was asked for, and its outcome.
#[derive(Clone, Debug, PartialEq)]
pub struct PastTrial {
    /// The requested item.
    pub configuration: Configuration,
    /// The whole trial; `None` where it failed.
    pub trial: Option<Box<Trial>>,
}

/// The answer of a procedure.
#[derive(Clone, Debug, PartialEq)]
pub enum Next {
    /// Measure this.
    Measure(Configuration, Reason),
    /// This repeat of the section is done.
    End(Reason),
}

/// The reason of a procedure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The next one of a list.
    Listed,
    /// The next load of a ladder, or the first one.
    Rung,
    /// The next load of a search.
    Searched,
    /// The next trial of a test of RFC 2544.
    Tested,
    /// All that was planned has been asked for.
    AllAsked,
}
