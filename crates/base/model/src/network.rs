//! The way of packets: protocols, network stacks, directions, and programs that wait for them.

use std::{
    fmt,
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
    str::FromStr,
};

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
        /// One in the program, which bypasses the kernel (AF_XDP).
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
    /// Way in which a program waits for its next message.
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

/// Address in the network that lies so many networks of this prefix length behind that of an address.
pub fn network_after(address: IpAddr, prefix: u8, networks: u32) -> IpAddr {
    match address {
        IpAddr::V4(address) => {
            let step = 1_u32.checked_shl(32 - u32::from(prefix.min(32))).unwrap_or_default();
            Ipv4Addr::from_bits(address.to_bits().wrapping_add(step.wrapping_mul(networks))).into()
        }
        IpAddr::V6(address) => {
            let step = 1_u128.checked_shl(128 - u32::from(prefix.min(128))).unwrap_or_default();
            Ipv6Addr::from_bits(address.to_bits().wrapping_add(step.wrapping_mul(networks.into()))).into()
        }
    }
}

/// Prefix length of each of several networks behind an end (RFC 2544, appendix C.2.2). IPv6 has them in one /64: what varies in a stream's
/// addresses lies in their last four bytes.
pub fn prefix_of_several(ip: IpVersion) -> u8 {
    match ip {
        IpVersion::V4 => 24,
        IpVersion::V6 => 112,
    }
}

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
