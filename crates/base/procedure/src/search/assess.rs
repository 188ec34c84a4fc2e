//! Assessment of a goal by trials: a classification of each load, and a result (RFC 9971, section 4.8).

use model::search::{AssessedGoal, ClassifiedLoad, Goal, GoalResult, Irregular, TrialResult};

use super::{
    bounds::Bounds,
    classify::{Sums, conditional_throughput},
};

/// Assesses a goal by trials in any order.
pub fn assess(goal: &Goal, trials: &[TrialResult]) -> AssessedGoal {
    let mut sorted = trials.to_vec();
    sorted.sort_by(|one, other| one.load.total_cmp(&other.load));
    let by_load: Vec<&[TrialResult]> = sorted.chunk_by(|one, other| one.load == other.load).collect();
    let loads: Vec<_> = by_load.iter().filter_map(|trials| classified(goal, trials)).collect();
    let bounds = Bounds::among(loads.iter().map(|it| (it.load, it.classification)));
    let at_lower = by_load.iter().find(|trials| trials.first().map(|trial| trial.load) == bounds.lower);
    let result = GoalResult {
        irregular: irregular(&bounds, goal),
        relevant_lower_bound: bounds.lower,
        relevant_upper_bound: bounds.upper,
        conditional_throughput: at_lower.and_then(|trials| conditional_throughput(goal, trials)),
        width: bounds.width(),
    };
    AssessedGoal { configuration: None, goal: goal.clone(), loads, result }
}

fn classified(goal: &Goal, trials: &[TrialResult]) -> Option<ClassifiedLoad> {
    let assessed = Sums::of(goal, trials).assessed(goal);
    Some(ClassifiedLoad {
        load: trials.first()?.load,
        classification: assessed.classification,
        trials: trials.len(),
        optimistic_exceed_ratio: assessed.optimistic_exceed_ratio,
        pessimistic_exceed_ratio: assessed.pessimistic_exceed_ratio,
    })
}

fn irregular(bounds: &Bounds, goal: &Goal) -> Option<Irregular> {
    match (bounds.lower, bounds.upper) {
        (Some(_), Some(_)) if bounds.meet(goal) => None,
        (Some(_), Some(_)) => Some(Irregular::TooWide),
        (Some(_), None) => Some(Irregular::NoUpperBound),
        (None, Some(_)) => Some(Irregular::NoLowerBound),
        (None, None) => Some(Irregular::NoBounds),
    }
}
