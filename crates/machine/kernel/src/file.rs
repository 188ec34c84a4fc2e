//! Files of users, who may change them while they are read.

use std::{
    fs::{self, File, Metadata, OpenOptions},
    io::{self, Read},
    os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt},
    panic::resume_unwind,
    path::Path,
    thread,
};

use crate::{error::invalid, privilege};

/// The content of a regular file; `None` of anything else, and of a file of more than `most` bytes. Nothing is waited for.
pub fn read_regular(path: &Path, most: u64) -> io::Result<Option<Vec<u8>>> {
    let Some(file) = open(path, 0)?.filter(|(_, length)| *length <= most).map(|(file, _)| file) else {
        return Ok(None);
    };
    let mut content = Vec::new();
    // It may grow meanwhile.
    file.take(most.saturating_add(1)).read_to_end(&mut content)?;
    Ok((content.len() as u64 <= most).then_some(content))
}

/// A regular file under its own name, open for reading; `None` of anything else, a link too. Nothing is waited for.
pub fn open_no_link(path: &Path) -> io::Result<Option<File>> {
    match open(path, libc::O_NOFOLLOW) {
        Err(error) if error.raw_os_error() == Some(libc::ELOOP) => Ok(None),
        opened => Ok(opened?.map(|(file, _)| file)),
    }
}

/// A regular file and its length.
fn open(path: &Path, flags: i32) -> io::Result<Option<(File, u64)>> {
    let flags = flags | libc::O_NONBLOCK | libc::O_NOCTTY;
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    let about = file.metadata()?;
    Ok(about.is_file().then_some((file, about.len())))
}

/// A regular file of root or of this process's user, under its own name and of at most `most` bytes, open for reading. Nothing
/// is waited for.
///
/// # Errors
/// Another file is refused, with what it is and what to do.
pub fn open_trusted(path: &Path, most: u64) -> io::Result<File> {
    // Opening a device may already do something.
    trusted(&fs::symlink_metadata(path)?, most)?;
    let file = open_here(path, libc::O_NONBLOCK | libc::O_NOCTTY)?;
    trusted(&file.metadata()?, most)?;
    Ok(file)
}

/// A folder of root or of this process's user, under its own name, open for reading.
///
/// # Errors
/// Another one is refused, with what it is and what to do.
pub fn open_trusted_folder(path: &Path) -> io::Result<File> {
    let refused = |what: String| refused(&what, "a folder of root, or of the user of this process,");
    let about = fs::symlink_metadata(path)?;
    if !about.is_dir() {
        return Err(refused(kind(&about).to_owned()));
    }
    let folder = open_here(path, libc::O_DIRECTORY)?;
    match stranger(&folder.metadata()?) {
        Some(user) => Err(refused(format!("a folder of user {user}"))),
        None => Ok(folder),
    }
}

/// Whether [`open_trusted`] accepts an open file like this.
///
/// # Errors
/// The same.
pub fn trusted(about: &Metadata, most: u64) -> io::Result<()> {
    let mib = |bytes: u64| bytes >> 20;
    let what = match stranger(about) {
        _ if !about.is_file() => kind(about).to_owned(),
        Some(user) => format!("a file of user {user}"),
        None if about.len() > most => format!("a file of {} MiB", mib(about.len())),
        None => return Ok(()),
    };
    let only = format!("a regular file of root, or of the user of this process, of at most {} MiB", mib(most));
    Err(refused(&what, &only))
}

fn refused(what: &str, only: &str) -> io::Error {
    invalid(&format!("it is {what}, and only {only} is accepted; find out who made it, then move it away"))
}

fn open_here(path: &Path, flags: i32) -> io::Result<File> {
    OpenOptions::new().read(true).custom_flags(flags | libc::O_NOFOLLOW).open(path)
}

/// The owner, where it is neither root nor the user of this process.
fn stranger(about: &Metadata) -> Option<u32> {
    Some(about.uid()).filter(|user| ![0, privilege::effective().0].contains(user))
}

fn kind(about: &Metadata) -> &'static str {
    let kind = about.file_type();
    match () {
        () if kind.is_symlink() => "a link",
        () if kind.is_dir() => "a folder",
        () if kind.is_fifo() => "a FIFO",
        () if kind.is_socket() => "a socket",
        () if kind.is_file() => "a file",
        () => "a device",
    }
}

/// [`read_regular`] with the rights of the user of sudo, whatever this thread may read.
pub fn read_as_sudo_user(path: &Path, most: u64) -> io::Result<Option<Vec<u8>>> {
    let read = || {
        privilege::reach_files_as_sudo_user().map_err(io::Error::other)?;
        read_regular(path, most)
    };
    thread::scope(|scope| scope.spawn(read).join().unwrap_or_else(|panic| resume_unwind(panic)))
}

/// A file system as its users see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    /// Number of the file system.
    pub disk: u64,
    /// Bytes that a user other than root may still write; `None` where it does not tell.
    pub free: Option<u64>,
}

/// The file system that holds this path, or will: the nearest folder above it that is there is asked.
pub fn room(path: &Path) -> io::Result<Room> {
    let path = std::path::absolute(path)?;
    let there = path.ancestors().find(|path| path.exists()).unwrap_or(Path::new("/"));
    let about = rustix::fs::statvfs(there)?;
    let free = (about.f_blocks > 0).then(|| about.f_bavail.saturating_mul(about.f_frsize));
    Ok(Room { disk: fs::metadata(there)?.dev(), free })
}

/// Whether a file can be made at this path, whose folders may be missing; none is made. The nearest folder above it that is there is asked
/// for a file without a name.
pub fn can_be_made(path: &Path) -> io::Result<()> {
    let path = std::path::absolute(path)?;
    let there = path.ancestors().skip(1).find(|path| path.exists()).unwrap_or(Path::new("/"));
    match OpenOptions::new().write(true).custom_flags(libc::O_TMPFILE).open(there) {
        // Some file systems have no such files.
        Err(error) if error.raw_os_error() == Some(libc::EOPNOTSUPP) => Ok(()),
        opened => opened.map(drop),
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn room_is_that_of_the_folder_that_is_there_already() {
        let here = std::env::temp_dir();
        let [there, absent] =
            [here.clone(), here.join("wireproof-absent/one/two")].map(|path| room(&path).expect("a disk"));
        assert!(there.disk == absent.disk && absent.free.is_some_and(|free| free > 0));
        assert_eq!(room(Path::new("/proc/wireproof")).expect("a file system").free, None, "it has no blocks");
    }

    #[test]
    fn that_a_file_can_be_made_is_known_without_making_one() {
        let folder = std::env::temp_dir().join(format!("wireproof-{}-made", std::process::id()));
        assert!(can_be_made(&folder.join("one/two")).is_ok() && !folder.exists());
        fs::write(&folder, "no folder").expect("a folder");
        assert!(can_be_made(&folder.join("store")).is_err());
        fs::remove_file(folder).expect("it is there");
    }

    #[test]
    fn only_a_regular_file_of_bounded_length_is_read() {
        let name = |name: &str| std::env::temp_dir().join(format!("wireproof-{}-{name}", std::process::id()));
        let (file, fifo) = (name("file"), name("fifo"));
        fs::write(&file, [7; 100]).expect("a folder");
        assert!(Command::new("mkfifo").arg(&fifo).status().expect("coreutils").success());
        let read = |path: &Path, most| read_regular(path, most).expect("readable").map(|content| content.len());
        assert_eq!([99, 100, u64::MAX].map(|most| read(&file, most)), [None, Some(100), Some(100)]);
        let link = name("link");
        std::os::unix::fs::symlink(&file, &link).expect("a folder");
        let opened = |path: &Path| open_no_link(path).expect("readable").is_some();
        assert_eq!([&file, &link, &fifo].map(|path| opened(path)), [true, false, false]);
        fs::remove_file(link).expect("it is there");
        for other in [&fifo, Path::new("/dev/zero"), Path::new("/")] {
            assert_eq!(read(other, u64::MAX), None, "{}", other.display());
        }
        [file, fifo].iter().for_each(|path| fs::remove_file(path).expect("it is there"));
        assert!(read_as_sudo_user(Path::new("/nowhere"), 1).is_err());
    }
}
