//! The contents that are moved: random, the same for one token, and hashed.

use std::{
    fs::{self, File},
    io::{self, Read, Write},
    os::fd::AsRawFd,
    path::{Path, PathBuf},
};

use kernel::file::open_no_link;
use model::probe::{SMALL_FILE, SMALL_FILES};
use sha2::{Digest, Sha256};

use crate::programs::open_folder;

/// Bytes that are made or read at once.
const CHUNK: usize = 256 << 10;

/// Most entries of a folder that are read.
const MOST: usize = SMALL_FILES as usize + 1;

/// Random bytes (SplitMix64): no method can compress or guess them.
pub(super) struct Source(u64);

impl Source {
    pub(super) fn of(token: u32) -> Self {
        Self(token.into())
    }

    fn fill(&mut self, chunk: &mut [u8]) {
        for word in chunk.chunks_mut(8) {
            self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            word.copy_from_slice(&(mixed ^ (mixed >> 31)).to_le_bytes()[..word.len()]);
        }
    }
}

/// Writes contents of this size, and gives their hash.
pub(super) fn make(token: u32, size: u64, to: &mut impl Write) -> io::Result<String> {
    let (mut source, mut hash, mut left) = (Source::of(token), Sha256::new(), size);
    let mut chunk = vec![0; CHUNK];
    while left > 0 {
        let part = &mut chunk[..CHUNK.min(usize::try_from(left).unwrap_or(CHUNK))];
        source.fill(part);
        hash.update(&*part);
        to.write_all(part)?;
        left -= part.len() as u64;
    }
    Ok(words(hash))
}

/// Length and hash of what can be read.
pub(super) fn hashed(from: &mut impl Read) -> io::Result<(u64, String)> {
    let mut hash = Sha256::new();
    Ok((add(&mut hash, from)?, words(hash)))
}

/// Writes the small files into a folder, which exists; gives the hash of their names and contents.
pub(super) fn make_many(token: u32, folder: &Path, own: impl Fn(&File) -> io::Result<()>) -> io::Result<String> {
    let (mut source, mut hash) = (Source::of(token), Sha256::new());
    let mut bytes = vec![0; SMALL_FILE.0 as usize];
    let (_held, folder) = held(folder)?;
    for number in 0..SMALL_FILES {
        let path = small_file(&folder, number);
        source.fill(&mut bytes);
        let mut file = File::create_new(&path)?;
        file.write_all(&bytes)?;
        own(&file)?;
        begin(&mut hash, &path);
        hash.update(&bytes);
    }
    Ok(words(hash))
}

/// Length of all files of a folder, and the hash of their names and contents; of none where there is no such folder.
pub(super) fn hashed_many(folder: &Path) -> io::Result<(u64, String)> {
    let (mut hash, mut length, mut paths) = (Sha256::new(), 0, Vec::new());
    let held = match held(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok((0, words(hash))),
        held => held?,
    };
    // One more than there are shows in the length.
    for entry in fs::read_dir(&held.1)?.take(MOST) {
        paths.push(entry?.path());
    }
    paths.sort();
    for path in paths {
        begin(&mut hash, &path);
        length += add(&mut hash, &mut opened(&path)?.take(SMALL_FILE.0 + 1))?;
    }
    Ok((length, words(hash)))
}

/// A file of the room, which belongs to the program's user: a link or a FIFO of that user leads this process nowhere.
pub(super) fn opened(path: &Path) -> io::Result<File> {
    open_no_link(path)?.ok_or_else(|| io::Error::other("it is no regular file"))
}

/// A folder that nobody can swap for a link while it is used: its descriptor, and a path by that.
pub(super) fn held(folder: &Path) -> io::Result<(File, PathBuf)> {
    let file = open_folder(folder)?;
    let path = PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()));
    Ok((file, path))
}

/// Path of a small file: digits, as many in each, which programs that fetch a list can count through.
pub(super) fn small_file(folder: &Path, number: u64) -> PathBuf {
    folder.join(format!("{number:05}"))
}

/// Names all small files as curl does.
pub(super) fn all_small_files() -> String {
    format!("[00000-{:05}]", SMALL_FILES - 1)
}

/// Begins the contents of a file.
fn begin(hash: &mut Sha256, path: &Path) {
    hash.update(path.file_name().unwrap_or_default().as_encoded_bytes());
    hash.update([0]);
}

/// Adds all that can be read; gives its length.
fn add(hash: &mut Sha256, from: &mut impl Read) -> io::Result<u64> {
    let (mut length, mut chunk) = (0, vec![0; CHUNK]);
    loop {
        match from.read(&mut chunk)? {
            0 => return Ok(length),
            read => {
                hash.update(&chunk[..read]);
                length += read as u64;
            }
        }
    }
}

fn words(hash: Sha256) -> String {
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Memory that can be used without making anything else on the machine give way, in bytes (proc_meminfo(5)).
pub(super) fn available() -> u64 {
    let text = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"));
    line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok()).map_or(0, |kib| kib << 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contents_are_those_of_their_token_and_hash_as_they_are_read() {
        let made = |token, size| {
            let mut bytes = Vec::new();
            let hash = make(token, size, &mut bytes).expect("memory");
            assert_eq!(hashed(&mut bytes.as_slice()).expect("memory"), (size, hash.clone()));
            (bytes, hash)
        };
        let odd = CHUNK as u64 + 13;
        assert_eq!(made(7, odd), made(7, odd));
        assert_ne!(made(7, odd).1, made(8, odd).1);
        assert_ne!(made(7, odd).1, made(7, odd - 1).1);
        assert_eq!(made(1, 0).1, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    }

    #[test]
    fn small_files_hash_by_name_and_contents() {
        let folder = tempfile::tempdir().expect("room for it");
        let hash = make_many(7, folder.path(), |_| Ok(())).expect("room for them");
        let size = SMALL_FILES * SMALL_FILE.0;
        assert_eq!(hashed_many(folder.path()).expect("readable"), (size, hash.clone()));
        fs::rename(small_file(folder.path(), 1), folder.path().join("x")).expect("ours");
        let renamed = hashed_many(folder.path()).expect("readable");
        assert!(renamed.0 == size && renamed.1 != hash);
        assert_eq!(hashed_many(&folder.path().join("none")).expect("none").0, 0);
    }

    #[test]
    fn memory_is_available() {
        assert!(available() > 1 << 20);
    }
}
