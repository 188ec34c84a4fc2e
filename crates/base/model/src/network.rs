//! The way of packets: protocols, network stacks, directions, and programs that wait for them.

use std::{fmt, net::IpAddr, str::FromStr};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::choice::{ChoiceError, choice};

choice!(
    /// Transport protocol under a probe.
    Protocol, "a protocol", {
        /// User Datagram Protocol.
        Udp = "udp",
        /// Transmission Control Protocol.
        Tcp = "tcp",
    }
);

choice!(
    /// Network stack that carries the packets.
    #[derive(Default)]
    Stack, "a network stack", {
        /// The kernel's.
        #[default]
        Kernel = "kernel",
        /// One in the program, past the kernel (AF_XDP).
        Bypass = "bypass",
    }
);

choice!(
    /// Direction of the data.
    #[derive(Default)]
    Direction, "a direction", {
        /// From the first end to the second.
        #[default]
        Forward = "forward",
        /// From the second end to the first.
        Reverse = "reverse",
        /// Both ways at once.
        Both = "both",
    }
);

choice!(
    /// How a program waits for its next message.
    #[derive(Default)]
    WaitMode, "a way to wait", {
        /// Ask the socket again and again without sleeping (`sockperf --nonblocked`).
        #[default]
        Spin = "spin",
        /// Sleep in the system call until a message is there.
        Block = "block",
        /// Let the kernel poll the card's queue inside the system call (`SO_BUSY_POLL`).
        BusyPoll = "busy-poll",
    }
);

/// IP version, written 4 or 6.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "u8", into = "u8")]
#[schemars(with = "u8", extend("enum" = [4, 6]))]
pub enum IpVersion {
    /// IPv4.
    #[default]
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
