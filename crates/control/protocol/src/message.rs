//! The messages, as values.

use std::net::{IpAddr, SocketAddr};

use model::{
    Answer, Bed, Change, CoreUse, CpuFacts, EndCounters, Mtu, Nanos, NicsState, ProbeSpec, Side, SideFigures,
    SideSetup, SoFar,
    card::{Cable, Refused},
    change::Route,
    environment::{EndpointFacts, HostFacts},
    tuning::{SettingsToRead, TuningOrder, TuningReadings, TuningState, Undone},
};
use serde::{Deserialize, Serialize};

use crate::Failure;

model::json!(FromAgent, ToAgent);

/// First message of each side.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hello {
    /// Version and build, which must be the same on both sides.
    pub build: String,
    /// Process ID.
    #[serde(default)]
    pub pid: u32,
}

/// Messages of the controller.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ToAgent {
    /// The controller's greeting.
    Hello(Hello),
    /// A request, answered at once.
    Ask {
        /// Request ID; the answer repeats it.
        id: u64,
        /// The request.
        request: Request,
    },
    /// A measurement to prepare.
    Prepare {
        /// Task ID, repeated by all messages about the task.
        id: u64,
        /// One side of a probe.
        task: Task,
    },
    /// Starts the measurement.
    Start {
        /// Task ID.
        id: u64,
        /// Start time by `CLOCK_MONOTONIC` of the machine; a past time means at once.
        #[serde(with = "reading")]
        at: Nanos,
    },
    /// Ends a serving far side, with its result.
    Finish {
        /// Task ID.
        id: u64,
    },
    /// Stops the task within [`crate::CANCEL`], without a result.
    Cancel {
        /// Task ID.
        id: u64,
    },
    /// A sign of life.
    Heartbeat,
}

/// Messages of an agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FromAgent {
    /// The agent's greeting.
    Hello(Hello),
    /// Answer to `Ask`.
    Answer {
        /// Request ID.
        id: u64,
        /// The answer.
        reply: Reply,
    },
    /// Prepared: sockets are open, memory is allocated.
    Ready {
        /// Task ID.
        id: u64,
        /// Address of the serving side.
        address: Option<SocketAddr>,
    },
    /// Progress of a task; may be omitted under load.
    Progress {
        /// Task ID.
        id: u64,
        /// Fraction done, 0 to 1.
        fraction: f64,
        /// Goodput of each whole second since the last progress, in bit/s. Never omitted.
        seconds: Vec<f64>,
        /// Segments that a TCP sender sent again in each whole second since the last progress. Never omitted.
        retransmits: Vec<u64>,
        /// Interim result, replacing the previous one; only every few seconds.
        so_far: Option<SoFar>,
    },
    /// The result. Never omitted.
    Result {
        /// Task ID.
        id: u64,
        /// The figures.
        outcome: Outcome,
    },
    /// The task has ended and released its resources.
    Done {
        /// Task ID.
        id: u64,
    },
    /// A failed request or task.
    Failed {
        /// Request or task ID.
        id: u64,
        /// The failure.
        failure: Failure,
    },
    /// A sign of life.
    Heartbeat,
}

/// Requests, answered at once.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Request {
    /// Undo the changes of crashed owners, then open the ledger as this owner.
    OpenLedger {
        /// Name of the ledger file; the bed's name.
        owner: String,
    },
    /// Record these changes, then make them.
    Apply {
        /// The changes, in order.
        changes: Vec<Change>,
    },
    /// Undo the last changes of the open ledger, in reverse order.
    UndoLast {
        /// Their number.
        changes: usize,
    },
    /// Undo all changes of the open ledger, in reverse order.
    UndoAll,
    /// Keep the changes when the agent ends, described by this bed.
    Keep {
        /// The kept bed.
        bed: Bed,
    },
    /// Take over the ledger of a kept bed.
    Reopen {
        /// The bed's name.
        owner: String,
    },
    /// Kept beds.
    ListBeds,
    /// Delete these routes, which were made, and add them again, in turn, until something is undone.
    AlternateRoutes {
        /// The routes.
        route: Route,
    },
    /// Undo the changes of crashed owners.
    Clean,
    /// Facts about the machine.
    HostFacts,
    /// Facts about the agent's endpoint.
    EndpointFacts {
        /// Name, for the answer.
        endpoint: String,
    },
    /// State of an interface's link.
    Link {
        /// An interface of its own network namespace.
        interface: String,
    },
    /// Load of the machine's cores, sampled outside measurements.
    Load,
    /// Usable cores, as seen from an interface if given, and whether the kernel has IPv6.
    LabState {
        /// An interface of its own network namespace.
        interface: Option<String>,
    },
    /// `CLOCK_MONOTONIC`.
    Clock,
    /// Source address for packets to this one.
    SourceFor {
        /// The destination.
        address: IpAddr,
    },
    /// Whether a host answers at this address.
    Answers {
        /// The address.
        address: IpAddr,
    },
    /// Read the counters of these interfaces and of the machine, as a start value.
    CountFrom {
        /// Interfaces of its own network namespace.
        interfaces: Vec<String>,
    },
    /// Counters since then.
    CountUntil,
    /// Forward packets between these interfaces by XDP, until the agent ends. Their other ends have been prepared for that.
    Route {
        /// Interfaces of its own network namespace.
        interfaces: Vec<String>,
    },
    /// Take packets that XDP at their other ends sends to these interfaces, until the agent ends: a veth that does not poll drops them.
    TakeFromXdp {
        /// Interfaces of its own network namespace.
        interfaces: Vec<String>,
    },
    /// Interfaces of default routes, or of the caller's session.
    Uplinks,
    /// Network cards of the machine without an interface.
    RefusedCards,
    /// Cables between these interfaces.
    Cables {
        /// Interfaces that are up.
        interfaces: Vec<String>,
    },
    /// The machine's interfaces, with reasons for or against taking each.
    NicsState,
    /// Readings that a plan of tuning needs.
    TuningReadings {
        /// The settings.
        asked: SettingsToRead,
    },
    /// Tune the machine, and keep that when the agent ends.
    Tune {
        /// The plan.
        order: Box<TuningOrder>,
    },
    /// Lock the tuning against others: what is tuned from now on is undone when the agent ends.
    ClaimTuning,
    /// The tuning that stands.
    TuningState,
    /// Keep a tuning that waits for that.
    ConfirmTuning,
    /// Undo the tuning.
    UndoTuning {
        /// Whether to undo changes that somebody else has changed again.
        force: bool,
        /// Whether to forget those instead.
        forget: bool,
    },
}

/// Answers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reply {
    /// Success without a result.
    Done,
    /// Undone changes, in words.
    Undone(Vec<String>),
    /// Undone changes of crashed owners.
    Cleaned(Cleaned),
    /// Kept beds.
    Beds(Vec<Bed>),
    /// Facts about the machine.
    HostFacts(Box<HostFacts>),
    /// Facts about an endpoint.
    EndpointFacts(Box<EndpointFacts>),
    /// State of a link; `None` if there is no such interface.
    Link(Option<LinkReading>),
    /// Use of each core.
    Load(Vec<CoreUse>),
    /// State for making a lab.
    LabState(LabState),
    /// Reading of the clock.
    Clock(#[serde(with = "reading")] Nanos),
    /// A local address; `None` without a route.
    Source(Option<IpAddr>),
    /// Whether the host answered.
    Answer(Answer),
    /// Counters.
    Counted(Box<EndCounters>),
    /// Names of interfaces.
    Interfaces(Vec<String>),
    /// Network cards without an interface.
    RefusedCards(Vec<Refused>),
    /// Detected cables.
    Cables(Vec<Cable>),
    /// State for making a bed of ports.
    NicsState(Box<NicsState>),
    /// Readings for a plan of tuning.
    TuningReadings(Box<TuningReadings>),
    /// The tuning; `None` without one.
    Tuning(Option<Box<TuningState>>),
    /// A tuning that was undone.
    TuningUndone(Undone),
}

/// Outcome of a cleanup after crashed owners.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Cleaned {
    /// Undone changes, in words.
    pub undone: Vec<String>,
    /// Records that this version does not know, and which stay.
    pub unknown: Vec<Failure>,
}

/// State of this machine for making a lab.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LabState {
    /// The machine's cores.
    pub cpus: CpuFacts,
    /// Whether the kernel has IPv6.
    pub ipv6: bool,
}

/// State of an interface's link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkReading {
    /// Whether the interface is administratively up.
    pub set_up: bool,
    /// Whether packets can pass; true if the driver does not tell.
    pub up: bool,
    /// Carrier losses since the interface was created, as counted by the kernel.
    pub losses: u32,
    /// MTU.
    pub mtu: Mtu,
}

/// One side of a measurement.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Task {
    /// The probe.
    pub spec: ProbeSpec,
    /// The side.
    pub side: Side,
    /// Place.
    pub setup: SideSetup,
}

/// Result of one side.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// The cores that its threads were pinned to; empty if that failed or was not requested.
    pub pinned: Vec<usize>,
    /// Counters of its end.
    pub counters: EndCounters,
    /// The figures.
    pub figures: SideFigures,
}

/// Readings of a clock as plain numbers. A text with a unit is accepted up to 104 days only, and machines run for longer.
mod reading {
    use model::Nanos;
    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(reading: &Nanos, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u64(reading.0)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Nanos, D::Error> {
        u64::deserialize(deserializer).map(Nanos)
    }
}

#[cfg(test)]
mod tests {
    use model::json::Json;

    use super::*;

    #[test]
    fn a_clock_of_any_age_is_told_to_the_nanosecond() {
        const DAY: u64 = 24 * 3600 * 1_000_000_000;
        for reading in [0, 1, 300 * DAY + 1, 100_000 * DAY + 7, u64::MAX].map(Nanos) {
            let answer = FromAgent::Answer { id: 1, reply: Reply::Clock(reading) };
            assert_eq!(FromAgent::from_json(&answer.to_json()).expect("an answer"), answer);
            let start = ToAgent::Start { id: 1, at: reading };
            assert_eq!(ToAgent::from_json(&start.to_json()).expect("an order"), start);
        }
    }
}
