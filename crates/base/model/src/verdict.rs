//! Verdicts as values.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    figure::Interval,
    plan::{Bound, Limit},
    reference::Against,
};

/// What a limit says of a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub enum Verdict {
    /// The whole interval is on the right side.
    #[serde(rename = "PASS")]
    Pass,
    /// There was nothing to judge.
    #[serde(rename = "NOT RUN")]
    NotRun,
    /// The interval straddles the limit, or there are too few trials for one.
    #[serde(rename = "INCONCLUSIVE")]
    Inconclusive,
    /// The whole interval is on the wrong side.
    #[serde(rename = "FAIL")]
    Fail,
}

/// One limit applied to one configuration's trials.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LimitOutcome {
    /// The limit.
    pub limit: Limit,
    /// The configuration in words, like `latency UDP IPv4 spin 64 B`.
    pub probe: String,
    /// What it was judged by, in the metric's base unit; null where a reference has no figure to judge by.
    pub bound: Option<Bound>,
    /// For a limit from a reference: how it stands to this configuration.
    pub against: Option<Against>,
    /// Trials that have the figure.
    pub trials: u32,
    /// Median over these trials, in the metric's base unit (nanoseconds or bit/s).
    pub median: Option<f64>,
    /// Interval of that median, where there are enough trials.
    pub interval: Option<Interval>,
    /// What follows.
    pub verdict: Verdict,
}

impl LimitOutcome {
    /// Separates the configuration from the sender in [`probe`](Self::probe), where a bed has several senders.
    pub const FROM: &'static str = " from ";
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Pass => "PASS",
            Self::NotRun => "NOT RUN",
            Self::Inconclusive => "INCONCLUSIVE",
            Self::Fail => "FAIL",
        })
    }
}
