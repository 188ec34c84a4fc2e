//! A file that goes from disk to disk, and the rate of each disk alone.

use std::{
    fs::{self, File, Metadata},
    io::{self, Read, Write},
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    process::Stdio,
    time::Instant,
};

use kernel::process::tie;
use rustix::fs::{Advice, fadvise, statvfs};

use super::{contents, unable};
use crate::{
    ProbeError,
    programs::{self, is_root},
};

/// Bytes that a disk is measured with at most.
const MEASURED: u64 = 1 << 30;

/// Bytes that are read or written at once.
const CHUNK: usize = 1 << 20;

/// A file at the end that sends it.
pub(super) struct DiskFile {
    path: PathBuf,
    file: File,
    known: State,
}

/// State that changes where somebody writes to a file: its number, size, and times of the last changes.
#[derive(PartialEq, Eq)]
struct State([u64; 2], [i64; 4]);

impl State {
    fn of(known: &Metadata) -> Self {
        Self([known.ino(), known.len()], [known.mtime(), known.mtime_nsec(), known.ctime(), known.ctime_nsec()])
    }
}

impl DiskFile {
    /// Opens it, where it is a file that the programs can read too.
    pub(super) fn open(path: &str) -> Result<Self, ProbeError> {
        let failed = |error: io::Error| unable(path, error);
        held_by_root(Path::new(path)).map_err(failed)?;
        let known = fs::metadata(path).map_err(failed)?;
        if !known.is_file() || known.len() == 0 {
            return Err(unable(path, "it is no file with contents"));
        }
        if is_root() && !nobody_can("-r", Path::new(path)) {
            let why = "the user nobody, as whom the programs run, may not read it; allow it (chmod o+r), and to pass its folders (chmod o+x)";
            return Err(unable(path, why));
        }
        let file = File::open(path).map_err(failed)?;
        Ok(Self { path: path.into(), file, known: State::of(&known) })
    }

    pub(super) fn size(&self) -> u64 {
        self.known.0[1]
    }

    /// Rate of reading it from disk in bit/s, and its hash. Nothing of it is in memory afterwards.
    pub(super) fn measure(&self) -> Result<(f64, String), ProbeError> {
        let measured = || {
            self.forget()?;
            let (mut left, mut chunk, began) = (MEASURED.min(self.size()), vec![0; CHUNK], Instant::now());
            let total = left;
            while left > 0 {
                match (&self.file).read(&mut chunk)? as u64 {
                    0 => break,
                    read => left = left.saturating_sub(read),
                }
            }
            let bps = total.saturating_sub(left) as f64 * 8.0 / began.elapsed().as_secs_f64();
            let (_, hash) = contents::hashed(&mut File::open(&self.path)?)?;
            self.forget()?;
            Ok((bps, hash))
        };
        measured().map_err(|error: io::Error| unable(&self.path.display().to_string(), error))
    }

    /// Drops its pages of the page cache. A file system in memory has no others, and keeps them.
    fn forget(&self) -> io::Result<()> {
        // Pages that are not on disk yet stay.
        self.file.sync_data()?;
        Ok(fadvise(&self.file, 0, None, Advice::DontNeed)?)
    }

    /// An error where somebody has written to it, or replaced it, since it was opened.
    pub(super) fn check(&self) -> Result<(), ProbeError> {
        let now = fs::metadata(&self.path).map(|known| State::of(&known));
        if now.is_ok_and(|now| now == self.known) {
            return Ok(());
        }
        Err(unable(
            &self.path.display().to_string(),
            "it changed while it was moved, so nothing can be said; try again once nobody writes to it",
        ))
    }
}

/// Rate of writing to the disk of a folder until it is there, in bit/s. Refuses where so much has no room.
pub(super) fn write_bps(folder: &Path, size: u64) -> Result<f64, ProbeError> {
    let shown = folder.display().to_string();
    let failed = |error: io::Error| unable(&shown, error);
    let about = statvfs(folder).map_err(|error| failed(error.into()))?;
    let room = about.f_bavail.saturating_mul(about.f_frsize);
    if room < size {
        return Err(unable(&shown, format!("the disk has room for {room} bytes, and the file has {size}")));
    }
    let path = folder.join("measure");
    let written = || {
        let (mut file, mut left) = (File::create_new(&path)?, MEASURED.min(size));
        let mut chunk = vec![0; CHUNK];
        // A disk may write zeros without work.
        contents::make(1, CHUNK as u64, &mut chunk.as_mut_slice())?;
        let began = Instant::now();
        let total = left;
        while left > 0 {
            let part = &chunk[..CHUNK.min(left as usize)];
            file.write_all(part)?;
            left -= part.len() as u64;
        }
        file.sync_data()?;
        Ok(total as f64 * 8.0 / began.elapsed().as_secs_f64())
    };
    let bps = written().map_err(failed);
    let removed = fs::remove_file(&path);
    bps.and_then(|bps| removed.map_err(failed).map(|()| bps))
}

/// Refuses a path that somebody else could change while root uses it: a part of it is another user's, or may be written by others.
/// Entries of a sticky folder, like /tmp, are their owners' alone.
pub(super) fn held_by_root(path: &Path) -> io::Result<()> {
    if !is_root() {
        return Ok(());
    }
    // A link on the way may be swapped as well as what it leads to.
    for part in path.ancestors().chain(fs::canonicalize(path)?.ancestors()) {
        let about = fs::symlink_metadata(part)?;
        let is_guarded = about.is_symlink() || about.is_dir() && about.mode() & 0o1000 != 0;
        if about.uid() != 0 || (about.mode() & 0o022 != 0 && !is_guarded) {
            return Err(io::Error::other(format!(
                "{} is not root's alone, so that somebody could put another file there meanwhile; put the file where root alone writes, \
                 like /srv",
                part.display()
            )));
        }
    }
    Ok(())
}

/// Whether the user of the programs may do this with a file (test(1)), by whatever the system decides that.
pub(super) fn nobody_can(test: &str, path: &Path) -> bool {
    let mut command = programs::command(Path::new("/usr/bin/test"));
    command.arg(test).arg(path).stdin(Stdio::null());
    tie(&mut command, None).status().is_ok_and(|status| status.success())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_file_is_measured_hashed_and_held_to_what_it_was() {
        let folder = tempfile::tempdir().expect("room for it");
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).expect("ours");
        let path = folder.path().join("file");
        let hash = contents::make(7, 3_000_000, &mut File::create(&path).expect("room for it")).expect("room for it");
        let file = DiskFile::open(path.to_str().expect("plain")).expect("readable");
        let (bps, found) = file.measure().expect("readable");
        assert!(bps > 0.0 && found == hash && file.size() == 3_000_000);
        file.check().expect("nobody wrote");
        fs::write(&path, "other").expect("ours");
        assert!(file.check().expect_err("it is another").to_string().contains("it changed while it was moved"));
        assert!(write_bps(folder.path(), 100_000).expect("room for it") > 0.0);
        assert_eq!(fs::read_dir(folder.path()).expect("ours").count(), 1, "what was measured with is gone");
        let full = write_bps(folder.path(), u64::MAX).expect_err("no disk is that large");
        assert!(full.to_string().contains("the disk has room for"), "{full}");
    }

    #[test]
    fn a_file_that_somebody_else_could_swap_is_refused() {
        if !is_root() {
            return;
        }
        let folder = tempfile::tempdir().expect("room for it");
        let path = folder.path().join("file");
        fs::write(&path, "contents").expect("ours");
        let set = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("ours");
        set(folder.path(), 0o755);
        held_by_root(&path).expect("root's alone");
        set(folder.path(), 0o777);
        assert!(held_by_root(&path).unwrap_err().to_string().contains("put the file where root alone writes"));
        set(folder.path(), 0o755);
        set(&path, 0o666);
        assert!(held_by_root(&path).is_err(), "others may write to it");
        set(&path, 0o644);
        std::os::unix::fs::chown(&path, Some(65_534), None).expect("root may");
        assert!(held_by_root(&path).is_err(), "it is another user's");
    }

    #[test]
    fn what_the_programs_cannot_read_is_refused_with_advice() {
        let folder = tempfile::tempdir().expect("room for it");
        let path = folder.path().join("file");
        fs::write(&path, "secret").expect("ours");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).expect("ours");
        let open = |path: &Path| DiskFile::open(path.to_str().expect("plain")).map(drop).map_err(|it| it.to_string());
        if is_root() {
            assert!(open(&path).unwrap_err().contains("chmod o+r"));
        }
        assert!(open(folder.path()).unwrap_err().contains("no file with contents"));
        assert!(open(&folder.path().join("none")).unwrap_err().contains("No such file"));
    }
}
