//! A reading of an interface at one moment.

use std::sync::Arc;

use model::Nanos;

/// One interface at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkReading {
    /// When it was read, by `CLOCK_MONOTONIC`.
    pub at: Nanos,
    /// Name of its network namespace; empty for the reader's own.
    pub namespace: String,
    /// Name.
    pub name: String,
    /// Identity of the interface among those of this name.
    pub incarnation: Incarnation,
    /// Kind and state.
    pub state: LinkState,
    /// Received and sent since it came to be.
    pub ways: [DirectionCounts; 2],
    /// Driver's counters beside that.
    pub driver: DriverReading,
}

/// Tells an interface from a later one of the same name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Incarnation {
    /// Identity of its namespace.
    pub namespace: u64,
    /// Number there (ifindex).
    pub index: u32,
}

/// Kind and state of an interface.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LinkState {
    /// Kind, as `ip -d link` names it (veth, bridge, vlan, …); empty for a plain card.
    pub kind: String,
    /// Whether it is set up (administratively).
    pub up: bool,
    /// Operational state (RFC 2863), in lower case: `up`, `down`, `lowerlayerdown`, `unknown`, …
    pub operstate: String,
    /// Speed of its line in bit/s, where there is a line and its driver knows.
    pub line_bps: Option<u64>,
    /// MTU in bytes.
    pub mtu: u32,
    /// Whether it is the loopback interface.
    pub loopback: bool,
}

/// Counts of one way of an interface; index 0 of a pair is received, index 1 sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DirectionCounts {
    /// Bytes of frames, without FCS.
    pub bytes: u64,
    /// Packets, as the driver counts them.
    pub packets: u64,
    /// Packets that there was no room for; of those received also what the card missed.
    pub dropped: u64,
    /// Packets that were bad, or could not be sent.
    pub errors: u64,
}

/// A driver's own counters (`ethtool -S`), in its order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DriverReading {
    /// Their names; the same list as long as they stay the same.
    pub names: Arc<[String]>,
    /// A value for each name.
    pub values: Vec<u64>,
}

impl LinkState {
    /// Whether packets can pass: set up, and not known to lack a carrier.
    pub fn passes(&self) -> bool {
        self.up && matches!(self.operstate.as_str(), "up" | "unknown" | "")
    }
}
