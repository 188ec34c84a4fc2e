//! Round-trip time.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{IpVersion, Protocol, Stack};
use crate::{
    choice::choice,
    frame_size::{FrameSize, PayloadSize},
    units::{Nanos, PacketRate},
};

/// Bytes that a latency probe needs in each payload, for the number of the message.
pub const LATENCY_LEAST_PAYLOAD: PayloadSize = PayloadSize(4);

/// Bytes in which the answer also carries the far side's two stamps. In smaller payloads one-way delay is not measured.
pub const ONE_WAY_LEAST_PAYLOAD: PayloadSize = PayloadSize(20);

/// Messages that may be out within a timeout under load; remembering them takes about 400 MB.
pub const MOST_OUT: u64 = 1 << 22;

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

/// When a latency trial is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Amount {
    /// After this many messages that count.
    Count(u64),
    /// After this time.
    Duration(Nanos),
}

/// Round trips: one after the other (ping-pong), or sent by a schedule (under load).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LatencySpec {
    /// UDP or TCP.
    pub protocol: Protocol,
    /// IPv4 or IPv6.
    pub ip: IpVersion,
    /// Whose network stack at both ends.
    #[serde(default)]
    pub stack: Stack,
    /// How both ends wait.
    pub mode: WaitMode,
    /// Size of each frame on the wire, with FCS.
    pub frame_size: FrameSize,
    /// When it is over.
    pub amount: Amount,
    /// Round trips made first and not counted.
    pub warmup: u64,
    /// A reply later than this is late, one that never comes is lost.
    pub timeout: Nanos,
    /// Messages a second by an absolute schedule (open loop), whatever the replies do; `None` is ping-pong (closed loop).
    pub rate: Option<PacketRate>,
    /// Whether the kernel stamps each message on its way (`SO_TIMESTAMPING`), to split the RTT into stages.
    pub stamps: bool,
}

impl fmt::Display for LatencySpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {} {} B", self.protocol.name(), self.ip, self.mode, self.frame_size.0)?;
        if self.stack == Stack::Bypass {
            f.write_str(" bypass")?;
        }
        if let Some(rate) = self.rate {
            write!(f, " at {rate}")?;
        }
        if self.stamps { f.write_str(" stamped") } else { Ok(()) }
    }
}
