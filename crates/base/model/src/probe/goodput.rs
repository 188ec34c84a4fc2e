//! Bulk data, counted where it arrives.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{IpVersion, Protocol, Stack};
use crate::{
    choice::choice,
    frame_size::PayloadSize,
    units::{BitRate, Bytes, Mtu, Nanos},
};

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

/// How a TCP sender hands its data to the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SendWay {
    /// `write`: the kernel copies the program's memory.
    Write,
    /// `send` with `MSG_ZEROCOPY`: the card reads the program's memory, where path and card can.
    ZeroCopy,
    /// `sendfile` from a file in memory: the page cache goes out.
    Sendfile,
}

choice!(SendWay, "a way to send", { Write = "write", ZeroCopy = "zerocopy", Sendfile = "sendfile" });

/// How a TCP receiver takes its data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ReceiveWay {
    /// `read`: the kernel copies into the program's memory.
    Read,
    /// `recv` with `MSG_TRUNC`: the kernel throws the data away and only says how much it was.
    Truncate,
}

choice!(ReceiveWay, "a way to receive", { Read = "read", Truncate = "truncate" });

/// How datagrams are handed to the kernel and taken from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Batch {
    /// Many datagrams in one call, each by itself in the kernel (`sendmmsg`, `recvmmsg`).
    Mmsg,
    /// Many datagrams as one large one through the kernel, cut apart at the card and put together behind it (`UDP_SEGMENT`,
    /// `UDP_GRO`).
    Gso,
}

choice!(Batch, "a way to batch", { Mmsg = "mmsg", Gso = "gso" });

/// Bulk data one way or both, counted where it arrives.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GoodputSpec {
    /// UDP or TCP.
    pub protocol: Protocol,
    /// IPv4 or IPv6.
    pub ip: IpVersion,
    /// Whose network stack at both ends.
    #[serde(default)]
    pub stack: Stack,
    /// Which way.
    pub direction: Direction,
    /// Connections (TCP) or flows (UDP) that send at the same time, each way.
    pub streams: u16,
    /// Time that counts.
    pub duration: Nanos,
    /// Time sent first and not counted.
    pub warmup: Nanos,
    /// MTU that both ends are set to; `None` leaves the bed's own.
    pub mtu: Option<Mtu>,
    /// Size asked for each socket's send and receive buffer; `None` leaves the kernel's tuning.
    pub window: Option<Bytes>,
    /// TCP congestion control; `None` leaves the kernel's default.
    pub congestion: Option<String>,
    /// How a TCP sender hands over its data.
    pub send: SendWay,
    /// How a TCP receiver takes its data.
    pub receive: ReceiveWay,
    /// Payload of each datagram (UDP); `None` fills the MTU.
    pub datagram: Option<PayloadSize>,
    /// How datagrams are batched (UDP).
    pub batch: Batch,
    /// Payload offered each way, all streams together (UDP); `None` is flat out.
    pub rate: Option<BitRate>,
}

/// A transfer that takes no longer is not named by its duration.
const ORDINARY: Nanos = Nanos::from_secs(10);

impl GoodputSpec {
    /// Whole seconds that it lasts, where it is long: transfers of a plan may differ in that alone.
    pub fn long(&self) -> Option<u64> {
        (self.duration > ORDINARY).then_some(self.duration.0 / 1_000_000_000)
    }

    /// Whether data goes from the first end to the second.
    pub fn sends_forward(&self) -> bool {
        self.direction != Direction::Reverse
    }

    /// Whether data goes from the second end to the first.
    pub fn sends_back(&self) -> bool {
        self.direction != Direction::Forward
    }
}

impl fmt::Display for GoodputSpec {
    /// Only what differs from the ordinary is named.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let s = if self.streams == 1 { "" } else { "s" };
        write!(f, "{} {} {} stream{s}", self.protocol.name(), self.ip, self.streams)?;
        if self.stack == Stack::Bypass {
            f.write_str(" bypass")?;
        }
        if self.direction != Direction::Forward {
            write!(f, " {}", self.direction)?;
        }
        match self.protocol {
            Protocol::Tcp => self.show_tcp(f)?,
            Protocol::Udp => self.show_udp(f)?,
        }
        if let Some(window) = self.window {
            write!(f, " window {window}")?;
        }
        if let Some(seconds) = self.long() {
            write!(f, " {seconds} s")?;
        }
        self.mtu.map_or(Ok(()), |mtu| write!(f, " MTU {}", mtu.0))
    }
}

impl GoodputSpec {
    fn show_tcp(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.send != SendWay::Write {
            write!(f, " {}", self.send)?;
        }
        if self.receive != ReceiveWay::Read {
            write!(f, " {}", self.receive)?;
        }
        self.congestion.as_ref().map_or(Ok(()), |name| write!(f, " {name}"))
    }

    fn show_udp(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, " {}", self.batch)?;
        if let Some(datagram) = self.datagram {
            write!(f, " {} B", datagram.0)?;
        }
        self.rate.map_or(Ok(()), |rate| write!(f, " at {rate}"))
    }
}
