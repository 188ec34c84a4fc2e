//! A plan of tuning: the changes with their reasons, and what is left as it is.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Setting;
use crate::change::Change;

/// Planned changes with their reasons.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TuningPlan {
    /// Name of the goal or the profile.
    pub profile: String,
    /// Interfaces that are tuned.
    pub interfaces: Vec<String>,
    /// The changes, in the order in which they are made.
    pub changes: Vec<PlannedChange>,
    /// Settings that are as wanted already.
    pub kept: Vec<Kept>,
    /// Values that are not set.
    pub left_out: Vec<LeftOut>,
    /// Parameters of the kernel's command line, which take a reboot.
    pub by_hand: Vec<ByHand>,
    /// Programs on the machine that set the same things by themselves.
    pub rivals: Vec<String>,
    /// Lines of a profile of another program that have no meaning here.
    pub not_understood: Vec<String>,
}

crate::json!(TuningPlan);

/// A change with its reason.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlannedChange {
    /// The setting.
    pub setting: Setting,
    /// The interface, where the setting is one's.
    pub interface: Option<String>,
    /// The value that was read.
    pub before: String,
    /// The value that is wanted.
    pub wanted: String,
    /// The reason: a key of the report's texts, or the reason itself.
    pub why: String,
    /// Document and section that recommends it.
    pub source: String,
    /// Whether it could cut the caller's way to the machine.
    pub can_cut: bool,
    /// The change.
    pub change: Change,
}

/// A setting that is as wanted already.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Kept {
    /// The setting.
    pub setting: Setting,
    /// The interface, where the setting is one's.
    pub interface: Option<String>,
    /// Value.
    pub value: String,
}

/// A value that is not set.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LeftOut {
    /// The setting.
    pub setting: Setting,
    /// The interface, where the setting is one's.
    pub interface: Option<String>,
    /// The reason.
    pub why: WhyLeftOut,
}

/// Reasons for which a value is not set.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "why", rename_all = "kebab-case")]
pub enum WhyLeftOut {
    /// Its condition does not hold.
    Condition,
    /// The machine or the driver does not have it.
    Absent,
    /// It cannot be read.
    Unreadable {
        /// The cause, in the words of the system.
        cause: String,
    },
    /// The driver does not let it be changed.
    Fixed,
    /// The driver takes other values.
    OutOfRange {
        /// The range.
        range: String,
    },
    /// The present state could not be put back.
    Lasting {
        /// The objects.
        objects: String,
    },
    /// The discipline stands above several queues.
    Queues,
    /// The number of queues changes first, and with it the interrupts.
    Renumbered,
    /// The kernel sets other values with it, which an undoing would not put back.
    SetsOthers,
    /// It could cut the caller's way to the machine while it is measured.
    CutsOff,
    /// There is no such governor.
    NoGovernor {
        /// Known ones.
        known: String,
    },
}

/// A parameter of the kernel's command line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ByHand {
    /// The parameter with its value, like `isolcpus=2-3`.
    pub parameter: String,
    /// The reason: a key of the report's texts, or the reason itself.
    pub why: String,
    /// Document and section that recommends it.
    pub source: String,
}
