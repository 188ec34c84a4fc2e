//! Units as types. Text is parsed into them once, at the edge; rates are decimal SI, sizes in bytes are binary (`iB`).

mod printed;

use std::{fmt, str::FromStr};

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

pub use self::printed::{Dimension, Percent, Printed};
use self::printed::{NONE, SHARE};

/// A span of time or a reading of one clock, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Nanos(pub u64);

/// A rate in bits per second (decimal: 1 Gbit/s is 10⁹ bit/s).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BitRate(pub u64);

/// A rate in packets (or messages) per second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PacketRate(pub u64);

/// A rate in transactions per second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TransactionRate(pub u64);

/// An amount of memory in bytes (binary: 1 KiB is 1024 bytes).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bytes(pub u64);

/// The largest IP packet an interface sends, in bytes, as `ip link` shows it (Ethernet header and FCS not counted).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Mtu(pub u32);

/// MTUs that an Ethernet interface of Linux can have: from the least that IPv4 allows (RFC 791) to the largest IP packet.
pub const ETHERNET_MTUS: std::ops::RangeInclusive<u32> = 68..=65_535;

/// Smallest MTU that IPv6 works with (RFC 8200, section 5).
pub const LEAST_IPV6_MTU: Mtu = Mtu(1280);

/// Text that should have been a quantity and is not.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnitError {
    /// There is no number in front of the unit.
    #[error("\"{text}\" does not start with a number; write it like \"{example}\"")]
    NoNumber {
        /// Text as written.
        text: String,
        /// A value that would be accepted.
        example: &'static str,
    },
    /// The unit is missing or not one of those accepted.
    #[error("\"{text}\" has {}; {}", unit_words(.unit), units_to_write(.text, .unit, .accepted, .example))]
    Unit {
        /// Text as written.
        text: String,
        /// The part after the number.
        unit: String,
        /// Units that are accepted.
        accepted: &'static str,
        /// A value that would be accepted.
        example: &'static str,
    },
    /// The number is too large to be meant.
    #[error("\"{text}\" is too large")]
    TooLarge {
        /// Text as written.
        text: String,
    },
}

/// The number with the only unit there is, or all units.
fn units_to_write(text: &str, unit: &str, accepted: &str, example: &str) -> String {
    if accepted.contains(',') {
        return format!("use one of {accepted}, for example \"{example}\"");
    }
    let number = text.strip_suffix(unit).unwrap_or(text).trim_end();
    format!("write it like \"{number} {accepted}\"")
}

fn unit_words(unit: &str) -> String {
    if unit.is_empty() { "no unit".to_owned() } else { format!("the unknown unit \"{unit}\"") }
}

/// Notation of a kind of quantity: its units with their size in the base unit, and an example.
struct Notation {
    units: &'static [(&'static str, u64)],
    accepted: &'static str,
    example: &'static str,
}

const TIME: Notation = Notation {
    units: &[
        ("ns", 1),
        ("us", 1_000),
        ("µs", 1_000),
        ("ms", 1_000_000),
        ("s", 1_000_000_000),
        ("min", 60_000_000_000),
        ("h", 3_600_000_000_000),
    ],
    accepted: "ns, us, ms, s, min, h",
    example: "10 s",
};

const RATE: Notation = Notation {
    units: &[
        ("bit/s", 1),
        ("kbit/s", 1_000),
        ("Mbit/s", 1_000_000),
        ("Gbit/s", 1_000_000_000),
        ("Tbit/s", 1_000_000_000_000),
    ],
    accepted: "bit/s, kbit/s, Mbit/s, Gbit/s, Tbit/s",
    example: "9.4 Gbit/s",
};

const PACKET_RATE: Notation = Notation {
    units: &[("pps", 1), ("kpps", 1_000), ("Mpps", 1_000_000)],
    accepted: "pps, kpps, Mpps",
    example: "100 kpps",
};

const TRANSACTION_RATE: Notation = Notation {
    units: &[("tps", 1), ("ktps", 1_000), ("Mtps", 1_000_000)],
    accepted: "tps, ktps, Mtps",
    example: "10 ktps",
};

const BYTES: Notation = Notation {
    units: &[("B", 1), ("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30)],
    accepted: "B, KiB, MiB, GiB",
    example: "4 MiB",
};

impl Notation {
    fn parse(&self, text: &str) -> Result<u64, UnitError> {
        Ok(self.number(text)?.round() as u64)
    }

    /// In the base unit, digits after the point kept.
    fn number(&self, text: &str) -> Result<f64, UnitError> {
        let (number, unit) = split(text);
        let number: f64 =
            number.parse().map_err(|_| UnitError::NoNumber { text: text.to_owned(), example: self.example })?;
        // Nothing is the same in each unit: whoever asks for it is told the least that there may be.
        if number == 0.0 && unit.is_empty() && !self.units.is_empty() {
            return Ok(number);
        }
        let Some((_, size)) = self.units.iter().find(|(name, _)| *name == unit) else {
            return Err(UnitError::Unit {
                text: text.to_owned(),
                unit: unit.to_owned(),
                accepted: self.accepted,
                example: self.example,
            });
        };
        let value = number * *size as f64;
        // Past 2^53 a float no longer counts single units; no time or rate meant by a person is that large.
        if value > 9.0e15 {
            return Err(UnitError::TooLarge { text: text.to_owned() });
        }
        Ok(value)
    }

    /// Writes the value in the largest unit that leaves at least 1 in front.
    fn show(&self, value: u64, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, size) =
            self.units.iter().rfind(|(name, size)| name.is_ascii() && *size <= value.max(1)).unwrap_or(&self.units[0]);
        write!(f, "{} {name}", value as f64 / *size as f64)
    }
}

/// The number and the unit after it.
fn split(text: &str) -> (&str, &str) {
    let trimmed = text.trim();
    let end = trimmed.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(trimmed.len());
    (&trimmed[..end], trimmed[end..].trim())
}

impl Nanos {
    /// Whole seconds as nanoseconds.
    pub const fn from_secs(secs: u64) -> Self {
        Self(secs * 1_000_000_000)
    }

    /// Milliseconds as nanoseconds.
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis * 1_000_000)
    }

    /// In seconds.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }
}

impl From<Nanos> for std::time::Duration {
    fn from(nanos: Nanos) -> Self {
        Self::from_nanos(nanos.0)
    }
}

impl FromStr for Nanos {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        TIME.parse(text).map(Self)
    }
}

impl fmt::Display for Nanos {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Hours and minutes read badly as fractions: stay in seconds from one second on. Zero is "0 s".
        let seconds = 1_000_000_000;
        let in_seconds = self.0 == 0 || self.0 >= seconds;
        if in_seconds { write!(f, "{} s", self.0 as f64 / seconds as f64) } else { TIME.show(self.0, f) }
    }
}

/// Quantities travel as text with their unit ("10 s"), so that no reader has to guess.
macro_rules! as_text {
    ($type:ty, $notation:ident, $pattern:literal) => {
        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserializer.deserialize_str(Written(&$notation))?.parse().map_err(de::Error::custom)
            }
        }

        impl JsonSchema for $type {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($type).into()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({ "type": "string", "pattern": $pattern })
            }
        }
    };
}

/// Reads the text of a quantity; of anything else it says how the quantity is written.
struct Written<'a>(&'a Notation);

impl de::Visitor<'_> for Written<'_> {
    type Value = String;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a number with its unit: write it like \"{}\"", self.0.example)
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<String, E> {
        Ok(text.to_owned())
    }
}

/// A quantity in the units of its notation.
macro_rules! quantity {
    ($type:ident, $notation:ident, $pattern:literal) => {
        impl FromStr for $type {
            type Err = UnitError;

            fn from_str(text: &str) -> Result<Self, UnitError> {
                $notation.parse(text).map(Self)
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                $notation.show(self.0, f)
            }
        }

        as_text!($type, $notation, $pattern);
    };
}

as_text!(Nanos, TIME, r"^[0-9.]+ *(ns|us|µs|ms|s|min|h)$");
quantity!(BitRate, RATE, r"^[0-9.]+ *[kMGT]?bit/s$");
quantity!(PacketRate, PACKET_RATE, r"^[0-9.]+ *[kM]?pps$");
quantity!(TransactionRate, TRANSACTION_RATE, r"^[0-9.]+ *[kM]?tps$");
quantity!(Bytes, BYTES, r"^[0-9.]+ *([KMG]i)?B$");
as_text!(Percent, SHARE, r"^[0-9.]+ *%$");
as_text!(Printed, NONE, r"^[0-9.]+ *[A-Za-zµ%/]+$");

/// A load, or the lowest and the highest one of a search, behind each other with two points between.
macro_rules! range {
    ($(#[$meta:meta])* $type:ident of $unit:ident, $notation:ident, $pattern:literal) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct $type {
            /// The lowest, where it is said.
            pub lowest: Option<$unit>,
            /// The highest, or the one.
            pub highest: $unit,
        }

        impl FromStr for $type {
            type Err = UnitError;

            fn from_str(text: &str) -> Result<Self, UnitError> {
                Ok(match text.split_once("..") {
                    Some((lowest, highest)) => Self { lowest: Some(lowest.parse()?), highest: highest.parse()? },
                    None => Self { lowest: None, highest: text.parse()? },
                })
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                if let Some(lowest) = self.lowest {
                    write!(f, "{lowest}..")?;
                }
                fmt::Display::fmt(&self.highest, f)
            }
        }

        as_text!($type, $notation, $pattern);
    };
}

range!(
    /// A bit rate, or the lowest and the highest one of a search: `1 Gbit/s`, `10 Mbit/s..1 Gbit/s`.
    BitRateRange of BitRate, RATE, r"^[0-9.]+ *[kMGT]?bit/s(\.\.[0-9.]+ *[kMGT]?bit/s)?$"
);
range!(
    /// A rate of transactions, or the lowest and the highest one of a search: `10 ktps`, `100 tps..10 ktps`.
    TransactionRateRange of TransactionRate, TRANSACTION_RATE, r"^[0-9.]+ *[kM]?tps(\.\.[0-9.]+ *[kM]?tps)?$"
);

#[cfg(test)]
mod tests;
