//! Bulk data, counted where it arrives.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    Amount, Conditions, Direction, FarService, IpVersion, Probe, ProbeSpec, Profile, Protocol, SELF_TEST, Selectors,
    Stack,
};
use crate::{
    choice::choice,
    figure::Metric,
    frame_size::PayloadSize,
    units::{BitRate, Bytes, Mtu, Nanos},
};

/// The word for the kernel's default congestion control, where a bed has one of its own.
pub const KERNELS_DEFAULT: &str = "default";

/// Congestion control of connections in a lab: Linux's own default. With bbr, which some hosts have as theirs, two cores hand over
/// the segments of one connection, and they overtake each other.
pub const LAB_CONGESTION: &str = "cubic";

choice!(
    /// Way in which a TCP sender hands its data to the kernel.
    #[derive(Default)]
    SendMethod, "a way to send", {
        /// `write`: the kernel copies the program's memory.
        #[default]
        Write = "write",
        /// `send` with `MSG_ZEROCOPY`: the card reads the program's memory, where path and card can.
        ZeroCopy = "zerocopy",
        /// `sendfile` from a file in memory: the page cache goes out.
        Sendfile = "sendfile",
    }
);

choice!(
    /// Way in which a TCP receiver takes its data.
    #[derive(Default)]
    ReceiveMethod, "a way to receive", {
        /// `read`: the kernel copies into the program's memory.
        #[default]
        Read = "read",
        /// `recv` with `MSG_TRUNC`: the kernel throws the data away and only says how much it was.
        Truncate = "truncate",
    }
);

choice!(
    /// Way in which datagrams are handed to the kernel and taken from it.
    #[derive(Default)]
    Batch, "a way to batch", {
        /// Many datagrams in one call, each by itself in the kernel (`sendmmsg`, `recvmmsg`).
        #[default]
        Mmsg = "mmsg",
        /// Many datagrams as one large one through the kernel, cut apart at the card and put together behind it (`UDP_SEGMENT`,
        /// `UDP_GRO`).
        Gso = "gso",
    }
);

/// Bulk data one way or both, counted where it arrives.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GoodputSpec {
    /// UDP or TCP.
    pub protocol: Protocol,
    /// IPv4 or IPv6.
    pub ip: IpVersion,
    /// Network stack at both ends.
    #[serde(default)]
    pub stack: Stack,
    /// Direction.
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
    /// TCP congestion control; `None` leaves the bed's, and [`KERNELS_DEFAULT`] the kernel's.
    pub congestion: Option<String>,
    /// Way in which a TCP sender hands over its data.
    pub send: SendMethod,
    /// Way in which a TCP receiver takes its data.
    pub receive: ReceiveMethod,
    /// Payload of each datagram (UDP); `None` fills the MTU.
    pub datagram: Option<PayloadSize>,
    /// Batches of datagrams (UDP).
    pub batch: Batch,
    /// Payload offered each way, all streams together (UDP); `None` is flat out.
    pub rate: Option<BitRate>,
}

/// A transfer that takes no longer is not named by its duration.
const ORDINARY: Nanos = Nanos::from_secs(10);

const SELF_TEST_WARMUP: Nanos = Nanos::from_millis(200);

/// Expected duration of connecting and draining, in seconds.
const AROUND: f64 = 0.1;

impl GoodputSpec {
    /// Whole seconds that it lasts, where it is long.
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
        if self.send != SendMethod::Write {
            write!(f, " {}", self.send)?;
        }
        if self.receive != ReceiveMethod::Read {
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

impl GoodputSpec {
    /// TCP is paced by the path. Past the kernel there is no loopback to measure the tester alone on.
    fn self_test(&self) -> Option<ProbeSpec> {
        let has_one = self.protocol == Protocol::Udp && self.stack == Stack::Kernel;
        has_one.then(|| {
            let (duration, warmup) = (SELF_TEST, SELF_TEST_WARMUP);
            Self { duration, warmup, direction: Direction::Forward, ..self.clone() }.into()
        })
    }
}

impl GoodputSpec {
    /// A far program counts no datagrams, and serves one way.
    fn agentless(&self) -> Option<FarService> {
        let has_one = self.protocol == Protocol::Tcp && self.stack == Stack::Kernel && self.mtu.is_none();
        match self.direction {
            Direction::Forward => has_one.then_some(FarService::Sink),
            Direction::Reverse => has_one.then_some(FarService::Source),
            Direction::Both => None,
        }
    }
}

impl Probe for GoodputSpec {
    fn name(&self) -> &'static str {
        "goodput"
    }

    fn profile(&self) -> Profile {
        Profile {
            mtu: self.mtu,
            stack: self.stack,
            senders_share: true,
            threads: self.streams.into(),
            far_serves_until_told: false,
            self_test: self.self_test(),
            whole_seconds: (self.duration.0 / 1_000_000_000) as usize,
            agentless: self.agentless(),
            ..Profile::ordinary(self.ip, (self.duration.0 + self.warmup.0) as f64 / 1e9 + AROUND)
        }
    }

    /// TCP delivers all or fails.
    fn metrics(&self) -> &'static [Metric] {
        use Metric::*;
        match self.protocol {
            Protocol::Tcp => &[GoodputMean, GoodputMin, GoodputMax],
            Protocol::Udp => &[GoodputMean, GoodputMin, GoodputMax, Loss],
        }
    }

    fn compared(&self) -> &'static [Metric] {
        &[Metric::GoodputMean, Metric::Loss]
    }

    fn selectors(&self) -> Selectors {
        Selectors {
            protocol: Some(self.protocol),
            ip: Some(self.ip),
            stack: Some(self.stack),
            streams: Some(self.streams),
            direction: Some(self.direction),
            mtu: self.mtu,
            ..Selectors::default()
        }
    }

    fn amount(&self) -> Option<Amount> {
        Some(Amount::Duration(self.duration))
    }

    fn warmup(&self) -> Option<Amount> {
        Some(Amount::Duration(self.warmup))
    }

    /// Payload in bit/s, each way; the path sets the pace of TCP.
    fn with_load(&self, load: u64, duration: Nanos) -> Option<ProbeSpec> {
        let loaded = || Self { rate: Some(BitRate(load)), duration, ..self.clone() }.into();
        (self.protocol == Protocol::Udp).then(loaded)
    }

    fn without_load(&self) -> Option<ProbeSpec> {
        (self.protocol == Protocol::Udp).then(|| Self { rate: None, duration: ORDINARY, ..self.clone() }.into())
    }

    fn conditions(&self) -> Conditions {
        Conditions {
            protocol: Some(self.protocol),
            payload_size: self.datagram,
            direction: Some(self.direction),
            streams: Some(self.streams),
            duration: Some(self.duration),
            window: self.window,
            offered: self.rate,
            ..Conditions::default()
        }
    }
}

impl From<GoodputSpec> for ProbeSpec {
    fn from(spec: GoodputSpec) -> Self {
        Self::Goodput(spec)
    }
}
