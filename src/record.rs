//! Keeps each trial as it ends, and shows progress.

use model::{Run, RunId, Trial, plan::Step};
use run::Observer;
use store::{Store, StoreError};

use crate::progress::Progress;

/// Listens to a run.
pub(crate) struct Record<'a> {
    store: &'a mut Store,
    progress: &'a mut Progress,
    /// The first thing that could not be stored. The run goes on: its report is then the only copy.
    failed: Option<StoreError>,
}

impl<'a> Record<'a> {
    pub(crate) fn new(store: &'a mut Store, progress: &'a mut Progress) -> Self {
        Self { store, progress, failed: None }
    }

    /// What could not be stored, if anything.
    pub(crate) fn into_failure(self) -> Option<StoreError> {
        self.failed
    }

    fn keep(&mut self, write: impl FnOnce(&mut Store) -> Result<(), StoreError>) {
        if self.failed.is_none() {
            self.failed = write(self.store).err();
        }
    }
}

impl Observer for Record<'_> {
    fn began(&mut self, run: &Run) {
        self.keep(|store| store.begin(run));
    }

    fn step(&mut self, step: &Step, number: usize, steps: usize) {
        self.progress.step(&step.spec, number, steps);
    }

    fn progress(&mut self, fraction: f64) {
        self.progress.fraction(fraction);
    }

    fn trial(&mut self, run: &RunId, trial: &Trial) {
        self.keep(|store| store.add_trial(run, trial));
    }

    fn ended(&mut self, run: &Run) {
        self.keep(|store| store.finish(run));
    }
}
