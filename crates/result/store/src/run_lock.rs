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
    const MOST: u64 = 32;
    let text = String::from_utf8(kernel::file::read_regular(path, MOST).ok()??).ok()?;
    text.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_that_a_user_holds_is_read_to_its_first_line_at_most() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = Store::open(&folder.path().join("runs.db")).expect("a store");
        let run = RunId("20261127-200000-0001".to_owned());
        let held = FileLock::try_lock(&beside(&store.path, &run)).expect("a file").expect("nobody has it");
        let by = || match store.lock_run(&run) {
            Err(StoreError::UnderWay { by, .. }) => by,
            other => panic!("{other:?}"),
        };
        writeln!(held.file(), "4711").expect("it takes a line");
        assert_eq!(by(), Some(4711));
        held.file().set_len(1 << 40).expect("a file without blocks");
        assert_eq!(by(), None);
    }
}
