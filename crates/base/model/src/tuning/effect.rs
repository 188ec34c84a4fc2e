//! Effect of a tuning on the figures of a plan: measured before it, while it stood, and after its undoing.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Deviation, PlannedChange, Setting, TuningPlan};
use crate::{
    comparison::{ComparedRun, RunComparison},
    inspection::{Finding, Goal},
};

/// Effect of a tuning. All measurements are compared with the first one.
#[derive(Clone, Debug, PartialEq)]
pub struct TuningEffect {
    /// The plan of the tuning.
    pub plan: TuningPlan,
    /// The measurement before any change.
    pub first: ComparedRun,
    /// The measurements of tuned states; that of all steps is the last. None where there is nothing to change.
    pub states: Vec<TunedState>,
    /// The measurement after the undoing, where there is one; its differences are drift.
    pub undone: Option<RunComparison>,
    /// The steps, in the order in which they are made.
    pub steps: Vec<StepEffect>,
    /// Figures of all tuned states, compared at once.
    pub compared: usize,
    /// Confidence of the interval of each of these.
    pub confidence: f64,
    /// Inspection of the machine before and with all steps.
    pub inspected: TuningInspection,
    /// Changes that somebody else changed again; they stand.
    pub left: Vec<Deviation>,
}

/// Findings of an inspection that cost the goal.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TuningInspection {
    /// The goal.
    pub goal: Goal,
    /// Findings before any change, the worst first.
    pub before: Vec<Finding>,
    /// Findings that all steps mended.
    pub mended: Vec<Finding>,
}

/// A measurement while changes stood.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TunedState {
    /// The step that was made alone; null where all steps were made.
    pub step: Option<Setting>,
    /// Comparison with the first measurement. A figure is better or worse only beyond the drift.
    pub comparison: RunComparison,
}

/// A step: the changes of one setting.
#[derive(Clone, Debug, PartialEq)]
pub struct StepEffect {
    /// The setting.
    pub setting: Setting,
    /// Its changes.
    pub changes: Vec<PlannedChange>,
    /// Outcome.
    pub outcome: StepOutcome,
}

/// Outcome of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum StepOutcome {
    /// Figures changed with this step alone.
    Mattered,
    /// Figures changed with all steps; which of these did it is not known.
    CouldHaveMattered,
    /// Whether a figure changed is not decided.
    Undecided,
    /// No change of a figure is shown.
    Nothing,
    /// Nothing that the plan measures depends on it.
    Unrelated,
}

impl TuningPlan {
    /// Settings with their changes, in the order in which they are made.
    pub fn steps(&self) -> Vec<(Setting, Vec<PlannedChange>)> {
        let mut steps: Vec<(Setting, Vec<PlannedChange>)> = Vec::new();
        for change in &self.changes {
            match steps.iter_mut().find(|(setting, _)| *setting == change.setting) {
                Some((_, changes)) => changes.push(change.clone()),
                None => steps.push((change.setting.clone(), vec![change.clone()])),
            }
        }
        steps
    }

    /// The plan of one step alone.
    pub fn only(&self, step: &Setting) -> Self {
        let changes = self.changes.iter().filter(|change| change.setting == *step).cloned().collect();
        Self { changes, ..self.clone() }
    }
}
