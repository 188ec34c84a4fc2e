//! Stages of a goal: from few short trials to those that the goal asks for.

use model::{Nanos, search::Goal};

/// Most times that a stage lasts longer at each load than the one before.
const GROWTH: f64 = 8.0;

/// Goals of which each asks for longer sums, and for longer trials up to the final ones. The last is the goal itself.
pub(super) fn stages(goal: &Goal) -> Vec<Goal> {
    let last = goal.final_trial_duration.as_secs_f64();
    let first = goal.initial_trial_duration.map_or(last, Nanos::as_secs_f64);
    let growth = (goal.duration_sum.as_secs_f64() / first).max(1.0);
    let steps = (growth.ln() / GROWTH.ln()).ceil();
    let coarse = |step: u32| {
        let sum = seconds(first * growth.powf(f64::from(step) / steps));
        Goal { final_trial_duration: sum.min(goal.final_trial_duration), duration_sum: sum, ..goal.clone() }
    };
    (0..steps as u32).map(coarse).chain([goal.clone()]).collect()
}

/// In whole milliseconds, which every sender of packets can keep to.
fn seconds(seconds: f64) -> Nanos {
    Nanos::from_millis((seconds * 1e3).round() as u64)
}
