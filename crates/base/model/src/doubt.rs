//! Whatever makes a figure less trustworthy, as data. The advice in words lives in the report.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One reason to trust a figure less.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Doubt {
    /// Both ends ran on one core and took turns.
    SharedCore {
        /// The core.
        cpu: usize,
    },
    /// An end could not be pinned to its core.
    NotPinned {
        /// The endpoint.
        endpoint: String,
    },
    /// The hypervisor took time away from the cores of the two ends during the trial.
    Steal {
        /// Of the worse core's time, in percent.
        percent: f64,
    },
    /// Replies are missing, so mean and maximum are unknown.
    RepliesMissing {
        /// Never came.
        lost: u64,
        /// Came after the timeout.
        late: u64,
    },
    /// Sender and receiver disagree on how much crossed.
    CountersDisagree {
        /// Bytes the sender counted.
        sent: u64,
        /// Bytes the receiver counted.
        received: u64,
    },
    /// A core of the two ends was busy while wireproof measured nothing, before or after the trials.
    OtherLoad {
        /// The core.
        cpu: usize,
        /// Of its time, in percent.
        percent: f64,
    },
    /// The sender's data ended before the receiver's counted time was over, so its end was counted as silence.
    DataEndedEarly,
    /// Fewer trials than an interval needs.
    FewTrials {
        /// Trials there are.
        trials: u32,
        /// Trials an interval needs.
        needed: u32,
    },
    /// Ran in a user namespace, without root.
    Unprivileged,
    /// The machine changed during the run.
    EnvironmentChanged {
        /// What differs, like `eth0 mtu: 1500, then 9000`.
        what: String,
    },
    /// The run was interrupted before all trials were done.
    Interrupted,
    /// The run could not go on.
    Failed {
        /// What went wrong, in English.
        what: String,
    },
}
