//! Values of a header field: one value, or one for each flow.

use std::{fmt, net::IpAddr, str::FromStr};

use super::{
    Mac,
    words::{WordsError, as_words, keyed, number},
};

/// Values of a list at the most: it is written by hand, and engines hold it in a small table.
pub const LONGEST_LIST: usize = 256;

/// The values of one field: `10`, `10..19`, `10..100 step 10`, `10, 20, 50`, or `random 10..100 seed 7`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Values<T> {
    /// The same in all frames.
    One(T),
    /// From the first on, in steps, no further than the last.
    Range {
        /// The first value.
        first: T,
        /// No value is above this.
        last: T,
        /// From one value to the next.
        step: u32,
    },
    /// One after the other.
    List(Vec<T>),
    /// Any between these two, both included; the same for the same flow and seed.
    Random {
        /// The least.
        first: T,
        /// The greatest.
        last: T,
        /// Another seed gives other values.
        seed: u32,
    },
}

/// A field of a header that streams can vary.
pub trait Field: Copy + Ord + fmt::Display {
    /// Name of the field in messages.
    const WHAT: &'static str;
    /// Such values, for messages.
    const POSSIBLE: &'static str;

    /// Reads one value.
    fn read(text: &str) -> Option<Self>;

    /// The value as it stands in the header: 2, 4, 6 or 16 bytes.
    fn bytes(self) -> Vec<u8>;
}

impl Field for u16 {
    const WHAT: &'static str = "a port";
    const POSSIBLE: &'static str = "1 to 65535";

    fn read(text: &str) -> Option<Self> {
        text.parse().ok().filter(|port| *port > 0)
    }

    fn bytes(self) -> Vec<u8> {
        self.to_be_bytes().to_vec()
    }
}

impl Field for Mac {
    const WHAT: &'static str = "a MAC address";
    const POSSIBLE: &'static str = "six bytes like 02:00:00:00:00:01";

    fn read(text: &str) -> Option<Self> {
        text.parse().ok()
    }

    fn bytes(self) -> Vec<u8> {
        self.0.to_vec()
    }
}

impl Field for IpAddr {
    const WHAT: &'static str = "an IP address";
    const POSSIBLE: &'static str = "one like 198.18.0.1 or 2001:2::1";

    fn read(text: &str) -> Option<Self> {
        text.parse().ok()
    }

    fn bytes(self) -> Vec<u8> {
        match self {
            Self::V4(address) => address.octets().to_vec(),
            Self::V6(address) => address.octets().to_vec(),
        }
    }
}

impl<T: Field> Values<T> {
    /// The value of the first frame; of random ones the least.
    pub fn first(&self) -> T {
        match self {
            Self::One(value) => *value,
            Self::Range { first, .. } | Self::Random { first, .. } => *first,
            // A list is never empty: parsing sees to it.
            Self::List(values) => values[0],
        }
    }

    /// All values that are written down: the one, both ends, or the list.
    pub fn named(&self) -> Vec<T> {
        match self {
            Self::One(value) => vec![*value],
            Self::Range { first, last, .. } | Self::Random { first, last, .. } => vec![*first, *last],
            Self::List(values) => values.clone(),
        }
    }

    /// Number of values until it begins again; `None` for random ones, which do not.
    pub fn count(&self) -> Option<u64> {
        match self {
            Self::One(_) => Some(1),
            Self::Range { first, last, step } => Some(distance(*first, *last) / u64::from(*step) + 1),
            Self::List(values) => Some(values.len() as u64),
            Self::Random { .. } => None,
        }
    }
}

/// The last four bytes of a value, or both of a port, as a number: ranges differ in no others.
pub fn low_bytes<T: Field>(value: T) -> u32 {
    let bytes = value.bytes();
    bytes[bytes.len().saturating_sub(4)..].iter().fold(0, |number, byte| number << 8 | u32::from(*byte))
}

fn distance<T: Field>(first: T, last: T) -> u64 {
    u64::from(low_bytes(last)) - u64::from(low_bytes(first))
}

impl<T: Field> FromStr for Values<T> {
    type Err = WordsError;

    fn from_str(text: &str) -> Result<Self, WordsError> {
        let text = text.trim();
        if let Some(range) = text.strip_prefix("random ") {
            let (range, seed) = keyed(range, "seed");
            let (first, last) = ends(range)?;
            let seed = seed.map_or(Ok(0), |seed| number(seed, "a seed", "0 to 4294967295"))?;
            return Ok(Self::Random { first, last, seed });
        }
        if text.contains("..") {
            let (range, step) = keyed(text, "step");
            let (first, last) = ends(range)?;
            let step = step.map_or(Ok(1), |step| number(step, "a step", "1 to 4294967295"))?;
            if step == 0 {
                return Err(WordsError(format!("\"{text}\" never leaves its first value: use a step of 1 or more")));
            }
            return Ok(Self::Range { first, last, step });
        }
        let values: Vec<T> = text.split(',').map(one).collect::<Result<_, _>>()?;
        match values.as_slice() {
            [value] => Ok(Self::One(*value)),
            _ if values.len() > LONGEST_LIST => {
                Err(WordsError(format!("a list of {} values is too long: {LONGEST_LIST} at the most", values.len())))
            }
            _ => Ok(Self::List(values)),
        }
    }
}

fn one<T: Field>(text: &str) -> Result<T, WordsError> {
    let refused = || {
        let (what, possible) = (T::WHAT, T::POSSIBLE);
        let text = text.trim();
        WordsError(format!("\"{text}\" is not {what}: use {possible}, FIRST..LAST, A, B, C or random FIRST..LAST"))
    };
    T::read(text.trim()).ok_or_else(refused)
}

/// Both ends of "FIRST..LAST", which differ in their last four bytes alone.
fn ends<T: Field>(text: &str) -> Result<(T, T), WordsError> {
    let Some((first, last)) = text.split_once("..") else {
        return Err(WordsError(format!("\"{text}\" is not a range: write it FIRST..LAST")));
    };
    let (first, last): (T, T) = (one(first)?, one(last)?);
    let upper = |value: T| {
        let bytes = value.bytes();
        (bytes.len(), bytes[..bytes.len().saturating_sub(4)].to_vec())
    };
    if upper(first) != upper(last) {
        let why = "both ends have to be of one kind and the same but for their last four bytes";
        return Err(WordsError(format!("{first}..{last} cannot be counted through: {why}")));
    }
    if first > last {
        return Err(WordsError(format!("{first}..{last} runs backwards: write {last}..{first}")));
    }
    Ok((first, last))
}

impl<T: Field> fmt::Display for Values<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::One(value) => write!(f, "{value}"),
            Self::Range { first, last, step: 1 } => write!(f, "{first}..{last}"),
            Self::Range { first, last, step } => write!(f, "{first}..{last} step {step}"),
            Self::List(values) => f.write_str(&values.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")),
            Self::Random { first, last, seed } => write!(f, "random {first}..{last} seed {seed}"),
        }
    }
}

as_words!(Values<T: Field>);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read_back_as_they_are_written() {
        for text in ["10", "10..19", "10..100 step 10", "10, 20, 50", "random 10..100 seed 7"] {
            assert_eq!(text.parse::<Values<u16>>().map(|values| values.to_string()), Ok(text.to_owned()));
        }
        let counts = ["10", "10..19", "10..105 step 10", "10, 20, 50", "random 10..100"].map(|text| {
            let values: Values<u16> = text.parse().unwrap();
            values.count()
        });
        assert_eq!(counts, [Some(1), Some(10), Some(10), Some(3), None]);
        let addresses: Values<IpAddr> = "2001:2::1..2001:2::1:0".parse().unwrap();
        assert_eq!(addresses.count(), Some(0x1_0000));
    }

    #[test]
    fn what_cannot_be_counted_through_is_refused_with_what_can() {
        let port = |text: &str| text.parse::<Values<u16>>().unwrap_err().to_string();
        assert!(port("0").contains("use 1 to 65535, FIRST..LAST"), "{}", port("0"));
        assert!(port("9..1").contains("write 1..9"));
        assert!(port("1..9 step 0").contains("step of 1 or more"));
        assert!(port("random 5").contains("write it FIRST..LAST"));
        assert!(port("1,").contains("\"\" is not a port"));
        assert!(port(&["1"; 257].join(",")).contains("256 at the most"));
        let address = |text: &str| text.parse::<Values<IpAddr>>().unwrap_err().to_string();
        assert!(address("198.18.0.1..2001:2::1").contains("of one kind"));
        assert!(address("2001:2::1..2001:3::1").contains("last four bytes"));
    }
}
