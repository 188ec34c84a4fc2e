//! Properties of a probe that conducting, judging and comparing depend on.

use std::{any::Any, fmt};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Conditions, Direction, ProbeSpec, WaitMode};
use crate::{
    figure::Metric,
    frame_size::FrameSize,
    network::{IpVersion, Protocol, Stack},
    units::{Mtu, Nanos, PacketRate},
};

/// When a trial is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Amount {
    /// After this many messages that count.
    Count(u64),
    /// After this time.
    Duration(Nanos),
}

/// Service of a program of the far host in the place of the far side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FarService {
    /// Takes all that comes on its connection.
    Sink,
    /// Sends on its connection as long as that stands.
    Source,
    /// Sends all back on its connection.
    EchoTcp,
    /// Sends each datagram back.
    EchoUdp,
}

impl FarService {
    /// The command there, without address and port.
    pub fn command(self) -> &'static str {
        match self {
            Self::Sink => "nc -d -l > /dev/null",
            Self::Source => "nc -l < /dev/zero",
            Self::EchoTcp => "nc -l | cat",
            Self::EchoUdp => "nc -u -l | cat",
        }
    }
}

/// One kind of probe with its parameters. `Display` writes the parameters, without those that are ordinary.
pub trait Probe: Any + fmt::Display {
    /// Name in plans, documents and configurations.
    fn name(&self) -> &'static str;

    /// Dependencies of the conduct of a trial.
    fn profile(&self) -> Profile;

    /// Metrics of its figures.
    fn metrics(&self) -> &'static [Metric];

    /// Metrics that runs are compared by, the most telling first.
    fn compared(&self) -> &'static [Metric];

    /// Values that the selectors of a limit are matched against.
    fn selectors(&self) -> Selectors;

    /// Conditions as far as the parameters state them, for comparison with references.
    fn conditions(&self) -> Conditions;

    /// Duration or number of measurements; `None` where that is not asked for.
    fn amount(&self) -> Option<Amount>;

    /// Time or round trips before that which do not count; `None` where there are none.
    fn warmup(&self) -> Option<Amount>;

    /// The same at another load, in whole units, and for another time; `None` where it has no load of its own.
    fn with_load(&self, _load: u64, _duration: Nanos) -> Option<ProbeSpec> {
        None
    }

    /// Part that trials at other loads and of other durations share; `None` where it has no load of its own.
    fn without_load(&self) -> Option<ProbeSpec> {
        None
    }

    /// Direction of the TCP load beside it, and the same without that load; `None` where there is none.
    fn beside_load(&self) -> Option<(Direction, ProbeSpec)> {
        None
    }
}

/// Dependencies of the conduct of a trial.
#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    /// IP version of its traffic.
    pub ip: IpVersion,
    /// The MTU that the bed is set to for it; `None` leaves the bed's own.
    pub mtu: Option<Mtu>,
    /// Filters that the device under test has for it (RFC 2544, section 11.4); `None` for none.
    pub filters: Option<u32>,
    /// Whether routes change at the device under test meanwhile (RFC 2544, section 11.3).
    pub route_updates: bool,
    /// Network stack that carries it.
    pub stack: Stack,
    /// Whether the senders of a bed that has several send at the same time, to load their receiver; otherwise they take turns.
    pub senders_share: bool,
    /// Threads of one side that measure.
    pub threads: usize,
    /// Expected duration of a trial, in seconds.
    pub expected_s: f64,
    /// A trial without progress for this long is stuck.
    pub stall: Nanos,
    /// Whether the far side serves until it learns that the near side is done.
    pub far_serves_until_told: bool,
    /// The same load for a moment, to measure the tester alone; `None` where the path sets the pace.
    pub self_test: Option<ProbeSpec>,
    /// Whole seconds whose figures are reported as they pass; 0 where figures cover the trial up to now.
    pub whole_seconds: usize,
    /// Whether it measures the MTU of the path, which other probes rely on.
    pub measures_mtu: bool,
    /// The service of a far host without wireproof that would do; `None` where it needs our far side.
    pub agentless: Option<FarService>,
}

/// A trial without progress for this long is stuck, unless a single reply may take longer.
const STALL: Nanos = Nanos::from_secs(30);

impl Profile {
    /// A probe of one thread that measures one sender at a time by the kernel's stack, on the bed's own MTU.
    pub(super) fn ordinary(ip: IpVersion, expected_s: f64) -> Self {
        Self {
            ip,
            mtu: None,
            filters: None,
            route_updates: false,
            stack: Stack::Kernel,
            senders_share: false,
            threads: 1,
            expected_s,
            stall: STALL,
            far_serves_until_told: true,
            self_test: None,
            whole_seconds: 0,
            measures_mtu: false,
            agentless: None,
        }
    }
}

/// Values that limits select trials by; `None` where a limit does not ask, or where a probe has no such value.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Selectors {
    /// Transport protocol.
    pub protocol: Option<Protocol>,
    /// IP version.
    pub ip: Option<IpVersion>,
    /// Network stack.
    pub stack: Option<Stack>,
    /// Way in which the ends wait.
    pub mode: Option<WaitMode>,
    /// Size of the frames, where all have one.
    pub frame_size: Option<FrameSize>,
    /// Whether round trips are measured at a rate.
    pub under_load: Option<bool>,
    /// Connections or flows at the same time.
    pub streams: Option<u16>,
    /// Direction of the data.
    pub direction: Option<Direction>,
    /// The MTU that the bed is set to.
    pub mtu: Option<Mtu>,
    /// Rate of numbered packets.
    pub rate: Option<PacketRate>,
}

impl Selectors {
    /// Whether these, asked for by a limit, select a probe with those values. A probe without a value that is asked for is not
    /// selected.
    pub fn select(&self, probe: &Self) -> bool {
        fn fits<T: PartialEq>(wanted: &Option<T>, is: &Option<T>) -> bool {
            wanted.is_none() || wanted == is
        }
        fits(&self.protocol, &probe.protocol)
            && fits(&self.ip, &probe.ip)
            && fits(&self.stack, &probe.stack)
            && fits(&self.mode, &probe.mode)
            && fits(&self.frame_size, &probe.frame_size)
            && fits(&self.under_load, &probe.under_load)
            && fits(&self.streams, &probe.streams)
            && fits(&self.direction, &probe.direction)
            && fits(&self.mtu, &probe.mtu)
            && fits(&self.rate, &probe.rate)
    }
}

impl fmt::Display for Selectors {
    /// In the words of a configuration, each behind a blank.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = [
            self.protocol.map(|protocol| protocol.to_string()),
            self.ip.map(|ip| ip.to_string()),
            self.stack.map(|stack| stack.to_string()),
            self.mode.map(|mode| mode.to_string()),
            self.frame_size.map(|size| format!("{} B", size.0)),
            self.under_load.map(|loaded| if loaded { "under load" } else { "ping-pong" }.to_owned()),
            self.streams.map(|streams| format!("{streams} stream{}", if streams == 1 { "" } else { "s" })),
            self.direction.map(|direction| direction.to_string()),
            self.mtu.map(|mtu| format!("MTU {}", mtu.0)),
            self.rate.map(|rate| format!("at {rate}")),
        ];
        words.into_iter().flatten().try_for_each(|word| write!(f, " {word}"))
    }
}
