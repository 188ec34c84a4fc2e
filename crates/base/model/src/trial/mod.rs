//! One finished measurement: figures, raw sample, counters and doubts.

mod forwarding;
mod goodput;
mod latency;
mod listener_counts;
mod measurement;
mod packets;
mod path;
mod times;
mod transactions;
mod transfer;

use std::any::Any;

use serde::{Deserialize, Deserializer, Serialize};

pub use forwarding::{
    CheckOutcome, CheckResult, ForwardingCheck, ForwardingFault, ForwardingField, ForwardingResult, ForwardingSide,
    NotApplicable,
};
pub use goodput::{
    DatagramsReceived, DatagramsSent, DirectionSecond, Flow, GoodputReceived, GoodputResult, GoodputSecond,
    GoodputSent, GoodputSide, TcpSeconds, TcpState, Together, ZeroCopied,
};
pub use latency::{LatencyResult, OneWay, Stage, StageName, Variation};
pub use listener_counts::{ListenerCounts, SequenceCounts};
pub use measurement::Measures;
pub use packets::{
    AllSenders, BitRates, Numbers, PacketStream, PacketsReceived, PacketsResult, PacketsSent, PacketsSide, ReceivedOn,
};
pub use path::{Hop, HopTimes, Leg, PathDevice, PathResult, Refusal};
pub use times::{NEEDED_ABOVE, Pacing, Sample, TimeSummary};
pub use transactions::{TransactionsResult, TransactionsServed};
pub use transfer::{Disks, KernelTls, Lack, Program, TransferResult, TransferSide};

use self::measurement::Measurement;
use crate::{
    bed::DUT,
    counters::EndCounters,
    doubt::Doubt,
    figure::{Figure, Metric, Range},
    plausible::{self, Checked, Within},
    probe::{
        Conditions, ForwardingSpec, GoodputSpec, LatencySpec, PacketsSpec, PathSpec, Probe, ProbeSpec,
        TransactionsSpec, TransferSpec,
    },
    search::LoadedTrial,
    units::Mtu,
};

/// One finished measurement between two endpoints.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Trial {
    /// Counts from 1 within the run.
    pub number: u32,
    /// The procedure that asked for it; `None` in runs of versions that had lists of trials only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<Origin>,
    /// In which repeat of the plan, from 1.
    pub repeat: u32,
    /// When it began (RFC 3339).
    pub started: String,
    /// Duration of the counted part, in seconds.
    pub duration_s: f64,
    /// The endpoint at the near side of the probe.
    pub endpoint_from: String,
    /// The endpoint at the far side.
    pub endpoint_to: String,
    /// CPUs the two ends were pinned to (near, far); empty where not pinned. Of several senders this is the first.
    pub cpus: [Vec<usize>; 2],
    /// Measurement and figures.
    pub measured: Measured,
    /// Counts of both ends over the trial (near, far).
    pub counters: [EndCounters; 2],
    /// The other ends that sent to the far one at the same time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<OtherSender>,
    /// Counters of the device under test at all of its interfaces, from before the first packet until the last arrived.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dut: Option<EndCounters>,
    /// Doubts about the figures.
    pub doubts: Vec<Doubt>,
}

crate::json!(Trial);

/// The part of a trial's identity that neither its spec nor its ends tell (see `plan::Step`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// The procedure.
    pub procedure: String,
    /// Number of its request for this configuration in this repeat, from 1.
    pub attempt: u32,
}

impl Origin {
    /// Name of the plan's section, like `packets`, without its number.
    pub fn section(&self) -> &str {
        self.procedure.split('.').next().unwrap_or_default()
    }
}

/// An end that sent beside the near one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OtherSender {
    /// The endpoint.
    pub endpoint: String,
    /// CPUs it was pinned to; empty where not pinned.
    pub cpus: Vec<usize>,
    /// Counters.
    pub counters: EndCounters,
}

/// The probe with its parameters and its figures.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "probe", rename_all = "lowercase")]
pub enum Measured {
    /// Round-trip time.
    Latency {
        /// Configuration.
        spec: LatencySpec,
        /// Result.
        result: Box<LatencyResult>,
    },
    /// Goodput.
    Goodput {
        /// Configuration.
        spec: GoodputSpec,
        /// Result.
        result: GoodputResult,
    },
    /// Path MTU.
    Path {
        /// Configuration.
        spec: PathSpec,
        /// Result.
        result: PathResult,
    },
    /// Numbered packets.
    Packets {
        /// Configuration.
        spec: PacketsSpec,
        /// Result.
        result: PacketsResult,
    },
    /// Transactions.
    Transactions {
        /// Configuration.
        spec: TransactionsSpec,
        /// Result.
        result: Box<TransactionsResult>,
    },
    /// Checks of forwarding.
    Forwarding {
        /// Configuration.
        spec: ForwardingSpec,
        /// Result.
        result: ForwardingResult,
    },
    /// A file from one end to the other.
    Transfer {
        /// Configuration.
        spec: TransferSpec,
        /// Result.
        result: Box<TransferResult>,
    },
}

/// Results of one side of a probe.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SideFigures {
    /// The near side of a latency probe has them all.
    LatencyNear {
        /// Figures of the round trips.
        result: Box<LatencyResult>,
        /// Side of the TCP load; `None` without one.
        load: Option<Box<GoodputSide>>,
    },
    /// The far side of a latency probe.
    LatencyFar {
        /// Messages it answered, warm-up included.
        answered: u64,
        /// Datagrams that its socket's full buffer dropped (`SO_MEMINFO`).
        overflowed: u64,
        /// Datagrams of its own, each way, that went through the kernel where they were to go past it.
        through_kernel: Option<u64>,
        /// Whether its card read and wrote the memory of these packets itself; `None` where all went through the kernel.
        zero_copy: Option<bool>,
        /// Side of the TCP load; `None` without one.
        load: Option<Box<GoodputSide>>,
    },
    /// Either side of a goodput probe.
    Goodput(Box<GoodputSide>),
    /// The near side of a path probe has them all.
    PathNear(Box<PathResult>),
    /// The far side of a path probe.
    PathFar {
        /// Devices its packets go through.
        devices: Vec<PathDevice>,
    },
    /// Either side of a packet probe.
    Packets(Box<PacketsSide>),
    /// The client of transactions has all but the server's counts.
    TransactionsNear(Box<TransactionsResult>),
    /// The server of transactions.
    TransactionsFar(TransactionsServed),
    /// Either side of checks of forwarding.
    Forwarding(ForwardingSide),
    /// Either side of a transfer.
    Transfer(Box<TransferSide>),
}

/// Interim results of one side of a probe.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SoFar {
    /// The near side of a latency probe.
    Latency {
        /// Counted time so far.
        seconds: f64,
        /// The result if the trial ended now.
        result: Box<LatencyResult>,
    },
    /// A receiver of datagrams: its counts beside the bytes of each second, which are sent separately.
    Goodput(Box<GoodputReceived>),
    /// Either side of a packet probe: the result if the trial ended now.
    Packets(Box<PacketsSide>),
    /// The client of transactions: the result if the trial ended now.
    Transactions(Box<TransactionsResult>),
}

impl Trial {
    /// Figures that the trial has: those that its sample supports.
    pub fn figures(&self) -> Vec<Figure> {
        self.measured.parts().figures(&self.endpoint_to)
    }

    /// The whole sample of its times, where the probe keeps one.
    pub fn sample(&self) -> Option<Sample<'_>> {
        self.measured.parts().sample()
    }

    /// One figure; `None` where the trial does not have it.
    pub fn figure(&self, metric: Metric) -> Option<Range> {
        self.figures().into_iter().find(|figure| figure.metric == metric).map(|figure| figure.value)
    }

    /// Trial as a search assesses it; `None` where it has no load of its own, or says nothing of it: it was cut off, or its sender did not
    /// reach the load.
    pub fn at_load(&self) -> Option<LoadedTrial> {
        let is_short = |doubt: &Doubt| matches!(doubt, Doubt::SenderTooSlow { .. } | Doubt::SenderPaused { .. });
        let is_reached = !self.doubts.iter().any(is_short);
        self.asked_load().filter(|_| is_reached)
    }

    /// The same, also where the sender did not reach the load.
    pub fn asked_load(&self) -> Option<LoadedTrial> {
        self.is_whole().then(|| self.measured.parts().at_load()).flatten()
    }

    /// Counters and CPUs of this end or the device under test; `None` for an end that took no part.
    pub fn end(&self, endpoint: &str) -> Option<(&EndCounters, &[usize])> {
        let [near, far] = &self.counters;
        let [near_cpus, far_cpus] = &self.cpus;
        match endpoint {
            _ if endpoint == self.endpoint_to => Some((far, far_cpus)),
            _ if endpoint == self.endpoint_from => Some((near, near_cpus)),
            DUT => Some((self.dut.as_ref()?, &[])),
            _ => {
                let other = self.others.iter().find(|other| other.endpoint == endpoint)?;
                Some((&other.counters, &other.cpus))
            }
        }
    }

    /// The ends that sent or were the near one, the first one first.
    pub fn senders(&self) -> impl Iterator<Item = &str> {
        [&self.endpoint_from].into_iter().chain(self.others.iter().map(|other| &other.endpoint)).map(String::as_str)
    }

    /// Whether its figures are possible, those of both ends against each other too. `stats::check` also reads the sample.
    pub fn check(&self) -> Checked {
        let attempt = self.origin.as_ref().map_or(1, |origin| origin.attempt);
        let numbers = [("number", self.number), ("repeat", self.repeat), ("attempt", attempt)];
        numbers.into_iter().try_for_each(|(field, number)| plausible::number(field, number))?;
        plausible::seconds("duration_s", self.duration_s)?;
        for (end, counters) in [&self.endpoint_from, &self.endpoint_to].into_iter().zip(&self.counters) {
            counters.check().within(format_args!("counters of {end}"))?;
        }
        for other in &self.others {
            other.counters.check().within(format_args!("counters of {}", other.endpoint))?;
        }
        self.dut.as_ref().map_or(Ok(()), EndCounters::check).within("counters of the device under test")?;
        self.measured.parts().check(self.duration_s)
    }

    /// Whether it may take the place of another try of the same measurement: it is whole, or got further.
    pub fn replaces(&self, other: &Self) -> bool {
        self.is_whole() || (!other.is_whole() && self.duration_s > other.duration_s)
    }

    /// Whether it was completed; a trial that was cut off does not count as the planned one.
    pub fn is_whole(&self) -> bool {
        !self.doubts.iter().any(|doubt| matches!(doubt, Doubt::Unfinished { .. }))
    }
}

impl SideFigures {
    /// Whether they are possible.
    pub fn check(&self) -> Checked {
        let load =
            |load: &Option<Box<GoodputSide>>| load.as_ref().map_or(Ok(()), |load| goodput::check(load)).within("load");
        match self {
            Self::LatencyNear { result, load: of_load } => latency::check(result).and_then(|()| load(of_load)),
            Self::LatencyFar { answered, overflowed, through_kernel, load: of_load, .. } => {
                plausible::count("answered", *answered)?;
                plausible::count("overflowed", *overflowed)?;
                plausible::optional("through_kernel", *through_kernel)?;
                load(of_load)
            }
            Self::Goodput(side) => goodput::check(side),
            Self::PathNear(result) => path::check(result),
            Self::PathFar { devices } => plausible::each("devices", devices, path::check_device),
            Self::Packets(side) => packets::check(side),
            Self::TransactionsNear(result) => transactions::check(result),
            Self::TransactionsFar(served) => plausible::text("server", &served.server),
            Self::Forwarding(side) => forwarding::check(side),
            Self::Transfer(side) => transfer::check(side),
        }
    }
}

impl SoFar {
    /// Whether they are possible.
    pub fn check(&self) -> Checked {
        match self {
            Self::Latency { seconds, result } => {
                plausible::seconds("seconds", *seconds)?;
                latency::check(result)
            }
            Self::Goodput(received) => goodput::check_received(received),
            Self::Packets(side) => packets::check(side),
            Self::Transactions(result) => transactions::check(result),
        }
    }
}

impl Measured {
    /// Parameters and result, whichever the probe: the one place that tells them apart.
    fn parts(&self) -> Box<dyn Measurement<'_> + '_> {
        match self {
            Self::Latency { spec, result } => Box::new((spec, &**result)),
            Self::Goodput { spec, result } => Box::new((spec, result)),
            Self::Path { spec, result } => Box::new((spec, result)),
            Self::Packets { spec, result } => Box::new((spec, result)),
            Self::Transactions { spec, result } => Box::new((spec, &**result)),
            Self::Forwarding { spec, result } => Box::new((spec, result)),
            Self::Transfer { spec, result } => Box::new((spec, &**result)),
        }
    }

    /// The probe.
    pub fn probe(&self) -> &dyn Probe {
        self.parts().probe()
    }

    /// The probe with its parameters.
    pub fn spec(&self) -> ProbeSpec {
        self.parts().spec()
    }

    /// Parameters and result, if the probe is of this kind.
    pub fn of<S: Measures>(&self) -> Option<(&S, &S::Result)> {
        let parts = self.parts();
        Some(((parts.probe() as &dyn Any).downcast_ref()?, parts.result().downcast_ref()?))
    }

    /// Largest packet that passed forward and in reverse, where the probe measures that.
    pub fn passed(&self) -> Option<[Option<Mtu>; 2]> {
        self.parts().passed()
    }

    /// Conditions under which it was really measured, as far as the result states them, else as they were asked for.
    pub fn conditions(&self) -> Conditions {
        self.parts().conditions()
    }
}

/// Seconds that are known. Earlier stores have 0 where they are not.
fn known_seconds<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
    Ok(Option::deserialize(deserializer)?.filter(|seconds| *seconds > 0.0))
}
