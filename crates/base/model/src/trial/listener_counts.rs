//! Counts of a receiver whose sender cannot be asked.

use crate::Total;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::TimeSummary;

/// Received packets, by numbered sequence.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ListenerCounts {
    /// Sequences of which packets arrived, in the order of their numbers.
    pub sequences: Vec<SequenceCounts>,
    /// Frames that were not numbered, or carried another token.
    pub others: u64,
}

/// Received packets of one numbered sequence: a stream from one core.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SequenceCounts {
    /// Number in the tag.
    pub number: u16,
    /// Different frames.
    pub received: u64,
    /// Numbers below the highest received one whose packet did not arrive, or not intact. Packets after the highest number are
    /// unknown here.
    pub lost: u64,
    /// Copies of frames that had come before (RFC 5560).
    pub duplicated: u64,
    /// Frames with a smaller number than one that came before (RFC 4737).
    pub reordered: u64,
    /// Frames so late that nobody knows whether they had come before.
    pub late: u64,
    /// Frames with a wrong checksum or length.
    pub corrupt: u64,
    /// Time from leaving to arriving, in nanoseconds; null unless both sides have one clock.
    pub latency_ns: Option<TimeSummary>,
    /// Cores that received it.
    pub cpus: Vec<usize>,
}

impl ListenerCounts {
    /// A count of all sequences.
    pub fn sum(&self, count: impl Fn(&SequenceCounts) -> u64) -> u64 {
        self.sequences.iter().map(count).total()
    }
}
