//! Follows a trial while it is under way, so that nothing of a long one is lost.

use model::{Run, Side, Trial, plan::Step};

use crate::{
    conduct::Observer,
    measure::Watch,
    trial::{Heading, unfinished},
};

/// How many whole seconds may pass before they are kept.
const KEEP_EVERY: usize = 5;

/// Follows a trial, and has its whole seconds kept as they pass.
pub(crate) struct Follower<'a> {
    run: &'a Run,
    step: &'a Step,
    pub(crate) heading: Heading,
    observer: &'a mut dyn Observer,
    /// As the near and the far side received them, in bit/s.
    seconds: [Vec<f64>; 2],
    told: usize,
}

impl<'a> Follower<'a> {
    pub(crate) fn new(run: &'a Run, step: &'a Step, heading: Heading, observer: &'a mut dyn Observer) -> Self {
        Self { run, step, heading, observer, seconds: Default::default(), told: 0 }
    }

    pub(crate) fn so_far(&self) -> Option<Trial> {
        unfinished(&self.heading, self.step, &self.run.bed, &self.seconds)
    }
}

impl Watch for Follower<'_> {
    fn progress(&mut self, fraction: f64) {
        self.observer.progress(fraction);
    }

    fn seconds(&mut self, side: Side, bps: &[f64]) {
        let [near, far] = &mut self.seconds;
        match side {
            Side::Near => near.extend(bps),
            Side::Far => far.extend(bps),
        }
        let passed = near.len().max(far.len());
        if passed < self.told + KEEP_EVERY {
            return;
        }
        if let Some(trial) = self.so_far() {
            self.told = passed;
            self.observer.unfinished(&self.run.id, &trial);
        }
    }
}
