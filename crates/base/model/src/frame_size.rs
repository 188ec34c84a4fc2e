//! Frame and payload sizes, and the arithmetic between them.
//!
//! A frame size counts the Ethernet header (14) and the FCS (4), as RFC 1242 and RFC 2544 do; preamble and gap are not counted.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    probe::{IpVersion, Protocol},
    units::Mtu,
};

/// Ethernet header without VLAN tag, in bytes.
pub const ETHERNET_HEADER: u32 = 14;
/// Frame check sequence, in bytes.
pub const FCS: u32 = 4;
/// What TCP timestamps (RFC 7323) add to each segment, padding included, in bytes.
pub const TCP_TIMESTAMPS: u32 = 12;
/// The smallest Ethernet frame; shorter payloads are padded to it.
pub const MIN_FRAME: FrameSize = FrameSize(64);

/// Size of an Ethernet frame with FCS, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct FrameSize(pub u32);

/// Size of what a program writes into its socket, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct PayloadSize(pub u32);

/// The headers between the Ethernet header and the payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Headers {
    /// IPv4 or IPv6.
    pub ip: IpVersion,
    /// UDP or TCP.
    pub protocol: Protocol,
    /// Whether each TCP segment carries timestamps.
    pub tcp_timestamps: bool,
}

/// A frame size that this traffic cannot have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FrameSizeError {
    /// There is no room for headers and the probe's own bytes.
    #[error("frame size {frame} is too small for {what}: its smallest frame is {smallest} bytes (with FCS)")]
    TooSmall {
        /// The size asked for.
        frame: u32,
        /// The traffic, in words.
        what: String,
        /// The smallest size that works.
        smallest: u32,
    },
    /// The IP packet would not fit the interface.
    #[error("frame size {frame} does not fit MTU {mtu}: the largest frame there is {largest} bytes (with FCS)")]
    TooLarge {
        /// The size asked for.
        frame: u32,
        /// The interface's MTU.
        mtu: u32,
        /// The largest size that works.
        largest: u32,
    },
}

impl Headers {
    /// Bytes of IP and transport headers in each frame.
    pub fn bytes(self) -> u32 {
        let ip = match self.ip {
            IpVersion::V4 => 20,
            IpVersion::V6 => 40,
        };
        let transport = match self.protocol {
            Protocol::Udp => 8,
            Protocol::Tcp if self.tcp_timestamps => 20 + TCP_TIMESTAMPS,
            Protocol::Tcp => 20,
        };
        ip + transport
    }

    /// The payload that makes frames of exactly this size, with at least `least` bytes of payload.
    pub fn payload_of(self, frame: FrameSize, least: PayloadSize, mtu: Mtu) -> Result<PayloadSize, FrameSizeError> {
        let overhead = ETHERNET_HEADER + self.bytes() + FCS;
        let smallest = (overhead + least.0).max(MIN_FRAME.0);
        let largest = mtu.0 + ETHERNET_HEADER + FCS;
        if frame.0 < smallest {
            return Err(FrameSizeError::TooSmall { frame: frame.0, what: self.words(), smallest });
        }
        if frame.0 > largest {
            return Err(FrameSizeError::TooLarge { frame: frame.0, mtu: mtu.0, largest });
        }
        Ok(PayloadSize(frame.0 - overhead))
    }

    fn words(self) -> String {
        let timestamps = if self.tcp_timestamps { " with timestamps" } else { "" };
        format!("{} over {}{timestamps}", self.protocol, self.ip)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEAST: PayloadSize = PayloadSize(4);
    const MTU: Mtu = Mtu(1500);

    fn headers(ip: IpVersion, protocol: Protocol, tcp_timestamps: bool) -> Headers {
        Headers { ip, protocol, tcp_timestamps }
    }

    #[test]
    fn payloads_are_those_of_the_2015_report() {
        let udp = headers(IpVersion::V4, Protocol::Udp, false);
        let tcp = headers(IpVersion::V4, Protocol::Tcp, false);
        for (frame, udp_payload) in [(64, 18), (128, 82), (512, 466), (1518, 1472)] {
            assert_eq!(udp.payload_of(FrameSize(frame), LEAST, MTU), Ok(PayloadSize(udp_payload)));
        }
        for (frame, tcp_payload) in [(72, 14), (128, 70), (1518, 1460)] {
            assert_eq!(tcp.payload_of(FrameSize(frame), LEAST, MTU), Ok(PayloadSize(tcp_payload)));
        }
    }

    #[test]
    fn timestamps_take_twelve_bytes_from_the_payload() {
        let tcp = headers(IpVersion::V4, Protocol::Tcp, true);
        assert_eq!(tcp.payload_of(FrameSize(1518), LEAST, MTU), Ok(PayloadSize(1448)));
    }

    #[test]
    fn sizes_outside_the_possible_say_what_is_possible() {
        let udp6 = headers(IpVersion::V6, Protocol::Udp, false);
        let error = udp6.payload_of(FrameSize(64), LEAST, MTU).unwrap_err();
        assert_eq!(
            error.to_string(),
            "frame size 64 is too small for UDP over IPv6: its smallest frame is 70 bytes (with FCS)"
        );
        let error = udp6.payload_of(FrameSize(1519), LEAST, MTU).unwrap_err();
        assert_eq!(
            error.to_string(),
            "frame size 1519 does not fit MTU 1500: the largest frame there is 1518 bytes (with FCS)"
        );
    }
}
