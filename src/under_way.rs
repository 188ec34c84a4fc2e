//! One program at a time on a run.

use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
    process,
};

use anyhow::{Context, bail};
use kernel::lock::FileLock;
use model::RunId;

/// A run that this program alone works on. Ends with this value, and with the program however that ends.
pub(crate) struct UnderWay {
    path: PathBuf,
    /// Locked as long as it is open. It says which process has it.
    _lock: FileLock,
}

impl UnderWay {
    /// Takes the run for this program, or says which one has it. To be called before this program changes who it is: the file
    /// is one of the user's, beside the store.
    pub(crate) fn take(store: &Path, run: &RunId) -> anyhow::Result<Self> {
        let path = beside(store, run);
        let Some(lock) = FileLock::try_lock(&path)? else {
            bail!("run {run} is under way{}; interrupt it first, or wait for its end", process_in(&path));
        };
        let written = lock.file().set_len(0).and_then(|()| writeln!(lock.file(), "{}", process::id()));
        written.with_context(|| format!("cannot write {}", path.display()))?;
        Ok(Self { path, _lock: lock })
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        // While the lock is still held. A file that stays is nobody's.
        let _ = fs::remove_file(&self.path);
    }
}

fn beside(store: &Path, run: &RunId) -> PathBuf {
    let mut name = store.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{run}.lock"));
    store.with_file_name(name)
}

/// It may have the file, and not have written into it yet.
fn process_in(path: &Path) -> String {
    let number = fs::read_to_string(path).ok().and_then(|text| text.trim().parse::<u32>().ok());
    number.map_or_else(String::new, |number| format!(" (pid {number})"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_for_one_program_until_that_ends() {
        let folder = tempfile::tempdir().unwrap();
        let store = folder.path().join("runs.db");
        let (run, other) = (RunId("r1".into()), RunId("r2".into()));
        let first = UnderWay::take(&store, &run).unwrap();
        let error = UnderWay::take(&store, &run).err().unwrap().to_string();
        assert!(error.starts_with(&format!("run r1 is under way (pid {})", process::id())), "{error}");
        assert!(UnderWay::take(&store, &other).is_ok());
        drop(first);
        assert!(UnderWay::take(&store, &run).is_ok());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "nothing is left");
    }

    #[test]
    fn what_a_killed_program_left_is_nobodys() {
        let folder = tempfile::tempdir().unwrap();
        let store = folder.path().join("runs.db");
        fs::write(folder.path().join("runs.db.r1.lock"), "4000000000\n").unwrap();
        assert!(UnderWay::take(&store, &RunId("r1".into())).is_ok());
    }
}
