//! The folder of a program: its configuration, and a room in memory with the contents.

use std::{
    env,
    ffi::CString,
    fs::{self, File, Permissions},
    io::{self, Read, Write},
    os::unix::fs::{PermissionsExt, fchown, symlink},
    path::{Path, PathBuf},
};

use model::probe::TransferSpec;
use rustix::{
    mount::{MountFlags, UnmountFlags, mount, unmount},
    process::getppid,
};

use super::{contents, disk, unable};
use crate::{
    ProbeError,
    programs::{Folder, NOBODY, is_root, share},
};

/// Folder of the program within its folder, and the contents within that.
const ROOM: &str = "room";
const CONTENTS: &str = "contents";

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
    /// A file of the user that is the contents here.
    source: Option<PathBuf>,
}

impl Place {
    /// The folder of an end: in memory, or where a file comes from disk, beside it at the end that receives it.
    pub(super) fn of(spec: &TransferSpec, sends: bool) -> Result<Self, ProbeError> {
        match &spec.file {
            None => Self::make(),
            Some(path) if sends => {
                let mut place = Self::make()?;
                let linked = symlink(path, place.contents());
                linked.map_err(|error| unable("a folder in memory", error))?;
                place.source = Some(path.into());
                Ok(place)
            }
            Some(path) => Self::on_disk(Path::new(path).parent().unwrap_or(Path::new("/"))),
        }
    }

    fn on_disk(within: &Path) -> Result<Self, ProbeError> {
        let shown = within.display().to_string();
        let failed = |error: io::Error| unable(&shown, error);
        disk::held_by_root(within).map_err(failed)?;
        let folder = Folder::make(within, PREFIX).map_err(failed)?;
        let room = folder.make_room(ROOM).map_err(failed)?;
        if is_root() && !disk::nobody_can("-w", &room) {
            let why = "the user nobody, as whom the programs run, may not pass it; allow it (chmod o+x), and for the folders above";
            return Err(unable(&shown, why));
        }
        Ok(Self { folder, room, is_mounted: false, source: None })
    }

    fn make() -> Result<Self, ProbeError> {
        let memory = Path::new(MEMORY);
        let within = if memory.is_dir() { memory.to_owned() } else { env::temp_dir() };
        let failed = |error: io::Error| unable("a folder in memory", format!("{}: {error}", within.display()));
        let folder = Folder::make(&within, PREFIX).map_err(failed)?;
        let room = folder.make_room(ROOM).map_err(failed)?;
        let is_mounted = has_own_mounts() && own_memory(&room).is_ok();
        Ok(Self { folder, room, is_mounted, source: None })
    }

    pub(super) fn folder(&self) -> &Folder {
        &self.folder
    }

    /// Folder that belongs to the program.
    pub(super) fn room(&self) -> &Path {
        &self.room
    }

    /// The contents at either end: a file, or the folder of small ones.
    pub(super) fn contents(&self) -> PathBuf {
        self.source.clone().unwrap_or_else(|| self.room.join(CONTENTS))
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
        let read = contents::opened(&path).and_then(|file| file.take(LONGEST_TEXT).read_to_string(&mut text));
        read.map_err(|error| unable(&path.display().to_string(), error))?;
        Ok(text)
    }

    /// Makes the contents; gives their hash.
    pub(super) fn fill(&self, spec: &TransferSpec, token: u32, size: u64) -> Result<String, ProbeError> {
        let path = self.contents();
        let made = || {
            if spec.is_many() {
                self.make_folder()?;
                return contents::make_many(token, &path, own);
            }
            let mut file = File::create_new(&path)?;
            let hash = contents::make(token, size, &mut file)?;
            own(&file)?;
            Ok(hash)
        };
        made().map_err(|error: io::Error| unable(&path.display().to_string(), error))
    }

    /// The contents, open for reading.
    pub(super) fn open_contents(&self) -> Result<File, ProbeError> {
        let path = self.contents();
        // A file of the user is no entry of the room, in which links of the program's user may stand.
        let file = if self.source.is_some() { File::open(&path) } else { contents::opened(&path) };
        file.map_err(|error| unable(&path.display().to_string(), error))
    }

    /// Makes an empty folder for small files, where a program does not.
    pub(super) fn make_folder(&self) -> io::Result<()> {
        self.folder.make_room(Path::new(ROOM).join(CONTENTS)).map(drop)
    }

    /// Length and hash of the contents that arrived, up to one byte more than this size; of nothing where there are none.
    pub(super) fn hashed(&self, spec: &TransferSpec, size: u64) -> Result<(u64, String), ProbeError> {
        let path = self.contents();
        if spec.is_many() {
            return contents::hashed_many(&path).map_err(|error| unable(&path.display().to_string(), error));
        }
        let read = match contents::opened(&path) {
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

/// Whether mounts of this process are seen by itself and its children alone, and not by the process that started it.
pub(super) fn has_own_mounts() -> bool {
    let of = |process: &str| fs::read_link(format!("/proc/{process}/ns/mnt")).ok();
    let parent = getppid().map(|parent| parent.as_raw_nonzero().to_string());
    of("self").zip(of(&parent.unwrap_or_default())).is_some_and(|(own, parents)| own != parents)
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

    use model::probe::{TransferContents, TransferMethod};

    use super::*;

    #[test]
    fn contents_that_never_came_are_empty_and_the_folder_goes() {
        let place = Place::make().expect("room for it");
        for contents in TransferContents::ALL {
            let spec = TransferSpec { contents, ..TransferSpec::new(TransferMethod::Nc) };
            assert_eq!(place.hashed(&spec, 1000).expect("readable").0, 0);
        }
        let spec = TransferSpec::new(TransferMethod::Nc);
        let hash = place.fill(&spec, 7, 1000).expect("memory");
        assert_eq!(place.hashed(&spec, 1000).expect("readable"), (1000, hash));
        let path = place.folder().path().to_owned();
        drop(place);
        assert!(!path.exists());
    }

    #[test]
    fn a_file_that_the_user_of_a_program_laid_leads_root_nowhere_and_has_an_end() {
        let (place, spec) = (Place::make().expect("room for it"), TransferSpec::new(TransferMethod::Nc));
        let outside = place.folder().path().join("outside");
        fs::write(&outside, "kept").expect("ours");
        for name in ["known", "key.pub", "contents"] {
            symlink(&outside, place.room().join(name)).expect("ours");
        }
        assert!(place.give("known", "x").is_err() && place.read("key.pub").is_err() && place.open_contents().is_err());
        assert!(place.hashed(&spec, 9).is_err());
        assert!(place.fill(&spec, 7, 1000).is_err());
        assert_eq!(fs::read_to_string(&outside).expect("ours"), "kept");
        fs::remove_file(place.contents()).expect("ours");
        File::create(place.contents()).and_then(|file| file.set_len(1 << 40)).expect("a sparse file");
        assert_eq!(place.hashed(&spec, 1000).expect("readable").0, 1001);
    }
}
