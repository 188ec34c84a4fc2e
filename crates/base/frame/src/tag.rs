//! The tag: what makes each packet of ours a numbered one.
//!
//! It stands at the beginning of the payload, so that a 64-byte IPv4/UDP frame, which has 18 bytes of payload, carries it whole. All
//! fields are in network byte order, and it begins at an even distance from the IP header, so that its 16-bit words are words of
//! the transport checksum.
//!
//! | bytes | field | |
//! |---|---|---|
//! | 0–1 | magic | [`MAGIC`]: tells our packets from others |
//! | 2–3 | stream | which numbered sequence it belongs to: one for each stream and sending core |
//! | 4–9 | sequence | 48 bits, from 0; at 100 Mpps it wraps after a month |
//! | 10–11 | token | drawn for each trial: leftovers of the one before are not counted |
//! | 12–17 | time | 48 bits of `CLOCK_MONOTONIC` in ns when it left, or 0 where none was taken; wraps after 78 hours |
//!
//! The short form ends behind the sequence: no token and no time. It is used where the frame has no room for the whole.

/// Begins each tag.
pub const MAGIC: u16 = 0x5750;
/// Bytes of the whole tag.
pub const WHOLE: usize = 18;
/// Bytes of the short form.
pub const SHORT: usize = 10;

/// What a tag says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tag {
    /// Which numbered sequence.
    pub stream: u16,
    /// Number within it, from 0; 48 bits.
    pub sequence: u64,
    /// Drawn for each trial; 0 in the short form.
    pub token: u16,
    /// `CLOCK_MONOTONIC` in ns, its lower 48 bits; 0 where none was taken, and in the short form.
    pub time: u64,
}

/// The lower 48 bits.
const MASK: u64 = (1 << 48) - 1;

impl Tag {
    /// The whole tag.
    pub fn to_bytes(self) -> [u8; WHOLE] {
        let mut bytes = [0; WHOLE];
        bytes[..2].copy_from_slice(&MAGIC.to_be_bytes());
        bytes[2..10].copy_from_slice(&(u64::from(self.stream) << 48 | (self.sequence & MASK)).to_be_bytes());
        bytes[10..].copy_from_slice(&(u64::from(self.token) << 48 | (self.time & MASK)).to_be_bytes());
        bytes
    }

    /// The tag at the beginning of a payload, whole or short; `None` if there is none.
    pub fn read(payload: &[u8], length: usize) -> Option<Self> {
        let word = |from: usize| Some(u64::from_be_bytes(payload.get(from..from + 8)?.try_into().ok()?));
        if payload.get(..2)? != MAGIC.to_be_bytes() {
            return None;
        }
        let first = word(2)?;
        let second = if length >= WHOLE { word(10)? } else { 0 };
        let halves = |word: u64| ((word >> 48) as u16, word & MASK);
        let ((stream, sequence), (token, time)) = (halves(first), halves(second));
        Some(Self { stream, sequence, token, time })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_is_read_as_it_was_written_whole_and_short() {
        let tag = Tag { stream: 7, sequence: MASK - 1, token: 0xbeef, time: 123_456_789_012 };
        let bytes = tag.to_bytes();
        assert_eq!(Tag::read(&bytes, WHOLE), Some(tag));
        assert_eq!(Tag::read(&bytes[..SHORT], SHORT), Some(Tag { token: 0, time: 0, ..tag }));
        assert_eq!(Tag::read(&bytes[..SHORT], WHOLE), None);
        assert_eq!(Tag::read(&[0; WHOLE], WHOLE), None);
    }
}
