//! A run beside published or imported figures.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{FigureMetric, Reference, ReferenceFigure, Statistic};
use crate::{
    choice::choice,
    figure::{Interval, Metric},
    frame_size::{FrameSize, PayloadSize},
    network::{IpVersion, Protocol},
    probe::ProbeSpec,
    units::PacketRate,
};

/// A run beside one reference.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReferenceComparison {
    /// The reference.
    pub reference: Reference,
    /// Each pair that can stand side by side, by configuration.
    pub rows: Vec<Compared>,
    /// Why the reference's other figures stand beside nothing.
    pub not_compared: Vec<NotCompared>,
}

/// One of our figures beside one of theirs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Compared {
    /// Our configuration.
    pub spec: ProbeSpec,
    /// Size of our frames as they were sent, with FCS; null for bulk data.
    pub frame_size: Option<FrameSize>,
    /// The figure.
    pub metric: Metric,
    /// Ours.
    pub ours: OurFigure,
    /// Theirs, with the conditions that hold for it.
    pub theirs: ReferenceFigure,
    /// By how much ours is above theirs, in percent of theirs.
    pub deviation_percent: f64,
    /// Whether the conditions match.
    #[serde(flatten)]
    pub matches: Match,
}

/// Our figure over the trials, counted as theirs: halved where half of an RTT was published. In nanoseconds or bit/s.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OurFigure {
    /// Median over the trials.
    pub median: f64,
    /// Lowest trial.
    pub low: f64,
    /// Highest trial.
    pub high: f64,
    /// Number of trials.
    pub trials: u32,
    /// Interval of the median, where there are enough trials.
    pub interval: Option<Interval>,
}

/// Figures of a reference that stand beside none of ours, for one reason.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NotCompared {
    /// Why.
    #[serde(flatten)]
    pub why: NotComparable,
    /// Number of figures.
    pub figures: u32,
}

/// Basis of a limit from a reference.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Against {
    /// Name of the reference.
    pub reference: String,
    /// The figure taken, with the conditions that hold for it; where it is of hardware and ours is simulated, the one that would be. Null
    /// where there is none.
    pub figure: Option<ReferenceFigure>,
    /// Relation to our configuration.
    #[serde(flatten)]
    pub matches: Match,
}

/// Relation of the conditions of two figures.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "match", rename_all = "kebab-case")]
pub enum Match {
    /// All conditions that the reference states hold for ours.
    Comparable,
    /// The same quantity under other conditions.
    Differs {
        /// Differences.
        conditions: Vec<Difference>,
    },
    /// Another quantity, or another world.
    NotComparable {
        /// Which.
        #[serde(flatten)]
        why: NotComparable,
    },
}

/// One condition that is not the same.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Difference {
    /// Which.
    pub condition: Condition,
    /// Ours; null where it is not known or was left to the kernel.
    pub ours: Option<String>,
    /// Theirs.
    pub theirs: String,
}

/// The value of [`Condition::Direction`] where a source does not say which way.
pub const ONE_WAY: &str = "one way";

/// The value of [`Condition::Modifier`] where there is none.
pub const UNMODIFIED: &str = "none";

/// The value of [`Condition::Offered`] where no rate is asked for.
pub const FLAT_OUT: &str = "flat out";

choice!(
    /// Conditions that figures of the same quantity can differ in.
    Condition, "a condition", {
        /// Whether real wires and cards are involved.
        Simulated = "simulated",
        /// Condition of RFC 2544, section 11.
        Modifier = "modifier",
        /// Network stack.
        Stack = "stack",
        /// Bytes in each message.
        PayloadSize = "payload_size",
        /// MTU of the interfaces.
        Mtu = "mtu",
        /// Rate of the link.
        LinkRate = "link_rate",
        /// Way in which the program waits.
        Mode = "mode",
        /// Direction of the data.
        Direction = "direction",
        /// Connections or flows.
        Streams = "streams",
        /// Time that counts.
        Duration = "duration",
        /// Size of the socket buffers.
        Window = "window",
        /// Payload offered.
        Offered = "offered",
    }
);

/// Why two figures cannot stand side by side; the nearest miss first.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "why", rename_all = "kebab-case")]
pub enum NotComparable {
    /// Another figure of the reference fits better.
    BetterFigure,
    /// No trial has this statistic, or it is not known for all of them.
    Unknown {
        /// The statistic.
        statistic: Statistic,
    },
    /// The reference has another statistic of the same quantity.
    Statistic {
        /// Theirs.
        theirs: Statistic,
    },
    /// Other frames.
    FrameSize {
        /// Theirs.
        theirs: FrameSize,
    },
    /// Other messages, where the reference says no frame size.
    PayloadSize {
        /// Theirs.
        theirs: PayloadSize,
    },
    /// The reference says neither frame nor message size, and a round trip is nothing without.
    SizeNotStated,
    /// Ping-pong against a load by a schedule, or another rate of it.
    Load {
        /// Theirs; null for ping-pong.
        theirs: Option<PacketRate>,
    },
    /// Another IP version.
    Ip {
        /// Theirs.
        theirs: IpVersion,
    },
    /// Another transport protocol.
    Protocol {
        /// Theirs.
        theirs: Protocol,
    },
    /// A file was moved by another program.
    Tool {
        /// Theirs.
        theirs: String,
    },
    /// Nothing of the kind was measured.
    Metric {
        /// Theirs.
        theirs: FigureMetric,
    },
    /// The source counts each packet as sent and as received.
    TxAndRx,
    /// Ours is simulated, theirs is hardware.
    Simulated,
    /// Ours is hardware, theirs is simulated.
    Hardware,
    /// The source's packets never left the host.
    InsideHost,
    /// Nothing was measured.
    NothingMeasured,
    /// There is no reference of that name.
    NoReference,
}
