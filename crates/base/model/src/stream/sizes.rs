//! Sizes of a stream's frames.

use std::{fmt, str::FromStr};

use super::words::{WordsError, as_words, keyed, number};
use crate::frame_size::{FrameSize, MIN_FRAME};

/// The largest frame that can be asked for: the largest IP packet, with Ethernet header, two VLAN tags and FCS.
pub const LARGEST_FRAME: FrameSize = FrameSize(65_535 + 14 + 8 + 4);

/// Sizes in a list or a genome at the most.
const MOST_SIZES: usize = 4096;

/// The sizes of a stream's frames, one frame after the other: `64`, `64, 128, 1518`, `imix`, `genome aaafg`,
/// `64..1518 step 2`. Each counts the FCS.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sizes {
    /// One size, or several in turn.
    List(Vec<FrameSize>),
    /// The simple Internet mix: of twelve frames seven of 64 bytes, four of 594 and one of 1518.
    Imix,
    /// A mix by the letters of RFC 6985, section 4: a = 64, b = 128, c = 256, d = 512, e = 1024, f = 1280, g = 1518, h = 2112,
    /// i = 9000, j = 16000, z = the largest that the MTU lets through.
    Genome(String),
    /// From the smallest on, in steps, no further than the largest.
    Sweep {
        /// The smallest.
        first: FrameSize,
        /// No frame is larger.
        last: FrameSize,
        /// From one size to the next, in bytes.
        step: u32,
    },
}

/// In an order that spreads the sizes, so that a short burst is a mix already.
const SIMPLE_IMIX: [u32; 12] = [64, 594, 64, 64, 594, 64, 1518, 64, 594, 64, 594, 64];

const GENES: [(char, u32); 10] = [
    ('a', 64),
    ('b', 128),
    ('c', 256),
    ('d', 512),
    ('e', 1024),
    ('f', 1280),
    ('g', 1518),
    ('h', 2112),
    ('i', 9000),
    ('j', 16000),
];

impl Sizes {
    /// The sizes of frames in order, until they begin again; `largest` is what the MTU lets through (`z` of a genome).
    pub fn cycle(&self, largest: FrameSize) -> Vec<FrameSize> {
        match self {
            Self::List(sizes) => sizes.clone(),
            Self::Imix => SIMPLE_IMIX.map(FrameSize).to_vec(),
            Self::Genome(letters) => letters.chars().map(|letter| gene(letter).unwrap_or(largest)).collect(),
            Self::Sweep { first, last, step } => {
                (first.0..=last.0).step_by((*step).max(1) as usize).map(FrameSize).collect()
            }
        }
    }
}

impl Sizes {
    /// As a reader is told of them: with their unit, where they are numbers.
    pub fn words(&self) -> String {
        match self {
            Self::List(_) | Self::Sweep { .. } => format!("{self} B"),
            Self::Imix => "IMIX".to_owned(),
            Self::Genome(_) => self.to_string(),
        }
    }
}

fn gene(letter: char) -> Option<FrameSize> {
    GENES.iter().find(|(name, _)| *name == letter).map(|(_, size)| FrameSize(*size))
}

impl FromStr for Sizes {
    type Err = WordsError;

    fn from_str(text: &str) -> Result<Self, WordsError> {
        let text = text.trim();
        if text == "imix" {
            return Ok(Self::Imix);
        }
        if let Some(letters) = text.strip_prefix("genome ") {
            return genome(letters.trim());
        }
        if text.contains("..") {
            return sweep(text);
        }
        let sizes: Vec<FrameSize> = text.split(',').map(size).collect::<Result<_, _>>()?;
        not_too_many(sizes.len())?;
        Ok(Self::List(sizes))
    }
}

fn genome(letters: &str) -> Result<Sizes, WordsError> {
    not_too_many(letters.len())?;
    match letters.chars().find(|letter| gene(*letter).is_none() && *letter != 'z') {
        Some(letter) => {
            let known = "a to j (64, 128, 256, 512, 1024, 1280, 1518, 2112, 9000, 16000) and z (the MTU)";
            Err(WordsError(format!("\"{letter}\" is no size of a genome (RFC 6985): use {known}")))
        }
        None if letters.is_empty() => {
            Err(WordsError("a genome has a letter at least, like \"genome aaafg\"".to_owned()))
        }
        None => Ok(Sizes::Genome(letters.to_owned())),
    }
}

fn sweep(text: &str) -> Result<Sizes, WordsError> {
    let (range, step) = keyed(text, "step");
    let (first, last) = range.split_once("..").unwrap_or((range, range));
    let (first, last) = (size(first)?, size(last)?);
    let step: u32 = step.map_or(Ok(1), |step| number(step, "a step", "a number of bytes"))?;
    if first > last || step == 0 {
        let why = "a sweep goes up, in steps of 1 byte or more, like \"64..1518 step 2\"";
        return Err(WordsError(format!("\"{text}\" cannot be gone through: {why}")));
    }
    Ok(Sizes::Sweep { first, last, step })
}

fn size(text: &str) -> Result<FrameSize, WordsError> {
    let possible = "a number of bytes with FCS, a list, \"64..1518 step 2\", \"imix\" or \"genome aaafg\"";
    let size = FrameSize(number(text, "a frame size", possible)?);
    if size < MIN_FRAME || size > LARGEST_FRAME {
        let (least, most) = (MIN_FRAME.0, LARGEST_FRAME.0);
        return Err(WordsError(format!("there is no frame of {} bytes: use {least} to {most} (with FCS)", size.0)));
    }
    Ok(size)
}

fn not_too_many(sizes: usize) -> Result<(), WordsError> {
    if sizes > MOST_SIZES {
        return Err(WordsError(format!("{sizes} sizes are too many: {MOST_SIZES} at the most")));
    }
    Ok(())
}

impl fmt::Display for Sizes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::List(sizes) => {
                f.write_str(&sizes.iter().map(|size| size.0.to_string()).collect::<Vec<_>>().join(", "))
            }
            Self::Imix => f.write_str("imix"),
            Self::Genome(letters) => write!(f, "genome {letters}"),
            Self::Sweep { first, last, step: 1 } => write!(f, "{}..{}", first.0, last.0),
            Self::Sweep { first, last, step } => write!(f, "{}..{} step {step}", first.0, last.0),
        }
    }
}

as_words!(Sizes);

#[cfg(test)]
mod tests {
    use super::*;

    fn cycle(text: &str) -> Vec<u32> {
        let sizes: Sizes = text.parse().unwrap();
        assert_eq!(sizes.to_string(), text);
        sizes.cycle(FrameSize(1518)).iter().map(|size| size.0).collect()
    }

    #[test]
    fn sizes_come_in_the_order_they_are_written_in() {
        assert_eq!(cycle("64"), [64]);
        assert_eq!(cycle("64, 1518, 128"), [64, 1518, 128]);
        assert_eq!(cycle("genome abz"), [64, 128, 1518]);
        assert_eq!(cycle("64..70 step 4"), [64, 68]);
        assert_eq!(cycle("64..66"), [64, 65, 66]);
    }

    #[test]
    fn the_simple_mix_has_seven_four_and_one() {
        let sizes = cycle("imix");
        let of = |size: u32| sizes.iter().filter(|other| **other == size).count();
        assert_eq!([of(64), of(594), of(1518)], [7, 4, 1]);
    }

    #[test]
    fn sizes_that_cannot_be_say_which_can() {
        let error = |text: &str| text.parse::<Sizes>().unwrap_err().to_string();
        assert!(error("63").contains("use 64 to 65561"), "{}", error("63"));
        assert!(error("big").contains("\"big\" is not a frame size: use a number of bytes"));
        assert!(error("genome abk").contains("\"k\" is no size of a genome"));
        assert!(error("genome  ").contains("frame size"), "{}", error("genome  "));
        assert!(error("1518..64").contains("goes up"));
        assert!(error("64..1518 step 0").contains("1 byte or more"));
    }
}
