//! Binary search (RFC 9971, section 2.1): the mean of the bounds is the next load, for one goal and with full-length trials alone.

use model::search::{AssessedGoal, Classification, Goal, TrialResult};

use super::{Outcome, Search, SearchError, TrialInput, assess::assess, bounds::Bounds, error::check};

/// Trials at one load that the sender may miss before the load is given up.
const MOST_UNREACHED: u32 = 3;

/// Highest loads that may be given up: a sender that slows down all the time would be searched for ever.
const MOST_GIVEN_UP: u32 = 5;

/// The search for one goal between two loads.
#[derive(Debug)]
pub struct BinarySearch {
    goal: Goal,
    min: u64,
    /// Highest load that the sender is still asked for.
    max: u64,
    trials: Vec<TrialResult>,
    /// Trials in a row that the sender missed.
    unreached: u32,
    /// The most that it offered in them.
    offered: u64,
    /// Highest loads that were given up.
    given_up: u32,
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
        Ok(Self { goal, min, max, trials: Vec::new(), unreached: 0, offered: 0, given_up: 0 })
    }

    /// The load to measure, which may have trials already; `None` at the end.
    fn load(&self) -> Option<u64> {
        let loads = self.assessed().loads;
        let is_open = |load: f64, it: Classification| it == Classification::Undecided && load <= self.max as f64;
        if let Some(undecided) = loads.iter().find(|it| is_open(it.load, it.classification)) {
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

    /// Takes that the sender missed this load. What it offered takes the place of a highest load that it does not reach.
    fn missed(&mut self, load: u64, offered: u64) {
        (self.unreached, self.offered) = (self.unreached + 1, self.offered.max(offered));
        let max = self.offered.min(load.saturating_sub(1));
        let is_given_up = self.unreached == MOST_UNREACHED && load == self.max;
        if is_given_up && max >= self.min && self.given_up < MOST_GIVEN_UP {
            (self.max, self.unreached, self.offered) = (max, 0, 0);
            self.given_up += 1;
        }
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
                (self.unreached, self.offered) = (0, 0);
            }
            Outcome::Unreached { offered } => self.missed(load, offered),
        }
    }

    fn results(&self) -> Vec<AssessedGoal> {
        vec![self.assessed()]
    }
}

#[cfg(test)]
mod tests {
    use model::{Nanos, search::Irregular};

    use super::*;

    /// Result with this sender: the bounds' fault, the lower bound and the number of trials.
    fn found(answer: impl Fn(u64) -> Outcome) -> (Option<Irregular>, Option<f64>, u32) {
        let mut search = BinarySearch::new(Goal::throughput(Nanos::from_secs(1)), 10_000, 1_000_000).unwrap();
        let mut count = 0;
        while let Some(TrialInput { load, .. }) = search.ask() {
            search.take(answer(load));
            count += 1;
            assert!(count < 200, "it does not end");
        }
        let result = search.results().remove(0).result;
        (result.irregular, result.relevant_lower_bound, count)
    }

    #[test]
    fn a_sender_that_is_too_slow_is_searched_up_to_what_it_reaches() {
        let slow = |load: u64, loss: f64| match load {
            ..=300_000 => Outcome::Loss(loss),
            _ => Outcome::Unreached { offered: 300_000 },
        };
        assert_eq!(found(|load| slow(load, 0.0)), (Some(Irregular::NoUpperBound), Some(300_000.0), 4));
        let (irregular, lower, _) = found(|load| slow(load, if load > 100_000 { 0.1 } else { 0.0 }));
        assert!(irregular.is_none() && lower.is_some_and(|lower| (99e3..=100e3).contains(&lower)), "{lower:?}");
    }

    #[test]
    fn a_sender_that_never_reaches_its_load_ends_the_search() {
        assert_eq!(found(|_| Outcome::Unreached { offered: 0 }), (Some(Irregular::NoBounds), None, 3));
        assert_eq!(found(|_| Outcome::Unreached { offered: 9_999 }), (Some(Irregular::NoBounds), None, 3));
        let slower = |load: u64| Outcome::Unreached { offered: load - 1 };
        assert_eq!(found(slower), (Some(Irregular::NoBounds), None, 18));
    }
}
