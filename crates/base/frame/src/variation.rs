//! Fields of the headers that differ with the flow.
//!
//! Everything that varies is cut into values of 2 or 4 bytes, which a BPF program computes as cheaply as this does: a position, then
//! a step, a hash or a table. All of them begin at an even distance from the IP header, so that a value adds its 16-bit words to the checksum.

use model::stream::{Field, Values, low_bytes};

/// One value of 2 or 4 bytes that differs with the flow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variation {
    /// Offset from the beginning of the frame, in bytes.
    pub offset: usize,
    /// Whether it has 4 bytes; else 2.
    pub four: bool,
    /// It turns once when the flow has gone this far: the position is `flow / divisor mod count`.
    pub divisor: u32,
    /// Positions until it begins again, at least 1.
    pub count: u32,
    /// The value at each position.
    pub values: Sequence,
    /// Whether it counts for the checksum of the IPv4 header.
    pub in_ip_checksum: bool,
    /// Whether it counts for the checksum of UDP or TCP.
    pub in_transport_checksum: bool,
}

/// A value for each position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sequence {
    /// `first + step × position`.
    Step {
        /// At position 0.
        first: u32,
        /// From one position to the next.
        step: u32,
    },
    /// `first + (hash(position) × span) >> 32`, with [`hash`].
    Hash {
        /// Constant that positions are mixed with.
        seed: u32,
        /// The least value.
        first: u32,
        /// Number of values, 1 to 2³².
        span: u64,
    },
    /// `table[position]`.
    Table(Vec<u32>),
}

/// Spreads a position over 32 bits, each to another number (the finaliser of MurmurHash3).
pub fn hash(seed: u32, position: u32) -> u32 {
    let mut x = position ^ seed;
    x = (x ^ x >> 16).wrapping_mul(0x85eb_ca6b);
    x = (x ^ x >> 13).wrapping_mul(0xc2b2_ae35);
    x ^ x >> 16
}

impl Variation {
    /// The value for this flow.
    pub fn value(&self, flow: u32) -> u32 {
        let position = flow / self.divisor % self.count;
        match &self.values {
            Sequence::Step { first, step } => first.wrapping_add(step.wrapping_mul(position)),
            Sequence::Hash { seed, first, span } => {
                first.wrapping_add(((u64::from(hash(*seed, position)) * span) >> 32) as u32)
            }
            Sequence::Table(values) => values[position as usize],
        }
    }

    /// Writes the value into the frame.
    pub(crate) fn put(&self, frame: &mut [u8], value: u32) {
        if self.four {
            frame[self.offset..self.offset + 4].copy_from_slice(&value.to_be_bytes());
        } else {
            frame[self.offset..self.offset + 2].copy_from_slice(&(value as u16).to_be_bytes());
        }
    }
}

/// Collects the variations of a stream, field after field, the one that turns fastest first.
pub(crate) struct VariationBuilder {
    flows: u32,
    divisor: u64,
    seed: u32,
    /// Collected bytes.
    pub(crate) variations: Vec<Variation>,
}

/// A field's place in the frame, and the checksums it counts for.
#[derive(Clone, Copy)]
pub(crate) struct FieldPlace {
    pub(crate) offset: usize,
    pub(crate) in_ip_checksum: bool,
    pub(crate) in_transport_checksum: bool,
}

impl VariationBuilder {
    pub(crate) fn new(flows: u32) -> Self {
        Self { flows, divisor: 1, seed: 0, variations: Vec::new() }
    }

    /// Adds a field that stands at this spot.
    pub(crate) fn add<T: Field>(&mut self, values: &Values<T>, spot: FieldPlace) {
        // Fields with one seed shall not draw the same positions.
        self.seed = self.seed.wrapping_add(0x9e37_79b9);
        let end = spot.offset + values.first().bytes().len();
        let last = end - values.first().bytes().len().min(4);
        match values {
            Values::One(_) => {}
            Values::Range { first, step, .. } => {
                self.turn(values, last, spot, Sequence::Step { first: low_bytes(*first), step: *step })
            }
            Values::Random { first, last: greatest, seed } => {
                let first = low_bytes(*first);
                let span = u64::from(low_bytes(*greatest) - first) + 1;
                let values = Sequence::Hash { seed: seed.wrapping_add(self.seed), first, span };
                let variation = self.variation(last, end - last == 4, spot, values);
                self.variations.push(Variation { divisor: 1, count: self.flows, ..variation });
            }
            Values::List(list) => self.list(list, spot),
        }
        self.divisor = self.divisor.saturating_mul(values.count().unwrap_or(1));
    }

    /// A list in pieces of 4 and 2 bytes, but for those that are the same in all values.
    fn list<T: Field>(&mut self, list: &[T], spot: FieldPlace) {
        let rows: Vec<Vec<u8>> = list.iter().map(|value| value.bytes()).collect();
        let mut from = 0;
        while from < rows[0].len() {
            let width = (rows[0].len() - from).min(4);
            let piece = |row: &Vec<u8>| row[from..from + width].iter().fold(0, |n, byte| n << 8 | u32::from(*byte));
            let table: Vec<u32> = rows.iter().map(piece).collect();
            if table.iter().any(|value| *value != table[0]) {
                let count = table.len() as u64;
                let variation = self.variation(spot.offset + from, width == 4, spot, Sequence::Table(table));
                self.push(count, variation);
            }
            from += width;
        }
    }

    fn turn<T: Field>(&mut self, values: &Values<T>, offset: usize, spot: FieldPlace, sequence: Sequence) {
        let four = values.first().bytes().len() >= 4;
        let variation = self.variation(offset, four, spot, sequence);
        self.push(values.count().unwrap_or(1), variation);
    }

    /// A wheel that never turns within the flows is none: its first value stands in the frame already.
    fn push(&mut self, count: u64, variation: Variation) {
        if self.divisor < u64::from(self.flows) {
            let (divisor, count) = (self.divisor as u32, count.min(u64::from(self.flows)) as u32);
            self.variations.push(Variation { divisor, count, ..variation });
        }
    }

    fn variation(&self, offset: usize, four: bool, spot: FieldPlace, values: Sequence) -> Variation {
        let FieldPlace { in_ip_checksum, in_transport_checksum, .. } = spot;
        Variation { offset, four, divisor: 1, count: 1, values, in_ip_checksum, in_transport_checksum }
    }
}
