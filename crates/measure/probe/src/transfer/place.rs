//! The folder of a program: its configuration, and a room in memory with the contents.

use std::{
    env,
    ffi::CString,
    fs::{self, File, Permissions},
    io::{self, Read, Write},
    os::unix::fs::{PermissionsExt, fchown},
    path::{Path, PathBuf},
};

use kernel::file::open_no_link;
use rustix::mount::{MountFlags, UnmountFlags, mount, unmount};

use super::{contents, unable};
use crate::{
    ProbeError,
    programs::{Folder, NOBODY, is_root, share},
};

/// Beginning of each folder's name.
const PREFIX: &str = "wireproof-transfer-";

/// No text of a program is longer, in bytes: keys and certificates have some thousand at most.
const LONGEST_TEXT: u64 = 16 << 10;

/// File system in memory of each Linux (shm_overview(7)).
const MEMORY: &str = "/dev/shm";

/// The folder. The room in it belongs to the program.
pub(super) struct Place {
    folder: Folder,
    room: PathBuf,
    is_mounted: bool,
}

impl Place {
    pub(super) fn make() -> Result<Self, ProbeError> {
        let memory = Path::new(MEMORY);
        let within = if memory.is_dir() { memory.to_owned() } else { env::temp_dir() };
        let failed = |error: io::Error| unable("a folder in memory", format!("{}: {error}", within.display()));
        let folder = Folder::make(&within, PREFIX).map_err(failed)?;
        let room = folder.make_room("room").map_err(failed)?;
        let is_mounted = has_own_mounts() && own_memory(&room).is_ok();
        Ok(Self { folder, room, is_mounted })
    }

    pub(super) fn folder(&self) -> &Folder {
        &self.folder
    }

    /// Folder that belongs to the program.
    pub(super) fn room(&self) -> &Path {
        &self.room
    }

    /// File of the contents, at either end.
    pub(super) fn file(&self) -> PathBuf {
        self.room.join("contents")
    }

    /// Writes a file that the program reads.
    pub(super) fn write(&self, name: &str, text: &str) -> Result<PathBuf, ProbeError> {
        let path = self.folder.path().join(name);
        let written = fs::write(&path, text).and_then(|()| share(&path, 0o640));
        written.map_err(|error| unable(&path.display().to_string(), error))?;
        Ok(path)
    }

    /// Writes a file into the room, which the program's user alone may read.
    pub(super) fn give(&self, name: &str, text: &str) -> Result<PathBuf, ProbeError> {
        let path = self.room.join(name);
        let given = || {
            let mut file = File::create_new(&path)?;
            file.write_all(text.as_bytes())?;
            own(&file)
        };
        given().map_err(|error| unable(&path.display().to_string(), error))?;
        Ok(path)
    }

    /// A text that a program left in the room.
    pub(super) fn read(&self, name: &str) -> Result<String, ProbeError> {
        let path = self.room.join(name);
        let mut text = String::new();
        let read = opened(&path).and_then(|file| file.take(LONGEST_TEXT).read_to_string(&mut text));
        read.map_err(|error| unable(&path.display().to_string(), error))?;
        Ok(text)
    }

    /// Makes the contents; gives their hash.
    pub(super) fn fill(&self, token: u32, size: u64) -> Result<String, ProbeError> {
        let path = self.file();
        let made = || {
            let mut file = File::create_new(&path)?;
            let hash = contents::make(token, size, &mut file)?;
            own(&file)?;
            Ok(hash)
        };
        made().map_err(|error: io::Error| unable(&path.display().to_string(), error))
    }

    /// The contents, open for reading.
    pub(super) fn contents(&self) -> Result<File, ProbeError> {
        let path = self.file();
        opened(&path).map_err(|error| unable(&path.display().to_string(), error))
    }

    /// Length and hash of the contents that arrived, up to one byte more than this size; of nothing where there is no file.
    pub(super) fn hashed(&self, size: u64) -> Result<(u64, String), ProbeError> {
        let path = self.file();
        let read = match opened(&path) {
            Ok(file) => contents::hashed(&mut file.take(size.saturating_add(1))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => contents::hashed(&mut io::empty()),
            Err(error) => Err(error),
        };
        read.map_err(|error| unable(&path.display().to_string(), error))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if self.is_mounted {
            // Where it fails, the kernel takes it down with this process's mounts.
            let _ = unmount(&self.room, UnmountFlags::DETACH);
        }
    }
}

/// Gives a new file to the program's user alone, who can already have put another one in its place.
fn own(file: &File) -> io::Result<()> {
    file.set_permissions(Permissions::from_mode(0o600))?;
    if is_root() { fchown(file, Some(NOBODY), Some(NOBODY)) } else { Ok(()) }
}

/// A file of the room, which belongs to the program's user: a link or a FIFO of that user leads this process nowhere.
fn opened(path: &Path) -> io::Result<File> {
    open_no_link(path)?.ok_or_else(|| io::Error::other("it is no regular file"))
}

/// Whether mounts of this process are seen by itself and its children alone.
fn has_own_mounts() -> bool {
    let of = |process: &str| fs::read_link(format!("/proc/{process}/ns/mnt")).ok();
    of("self").zip(of("1")).is_some_and(|(own, first)| own != first)
}

/// Memory of its own, which the kernel frees with the last process that sees the mount, however that ends.
fn own_memory(room: &Path) -> io::Result<()> {
    let owner = if is_root() { format!(",uid={NOBODY},gid={NOBODY}") } else { String::new() };
    let options = CString::new(format!("mode=0700{owner}"))?;
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    Ok(mount("wireproof", room, "tmpfs", flags, options.as_c_str())?)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn contents_that_never_came_are_empty_and_the_folder_goes() {
        let place = Place::make().expect("room for it");
        assert_eq!(place.hashed(1000).expect("readable").0, 0);
        let hash = place.fill(7, 1000).expect("memory");
        assert_eq!(place.hashed(1000).expect("readable"), (1000, hash));
        let path = place.folder().path().to_owned();
        drop(place);
        assert!(!path.exists());
    }

    #[test]
    fn a_file_that_the_user_of_a_program_laid_leads_root_nowhere_and_has_an_end() {
        let place = Place::make().expect("room for it");
        let outside = place.folder().path().join("outside");
        fs::write(&outside, "kept").expect("ours");
        for name in ["known", "key.pub", "contents"] {
            symlink(&outside, place.room().join(name)).expect("ours");
        }
        assert!(place.give("known", "x").is_err() && place.read("key.pub").is_err() && place.contents().is_err());
        assert!(place.hashed(9).is_err());
        assert!(place.fill(7, 1000).is_err());
        assert_eq!(fs::read_to_string(&outside).expect("ours"), "kept");
        fs::remove_file(place.file()).expect("ours");
        File::create(place.file()).and_then(|file| file.set_len(1 << 40)).expect("a sparse file");
        assert_eq!(place.hashed(1000).expect("readable").0, 1001);
    }
}
