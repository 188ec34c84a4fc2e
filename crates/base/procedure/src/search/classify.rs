//! Classification of a load by its trials (RFC 9971, sections 6.1 and 6.2, appendices A and B).

use model::search::{Classification, Goal, TrialResult};

/// Rounding of sums of floating-point numbers, as a share of the sum.
const ROUNDING: f64 = 1e-12;

/// Trials at one load, summed for one goal. Times in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Sums {
    full_low_loss: f64,
    full_high_loss: f64,
    short_low_loss: f64,
    short_high_loss: f64,
}

impl Sums {
    pub(super) fn of(goal: &Goal, trials: &[TrialResult]) -> Self {
        let mut sums = Self::default();
        for trial in trials {
            let sum = match (is_full_length(goal, trial), trial.loss_ratio > goal.loss_ratio.0) {
                (true, false) => &mut sums.full_low_loss,
                (true, true) => &mut sums.full_high_loss,
                (false, false) => &mut sums.short_low_loss,
                (false, true) => &mut sums.short_high_loss,
            };
            *sum += trial.effective_s;
        }
        sums
    }

    pub(super) fn assessed(&self, goal: &Goal) -> Assessed {
        let exceed_ratio = goal.exceed_ratio.0;
        let balancing = self.short_low_loss * (exceed_ratio / (1.0 - exceed_ratio));
        let high_loss = self.full_high_loss + (self.short_high_loss - balancing).max(0.0);
        let whole = (self.full_low_loss + high_loss).max(goal.duration_sum.as_secs_f64());
        let pessimistic_high_loss = whole - self.full_low_loss;
        let tolerated = whole * exceed_ratio;
        let classification = match (high_loss <= tolerated, pessimistic_high_loss <= tolerated) {
            (true, true) => Classification::Lower,
            (false, false) => Classification::Upper,
            _ => Classification::Undecided,
        };
        Assessed {
            classification,
            optimistic_exceed_ratio: high_loss / whole,
            pessimistic_exceed_ratio: pessimistic_high_loss / whole,
        }
    }
}

/// Classification of a load, and the two ratios behind it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Assessed {
    pub(super) classification: Classification,
    pub(super) optimistic_exceed_ratio: f64,
    pub(super) pessimistic_exceed_ratio: f64,
}

/// Classification of a load by all trials at it.
pub fn classify(goal: &Goal, trials: &[TrialResult]) -> Classification {
    Sums::of(goal, trials).assessed(goal).classification
}

/// Forwarding rate to expect at a load by all trials at it; `None` without a full-length trial.
///
/// It is that of the full-length trial with the largest loss among those that the exceed ratio does not leave out. Time that is
/// missing up to the duration sum counts as lost.
pub fn conditional_throughput(goal: &Goal, trials: &[TrialResult]) -> Option<f64> {
    let mut full: Vec<_> = trials.iter().filter(|trial| is_full_length(goal, trial)).collect();
    full.sort_by(|one, other| one.loss_ratio.total_cmp(&other.loss_ratio));
    let load = full.first()?.load;
    let sums = Sums::of(goal, trials);
    let whole = goal.duration_sum.as_secs_f64().max(sums.full_low_loss + sums.full_high_loss);
    let mut remaining = whole * (1.0 - goal.exceed_ratio.0);
    for trial in full {
        remaining -= trial.effective_s;
        if remaining <= whole * ROUNDING {
            return Some(load * (1.0 - trial.loss_ratio));
        }
    }
    Some(0.0)
}

fn is_full_length(goal: &Goal, trial: &TrialResult) -> bool {
    trial.duration_s >= goal.final_trial_duration.as_secs_f64()
}
