//! File locks that end with their owner.

use std::{
    fs::{self, File, OpenOptions, TryLockError},
    io,
    os::unix::fs::{MetadataExt, OpenOptionsExt},
    path::Path,
};

use crate::error::{On, Result};

/// A file locked by this process (flock(2)), until this is dropped.
///
/// It also ends when the process dies, once its newly forked children have executed other programs.
#[derive(Debug)]
pub struct FileLock(File);

impl FileLock {
    /// Creates a missing file and locks it; `None` if another process has locked it.
    pub fn try_lock(path: &Path) -> Result<Option<Self>> {
        loop {
            // Somebody else may have laid a link or a FIFO there.
            let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK;
            let mut options = OpenOptions::new();
            options.read(true).append(true).create(true).custom_flags(flags);
            let file = options.open(path).on("open", path.display())?;
            if !file.metadata().on("stat", path.display())?.is_file() {
                return Err(io::Error::from_raw_os_error(libc::EINVAL))
                    .on("lock a file that is no regular one:", path.display());
            }
            match file.try_lock() {
                Err(TryLockError::WouldBlock) => return Ok(None),
                Err(TryLockError::Error(error)) => return Err(error).on("flock", path.display()),
                // Its owner may have removed it between open and lock: then we hold a file without a name.
                Ok(()) if is_at(&file, path).on("stat", path.display())? => return Ok(Some(Self(file))),
                Ok(()) => {}
            }
        }
    }

    /// The file, open for reading and appending.
    pub fn file(&self) -> &File {
        &self.0
    }
}

impl Drop for FileLock {
    fn drop(&mut self) {
        // A child that another thread has just forked shares the file until it executes a program: without unlocking,
        // it would stay locked. A failure is ignored; the file is closed next.
        let _ = self.0.unlock();
    }
}

fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    let opened = file.metadata()?;
    match fs::symlink_metadata(path) {
        Ok(there) => Ok((there.dev(), there.ino()) == (opened.dev(), opened.ino())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neither_a_link_nor_a_fifo_is_locked() {
        let name = |name: &str| std::env::temp_dir().join(format!("wireproof-lock-{}-{name}", std::process::id()));
        let (target, link, fifo) = (name("target"), name("link"), name("fifo"));
        fs::write(&target, "kept").expect("writable");
        std::os::unix::fs::symlink(&target, &link).expect("a link");
        assert!(std::process::Command::new("mkfifo").arg(&fifo).status().expect("coreutils").success());
        assert!(FileLock::try_lock(&link).is_err() && FileLock::try_lock(&fifo).is_err());
        assert_eq!(fs::read_to_string(&target).expect("readable"), "kept");
        [target, link, fifo].iter().for_each(|path| fs::remove_file(path).expect("ours"));
    }

    #[test]
    fn a_lock_is_held_by_one_until_dropped() {
        let path = std::env::temp_dir().join(format!("wireproof-lock-{}", std::process::id()));
        let lock = FileLock::try_lock(&path).expect("writable").expect("free");
        assert!(FileLock::try_lock(&path).expect("readable").is_none());
        let as_a_child_has_it = lock.file().try_clone().expect("dup");
        drop(lock);
        assert!(FileLock::try_lock(&path).expect("readable").is_some());
        drop(as_a_child_has_it);
        fs::remove_file(&path).expect("ours");
    }
}
