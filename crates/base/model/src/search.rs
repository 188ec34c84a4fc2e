//! Searches for the highest load that meets a goal, in the terms of RFC 9971 (MLRsearch).
//!
//! A load is a number: in one unit, and for one interface or for all of them together, throughout a search.

mod goal;
mod planned;
mod ratio;
mod recorded;

use schemars::JsonSchema;
use serde::Serialize;

pub use goal::{Goal, GoalError, check_goals, parse_goals};
pub use planned::{PlannedSearch, SearchMethod, least_load};
pub use ratio::{Ratio, RatioError};
pub use recorded::{TrialsError, parse_trials};

use crate::{choice::choice, probe::ProbeSpec};

/// A trial, as far as a search assesses it (RFC 9971: Trial Result).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TrialResult {
    /// Intended load.
    pub load: f64,
    /// Intended duration, in seconds.
    pub duration_s: f64,
    /// Time that it counts in sums, in seconds (RFC 9971: Trial Effective Duration).
    pub effective_s: f64,
    /// Share of the expected frames that did not arrive.
    pub loss_ratio: f64,
}

/// A trial of a probe that has a load.
#[derive(Clone, Debug, PartialEq)]
pub struct LoadedTrial {
    /// Common part with trials at other loads, in words.
    pub configuration: String,
    /// The trial.
    pub trial: TrialResult,
}

choice!(
    /// Relation of a load to a goal (RFC 9971: Load Classification).
    Classification, "a classification", {
        /// The trials at the load uphold the goal, whatever further ones bring within the duration sum.
        Lower = "lower",
        /// They fail it, whatever further ones bring.
        Upper = "upper",
        /// Further trials decide.
        Undecided = "undecided",
    }
);

choice!(
    /// Reason for which a goal has no regular result.
    Irregular, "a reason for an irregular result", {
        /// No load is an upper bound: the highest load, or a higher one, may still uphold the goal.
        NoUpperBound = "no_upper_bound",
        /// No load below the relevant upper bound is a lower bound.
        NoLowerBound = "no_lower_bound",
        /// Neither bound exists.
        NoBounds = "no_bounds",
        /// The bounds are further apart than the width of the goal.
        TooWide = "too_wide",
    }
);

/// A load with its classification for one goal.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ClassifiedLoad {
    /// The load.
    pub load: f64,
    /// Relation to the goal.
    pub classification: Classification,
    /// Number of trials at this load.
    pub trials: usize,
    /// Share of the time with too much loss, if all trials that are missing have little loss.
    pub optimistic_exceed_ratio: f64,
    /// The same, if all trials that are missing have too much loss.
    pub pessimistic_exceed_ratio: f64,
}

/// Result of a search for one goal. A regular one has both bounds, not further apart than the goal's width.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct GoalResult {
    /// Reason for which the result is not regular; null for a regular one.
    pub irregular: Option<Irregular>,
    /// Largest lower bound below the relevant upper bound; without any upper bound the largest lower bound, which is then no
    /// relevant one in the sense of RFC 9971. Null if there is none.
    pub relevant_lower_bound: Option<f64>,
    /// Smallest upper bound; null if there is none.
    pub relevant_upper_bound: Option<f64>,
    /// Conditional throughput at that lower bound.
    pub conditional_throughput: Option<f64>,
    /// Difference of the bounds as a share of the upper one; null unless there are both.
    pub width: Option<f64>,
}

/// A search of a plan: one configuration in one repeat, with its course and what it found.
#[derive(Clone, Debug, PartialEq)]
pub struct AssessedSearch {
    /// The section of the plan, like `packets.1`.
    pub procedure: String,
    /// The probe without load and duration.
    pub spec: ProbeSpec,
    /// Names of the sending and the receiving end, where senders took turns.
    pub way: Option<(String, String)>,
    /// In which repeat of the plan, from 1.
    pub repeat: u32,
    /// The way of searching.
    pub method: SearchMethod,
    /// Trials in the order in which they were asked for.
    pub trials: Vec<SearchedTrial>,
    /// Each goal with its result.
    pub goals: Vec<AssessedGoal>,
    /// Result of each goal without the device between the ends; empty where that was not measured.
    pub tester: Vec<GoalResult>,
}

/// A trial of a search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SearchedTrial {
    /// Number within the run.
    pub number: u32,
    /// Load and loss.
    pub trial: TrialResult,
    /// Whether its sender reached the load; otherwise it says nothing, and no goal counts it.
    pub is_valid: bool,
}

impl AssessedSearch {
    /// Whether the tester alone reaches the loads that bound a goal's result, so that these are the device's; `None` where it was not
    /// measured. `goal` is its place.
    pub fn is_vouched(&self, goal: usize) -> Option<bool> {
        let tester = self.tester.get(goal)?;
        let result = &self.goals.get(goal)?.result;
        let highest = result.relevant_upper_bound.or(result.relevant_lower_bound);
        Some(highest.is_none_or(|highest| tester.relevant_lower_bound.is_some_and(|vouched| highest <= vouched)))
    }
}

impl SearchedTrial {
    /// Whether it lost more than a goal allows; `None` where no goal counts it.
    pub fn exceeds(&self, goal: &Goal) -> Option<bool> {
        self.is_valid.then_some(self.trial.loss_ratio > goal.loss_ratio.0)
    }
}

/// A goal, what the trials at each load say of it, and its result.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct AssessedGoal {
    /// Configuration of the trials, in words; null where they come from a file.
    pub configuration: Option<String>,
    /// The goal.
    pub goal: Goal,
    /// Each load of which there is a trial, in ascending order.
    pub loads: Vec<ClassifiedLoad>,
    /// Result.
    pub result: GoalResult,
}
