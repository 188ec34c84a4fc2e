//! What to measure: one probe's full description, the same in plans, messages, trials and reports.

mod goodput;
mod latency;
mod packets;
mod path;

use std::{fmt, net::IpAddr, net::SocketAddr, str::FromStr};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use goodput::{Batch, Direction, GoodputSpec, ReceiveWay, SendWay};
pub use latency::{Amount, LATENCY_LEAST_PAYLOAD, LatencySpec, MOST_OUT, ONE_WAY_LEAST_PAYLOAD, WaitMode};
pub use packets::{Engine, PacketsSpec};
pub use path::{LARGEST_PATH_MTU, PathSpec};

use crate::{
    choice::{ChoiceError, choice},
    units::{Mtu, Nanos, PacketRate},
};

/// Transport protocol under a probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Protocol {
    /// User Datagram Protocol.
    Udp,
    /// Transmission Control Protocol.
    Tcp,
}

/// Whose network stack carries the packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Stack {
    /// The kernel's.
    #[default]
    Kernel,
    /// One in the program, past the kernel (AF_XDP).
    Bypass,
}

choice!(Stack, "a network stack", { Kernel = "kernel", Bypass = "bypass" });

/// IP version, written 4 or 6.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "u8", into = "u8")]
#[schemars(with = "u8", extend("enum" = [4, 6]))]
pub enum IpVersion {
    /// IPv4.
    V4,
    /// IPv6.
    V6,
}

/// One probe with all its parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "probe", rename_all = "lowercase")]
pub enum ProbeSpec {
    /// Round-trip time.
    Latency(LatencySpec),
    /// Goodput of bulk data.
    Goodput(GoodputSpec),
    /// Largest packet that passes, each way.
    Path(PathSpec),
    /// Numbered packets at a rate.
    Packets(PacketsSpec),
}

/// Messages or datagrams a second that a schedule can have. Ten nanoseconds between two of them are less than a clock takes
/// to be read.
pub const FASTEST: PacketRate = PacketRate(100_000_000);

/// How long the tester is measured alone.
const SELF_TEST: Nanos = Nanos::from_secs(1);
const SELF_TEST_WARMUP: Nanos = Nanos::from_millis(200);

/// Which side of a probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Side {
    /// The one that connects, and decides when the probe is over: the client.
    Near,
    /// The one that listens: the server.
    Far,
}

/// Where one side of a probe sits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seat {
    /// Name of the endpoint.
    pub endpoint: String,
    /// Its address, of the probe's IP version.
    pub local: IpAddr,
    /// Where the far side listens; `None` for the far side itself.
    pub peer: Option<SocketAddr>,
    /// Its interface.
    pub interface: String,
    /// MTU of the interface.
    pub mtu: Mtu,
    /// Cores for its threads, the first for the one that matters most; empty where it is not pinned.
    pub cpus: Vec<usize>,
    /// How many cores the other side has for its threads; 0 where it is not pinned.
    #[serde(default)]
    pub peer_cpus: usize,
    /// Whether both sides' stamps come from one clock, so that they may be subtracted.
    pub same_clock: bool,
    /// Drawn for each trial, the same at both sides: by it a side tells the other from a stranger.
    pub token: u32,
    /// Which of the trial's senders it is, or has as its counterpart, from 0.
    #[serde(default)]
    pub sender: usize,
    /// How many senders the trial has.
    #[serde(default)]
    pub senders: usize,
}

impl ProbeSpec {
    /// IP version of its traffic.
    pub fn ip(&self) -> IpVersion {
        match self {
            Self::Latency(spec) => spec.ip,
            Self::Goodput(spec) => spec.ip,
            Self::Path(spec) => spec.ip,
            Self::Packets(spec) => spec.ip(),
        }
    }

    /// The MTU that the bed is set to for it; `None` leaves the bed's own.
    pub fn mtu(&self) -> Option<Mtu> {
        match self {
            Self::Latency(_) => None,
            Self::Goodput(spec) => spec.mtu,
            Self::Path(spec) => spec.mtu,
            Self::Packets(spec) => spec.mtu,
        }
    }

    /// The same load for a moment, to see what the tester does alone; `None` for probes whose pace the path sets.
    pub fn self_test(&self) -> Option<Self> {
        match self {
            // Past the kernel there is no loopback to measure the tester alone on.
            Self::Latency(spec) if spec.rate.is_some() && spec.stack == Stack::Kernel => {
                Some(Self::Latency(LatencySpec { amount: Amount::Duration(SELF_TEST), ..spec.clone() }))
            }
            Self::Goodput(spec) if spec.protocol == Protocol::Udp && spec.stack == Stack::Kernel => {
                let (duration, warmup) = (SELF_TEST, SELF_TEST_WARMUP);
                Some(Self::Goodput(GoodputSpec { duration, warmup, direction: Direction::Forward, ..spec.clone() }))
            }
            _ => None,
        }
    }

    /// Whose network stack carries it.
    pub fn stack(&self) -> Stack {
        match self {
            Self::Latency(spec) => spec.stack,
            Self::Goodput(spec) => spec.stack,
            Self::Path(_) | Self::Packets(_) => Stack::Kernel,
        }
    }

    /// Whether the senders of a bed that has several send at the same time, to see what their receiver takes; else each is
    /// measured by itself.
    pub fn senders_share(&self) -> bool {
        matches!(self, Self::Goodput(_) | Self::Packets(_))
    }

    /// Whether the far side goes on until it is told that the near one is done.
    pub fn far_serves_until_told(&self) -> bool {
        !matches!(self, Self::Goodput(_))
    }
}

choice!(Protocol, "a protocol", { Udp = "udp", Tcp = "tcp" });

impl Protocol {
    /// As it is written in texts.
    pub fn name(self) -> &'static str {
        match self {
            Self::Udp => "UDP",
            Self::Tcp => "TCP",
        }
    }
}

impl IpVersion {
    /// The version of an address.
    pub fn of(address: IpAddr) -> Self {
        if address.is_ipv4() { Self::V4 } else { Self::V6 }
    }

    fn refused(word: &str) -> ChoiceError {
        ChoiceError::new(word, "an IP version", &["4", "6"])
    }
}

impl TryFrom<u8> for IpVersion {
    type Error = ChoiceError;

    fn try_from(number: u8) -> Result<Self, ChoiceError> {
        match number {
            4 => Ok(Self::V4),
            6 => Ok(Self::V6),
            _ => Err(Self::refused(&number.to_string())),
        }
    }
}

impl From<IpVersion> for u8 {
    fn from(ip: IpVersion) -> Self {
        match ip {
            IpVersion::V4 => 4,
            IpVersion::V6 => 6,
        }
    }
}

impl FromStr for IpVersion {
    type Err = ChoiceError;

    fn from_str(text: &str) -> Result<Self, ChoiceError> {
        text.parse::<u8>().ok().and_then(|number| Self::try_from(number).ok()).ok_or_else(|| Self::refused(text))
    }
}

impl fmt::Display for IpVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "IPv{}", u8::from(*self))
    }
}

impl fmt::Display for ProbeSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Latency(spec) => write!(f, "latency {spec}"),
            Self::Goodput(spec) => write!(f, "goodput {spec}"),
            Self::Path(spec) => write!(f, "path {spec}"),
            Self::Packets(spec) => write!(f, "packets {spec}"),
        }
    }
}
