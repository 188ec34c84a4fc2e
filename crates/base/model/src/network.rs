//! What packets go through: protocols, network stacks, directions, and programs that wait for them.

use std::{fmt, net::IpAddr, str::FromStr};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::choice::{ChoiceError, choice};

/// Transport protocol under a probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Protocol {
    /// User Datagram Protocol.
    Udp,
    /// Transmission Control Protocol.
    Tcp,
}

choice!(Protocol, "a protocol", { Udp = "udp", Tcp = "tcp" });

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

/// Which way the data goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// From the first end to the second.
    Forward,
    /// From the second end to the first.
    Reverse,
    /// Both ways at once.
    Both,
}

choice!(Direction, "a direction", { Forward = "forward", Reverse = "reverse", Both = "both" });

/// How a program waits for its next message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WaitMode {
    /// Ask the socket again and again without sleeping (`sockperf --nonblocked`).
    Spin,
    /// Sleep in the system call until a message is there.
    Block,
    /// Let the kernel poll the card's queue inside the system call (`SO_BUSY_POLL`).
    BusyPoll,
}

choice!(WaitMode, "a way to wait", { Spin = "spin", Block = "block", BusyPoll = "busy-poll" });

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
