//! Values as somebody printed them, of whatever kind they are.

use std::str::FromStr;

use derive_more::Display;

use super::{Notation, PACKET_RATE, RATE, TIME, UnitError, split};

/// A share in percent ("20 %").
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd, Display)]
#[display("{_0} %")]
pub struct Percent(pub f64);

/// Kind of quantity of a printed value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dimension {
    /// Nanoseconds.
    Time,
    /// Bits per second.
    BitRate,
    /// Packets per second.
    PacketRate,
    /// Bytes per second.
    ByteRate,
    /// Percent.
    Share,
}

/// A value as it was printed, with all its digits, and the same in the base unit of its dimension.
#[derive(Clone, Debug, PartialEq, Display)]
#[display("{text}")]
pub struct Printed {
    text: String,
    amount: f64,
    dimension: Dimension,
}

const BYTE_RATE: Notation = Notation {
    units: &[("B/s", 1), ("KiB/s", 1 << 10), ("MiB/s", 1 << 20), ("GiB/s", 1 << 30)],
    accepted: "B/s, KiB/s, MiB/s, GiB/s",
    example: "95.3 MiB/s",
};

pub(super) const SHARE: Notation = Notation { units: &[("%", 1)], accepted: "%", example: "20 %" };

const NOTATIONS: [(Dimension, &Notation); 5] = [
    (Dimension::Time, &TIME),
    (Dimension::BitRate, &RATE),
    (Dimension::PacketRate, &PACKET_RATE),
    (Dimension::ByteRate, &BYTE_RATE),
    (Dimension::Share, &SHARE),
];

/// A value in none of them: refuses with all units there are.
pub(super) const NONE: Notation =
    Notation { units: &[], accepted: "us, Gbit/s, Mpps, MiB/s, % and the like", example: "9.4 Gbit/s" };

impl Printed {
    /// In the base unit of its dimension, digits after the point kept.
    pub fn amount(&self) -> f64 {
        self.amount
    }

    /// Kind of quantity.
    pub fn dimension(&self) -> Dimension {
        self.dimension
    }
}

impl Dimension {
    /// A unit of it, for messages.
    pub fn example(self) -> &'static str {
        NOTATIONS.iter().find(|(dimension, _)| *dimension == self).map_or("", |(_, notation)| notation.example)
    }
}

impl FromStr for Printed {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        let (_, unit) = split(text);
        let has_unit = |notation: &Notation| notation.units.iter().any(|(name, _)| *name == unit);
        let known = NOTATIONS.iter().find(|(_, notation)| has_unit(notation));
        let (dimension, notation) = known.unwrap_or(&(Dimension::Time, &NONE));
        Ok(Self { text: text.trim().to_owned(), amount: notation.number(text)?, dimension: *dimension })
    }
}

impl FromStr for Percent {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        SHARE.number(text).map(Self)
    }
}
