//! Round-trip time.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    Amount, Batch, Conditions, Direction, FarService, GoodputSpec, IpVersion, Probe, ProbeSpec, Profile, Protocol,
    ReceiveMethod, SELF_TEST, Selectors, SendMethod, Stack, WaitMode,
};
use crate::{
    figure::Metric,
    frame_size::{FrameSize, PayloadSize},
    units::{Nanos, PacketRate},
};

/// Bytes that a latency probe needs in each payload, for the number of the message.
pub const LATENCY_LEAST_PAYLOAD: PayloadSize = PayloadSize(4);

/// Bytes in which the answer also carries the far side's two stamps. In smaller payloads one-way delay is not measured.
pub const ONE_WAY_LEAST_PAYLOAD: PayloadSize = PayloadSize(20);

/// Messages that may be out within a timeout under load; remembering them takes about 400 MB.
pub const MOST_OUT: u64 = 1 << 22;

/// Connections each way of the TCP load, as in flent's test "rrul".
const LOAD_STREAMS: u16 = 4;

/// Time in which the TCP load fills the queues of the path, before the first message leaves.
const LOAD_WARMUP: Nanos = Nanos::from_secs(3);

/// Round trips: one after the other (ping-pong), or sent by a schedule (under load).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LatencySpec {
    /// UDP or TCP.
    pub protocol: Protocol,
    /// IPv4 or IPv6.
    pub ip: IpVersion,
    /// Network stack at both ends.
    #[serde(default)]
    pub stack: Stack,
    /// Way in which both ends wait.
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
    /// Direction of TCP connections that send as fast as they can meanwhile; `None` leaves the path idle.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tcp_load: Option<Direction>,
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
        if self.stamps {
            f.write_str(" stamped")?;
        }
        self.tcp_load.map_or(Ok(()), |direction| write!(f, " beside TCP {direction}"))
    }
}

/// Expected duration of a round trip without a rate, in seconds.
const SPINNING: f64 = 12e-6;
const SLEEPING: f64 = 60e-6;

impl LatencySpec {
    fn expected_s(&self) -> f64 {
        let message = match (self.rate, self.mode) {
            (Some(rate), _) => 1.0 / rate.0 as f64,
            (None, WaitMode::Spin) => SPINNING,
            (None, WaitMode::Block | WaitMode::BusyPoll) => SLEEPING,
        };
        let counted = match self.amount {
            Amount::Count(count) => count as f64 * message,
            Amount::Duration(duration) => duration.as_secs_f64(),
        };
        let load = self.tcp_load.map_or(0.0, |_| LOAD_WARMUP.as_secs_f64());
        load + self.warmup as f64 * message + counted
    }

    /// The TCP transfer beside the messages. It lasts as long as their schedule, which only messages at a rate have.
    pub fn transfer(&self) -> Option<GoodputSpec> {
        let (direction, rate) = (self.tcp_load?, self.rate.filter(|rate| rate.0 > 0)?);
        let schedule = |messages: u64| (u128::from(messages) * 1_000_000_000 / u128::from(rate.0)) as u64;
        let counted = match self.amount {
            Amount::Count(count) => schedule(count),
            Amount::Duration(Nanos(duration)) => duration,
        };
        Some(GoodputSpec {
            protocol: Protocol::Tcp,
            ip: self.ip,
            stack: Stack::Kernel,
            direction,
            streams: LOAD_STREAMS,
            duration: Nanos(schedule(self.warmup).saturating_add(counted)),
            warmup: LOAD_WARMUP,
            mtu: None,
            window: None,
            congestion: None,
            send: SendMethod::Write,
            receive: ReceiveMethod::Read,
            datagram: None,
            batch: Batch::Mmsg,
            rate: None,
        })
    }

    /// Past the kernel there is no loopback to measure the tester alone on.
    fn self_test(&self) -> Option<ProbeSpec> {
        let has_one = self.rate.is_some() && self.stack == Stack::Kernel;
        has_one.then(|| Self { amount: Amount::Duration(SELF_TEST), tcp_load: None, ..self.clone() }.into())
    }
}

impl LatencySpec {
    /// A far program is an echo for one message at a time.
    fn agentless(&self) -> Option<FarService> {
        let has_one = self.rate.is_none() && self.tcp_load.is_none() && self.stack == Stack::Kernel;
        has_one.then_some(match self.protocol {
            Protocol::Tcp => FarService::EchoTcp,
            Protocol::Udp => FarService::EchoUdp,
        })
    }
}

impl Probe for LatencySpec {
    fn name(&self) -> &'static str {
        "latency"
    }

    fn profile(&self) -> Profile {
        let ordinary = Profile::ordinary(self.ip, self.expected_s());
        Profile {
            stack: self.stack,
            stall: ordinary.stall.max(Nanos(4 * self.timeout.0)),
            self_test: self.self_test(),
            agentless: self.agentless(),
            ..ordinary
        }
    }

    fn metrics(&self) -> &'static [Metric] {
        use Metric::*;
        match self.tcp_load {
            None => &[RttMin, RttMean, RttP50, RttP90, RttP99, RttP999, RttMax, Loss],
            Some(_) => &[LoadedRtt, RttMin, RttMean, RttP50, RttP90, RttP99, RttP999, RttMax, Loss, GoodputMean],
        }
    }

    fn compared(&self) -> &'static [Metric] {
        match self.tcp_load {
            None => &[Metric::RttP50, Metric::RttP99, Metric::RttMin, Metric::Loss],
            Some(_) => &[Metric::LoadedRtt, Metric::RttP99, Metric::Loss, Metric::GoodputMean],
        }
    }

    fn selectors(&self) -> Selectors {
        Selectors {
            protocol: Some(self.protocol),
            ip: Some(self.ip),
            stack: Some(self.stack),
            mode: Some(self.mode),
            frame_size: Some(self.frame_size),
            under_load: Some(self.rate.is_some()),
            direction: self.tcp_load,
            ..Selectors::default()
        }
    }

    fn amount(&self) -> Option<Amount> {
        Some(self.amount)
    }

    fn warmup(&self) -> Option<Amount> {
        Some(Amount::Count(self.warmup))
    }

    fn beside_load(&self) -> Option<(Direction, ProbeSpec)> {
        Some((self.tcp_load?, Self { tcp_load: None, ..self.clone() }.into()))
    }

    fn conditions(&self) -> Conditions {
        Conditions {
            protocol: Some(self.protocol),
            frame_size: Some(self.frame_size),
            mode: Some(self.mode),
            rate: self.rate,
            direction: self.tcp_load,
            ..Conditions::default()
        }
    }
}

impl From<LatencySpec> for ProbeSpec {
    fn from(spec: LatencySpec) -> Self {
        Self::Latency(spec)
    }
}
