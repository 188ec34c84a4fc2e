//! A store as the archive of runs in progress.

use model::{Run, RunId, Trial};
use run::Archive;

use crate::{Store, StoreError};

impl Archive for Store {
    type Error = StoreError;

    fn begin(&mut self, run: &Run) -> Result<(), StoreError> {
        Self::begin(self, run)
    }

    fn resume(&mut self, run: &Run) -> Result<(), StoreError> {
        Self::resume(self, run)
    }

    fn keep_trial(&mut self, run: &RunId, trial: &Trial) -> Result<(), StoreError> {
        Self::keep_trial(self, run, trial)
    }

    fn finish(&mut self, run: &Run) -> Result<(), StoreError> {
        Self::finish(self, run)
    }

    fn forget(&mut self, run: &RunId) -> Result<(), StoreError> {
        Self::forget(self, run)
    }
}
