//! One program at a time on a run.

use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
    process,
};

use kernel::lock::FileLock;
use model::RunId;

use crate::{Store, StoreError};

/// A run that this program alone works on. Ends with this value, and with the program however that ends.
#[derive(Debug)]
pub struct RunLock {
    path: PathBuf,
    /// Locked as long as it is open. Its text is the owner's process ID.
    _lock: FileLock,
}

impl Store {
    /// Takes the run for this program; the error names the one that has it. To be called before the program changes its user: the
    /// file is one of the user's, beside the store.
    pub fn lock_run(&self, run: &RunId) -> Result<RunLock, StoreError> {
        let path = beside(&self.path, run);
        let Some(lock) = FileLock::try_lock(&path)? else {
            return Err(StoreError::UnderWay { run: run.clone(), by: process_in(&path) });
        };
        let written = lock.file().set_len(0).and_then(|()| writeln!(lock.file(), "{}", process::id()));
        written.map_err(|source| StoreError::RunLock { path: path.clone(), source })?;
        Ok(RunLock { path, _lock: lock })
    }
}

impl Drop for RunLock {
    fn drop(&mut self) {
        // Before the lock is released. A remaining file belongs to no process.
        let _ = fs::remove_file(&self.path);
    }
}

fn beside(store: &Path, run: &RunId) -> PathBuf {
    let mut name = store.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{run}.lock"));
    store.with_file_name(name)
}

/// It may have the file, and not have written into it yet.
fn process_in(path: &Path) -> Option<u32> {
    fs::read_to_string(path).ok()?.trim().parse().ok()
}
