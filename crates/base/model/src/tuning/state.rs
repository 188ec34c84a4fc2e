//! A tuning that stands, and what became of it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{PlannedChange, Setting, TuningPlan};
use crate::{change::OwnFile, units::Nanos};

/// A plan to carry out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TuningOrder {
    /// The plan.
    pub plan: TuningPlan,
    /// Files that make it again at the next boot.
    #[serde(default)]
    pub files: Vec<OwnFile>,
    /// Time after which all is undone unless it is confirmed; `None` keeps it at once.
    pub confirm_within: Option<Nanos>,
}

crate::json!(TuningOrder);

/// A tuning as the ledger keeps it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Tuning {
    /// Name of the goal or the profile.
    pub profile: String,
    /// Interfaces that are tuned.
    pub interfaces: Vec<String>,
    /// The changes.
    pub changes: Vec<PlannedChange>,
    /// State that each change gave, as the ledger writes states; a driver may round values.
    pub made: Vec<Value>,
}

/// A tuning that stands.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TuningState {
    /// Name of the goal or the profile.
    pub profile: String,
    /// Interfaces that are tuned.
    pub interfaces: Vec<String>,
    /// Progress.
    pub progress: Progress,
    /// The changes.
    pub changes: Vec<AppliedChange>,
    /// Files that make it again at the next boot.
    pub files: Vec<String>,
}

crate::json!(TuningState);

/// Progress of a tuning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "progress", rename_all = "kebab-case")]
pub enum Progress {
    /// It is kept until it is undone.
    Kept,
    /// It is undone unless it is confirmed.
    Waiting {
        /// Seconds that are left.
        seconds: u64,
    },
}

/// A change that stands.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AppliedChange {
    /// The setting.
    pub setting: Setting,
    /// The interface, where the setting is one's.
    pub interface: Option<String>,
    /// The value before.
    pub before: String,
    /// The value that was set.
    pub wanted: String,
    /// The reason: a key of the report's texts, or the reason itself.
    pub why: String,
    /// The change, in words.
    pub change: String,
    /// The present state, where somebody else has changed it since.
    pub changed_to: Option<String>,
}

/// A change that somebody else changed again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Deviation {
    /// The change, in words.
    pub change: String,
    /// The present state.
    pub now: String,
}

/// Outcome of undoing a tuning.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Undone {
    /// Changes that were undone, in words.
    pub undone: Vec<String>,
    /// Changes that somebody else changed again; they stand, and so does their record.
    pub left: Vec<Deviation>,
}

crate::json!(Undone);
