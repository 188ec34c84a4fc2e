//! Verdicts as values.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    choice::choice,
    figure::Interval,
    network::IpVersion,
    plan::{Bound, Limit},
    reference::{Against, NotComparable},
};

choice!(
    /// Result of a limit for a figure.
    Verdict, "a verdict", {
        /// The whole interval is on the right side.
        Pass = "PASS",
        /// It was measured, and the figure to compare it with is of something else.
        NotComparable = "NOT COMPARABLE",
        /// There was nothing to judge.
        NotRun = "NOT RUN",
        /// The interval straddles the limit, or there are too few trials for one.
        Inconclusive = "INCONCLUSIVE",
        /// The whole interval is on the wrong side.
        Fail = "FAIL",
    }
);

/// One limit applied to one configuration's trials.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LimitOutcome {
    /// The limit.
    pub limit: Limit,
    /// The configuration in words, like `latency UDP IPv4 spin 64 B`.
    pub probe: String,
    /// Bound in the metric's base unit; null if the reference has no such figure.
    pub bound: Option<Bound>,
    /// For a limit from a reference: how it stands to this configuration.
    pub against: Option<Against>,
    /// Trials that have the figure.
    pub trials: u32,
    /// Median over these trials, in the metric's base unit (nanoseconds or bit/s).
    pub median: Option<f64>,
    /// Interval of that median, where there are enough trials.
    pub interval: Option<Interval>,
    /// Verdict.
    pub verdict: Verdict,
    /// Why it is neither PASS nor FAIL; null for these.
    #[serde(default)]
    pub undecided: Option<Undecided>,
    /// Share of the intended load that the sender reached in the trial in which it reached least; absent where it reached it in all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load_reached: Option<f64>,
}

/// Why a criterion is neither met nor missed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Undecided {
    /// The reference that gives the bound says nothing of such a figure.
    NotComparable {
        /// Name of the reference.
        reference: String,
        /// Why.
        because: NotComparable,
    },
    /// The run has no such configuration.
    NotPlanned,
    /// No trial of the configuration has the figure.
    NotMeasured,
    /// The samples of its trials are too small for the percentile.
    FewSamples,
    /// Packets of its MTU do not pass.
    MtuDisproved {
        /// The MTU.
        mtu: u32,
        /// The IP version.
        ip: IpVersion,
    },
    /// An end has no address of its IP version.
    NoAddress {
        /// The IP version.
        ip: IpVersion,
    },
    /// Too few trials for an interval.
    FewTrials {
        /// Trials there are.
        trials: u32,
        /// Trials that an interval needs.
        needed: u32,
    },
    /// The uncertainty interval straddles the bound.
    Straddles,
    /// An item for a person, which nobody checked.
    NotChecked,
    /// A person checked the item and left it open.
    LeftOpen,
}

impl LimitOutcome {
    /// Separates the configuration from the sender in [`probe`](Self::probe), where a bed has several senders.
    pub const FROM: &'static str = " from ";
}
