//! Conditions of a figure.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Direction, IpVersion, Protocol, Stack, WaitMode};
use crate::{
    frame_size::{FrameSize, PayloadSize},
    modifier::Modifier,
    units::{BitRate, Bytes, Mtu, Nanos, PacketRate},
    words::Words,
};

macro_rules! conditions {
    ($($(#[doc = $doc:literal])+ $field:ident: $type:ty,)+) => {
        /// Conditions of the measurement, as far as the source gives them.
        #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields)]
        pub struct Conditions {
            $(
                $(#[doc = $doc])+
                #[serde(default, skip_serializing_if = "Option::is_none")]
                pub $field: Option<$type>,
            )+
        }

        impl Conditions {
            /// These, and others where these say nothing.
            pub fn or(self, others: &Self) -> Self {
                Self { $($field: self.$field.or_else(|| others.$field.clone()),)+ }
            }
        }
    };
}

conditions! {
    /// Whether no real wire or card was involved.
    simulated: bool,
    /// Transport protocol.
    protocol: Protocol,
    /// IP version.
    ip: IpVersion,
    /// Size of each frame with FCS, in bytes.
    frame_size: FrameSize,
    /// Bytes that the program wrote into each message.
    payload_size: PayloadSize,
    /// Packet size as printed, if the source does not say which bytes it counts.
    packet_size: u32,
    /// MTU of the interfaces.
    mtu: Mtu,
    /// Direction of the data.
    direction: Direction,
    /// Whether it went one way only, where the source does not say which: either of ours is as good.
    one_way: bool,
    /// Connections or flows at the same time, each way.
    streams: u16,
    /// Condition of RFC 2544, section 11.
    modifier: Modifier,
    /// Duration of one measurement.
    duration: Nanos,
    /// Round trips of one measurement.
    round_trips: u64,
    /// Size of the socket buffers.
    window: Bytes,
    /// Way in which the program waited for its next message.
    mode: WaitMode,
    /// Messages a second that were asked for; nothing is ping-pong.
    rate: PacketRate,
    /// Payload that was offered; nothing is flat out.
    offered: BitRate,
    /// Network stack.
    stack: Stack,
    /// Rate of the link.
    link_rate: BitRate,
    /// Layer whose bits are counted.
    layer: u8,
    /// Joint of the ends.
    link: Words,
    /// Path of the packets.
    path: Words,
    /// Port of the tester, and which way.
    port: String,
    /// Cores of the device that was measured.
    cores: u16,
    /// The program that measured.
    tool: String,
    /// The card, or the device under test.
    device: Words,
    /// The bus of the card.
    bus: Words,
    /// The machine.
    server: Words,
    /// Processor.
    cpu: Words,
    /// Operating system.
    os: String,
}
