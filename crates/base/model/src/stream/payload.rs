//! The payload behind the tag.

use std::{fmt, str::FromStr};

use super::words::{WordsError, as_words, number};

/// Bytes of a pattern at the most.
const LONGEST_PATTERN: usize = 1024;

/// Content of the payload behind the tag: `zeros`, `ones`, `counting`, `random seed 7`, `hex 0badcafe`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Payload {
    /// All bits 0.
    #[default]
    Zeros,
    /// All bits 1.
    Ones,
    /// 0, 1, 2, … 255, 0, …
    Counting,
    /// Bytes that look like chance and cannot be compressed; the same for the same seed, and in all frames of the stream.
    Random(u32),
    /// These bytes again and again.
    Hex(Vec<u8>),
}

impl Payload {
    /// The first `length` bytes; a shorter payload is the beginning of a longer one.
    pub fn bytes(&self, length: usize) -> Vec<u8> {
        match self {
            Self::Zeros => vec![0; length],
            Self::Ones => vec![0xff; length],
            Self::Counting => (0..length).map(|position| position as u8).collect(),
            Self::Random(seed) => random(*seed).take(length).collect(),
            Self::Hex(pattern) => pattern.iter().copied().cycle().take(length).collect(),
        }
    }
}

/// The upper bytes of a linear congruential generator (Knuth's MMIX).
fn random(seed: u32) -> impl Iterator<Item = u8> {
    let next =
        |state: &u64| Some(state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407));
    std::iter::successors(next(&u64::from(seed)), next).map(|state| (state >> 56) as u8)
}

impl FromStr for Payload {
    type Err = WordsError;

    fn from_str(text: &str) -> Result<Self, WordsError> {
        let text = text.trim();
        if let Some(seed) = text.strip_prefix("random seed ") {
            return number(seed, "a seed", "0 to 4294967295").map(Self::Random);
        }
        if let Some(digits) = text.strip_prefix("hex ") {
            return hex(digits.trim()).map(Self::Hex);
        }
        match text {
            "zeros" => Ok(Self::Zeros),
            "ones" => Ok(Self::Ones),
            "counting" => Ok(Self::Counting),
            "random" => Ok(Self::Random(0)),
            _ => {
                let possible = "zeros, ones, counting, random, random seed N or hex DIGITS";
                Err(WordsError(format!("\"{text}\" is not a payload: use {possible}")))
            }
        }
    }
}

fn hex(digits: &str) -> Result<Vec<u8>, WordsError> {
    let refused =
        || WordsError(format!("\"{digits}\" are no bytes: use 1 to {LONGEST_PATTERN} of two hex digits each"));
    let all_hex = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    if !all_hex || digits.is_empty() || !digits.len().is_multiple_of(2) || digits.len() > 2 * LONGEST_PATTERN {
        return Err(refused());
    }
    let byte = |from: usize| u8::from_str_radix(&digits[from..from + 2], 16).map_err(|_| refused());
    (0..digits.len()).step_by(2).map(byte).collect()
}

impl fmt::Display for Payload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Zeros => f.write_str("zeros"),
            Self::Ones => f.write_str("ones"),
            Self::Counting => f.write_str("counting"),
            Self::Random(seed) => write!(f, "random seed {seed}"),
            Self::Hex(pattern) => {
                f.write_str("hex ")?;
                pattern.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
            }
        }
    }
}

as_words!(Payload);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_payload_is_read_back_as_it_is_written() {
        for text in ["zeros", "ones", "counting", "random seed 7", "hex 0badcafe"] {
            let payload: Payload = text.parse().unwrap();
            assert_eq!(payload.to_string(), text);
            assert!(payload.bytes(700).starts_with(&payload.bytes(31)), "{text}");
        }
        assert_eq!(Payload::Hex(vec![1, 2]).bytes(5), [1, 2, 1, 2, 1]);
        let error = |text: &str| text.parse::<Payload>().unwrap_err().to_string();
        assert!(error("noise").contains("use zeros, ones"));
        assert!(error("hex 0").contains("two hex digits"));
        assert!(error("hex äö").contains("two hex digits"));
    }

    #[test]
    fn random_bytes_are_spread_and_follow_the_seed() {
        let bytes = Payload::Random(1).bytes(65_536);
        let mut counts = [0_u32; 256];
        bytes.iter().for_each(|byte| counts[usize::from(*byte)] += 1);
        assert!(counts.iter().all(|count| (128..512).contains(count)), "{counts:?}");
        assert_ne!(bytes, Payload::Random(2).bytes(65_536));
    }
}
