//! Keeps each trial as it ends, so that nothing measured can be lost.

use model::{Run, RunId, Trial};

use crate::{ending::Ending, observer::Archive};

/// The record of one run. What could not be kept is tried again with each later trial.
pub(crate) struct Record<'a, A: Archive> {
    archive: &'a mut A,
    /// The run as it began, until that is kept.
    begun: Option<Run>,
    unsaved: Vec<Trial>,
    /// Why something is not kept yet.
    failed: Option<A::Error>,
}

impl<'a, A: Archive> Record<'a, A> {
    /// Begins the record of this run.
    pub(crate) fn begin(archive: &'a mut A, run: &Run) -> Self {
        let mut record = Self { archive, begun: Some(run.clone()), unsaved: Vec::new(), failed: None };
        record.keep(&run.id, |_| Ok(()));
        record
    }

    /// Keeps what there is of a trial in progress. It is not tried again: a later one takes its place.
    pub(crate) fn unfinished(&mut self, run: &RunId, trial: &Trial) {
        self.keep(run, |archive| archive.keep_trial(run, trial));
    }

    /// Keeps a trial that is finished, or cut off.
    pub(crate) fn trial(&mut self, run: &RunId, trial: &Trial) {
        self.unsaved.push(trial.clone());
        self.keep(run, |_| Ok(()));
    }

    /// Keeps the end of the run. The error says why the run is not kept, or not all of it.
    pub(crate) fn end(mut self, run: &Run, ending: &Ending) -> Result<(), A::Error> {
        self.keep(&run.id, |archive| match ending.left_nothing(run) {
            true => archive.forget(&run.id),
            false => archive.finish(run),
        });
        self.failed.map_or(Ok(()), Err)
    }

    /// Stores everything that is not stored yet, then does this.
    fn keep(&mut self, run: &RunId, last: impl FnOnce(&mut A) -> Result<(), A::Error>) {
        self.failed = self.save_all(run).and_then(|()| last(self.archive)).err();
    }

    fn save_all(&mut self, run: &RunId) -> Result<(), A::Error> {
        if let Some(begun) = &self.begun {
            match begun.resumed.is_empty() {
                true => self.archive.begin(begun)?,
                false => self.archive.resume(begun)?,
            }
            self.begun = None;
        }
        while let Some(trial) = self.unsaved.first() {
            self.archive.keep_trial(run, trial)?;
            self.unsaved.remove(0);
        }
        Ok(())
    }
}
