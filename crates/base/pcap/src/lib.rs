//! Captures: pcap and pcapng, read to be sent again and written for other programs.
//!
//! This crate is pure: bytes in, frames out, and back. Who calls it opens the files.

mod format;
mod read;
mod replay;
mod write;

use model::Nanos;

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
    /// What was kept of it, without FCS.
    pub bytes: Vec<u8>,
    /// Its bytes on the wire, without FCS: more than were kept where the capture cut frames.
    pub length: u32,
}
