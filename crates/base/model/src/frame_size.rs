//! Frame and payload sizes, and the arithmetic between them.
//!
//! A frame size counts the Ethernet header (14) and the FCS (4), as RFC 1242 and RFC 2544 do; preamble and gap are not counted.

use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    network::{IpVersion, Protocol},
    units::{BitRate, Bytes, Mtu, UnitError},
};

/// Ethernet header without VLAN tag, in bytes.
pub const ETHERNET_HEADER: u32 = 14;
/// Frame check sequence, in bytes.
pub const FCS: u32 = 4;
/// Bytes on the wire beside the frame: preamble (7), start delimiter (1) and gap (12) (IEEE 802.3).
pub const AROUND_FRAME: u32 = 20;
/// Bytes that TCP timestamps (RFC 7323) add to each segment, padding included.
pub const TCP_TIMESTAMPS: u32 = 12;
/// The smallest Ethernet frame; shorter payloads are padded to it.
pub const MIN_FRAME: FrameSize = FrameSize(64);

/// Size of an Ethernet frame with FCS, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct FrameSize(pub u32);

/// Payload that a program writes into its socket, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct PayloadSize(pub u32);

impl FromStr for PayloadSize {
    type Err = UnitError;

    /// A number of bytes like 1472, or with a unit, like "64 KiB".
    fn from_str(text: &str) -> Result<Self, UnitError> {
        let bytes = text.parse().or_else(|_| text.parse().map(|Bytes(bytes)| bytes))?;
        u32::try_from(bytes).map(Self).map_err(|_| UnitError::TooLarge { text: text.to_owned() })
    }
}

impl FrameSize {
    /// Frames of this size that a link of this rate carries at most, in frames per second.
    pub fn most_per_second(self, link: BitRate) -> f64 {
        link.0 as f64 / (f64::from(self.0 + AROUND_FRAME) * 8.0)
    }
}

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
    /// Ethernet has no frames this small.
    #[error("frame size {frame} is too small: the smallest Ethernet frame is {} bytes (with FCS)", MIN_FRAME.0)]
    TooSmall {
        /// The size asked for.
        frame: u32,
    },
    /// The IP packet would not fit the interface.
    #[error(
        "frame size {frame} does not fit MTU {mtu}: the largest frame there is {largest} bytes (with FCS); \
         --mtu gives a bed another"
    )]
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

    /// The frame that this payload makes; one that is too small is padded.
    pub fn frame_with(self, payload: PayloadSize) -> FrameSize {
        MIN_FRAME.max(FrameSize(ETHERNET_HEADER + self.bytes() + payload.0 + FCS))
    }

    /// The frame that is really sent for the size asked for, and its payload of at least `least` bytes: the size asked for,
    /// or the smallest that the headers leave room in.
    pub fn frame_of(
        self,
        asked: FrameSize,
        least: PayloadSize,
        mtu: Mtu,
    ) -> Result<(FrameSize, PayloadSize), FrameSizeError> {
        let overhead = ETHERNET_HEADER + self.bytes() + FCS;
        let frame = asked.max(FrameSize(overhead + least.0));
        let largest = mtu.0 + ETHERNET_HEADER + FCS;
        if asked < MIN_FRAME {
            return Err(FrameSizeError::TooSmall { frame: asked.0 });
        }
        if frame.0 > largest {
            return Err(FrameSizeError::TooLarge { frame: frame.0, mtu: mtu.0, largest });
        }
        Ok((frame, PayloadSize(frame.0 - overhead)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_carries_as_many_frames_as_ethernet_lets_through() {
        let ten = BitRate(10_000_000_000);
        assert_eq!(FrameSize(64).most_per_second(ten).floor(), 14_880_952.0);
        assert_eq!(FrameSize(1518).most_per_second(ten).floor(), 812_743.0);
        let udp = headers(IpVersion::V4, Protocol::Udp, false);
        assert_eq!([1472, 18, 1].map(|payload| udp.frame_with(PayloadSize(payload)).0), [1518, 64, 64]);
    }

    #[test]
    fn a_payload_is_a_number_of_bytes_with_or_without_a_unit() {
        let sizes = ["1472", "64 KiB", "1 B"].map(|text| text.parse::<PayloadSize>().unwrap().0);
        assert_eq!(sizes, [1472, 64 << 10, 1]);
        let refused = ["many", "64 pps", "8 GiB", ""].map(|text| text.parse::<PayloadSize>().unwrap_err().to_string());
        assert!(refused[1].contains("use one of B, KiB, MiB, GiB"), "{refused:?}");
    }

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
            assert_eq!(udp.frame_of(FrameSize(frame), LEAST, MTU), Ok((FrameSize(frame), PayloadSize(udp_payload))));
        }
        for (frame, tcp_payload) in [(64, 6), (72, 14), (128, 70), (1518, 1460)] {
            assert_eq!(tcp.frame_of(FrameSize(frame), LEAST, MTU), Ok((FrameSize(frame), PayloadSize(tcp_payload))));
        }
    }

    #[test]
    fn timestamps_take_twelve_bytes_from_the_payload() {
        let tcp = headers(IpVersion::V4, Protocol::Tcp, true);
        assert_eq!(tcp.frame_of(FrameSize(1518), LEAST, MTU), Ok((FrameSize(1518), PayloadSize(1448))));
    }

    #[test]
    fn a_frame_too_small_for_its_headers_becomes_the_smallest_there_is() {
        for (ip, protocol, timestamps, smallest) in [
            (IpVersion::V4, Protocol::Tcp, true, 74),
            (IpVersion::V6, Protocol::Udp, false, 70),
            (IpVersion::V6, Protocol::Tcp, false, 82),
            (IpVersion::V6, Protocol::Tcp, true, 94),
        ] {
            let frame = headers(ip, protocol, timestamps).frame_of(FrameSize(64), LEAST, MTU);
            assert_eq!(frame, Ok((FrameSize(smallest), LEAST)));
        }
    }

    #[test]
    fn sizes_outside_the_possible_say_what_is_possible() {
        let udp6 = headers(IpVersion::V6, Protocol::Udp, false);
        let error = udp6.frame_of(FrameSize(60), LEAST, MTU).unwrap_err();
        assert_eq!(error.to_string(), "frame size 60 is too small: the smallest Ethernet frame is 64 bytes (with FCS)");
        let error = udp6.frame_of(FrameSize(1519), LEAST, MTU).unwrap_err();
        assert_eq!(
            error.to_string(),
            "frame size 1519 does not fit MTU 1500: the largest frame there is 1518 bytes (with FCS); --mtu gives a bed another"
        );
    }
}
