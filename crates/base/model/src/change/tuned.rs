//! Settings that tuning changes.

use std::collections::{BTreeMap, BTreeSet};

use derive_more::Display;
use serde::{Deserialize, Serialize};

use super::At;
use crate::choice::choice;

choice!(
    /// A number that a driver is set to (`ethtool -G`, `-L`, `-C` and `-A`).
    DriverNumber, "a number of a driver", {
        /// Descriptors of each receive ring.
        RingRx = "ring-rx",
        /// Descriptors of each transmit ring.
        RingTx = "ring-tx",
        /// Receive queues that have an interrupt of their own.
        ChannelsRx = "channels-rx",
        /// Transmit queues that have an interrupt of their own.
        ChannelsTx = "channels-tx",
        /// Queues for both directions.
        ChannelsCombined = "channels-combined",
        /// Longest time before an interrupt for received packets, in µs.
        RxUsecs = "rx-usecs",
        /// Most received packets before an interrupt.
        RxFrames = "rx-frames",
        /// Longest time before an interrupt for sent packets, in µs.
        TxUsecs = "tx-usecs",
        /// Most sent packets before an interrupt.
        TxFrames = "tx-frames",
        /// Whether the driver adapts the time for received packets: 0 or 1.
        AdaptiveRx = "adaptive-rx",
        /// Whether the driver adapts the time for sent packets: 0 or 1.
        AdaptiveTx = "adaptive-tx",
        /// Whether pause frames are negotiated: 0 or 1.
        PauseAutonegotiation = "pause-autoneg",
        /// Whether pause frames are obeyed: 0 or 1.
        PauseRx = "pause-rx",
        /// Whether pause frames are sent: 0 or 1.
        PauseTx = "pause-tx",
    }
);

impl DriverNumber {
    /// Whether it is a number of queues.
    pub fn is_of_channels(self) -> bool {
        matches!(self, Self::ChannelsCombined | Self::ChannelsRx | Self::ChannelsTx)
    }

    /// Structure of linux/ethtool.h, its index there behind the command, and that of the largest value that the driver takes.
    pub fn place(self) -> (&'static str, usize, Option<usize>) {
        match self {
            Self::RingRx => ("rings", 4, Some(0)),
            Self::RingTx => ("rings", 7, Some(3)),
            Self::ChannelsRx => ("channels", 4, Some(0)),
            Self::ChannelsTx => ("channels", 5, Some(1)),
            Self::ChannelsCombined => ("channels", 7, Some(3)),
            Self::RxUsecs => ("coalescing", 0, None),
            Self::RxFrames => ("coalescing", 1, None),
            Self::TxUsecs => ("coalescing", 4, None),
            Self::TxFrames => ("coalescing", 5, None),
            Self::AdaptiveRx => ("coalescing", 9, None),
            Self::AdaptiveTx => ("coalescing", 10, None),
            Self::PauseAutonegotiation => ("pause", 0, None),
            Self::PauseRx => ("pause", 1, None),
            Self::PauseTx => ("pause", 2, None),
        }
    }
}

/// A number of a driver.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Display)]
#[display("{} {number} = {value}", At(namespace, interface))]
pub struct DriverSetting {
    /// Namespace of the interface.
    pub namespace: String,
    /// The interface.
    pub interface: String,
    /// The number.
    pub number: DriverNumber,
    /// New value.
    pub value: u32,
}

/// An offload of an interface switched on or off.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Display)]
#[display("{} {feature} {}", At(namespace, interface), if *on { "on" } else { "off" })]
pub struct OffloadSwitch {
    /// Namespace of the interface.
    pub namespace: String,
    /// The interface.
    pub interface: String,
    /// Name, as the kernel has it (`ethtool -k` shows some under a shorter one).
    pub feature: String,
    /// Whether it is to be on.
    pub on: bool,
}

/// The queueing discipline of an interface that everything it sends goes through.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Display)]
#[display("{} qdisc = {kind}", At(namespace, interface))]
pub struct RootQdisc {
    /// Namespace of the interface.
    pub namespace: String,
    /// The interface.
    pub interface: String,
    /// Kind, with the kernel's defaults.
    pub kind: String,
}

/// A setting of the machine that is a file, or the same file for each core or interrupt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Display)]
#[display("{setting}{} = {value}", Many(files.len()))]
pub struct MachineSetting {
    /// Name for people.
    pub setting: String,
    /// New value for people.
    pub value: String,
    /// The files, each with its new value.
    pub files: BTreeMap<String, String>,
}

/// Interrupts that a running irqbalance leaves where they are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Display)]
#[display("irqbalance leaves interrupts {} alone", list(interrupts))]
pub struct BannedInterrupts {
    /// Their numbers.
    pub interrupts: BTreeSet<u32>,
}

/// Numbers in words.
fn list(numbers: &BTreeSet<u32>) -> String {
    numbers.iter().map(u32::to_string).collect::<Vec<_>>().join(", ")
}

/// A configuration file of ours that takes effect at the next boot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Display)]
#[display("file {path}")]
pub struct OwnFile {
    /// Path.
    pub path: String,
    /// All of it.
    pub text: String,
}

/// Number of files, in words, where there are several.
struct Many(usize);

impl std::fmt::Display for Many {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.0 == 1 { Ok(()) } else { write!(f, " ({} files)", self.0) }
    }
}
