//! The search for several goals at once.
//!
//! Each goal goes through [`stages()`]: short trials come close to its bounds, and longer ones confirm them. All trials count for all
//! goals, and all goals end a stage before any begins the next, so that no long trial is made where short ones still tell more.
//!
//! A load that loses tells roughly how much the device forwards, so the next one lies just below that. Near a bound that was
//! just found, steps begin with the width of the goal and double. Between bounds of which neither tells more, the middle is taken, in
//! logarithms, because the width is relative.

use std::collections::BTreeMap;

use model::search::{AssessedGoal, Classification, Goal, TrialResult};

use super::{
    Outcome, Search, SearchError, TrialInput, assess::assess, bounds::Bounds, classify::classify, error::check,
    grid::Grid, stages::stages,
};

/// Trials at one load that the sender may miss before the load is given up.
const MOST_UNREACHED: u32 = 3;

/// A device that answers differently each time could be searched for ever.
const MOST_TRIALS: usize = 10_000;

/// Trials by load.
type Trials = BTreeMap<u64, Vec<TrialResult>>;

/// The search for several goals between two loads.
#[derive(Debug)]
pub struct MlrSearch {
    goals: Vec<Progress>,
    min: u64,
    /// Highest load that the sender is still asked for.
    max: u64,
    trials: Trials,
    count: usize,
    /// Their number when all goals were done last.
    confirmed: usize,
    pending: Option<TrialInput>,
    /// Load that the sender missed last, and how often in a row.
    unreached: (u64, u32),
}

impl MlrSearch {
    /// A search for these goals between these loads.
    ///
    /// # Errors
    /// The goals cannot be searched for, or not between these loads.
    pub fn new(goals: Vec<Goal>, min: u64, max: u64) -> Result<Self, SearchError> {
        check(&goals, min, max)?;
        let goals = goals.iter().map(|goal| Progress::of(goal, max)).collect();
        Ok(Self { goals, min, max, trials: Trials::new(), count: 0, confirmed: 0, pending: None, unreached: (0, 0) })
    }

    /// The goal that has come through the fewest stages; `None` once all are done.
    fn in_focus(&self) -> Option<usize> {
        let left = (0..self.goals.len()).filter(|index| !self.goals[*index].is_done());
        left.min_by_key(|index| (self.goals[*index].stage, *index))
    }
}

impl Search for MlrSearch {
    fn ask(&mut self) -> Option<TrialInput> {
        while self.pending.is_none() && self.count < MOST_TRIALS && self.min <= self.max {
            match self.in_focus() {
                Some(index) => self.pending = self.goals[index].ask(&self.trials, self.min, self.max),
                None if self.confirmed == self.count => return None,
                None => {
                    self.confirmed = self.count;
                    self.goals.iter_mut().for_each(|goal| goal.reopen(&self.trials, self.min, self.max));
                }
            }
        }
        self.pending
    }

    fn take(&mut self, outcome: Outcome) {
        let Some(TrialInput { load, duration }) = self.pending.take() else { return };
        self.count += 1;
        match outcome {
            Outcome::Loss(loss_ratio) => {
                let duration_s = duration.as_secs_f64();
                let trial = TrialResult { load: load as f64, duration_s, effective_s: duration_s, loss_ratio };
                self.trials.entry(load).or_default().push(trial);
                self.unreached = (0, 0);
            }
            Outcome::Unreached { offered } => {
                let before = if self.unreached.0 == load { self.unreached.1 } else { 0 };
                self.unreached = (load, before + 1);
                if before + 1 >= MOST_UNREACHED {
                    self.max = offered.min(load - 1);
                    self.unreached = (0, 0);
                }
            }
        }
    }

    fn results(&self) -> Vec<AssessedGoal> {
        let trials: Vec<TrialResult> = self.trials.values().flatten().copied().collect();
        self.goals.iter().map(|goal| assess(goal.goal(), &trials)).collect()
    }
}

/// The way of one goal through its stages.
#[derive(Debug)]
struct Progress {
    grid: Grid,
    /// The last one is the goal.
    stages: Vec<Goal>,
    /// The stage in progress; their number at the end.
    stage: usize,
    /// Bounds of the stage before.
    hints: Bounds,
    /// The load that is being measured.
    candidate: Option<Candidate>,
    /// Classification of the load that was decided last in this stage.
    newest: Option<Classification>,
    step: Step,
}

/// A load to measure until it is decided, and how it was chosen.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    load: u64,
    origin: Origin,
}

#[derive(Clone, Copy, Debug)]
enum Origin {
    /// An end of the loads, or a bound of the stage before.
    Given,
    /// Above a lower bound, by a step that was doubled so often.
    Above(u32),
    /// Below an upper bound, likewise.
    Below(u32),
    /// Below the load that an upper bound forwarded, after a step was doubled so often.
    Estimate(u32),
    /// Between the bounds.
    Middle,
}

/// Choice of the next candidate between two bounds.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// From the newest one, by the width of the goal, doubled so often.
    Near(u32),
    /// In the middle.
    Middle,
}

impl Progress {
    fn of(goal: &Goal, max: u64) -> Self {
        Self {
            grid: Grid::new(max, goal.width.0),
            stages: stages(goal),
            stage: 0,
            hints: Bounds::default(),
            candidate: None,
            newest: None,
            step: Step::Near(0),
        }
    }

    fn goal(&self) -> &Goal {
        &self.stages[self.stages.len() - 1]
    }

    fn in_progress(&self) -> &Goal {
        &self.stages[self.stage]
    }

    fn is_done(&self) -> bool {
        self.stage == self.stages.len()
    }

    fn begin(&mut self, stage: usize, hints: Bounds) {
        (self.stage, self.hints, self.newest, self.step) = (stage, hints, None, Step::Near(0));
    }

    /// Takes up the last stage again if trials of other goals have moved its bounds apart.
    fn reopen(&mut self, trials: &Trials, min: u64, max: u64) {
        if !self.is_reached(bounds(self.goal(), trials), min, max) {
            self.begin(self.stages.len() - 1, Bounds::default());
        }
    }

    /// The next trial of this stage; `None` at its end, after which the next stage is in progress.
    fn ask(&mut self, trials: &Trials, min: u64, max: u64) -> Option<TrialInput> {
        if let Some(candidate) = self.candidate.filter(|candidate| candidate.load <= max) {
            let known = trials.get(&candidate.load).map_or(&[][..], Vec::as_slice);
            match classify(self.in_progress(), known) {
                Classification::Undecided => return Some(self.trial(candidate.load)),
                decided => self.decided(candidate.origin, decided),
            }
        }
        self.candidate = None;
        let bounds = bounds(self.in_progress(), trials);
        let next = if self.is_reached(bounds, min, max) { None } else { self.choose(bounds, trials, min, max) };
        match next {
            Some(candidate) => {
                self.candidate = Some(candidate);
                Some(self.trial(candidate.load))
            }
            None => {
                self.begin(self.stage + 1, bounds);
                None
            }
        }
    }

    fn trial(&self, load: u64) -> TrialInput {
        TrialInput { load, duration: self.in_progress().final_trial_duration }
    }

    /// Takes the classification of a candidate, and what follows from it for the next one.
    fn decided(&mut self, origin: Origin, classification: Classification) {
        self.newest = Some(classification);
        self.step = match (origin, classification) {
            (Origin::Above(doubled), Classification::Lower) => Step::Near(doubled + 1),
            (Origin::Below(doubled) | Origin::Estimate(doubled), Classification::Upper) => Step::Near(doubled + 1),
            (Origin::Given | Origin::Estimate(_), _) => Step::Near(0),
            (Origin::Above(_) | Origin::Below(_) | Origin::Middle, _) => Step::Middle,
        };
    }

    fn is_reached(&self, bounds: Bounds, min: u64, max: u64) -> bool {
        match (bounds.lower, bounds.upper) {
            (Some(_), Some(_)) => bounds.meet(self.goal()),
            (Some(lower), None) => lower >= max as f64,
            (None, Some(upper)) => upper <= min as f64,
            (None, None) => false,
        }
    }

    fn choose(&self, bounds: Bounds, trials: &Trials, min: u64, max: u64) -> Option<Candidate> {
        let is_between = |load: &f64| {
            let is_open =
                bounds.lower.is_none_or(|lower| *load > lower) && bounds.upper.is_none_or(|upper| *load < upper);
            is_open && *load <= max as f64
        };
        let mut hints = [self.hints.lower, self.hints.upper].into_iter().flatten();
        if let Some(hint) = hints.find(is_between) {
            return Some(Candidate { load: hint as u64, origin: Origin::Given });
        }
        let (load, origin) = match (bounds.lower, bounds.upper) {
            (None, None) => (max as f64, Origin::Given),
            (Some(lower), None) => self.above(lower),
            (None, Some(upper)) => self.below(upper, trials),
            (Some(lower), Some(upper)) => {
                let is_half = self.steps() >= self.grid.distance(upper, lower) / 2.0;
                match self.newest {
                    _ if is_half || matches!(self.step, Step::Middle) => {
                        (self.grid.between(lower, upper), Origin::Middle)
                    }
                    Some(Classification::Lower) => self.above(lower),
                    // Above the lower one, where the upper one forwarded no more than that.
                    _ => Some(self.below(upper, trials)).filter(|(load, _)| *load > lower).unwrap_or(self.above(lower)),
                }
            }
        };
        let low = bounds.lower.map_or(min, |lower| lower as u64 + 1);
        let high = bounds.upper.map_or(max, |upper| max.min(upper as u64 - 1));
        (low <= high).then(|| Candidate { load: (load as u64).clamp(low, high), origin })
    }

    fn doubled(&self) -> u32 {
        if let Step::Near(doubled) = self.step { doubled } else { 0 }
    }

    /// Steps of the grid from the newest bound.
    fn steps(&self) -> f64 {
        2f64.powi(self.doubled() as i32)
    }

    fn above(&self, lower: f64) -> (f64, Origin) {
        (self.grid.above(lower, self.steps()), Origin::Above(self.doubled()))
    }

    /// By steps, or by what was forwarded at the upper bound if that is less.
    fn below(&self, upper: f64, trials: &Trials) -> (f64, Origin) {
        let near = self.grid.below(upper, self.steps());
        let estimate = self.sustained(upper, trials).map(|load| self.grid.at_most(load));
        match estimate.filter(|estimate| *estimate < near) {
            Some(estimate) => (estimate, Origin::Estimate(self.doubled())),
            None => (near, Origin::Below(self.doubled())),
        }
    }

    /// The load of which no more would be lost than the goal allows, if as much was forwarded as at this one. The longest trials
    /// count, and of these the worst that the exceed ratio does not leave out.
    fn sustained(&self, load: f64, trials: &Trials) -> Option<f64> {
        let (goal, trials) = (self.goal(), trials.get(&(load as u64))?);
        let longest = trials.iter().map(|trial| trial.duration_s).max_by(f64::total_cmp)?;
        let losses = trials.iter().filter(|trial| trial.duration_s == longest).map(|trial| trial.loss_ratio);
        let mut losses: Vec<f64> = losses.collect();
        losses.sort_by(f64::total_cmp);
        let counted = (losses.len() as f64 * (1.0 - goal.exceed_ratio.0)).ceil() as usize;
        let loss = losses.get(counted.saturating_sub(1))?;
        Some(load * (1.0 - loss) / (1.0 - goal.loss_ratio.0))
    }
}

/// Bounds of a goal or of a stage.
fn bounds(goal: &Goal, trials: &Trials) -> Bounds {
    Bounds::among(trials.iter().map(|(load, trials)| (*load as f64, classify(goal, trials))))
}
