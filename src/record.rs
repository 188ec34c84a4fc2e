//! Keeps each trial as it ends, and shows progress.

use model::{Run, RunId, Trial, plan::Step};
use run::{Ending, Observer};
use store::{Store, StoreError};

use crate::progress::Progress;

/// Listens to a run.
pub(crate) struct Record<'a> {
    store: &'a mut Store,
    progress: &'a mut Progress,
    /// The run as it began, until that is stored.
    begun: Option<Run>,
    /// Trials that are not stored yet: tried again with each later one.
    unsaved: Vec<Trial>,
    /// Why something is not stored yet.
    failed: Option<StoreError>,
}

impl<'a> Record<'a> {
    pub(crate) fn new(store: &'a mut Store, progress: &'a mut Progress) -> Self {
        Self { store, progress, begun: None, unsaved: Vec::new(), failed: None }
    }

    /// Why the run is not stored, or not all of it. Its report is then the only copy.
    pub(crate) fn into_failure(self) -> Option<StoreError> {
        self.failed
    }

    /// Stores what is not stored yet, and then does this.
    fn keep(&mut self, run: &RunId, last: impl FnOnce(&mut Store) -> Result<(), StoreError>) {
        self.failed = self.save_all(run).and_then(|()| last(self.store)).err();
    }

    fn save_all(&mut self, run: &RunId) -> Result<(), StoreError> {
        if let Some(begun) = &self.begun {
            if begun.resumed.is_empty() {
                self.store.begin(begun)?
            } else {
                self.store.resume(begun)?
            };
            self.begun = None;
        }
        while let Some(trial) = self.unsaved.first() {
            self.store.keep_trial(run, trial)?;
            self.unsaved.remove(0);
        }
        Ok(())
    }
}

impl Observer for Record<'_> {
    fn began(&mut self, run: &Run) {
        self.begun = Some(run.clone());
        self.keep(&run.id, |_| Ok(()));
    }

    fn step(&mut self, step: &Step, number: usize, steps: usize) {
        self.progress.step(&step.spec, number, steps);
    }

    fn progress(&mut self, fraction: f64) {
        self.progress.fraction(fraction);
    }

    /// Kept at once or not at all: a later one takes its place.
    fn unfinished(&mut self, run: &RunId, trial: &Trial) {
        self.keep(run, |store| store.keep_trial(run, trial));
    }

    fn trial(&mut self, run: &RunId, trial: &Trial) {
        self.unsaved.push(trial.clone());
        self.keep(run, |_| Ok(()));
    }

    fn ended(&mut self, run: &Run, ending: &Ending) {
        self.keep(&run.id, |store| if ending.left_nothing(run) { store.forget(&run.id) } else { store.finish(run) });
    }
}
