//! The messages, as values.

use std::net::{IpAddr, SocketAddr};

use model::{
    Answer, Bed, Cards, Change, CoreUse, CpuFacts, EndCounters, Mtu, Nanos, NicsState, ProbeSpec, Seat, Side,
    SideFigures, SoFar,
    card::Cable,
    environment::{EndpointFacts, HostFacts},
};
use serde::{Deserialize, Serialize};

use crate::Failure;

/// First message of each side.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hello {
    /// Version and build; both sides must be the same.
    pub build: String,
    /// Number of its process.
    #[serde(default)]
    pub pid: u32,
}

/// What the controller sends.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "message", rename_all = "kebab-case")]
pub enum ToAgent {
    /// Who the controller is.
    Hello(Hello),
    /// Something to do or to tell at once.
    Ask {
        /// Request ID; the answer repeats it.
        id: u64,
        /// What.
        request: Request,
    },
    /// A measurement to get ready for.
    Prepare {
        /// Task ID; all messages about the task repeat it.
        id: u64,
        /// Which side of which probe.
        task: Task,
    },
    /// Begin the measurement.
    Start {
        /// Task ID.
        id: u64,
        /// When, by `CLOCK_MONOTONIC` of the machine; in the past means at once.
        at: Nanos,
    },
    /// A far side that serves until told: finish and give the result.
    Finish {
        /// Task ID.
        id: u64,
    },
    /// Stop within [`crate::CANCEL`]; no result is wanted.
    Cancel {
        /// Task ID.
        id: u64,
    },
    /// The controller is there.
    Heartbeat,
}

/// What an agent sends.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "message", rename_all = "kebab-case")]
pub enum FromAgent {
    /// Who the agent is.
    Hello(Hello),
    /// Answer to `Ask`.
    Answer {
        /// Request ID.
        id: u64,
        /// What came of it.
        reply: Reply,
    },
    /// Prepared: sockets are open, memory is there.
    Ready {
        /// Task ID.
        id: u64,
        /// Where the serving side listens.
        address: Option<SocketAddr>,
    },
    /// How far it is; may be left out under load.
    Progress {
        /// Task ID.
        id: u64,
        /// Done so far, 0 to 1.
        fraction: f64,
        /// Goodput of each whole second that came since the last progress, in bit/s. Never left out.
        seconds: Vec<f64>,
        /// What there would be if it ended now, in the place of what was told before; only every few seconds.
        so_far: Option<SoFar>,
    },
    /// The figures. Never left out.
    Result {
        /// Task ID.
        id: u64,
        /// The figures.
        outcome: Outcome,
    },
    /// The task is over and holds nothing any more.
    Done {
        /// Task ID.
        id: u64,
    },
    /// A request or task that did not work.
    Failed {
        /// Request or task ID.
        id: u64,
        /// Why.
        failure: Failure,
    },
    /// The agent is there.
    Heartbeat,
}

/// Requests, answered at once.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "request", rename_all = "kebab-case")]
pub enum Request {
    /// Undo what crashed owners left, then open the ledger as this owner.
    OpenLedger {
        /// Names the ledger file; the bed's name.
        owner: String,
    },
    /// Record these changes, then make them.
    Apply {
        /// The changes, in order.
        changes: Vec<Change>,
    },
    /// Undo the last changes of the open ledger, the very last first.
    UndoLast {
        /// How many.
        changes: usize,
    },
    /// Undo all changes of the open ledger, the last first.
    UndoAll,
    /// Leave the changes in place when the agent ends, with this description of what they are.
    Keep {
        /// The bed that stays.
        bed: Bed,
    },
    /// Take over the ledger of a bed that was kept.
    Reopen {
        /// The bed's name.
        owner: String,
    },
    /// Beds that were kept.
    ListBeds,
    /// Undo what crashed owners left.
    Clean,
    /// Facts about the machine.
    HostFacts,
    /// Facts about the endpoint this agent sits at.
    EndpointFacts {
        /// Its name, for the answer.
        endpoint: String,
    },
    /// How the link of an interface is.
    Link {
        /// An interface of its own network namespace.
        interface: String,
    },
    /// How busy the machine's cores are, looked at for a moment in which nothing is measured.
    Load,
    /// Cores this agent may use, seen from this interface where one is named, and whether the kernel has IPv6.
    LabState {
        /// An interface of its own network namespace.
        interface: Option<String>,
    },
    /// What `CLOCK_MONOTONIC` shows there.
    Clock,
    /// Which of its addresses it would send from to reach this one.
    SourceFor {
        /// The address to be reached.
        address: IpAddr,
    },
    /// Whether a host answers at this address.
    Answers {
        /// The address.
        address: IpAddr,
    },
    /// Read the counters of these interfaces and of the machine: what is counted begins now.
    CountFrom {
        /// Interfaces of its own network namespace.
        interfaces: Vec<String>,
    },
    /// What was counted since then.
    CountUntil,
    /// Interfaces that a default route goes through, or the session of the caller.
    Uplinks,
    /// Network cards of the machine.
    Cards,
    /// Which of these interfaces hear each other over a cable.
    Cables {
        /// Interfaces that are up.
        interfaces: Vec<String>,
    },
    /// The machine's interfaces, and what stands for or against taking each.
    NicsState,
}

/// Answers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "reply", content = "value", rename_all = "kebab-case")]
pub enum Reply {
    /// Done, nothing to tell.
    Done,
    /// Changes that were undone, in words.
    Undone(Vec<String>),
    /// Beds that were kept.
    Beds(Vec<Bed>),
    /// Facts about the machine.
    HostFacts(Box<HostFacts>),
    /// Facts about an endpoint.
    EndpointFacts(Box<EndpointFacts>),
    /// A link; `None` where there is no such interface.
    Link(Option<LinkReading>),
    /// Use of each core.
    Load(Vec<CoreUse>),
    /// What a lab can be made with.
    LabState(LabState),
    /// What the clock showed.
    Clock(Nanos),
    /// An address of its own; `None` where no route leads there.
    Source(Option<IpAddr>),
    /// Whether the host answered.
    Answer(Answer),
    /// What was counted.
    Counted(Box<EndCounters>),
    /// Names of interfaces.
    Interfaces(Vec<String>),
    /// Network cards.
    Cards(Box<Cards>),
    /// Who heard whom.
    Cables(Vec<Cable>),
    /// What a bed of ports can be made with.
    NicsState(Box<NicsState>),
}

/// What a lab bed can be made with on this machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LabState {
    /// The machine's cores.
    pub cpus: CpuFacts,
    /// Whether the kernel has IPv6.
    pub ipv6: bool,
}

/// How the link of an interface is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkReading {
    /// Whether the interface is set up (administratively).
    pub set_up: bool,
    /// Whether packets can pass, or its driver does not say.
    pub up: bool,
    /// How often its carrier went since the interface is there, as the kernel counts.
    pub losses: u32,
    /// Its MTU.
    pub mtu: Mtu,
}

/// One side of a measurement.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Task {
    /// The probe.
    pub spec: ProbeSpec,
    /// Which side.
    pub side: Side,
    /// Where it sits.
    pub seat: Seat,
}

/// What one side brings home.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// The cores its threads were pinned to; empty where that did not work, or none was asked for.
    pub pinned: Vec<usize>,
    /// What its end counted.
    pub counters: EndCounters,
    /// The figures.
    pub figures: SideFigures,
}
