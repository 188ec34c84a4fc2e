//! Content of a message: its number, and room for the far side's two stamps.
//!
//! Numbers are counted from the trial's token on: the smallest messages have room for nothing else to know them by. A TCP
//! connection begins with a greeting.
//! Both sides know from the spec and their setups whether the stamps are used ([`carries_stamps`](super::carries_stamps)).
//! All numbers are big endian.

use std::ops::Range;

use model::{
    Nanos,
    probe::{MOST_OUT, ONE_WAY_LEAST_PAYLOAD},
};

const NUMBER: Range<usize> = 0..4;
const RECEIVED: Range<usize> = 4..12;
const SENT: Range<usize> = 12..20;

const _: () = assert!(SENT.end == ONE_WAY_LEAST_PAYLOAD.0 as usize);

/// Content of a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Reply {
    /// The lower 32 bits of the message's number.
    pub(super) number: u32,
    /// When the far side received the message, and when it sent the reply.
    pub(super) far: Option<(Nanos, Nanos)>,
}

/// The number of a trial's first message to come is below this. Those before it were lost: as many as can be out within a
/// timeout.
const FIRST: u32 = MOST_OUT as u32;

/// Puts the number in.
#[inline]
pub(super) fn put_number(message: &mut [u8], token: u32, number: u32) {
    message[NUMBER].copy_from_slice(&token.wrapping_add(number).to_be_bytes());
}

/// Whether this can be the first message of the trial that has this token, whose messages are `length` bytes long.
pub(super) fn begins(message: &[u8], token: u32, length: usize) -> bool {
    message.len() == length && read(message, token, false).number < FIRST
}

/// Puts the far side's stamps in.
pub(super) fn put_stamps(message: &mut [u8], received: Nanos, sent: Nanos) {
    message[RECEIVED].copy_from_slice(&received.0.to_be_bytes());
    message[SENT].copy_from_slice(&sent.0.to_be_bytes());
}

/// Reads a reply, which is as long as the messages are.
#[inline]
pub(super) fn read(message: &[u8], token: u32, with_stamps: bool) -> Reply {
    let time = |at: Range<usize>| Nanos(u64::from_be_bytes(part(message, at)));
    let number = u32::from_be_bytes(part(message, NUMBER)).wrapping_sub(token);
    Reply { number, far: with_stamps.then(|| (time(RECEIVED), time(SENT))) }
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
        for token in [0, 7, u32::MAX] {
            let mut message = [0; 20];
            put_number(&mut message, token, 0xfffe_0001);
            put_stamps(&mut message, Nanos(5), Nanos(u64::MAX));
            let far = Some((Nanos(5), Nanos(u64::MAX)));
            assert_eq!(read(&message, token, true), Reply { number: 0xfffe_0001, far });
            assert_eq!(read(&message[..4], token, false), Reply { number: 0xfffe_0001, far: None });
        }
    }

    #[test]
    fn a_trial_begins_with_its_own_messages() {
        let mut message = [0; 20];
        for (token, other) in [(0xffff_ffff, 0x8000_0000), (0x8000_0000, 0)] {
            for number in [0, 1, FIRST - 1] {
                put_number(&mut message, token, number);
                assert!(begins(&message, token, 20) && begins(&message[..4], token, 4), "{number}");
                assert!(!begins(&message, other, 20), "another trial's");
                assert!(!begins(&message[..19], token, 20) && !begins(&message, token, 4), "of another length");
            }
        }
        assert!(!begins(&[], 0, 20));
    }
}
