//! Common parts of reading and writing.
//!
//! The crates for this format were looked at: none reads it whole, without a panic on bytes made up, with Rust 1.92.

/// A section begins: the block that each pcapng file begins with, the same in both byte orders.
pub(crate) const SECTION_HEADER: u32 = 0x0a0d_0d0a;
/// An interface whose frames follow.
pub(crate) const INTERFACE_DESCRIPTION: u32 = 1;
/// A frame without a time.
pub(crate) const SIMPLE_PACKET: u32 = 3;
/// A frame.
pub(crate) const ENHANCED_PACKET: u32 = 6;
/// Magic number by which a section says its byte order.
pub(crate) const BYTE_ORDER: u32 = 0x1a2b_3c4d;
/// Link type of Ethernet (LINKTYPE_ETHERNET).
pub(crate) const ETHERNET: u16 = 1;

/// Option of a section: the program that wrote it.
pub(crate) const USER_APPLICATION: u16 = 4;
/// Option of an interface: its name.
pub(crate) const INTERFACE_NAME: u16 = 2;
/// Option of an interface: units of a second.
pub(crate) const TIME_RESOLUTION: u16 = 9;
/// Option of an interface: seconds to be added to all times.
pub(crate) const TIME_OFFSET: u16 = 14;

/// Bytes that are read from the front, in one byte order; `None` where there are too few.
#[derive(Clone, Copy)]
pub(crate) struct Bytes<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) big_endian: bool,
}

impl<'a> Bytes<'a> {
    pub(crate) fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (front, behind) = self.bytes.split_at_checked(count)?;
        self.bytes = behind;
        Some(front)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take(N)?.try_into().ok()
    }

    pub(crate) fn half(&mut self) -> Option<u16> {
        self.array().map(if self.big_endian { u16::from_be_bytes } else { u16::from_le_bytes })
    }

    pub(crate) fn word(&mut self) -> Option<u32> {
        self.array().map(if self.big_endian { u32::from_be_bytes } else { u32::from_le_bytes })
    }

    pub(crate) fn long(&mut self) -> Option<u64> {
        self.array().map(if self.big_endian { u64::from_be_bytes } else { u64::from_le_bytes })
    }
}
