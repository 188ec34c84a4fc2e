//! Content of each datagram: a label, its number, and a fixed pattern.
//!
//! | bytes | |
//! |---|---|
//! | 0 to 4 | token of the trial |
//! | 4 to 6 | flow |
//! | 6 to 8 | payload of the datagram |
//! | 8 to 16 | number within the flow, from 0 |
//! | 16 and on | the pattern |
//!
//! All numbers are big endian.

/// Bytes before the pattern.
pub(super) const LENGTH: usize = 16;

/// Bytes of the token.
const TOKEN: usize = 4;

/// Place at which the pattern is compared in each datagram: its last bytes, which are lost first.
const TAIL: usize = 8;

/// Each datagram whose number is a multiple of this is compared to the last byte.
const SAMPLED: u64 = 64;

/// Form of the datagrams of one flow.
pub(super) struct Label {
    first: [u8; 8],
    pattern: Vec<u8>,
}

/// Kind of a received datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Datagram {
    /// As it was sent.
    Whole(u64),
    /// Its number can be read, its pattern is another.
    Changed(u64),
    /// A datagram of the trial, but not of this flow.
    Strange,
    /// Not of the trial: anybody can send to the socket before it is connected.
    Foreign,
}

impl Label {
    pub(super) fn new(token: u32, flow: u16, size: usize) -> Self {
        let first = u64::from(token) << 32 | u64::from(flow) << 16 | size as u64;
        // A period that is no power of two, so that a shift by any common size shows.
        let pattern = (LENGTH..size).map(|at| (at % 251) as u8).collect();
        Self { first: first.to_be_bytes(), pattern }
    }

    /// Writes label and number, which is all that differs from one datagram to the next.
    pub(super) fn write(&self, number: u64, into: &mut [u8]) {
        into[..8].copy_from_slice(&self.first);
        into[8..LENGTH].copy_from_slice(&number.to_be_bytes());
    }

    /// Writes the pattern behind it.
    pub(super) fn write_pattern(&self, into: &mut [u8]) {
        into[LENGTH..].copy_from_slice(&self.pattern);
    }

    /// Looks at a datagram: at label and number always, at the pattern's end always, at all of it now and then.
    pub(super) fn read(&self, datagram: &[u8]) -> Datagram {
        if datagram.get(..TOKEN) != Some(&self.first[..TOKEN]) {
            return Datagram::Foreign;
        }
        let Some((head, pattern)) = datagram.split_first_chunk::<LENGTH>() else { return Datagram::Strange };
        let [a, b, c, d, e, f, g, h, number @ ..] = *head;
        if [a, b, c, d, e, f, g, h] != self.first {
            return Datagram::Strange;
        }
        let number = u64::from_be_bytes(number);
        let from = if is_compared(number) { 0 } else { self.pattern.len().saturating_sub(TAIL) };
        let whole = pattern.len() == self.pattern.len() && pattern[from..] == self.pattern[from..];
        if whole { Datagram::Whole(number) } else { Datagram::Changed(number) }
    }
}

/// Whether this datagram is compared to the last byte.
pub(super) fn is_compared(number: u64) -> bool {
    number.is_multiple_of(SAMPLED)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn datagram(label: &Label, number: u64, size: usize) -> Vec<u8> {
        let mut bytes = vec![0; size];
        label.write_pattern(&mut bytes);
        label.write(number, &mut bytes);
        bytes
    }

    #[test]
    fn a_datagram_is_read_as_it_was_written() {
        for size in [16, 17, 24, 100, 1472] {
            let label = Label::new(7, 3, size);
            for number in [0, 1, 64, u64::MAX] {
                assert_eq!(label.read(&datagram(&label, number, size)), Datagram::Whole(number));
            }
        }
    }

    #[test]
    fn what_was_changed_is_seen() {
        let label = Label::new(7, 3, 100);
        let changed = |number, at: usize| {
            let mut bytes = datagram(&label, number, 100);
            bytes[at] ^= 1;
            label.read(&bytes)
        };
        assert_eq!(changed(1, 99), Datagram::Changed(1));
        assert_eq!(changed(64, 16), Datagram::Changed(64));
        assert_eq!(changed(64, 4), Datagram::Strange);
        assert_eq!(changed(64, 0), Datagram::Foreign);
        assert_eq!(label.read(&datagram(&label, 5, 100)[..99]), Datagram::Changed(5));
        assert_eq!(label.read(&datagram(&label, 5, 100)[..10]), Datagram::Strange);
        assert_eq!(label.read(&datagram(&Label::new(7, 4, 100), 5, 100)), Datagram::Strange);
        assert_eq!(label.read(&datagram(&Label::new(8, 3, 100), 5, 100)), Datagram::Foreign);
        assert_eq!(label.read(&[]), Datagram::Foreign);
    }
}
