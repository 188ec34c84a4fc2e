//! Round-trip time.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    Amount, Conditions, IpVersion, Probe, ProbeSpec, Profile, Protocol, SELF_TEST, Selectors, Stack, WaitMode,
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
        self.warmup as f64 * message + counted
    }

    /// Past the kernel there is no loopback to measure the tester alone on.
    fn self_test(&self) -> Option<ProbeSpec> {
        let has_one = self.rate.is_some() && self.stack == Stack::Kernel;
        has_one.then(|| Self { amount: Amount::Duration(SELF_TEST), ..self.clone() }.into())
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
            ..ordinary
        }
    }

    fn metrics(&self) -> &'static [Metric] {
        use Metric::*;
        &[RttMin, RttMean, RttP50, RttP90, RttP99, RttP999, RttMax, Loss]
    }

    fn compared(&self) -> &'static [Metric] {
        &[Metric::RttP50, Metric::RttP99, Metric::RttMin, Metric::Loss]
    }

    fn selectors(&self) -> Selectors {
        Selectors {
            protocol: Some(self.protocol),
            ip: Some(self.ip),
            stack: Some(self.stack),
            mode: Some(self.mode),
            frame_size: Some(self.frame_size),
            under_load: Some(self.rate.is_some()),
            ..Selectors::default()
        }
    }

    fn amount(&self) -> Option<Amount> {
        Some(self.amount)
    }

    fn warmup(&self) -> Option<Amount> {
        Some(Amount::Count(self.warmup))
    }

    fn conditions(&self) -> Conditions {
        Conditions {
            protocol: Some(self.protocol),
            frame_size: Some(self.frame_size),
            mode: Some(self.mode),
            rate: self.rate,
            ..Conditions::default()
        }
    }
}

impl From<LatencySpec> for ProbeSpec {
    fn from(spec: LatencySpec) -> Self {
        Self::Latency(spec)
    }
}
