//! The contents that are moved: random, the same for one token, and hashed.

use std::{
    fs,
    io::{self, Read, Write},
};

use sha2::{Digest, Sha256};

/// Bytes that are made or read at once.
const CHUNK: usize = 256 << 10;

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
    let (mut hash, mut length, mut chunk) = (Sha256::new(), 0, vec![0; CHUNK]);
    loop {
        match from.read(&mut chunk)? {
            0 => return Ok((length, words(hash))),
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
    fn memory_is_available() {
        assert!(available() > 1 << 20);
    }
}
