//! The first bytes of a datagram: the token of the trial, and a number. Pure.

/// Bytes of a label.
pub(super) const LENGTH: usize = 8;

/// Labels a datagram; a shorter one gets as much of it as fits.
#[inline]
pub(super) fn put(token: u32, number: u32, datagram: &mut [u8]) {
    copy(&bytes(token, number), datagram);
}

/// Whether a datagram has this label.
#[inline]
pub(super) fn is(token: u32, number: u32, datagram: &[u8]) -> bool {
    datagram.get(..LENGTH) == Some(&bytes(token, number))
}

/// Whether a datagram belongs to the trial of this token.
#[inline]
pub(super) fn is_of(token: u32, datagram: &[u8]) -> bool {
    datagram.len() >= LENGTH && datagram[..4] == token.to_be_bytes()
}

/// Gives a datagram the label of another.
#[inline]
pub(super) fn copy(from: &[u8], to: &mut [u8]) {
    let length = LENGTH.min(from.len()).min(to.len());
    to[..length].copy_from_slice(&from[..length]);
}

fn bytes(token: u32, number: u32) -> [u8; LENGTH] {
    (u64::from(token) << 32 | u64::from(number)).to_be_bytes()
}
