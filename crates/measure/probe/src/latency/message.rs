//! What is in a message: its number, and room for the far side's two stamps.
//!
//! Both sides know from the spec and their seats whether the stamps are used ([`carries_stamps`](super::carries_stamps)).
//! All numbers are big endian.

use std::ops::Range;

use model::{Nanos, probe::ONE_WAY_LEAST_PAYLOAD};

const NUMBER: Range<usize> = 0..4;
const RECEIVED: Range<usize> = 4..12;
const SENT: Range<usize> = 12..20;

const _: () = assert!(SENT.end == ONE_WAY_LEAST_PAYLOAD.0 as usize);

/// What a reply says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Reply {
    /// The lower 32 bits of the message's number.
    pub(super) number: u32,
    /// When the far side received the message, and when it sent the reply.
    pub(super) far: Option<(Nanos, Nanos)>,
}

/// Puts the number in.
#[inline]
pub(super) fn put_number(message: &mut [u8], number: u32) {
    message[NUMBER].copy_from_slice(&number.to_be_bytes());
}

/// Puts the far side's stamps in.
pub(super) fn put_stamps(message: &mut [u8], received: Nanos, sent: Nanos) {
    message[RECEIVED].copy_from_slice(&received.0.to_be_bytes());
    message[SENT].copy_from_slice(&sent.0.to_be_bytes());
}

/// Reads a reply, which is as long as the messages are.
#[inline]
pub(super) fn read(message: &[u8], with_stamps: bool) -> Reply {
    let time = |at: Range<usize>| Nanos(u64::from_be_bytes(part(message, at)));
    Reply { number: u32::from_be_bytes(part(message, NUMBER)), far: with_stamps.then(|| (time(RECEIVED), time(SENT))) }
}

#[inline]
fn part<const N: usize>(message: &[u8], at: Range<usize>) -> [u8; N] {
    message[at].try_into().expect("the ranges are as long as the numbers")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_put_in_is_read() {
        let mut message = [0; 20];
        put_number(&mut message, 0xfffe_0001);
        put_stamps(&mut message, Nanos(5), Nanos(u64::MAX));
        assert_eq!(read(&message, true), Reply { number: 0xfffe_0001, far: Some((Nanos(5), Nanos(u64::MAX))) });
        assert_eq!(read(&message[..4], false), Reply { number: 0xfffe_0001, far: None });
    }
}
