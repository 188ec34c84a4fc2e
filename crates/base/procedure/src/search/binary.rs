//! Binary search (RFC 9971, section 2.1): the mean of the bounds is the next load, for one goal and with full-length trials alone.

use model::search::{AssessedGoal, Classification, Goal, TrialResult};

use super::{Outcome, Search, SearchError, TrialInput, assess::assess, bounds::Bounds, error::check};

/// Trials at one load that the sender may miss before the search ends.
const MOST_UNREACHED: u32 = 3;

/// The search for one goal between two loads.
#[derive(Debug)]
pub struct BinarySearch {
    goal: Goal,
    min: u64,
    max: u64,
    trials: Vec<TrialResult>,
    unreached: u32,
}

impl BinarySearch {
    /// A search for this goal between these loads.
    ///
    /// # Errors
    /// The goal cannot be searched for between these loads.
    pub fn new(goal: Goal, min: u64, max: u64) -> Result<Self, SearchError> {
        let goals = [goal];
        check(&goals, min, max)?;
        let [goal] = goals;
        Ok(Self { goal, min, max, trials: Vec::new(), unreached: 0 })
    }

    /// The load to measure, which may have trials already; `None` at the end.
    fn load(&self) -> Option<u64> {
        let loads = self.assessed().loads;
        if let Some(undecided) = loads.iter().find(|it| it.classification == Classification::Undecided) {
            return Some(undecided.load as u64);
        }
        let bounds = Bounds::among(loads.iter().map(|it| (it.load, it.classification)));
        match (bounds.lower, bounds.upper) {
            _ if bounds.meet(&self.goal) => None,
            (Some(lower), Some(upper)) => Some(f64::midpoint(lower, upper).round() as u64),
            // The highest load first; the lowest one if that is an upper bound.
            (None, None) => Some(self.max),
            (Some(_), None) => None,
            (None, Some(upper)) => Some(self.min).filter(|min| (*min as f64) < upper),
        }
    }

    fn assessed(&self) -> AssessedGoal {
        assess(&self.goal, &self.trials)
    }
}

impl Search for BinarySearch {
    fn ask(&mut self) -> Option<TrialInput> {
        let load = self.load().filter(|_| self.unreached < MOST_UNREACHED)?;
        Some(TrialInput { load, duration: self.goal.final_trial_duration })
    }

    fn take(&mut self, outcome: Outcome) {
        let Some(TrialInput { load, duration }) = self.ask() else { return };
        match outcome {
            Outcome::Loss(loss_ratio) => {
                let duration_s = duration.as_secs_f64();
                self.trials.push(TrialResult { load: load as f64, duration_s, effective_s: duration_s, loss_ratio });
                self.unreached = 0;
            }
            Outcome::Unreached { .. } => self.unreached += 1,
        }
    }

    fn results(&self) -> Vec<AssessedGoal> {
        vec![self.assessed()]
    }
}
