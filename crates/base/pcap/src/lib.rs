//! Captures: pcap and pcapng, read to be sent again and written for other programs.
//!
//! This crate is pure: bytes in, frames out, and back. Who calls it opens the files.

mod format;
mod read;
mod replay;
mod write;

use model::Nanos;
use sha2::{Digest, Sha256};

pub use self::{
    read::{PcapError, read},
    replay::{Replay, ReplayError},
    write::Writer,
};

/// Bytes of the longest file that is read: captures are held in memory.
pub const LONGEST: u64 = 1 << 30;

/// A captured frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// When it was seen, since 1970.
    pub time: Nanos,
    /// Kept bytes of it, without FCS.
    pub bytes: Vec<u8>,
    /// Bytes on the wire, without FCS: more than were kept where the capture cut frames.
    pub length: u32,
}

/// SHA-256 of a file, in hexadecimal.
pub fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Refuses another file than the one that is meant, if one is.
pub fn check_sha256(bytes: &[u8], meant: Option<&str>) -> Result<(), String> {
    let found = sha256(bytes);
    match meant.filter(|meant| *meant != found) {
        Some(meant) => Err(format!(
            "its SHA-256 is {found}, not {meant}: it is not the capture that the run is for; put that one in its place"
        )),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_file_is_refused() {
        let meant = sha256(b"abc");
        assert_eq!(meant, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad", "FIPS 180-4, example");
        assert_eq!((check_sha256(b"abc", Some(&meant)), check_sha256(b"abd", None)), (Ok(()), Ok(())));
        assert!(check_sha256(b"abd", Some(&meant)).is_err_and(|why| why.contains(&meant)));
    }
}
