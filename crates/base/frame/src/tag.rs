//! The tag: what makes each packet of ours a numbered one.
//!
//! It stands at the beginning of the payload, so that a 64-byte IPv4/UDP frame, which has 18 bytes of payload, carries it whole. All
//! fields are in network byte order, and it begins at an even distance from the IP header, so that its 16-bit words are words of
//! the transport checksum.
//!
//! | bytes | field | |
//! |---|---|---|
//! | 0–1 | magic | [`MAGIC`]: tells our packets from others |
//! | 2–3 | stream | which numbered sequence it belongs to, one for each stream and sending core, XOR the token's upper half |
//! | 4–9 | sequence | 48 bits, from 0; at 100 Mpps it wraps after a month |
//! | 10–11 | token | its lower half |
//! | 12–17 | time | 48 bits of `CLOCK_MONOTONIC` in ns when it left, or 0 where none was taken; wraps after 78 hours |
//!
//! The token has 32 bits and is drawn for each trial: neither leftovers of the one before are counted nor what others send. A trial has few
//! sequences, so that its upper half needs no room of its own.
//!
//! The short form ends behind the sequence: no lower half of the token and no time. It is used where the frame has no room for the whole.
//!
//! The build script of `xdp` includes this file, which therefore uses nothing of the crate.

/// Begins each tag.
pub const MAGIC: u16 = 0x5750;
/// Bytes of the whole tag.
pub const WHOLE: usize = 18;
/// Bytes of the short form.
pub const SHORT: usize = 10;

/// Content of a tag.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tag {
    /// Its numbered sequence, XOR the upper half of the token.
    pub stream: u16,
    /// Number within it, from 0; 48 bits.
    pub sequence: u64,
    /// Lower half of the token; 0 in the short form.
    pub token: u16,
    /// `CLOCK_MONOTONIC` in ns, its lower 48 bits; 0 where none was taken, and in the short form.
    pub time: u64,
}

/// The lower 48 bits.
const MASK: u64 = (1 << 48) - 1;

impl Tag {
    /// The tag of a packet of a trial with this token.
    pub fn of(token: u32, number: u16, sequence: u64, time: u64) -> Self {
        Self { stream: number ^ upper_half(token), sequence, token: token as u16, time }
    }

    /// The numbered sequence, in a trial with this token. A number that the trial does not have is somebody else's.
    pub fn number(self, token: u32) -> u16 {
        self.stream ^ upper_half(token)
    }

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

/// Half of a token that hides the numbers of its sequences.
pub fn upper_half(token: u32) -> u16 {
    (token >> 16) as u16
}

/// Offsets of the fields in the tag, in bytes.
const STREAM_AT: usize = 2;
const SEQUENCE_AT: usize = 4;
const TOKEN_AT: usize = 10;
const TIME_AT: usize = 12;

/// The same for BPF programs: a C header with the constants, the struct, and what the layout promises. It needs `__u16` and
/// its kin, as `<linux/types.h>` defines them, and nothing else.
pub fn c_header() -> String {
    format!(
        "\
/* The tag of wireproof's packets. Written from the crate `frame`, module `tag`: change it there. */
#ifndef WIREPROOF_TAG_H
#define WIREPROOF_TAG_H

#define WP_TAG_MAGIC {MAGIC:#06x} /* in network byte order on the wire, as all fields */
#define WP_TAG_WHOLE {WHOLE} /* bytes of the whole tag */
#define WP_TAG_SHORT {SHORT} /* bytes of the short form: magic, stream, sequence */
#define WP_TAG_STREAM {STREAM_AT} /* offsets, in bytes */
#define WP_TAG_SEQUENCE {SEQUENCE_AT} /* 48 bits */
#define WP_TAG_TOKEN {TOKEN_AT}
#define WP_TAG_TIME {TIME_AT} /* 48 bits of CLOCK_MONOTONIC in ns, 0: none taken */
#define WP_TAG_MASK {MASK:#x}ULL /* the lower 48 bits */

struct wp_tag {{
	__u16 magic;
	__u16 stream;
	__u16 sequence[3];
	__u16 token;
	__u16 time[3];
}} __attribute__((packed));

_Static_assert(sizeof(struct wp_tag) == WP_TAG_WHOLE, \"the whole tag\");
_Static_assert(__builtin_offsetof(struct wp_tag, stream) == WP_TAG_STREAM, \"stream\");
_Static_assert(__builtin_offsetof(struct wp_tag, sequence) == WP_TAG_SEQUENCE, \"sequence\");
_Static_assert(__builtin_offsetof(struct wp_tag, token) == WP_TAG_TOKEN, \"token\");
_Static_assert(__builtin_offsetof(struct wp_tag, time) == WP_TAG_TIME, \"time\");

/* murmur3's finaliser: random values of fields, as `frame::hash` */
static inline __attribute__((always_inline)) __u32 wp_hash(__u32 seed, __u32 position)
{{
	__u32 x = position ^ seed;

	x = (x ^ x >> 16) * 0x85ebca6bU;
	x = (x ^ x >> 13) * 0xc2b2ae35U;
	return x ^ x >> 16;
}}

#endif
"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_c_header_says_what_the_bytes_are() {
        let tag = Tag { stream: 0x0102, sequence: 0x0304_0506_0708, token: 0x090a, time: 0x0b0c_0d0e_0f10 };
        let bytes = tag.to_bytes();
        assert_eq!(bytes[STREAM_AT..], [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]);
        assert_eq!([bytes[SEQUENCE_AT], bytes[TOKEN_AT], bytes[TIME_AT]], [3, 9, 11]);
        let header = c_header();
        assert!(header.contains("#define WP_TAG_MAGIC 0x5750 ") && header.contains("#define WP_TAG_TIME 12 "));
    }

    #[test]
    fn a_token_has_32_bits_and_half_of_them_in_the_short_form() {
        let token = 0xdead_beef;
        let tag = Tag::of(token, 3, 9, 0);
        assert_eq!((tag.token, tag.number(token)), (0xbeef, 3));
        let short = Tag::read(&tag.to_bytes()[..SHORT], SHORT).unwrap();
        assert_eq!(short.number(token), 3);
        let of_others = (0..=u16::MAX).filter(|upper| tag.number(u32::from(*upper) << 16 | 0xbeef) < 4).count();
        assert_eq!(of_others, 4, "of 65,536 tokens, as many as a trial has sequences");
        assert_eq!(Tag::of(7, 3, 9, 0).stream, 3, "a token of 16 bits leaves the number as it is");
    }

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
