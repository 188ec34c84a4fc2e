//! What to measure: one probe's full description, the same in plans, messages, trials and reports.

use std::{fmt, str::FromStr};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{frame_size::FrameSize, units::Nanos};

/// Bytes that a latency probe needs in each payload, for the number of the round trip.
pub const LATENCY_LEAST_PAYLOAD: crate::PayloadSize = crate::PayloadSize(4);

/// Transport protocol under a probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Protocol {
    /// User Datagram Protocol.
    Udp,
    /// Transmission Control Protocol.
    Tcp,
}

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

/// How a program waits for its next message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WaitMode {
    /// Ask the socket again and again without sleeping (`sockperf --nonblocked`).
    Spin,
    /// Sleep in the system call until a message is there.
    Block,
}

/// Ping-pong: one message out, the same back, then the next.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LatencySpec {
    /// UDP or TCP.
    pub protocol: Protocol,
    /// IPv4 or IPv6.
    pub ip: IpVersion,
    /// How both ends wait.
    pub mode: WaitMode,
    /// Size of each frame on the wire, with FCS.
    pub frame_size: FrameSize,
    /// Round trips that count.
    pub count: u64,
    /// Round trips made first and not counted.
    pub warmup: u64,
    /// A reply later than this is late, one that never comes is lost.
    pub timeout: Nanos,
}

/// Bulk data one way, counted where it arrives.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GoodputSpec {
    /// TCP.
    pub protocol: Protocol,
    /// IPv4 or IPv6.
    pub ip: IpVersion,
    /// Connections that send at the same time.
    pub streams: u16,
    /// Time that counts.
    pub duration: Nanos,
    /// Time sent first and not counted.
    pub warmup: Nanos,
}

/// One probe with all its parameters.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "probe", rename_all = "lowercase")]
pub enum ProbeSpec {
    /// Round-trip time by ping-pong.
    Latency(LatencySpec),
    /// Goodput of bulk data.
    Goodput(GoodputSpec),
}

/// A word that names none of the choices.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("\"{word}\" is not {what}: use {choices}")]
pub struct ChoiceError {
    word: String,
    what: &'static str,
    choices: &'static str,
}

impl TryFrom<u8> for IpVersion {
    type Error = ChoiceError;

    fn try_from(number: u8) -> Result<Self, ChoiceError> {
        match number {
            4 => Ok(Self::V4),
            6 => Ok(Self::V6),
            _ => Err(ChoiceError { word: number.to_string(), what: "an IP version", choices: "4 or 6" }),
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
        match text {
            "4" => Ok(Self::V4),
            "6" => Ok(Self::V6),
            _ => Err(ChoiceError { word: text.to_owned(), what: "an IP version", choices: "4 or 6" }),
        }
    }
}

impl FromStr for Protocol {
    type Err = ChoiceError;

    fn from_str(text: &str) -> Result<Self, ChoiceError> {
        match text {
            "udp" => Ok(Self::Udp),
            "tcp" => Ok(Self::Tcp),
            _ => Err(ChoiceError { word: text.to_owned(), what: "a protocol", choices: "udp or tcp" }),
        }
    }
}

impl FromStr for WaitMode {
    type Err = ChoiceError;

    fn from_str(text: &str) -> Result<Self, ChoiceError> {
        match text {
            "spin" => Ok(Self::Spin),
            "block" => Ok(Self::Block),
            _ => Err(ChoiceError { word: text.to_owned(), what: "a way to wait", choices: "spin or block" }),
        }
    }
}

impl fmt::Display for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Udp => "UDP",
            Self::Tcp => "TCP",
        })
    }
}

impl fmt::Display for IpVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "IPv{}", u8::from(*self))
    }
}

impl fmt::Display for WaitMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Spin => "spin",
            Self::Block => "block",
        })
    }
}

impl fmt::Display for ProbeSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Latency(spec) => {
                write!(f, "latency {} {} {} {} B", spec.protocol, spec.ip, spec.mode, spec.frame_size.0)
            }
            Self::Goodput(spec) => {
                let s = if spec.streams == 1 { "" } else { "s" };
                write!(f, "goodput {} {} {} stream{s}", spec.protocol, spec.ip, spec.streams)
            }
        }
    }
}
