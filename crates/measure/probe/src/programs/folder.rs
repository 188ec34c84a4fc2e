//! A folder for a program: files that we write and it reads, and room for its own.
//!
//! It belongs to this process's user. Where that is root, the group of such programs may read it. Its lock shows others that it is in use: the
//! folder of an agent that was killed goes with the next one.

use std::{
    fs::{self, File, Metadata, OpenOptions, Permissions},
    io::{self, Read},
    os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt, chown, fchown},
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};

use rustix::{fs::OFlags, process::geteuid};
use tempfile::TempDir;

use super::{NOBODY, clean, is_root};

/// Bytes of a program's own words that are read.
const LONGEST_WORDS: u64 = 2048;

/// A younger folder may be in the making.
const OLD: Duration = Duration::from_secs(60);

/// A folder of a name with this beginning. Its lock shows others that it is in use.
pub(crate) struct Folder {
    folder: TempDir,
    _lock: File,
}

/// Opens a folder under its own name, and no link.
pub(crate) fn open_folder(path: &Path) -> io::Result<File> {
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW;
    OpenOptions::new().read(true).custom_flags(flags.bits().cast_signed()).open(path)
}

impl Folder {
    /// Makes one within a folder for temporary files, and removes those of agents that were killed.
    pub(crate) fn make(within: &Path, prefix: &str) -> io::Result<Self> {
        remove_abandoned(within, prefix);
        let folder = tempfile::Builder::new().prefix(prefix).tempdir_in(within)?;
        let lock = File::create(folder.path().join("lock"))?;
        lock.lock()?;
        share(folder.path(), 0o710)?;
        Ok(Self { folder, _lock: lock })
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// A folder in it that belongs to the program.
    pub(crate) fn make_room(&self, name: impl AsRef<Path>) -> io::Result<PathBuf> {
        let room = self.path().join(name);
        fs::create_dir(&room)?;
        // The folder around it may be nobody's, who could have put a link in its place.
        let made = open_folder(&room)?;
        made.set_permissions(Permissions::from_mode(0o700))?;
        if is_root() {
            fchown(&made, Some(NOBODY), Some(NOBODY))?;
        }
        Ok(room)
    }

    /// File for a program's messages. It gets the open file, and cannot open it.
    pub(crate) fn log(&self) -> io::Result<Stdio> {
        let file = OpenOptions::new().append(true).create(true).mode(0o600).open(self.path().join("log"));
        Ok(file?.into())
    }

    /// Words of the program, without signs that a terminal would obey.
    pub(crate) fn words(&self) -> String {
        let mut words = Vec::new();
        let read = File::open(self.path().join("log")).and_then(|log| log.take(LONGEST_WORDS).read_to_end(&mut words));
        match read {
            Ok(0) | Err(_) => "it said nothing".to_owned(),
            Ok(_) => clean(&String::from_utf8_lossy(&words)),
        }
    }
}

/// Sets permissions, and where this process is root, gives the program's group those of a group.
pub(crate) fn share(path: &Path, mode: u32) -> io::Result<()> {
    if is_root() {
        chown(path, None, Some(NOBODY))?;
    }
    fs::set_permissions(path, Permissions::from_mode(mode))
}

/// Removes folders of agents that were killed. Failures are the next one's matter.
fn remove_abandoned(within: &Path, prefix: &str) {
    for entry in fs::read_dir(within).into_iter().flatten().flatten() {
        let is_named = entry.file_name().to_str().is_some_and(|name| name.starts_with(prefix));
        if is_named && is_abandoned(&entry.path()) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// Whether it is this user's folder, and old, and nobody holds its lock.
fn is_abandoned(folder: &Path) -> bool {
    let is_ours = |known: &Metadata| known.is_dir() && known.uid() == geteuid().as_raw();
    let is_old = |known: &Metadata| known.modified().is_ok_and(|time| time.elapsed().is_ok_and(|age| age > OLD));
    let known = fs::symlink_metadata(folder);
    known.is_ok_and(|known| is_ours(&known) && is_old(&known))
        && File::open(folder.join("lock")).is_ok_and(|lock| lock.try_lock().is_ok())
}

#[cfg(test)]
mod tests {
    use std::{env, time::SystemTime};

    use super::*;

    #[test]
    fn the_folder_of_an_agent_that_was_killed_goes_with_the_next_one() {
        let make = || Folder::make(&env::temp_dir(), "wireproof-test-").expect("room for it");
        let grow_old = |folder: &Path| {
            let time = SystemTime::now() - 2 * OLD;
            File::open(folder).and_then(|folder| folder.set_modified(time)).expect("ours");
        };
        let used = make();
        let Folder { folder, _lock: lock } = make();
        drop(lock);
        let abandoned = folder.keep();
        grow_old(used.path());
        drop(make());
        assert!(abandoned.exists() && used.path().exists(), "one is young, the other is in use");
        grow_old(&abandoned);
        drop(make());
        assert!(!abandoned.exists() && used.path().exists());
    }
}
