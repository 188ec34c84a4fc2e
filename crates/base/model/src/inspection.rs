//! Inspection of a host: what it is meant for, its readings, and what is found in them.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    card::{Card, Module, Refused},
    choice::choice,
    difference::differences,
    environment::{Cards, EndpointFacts, Environment, HostFacts, InterfaceFacts, Port},
    reading::Reading,
};

choice!(
    /// Purpose of a host, which decides what is wanted of its settings.
    #[derive(Default)]
    Goal, "a goal", {
        /// Short round trips without outliers.
        Latency = "latency",
        /// Much data over few connections.
        #[default]
        Throughput = "throughput",
        /// Forwarding of packets.
        Router = "router",
        /// Programs that bypass the kernel.
        Bypass = "bypass",
    }
);

/// Conditions under which readings are judged.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Conditions {
    /// Purpose of the host.
    pub goal: Goal,
    /// Rate that a port shall carry, in bit/s; null for that of each port.
    pub speed_bps: Option<f64>,
    /// Round-trip time to the other end in seconds; null where nobody said.
    pub rtt_s: Option<f64>,
    /// The one interface to look at, with those on its path; null for all.
    pub interface: Option<String>,
}

/// Readings of a host: the machine, and each network namespace that matters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HostReadings {
    /// The machine.
    pub host: HostFacts,
    /// Its ends: the namespace of the program, or each end of a bed on it.
    pub ends: Vec<EndpointFacts>,
    /// Cards without an interface.
    #[serde(default)]
    pub refused: Vec<Refused>,
}

impl HostReadings {
    /// All interfaces with their ends.
    pub fn interfaces(&self) -> impl Iterator<Item = (&EndpointFacts, &InterfaceFacts)> {
        self.ends.iter().flat_map(|end| end.interfaces.iter().map(move |interface| (end, interface)))
    }

    /// Readings of each machine of a run with its ends. `machines` are names of ends and of their machines, the latter empty where
    /// there is only one.
    pub fn of_run(environment: &Environment, machines: &[(String, String)]) -> Vec<Self> {
        let machine = |end: &EndpointFacts| machines.iter().find(|(name, _)| *name == end.endpoint).map(|(_, of)| of);
        let of_host = |(number, host): (usize, &HostFacts)| {
            let is_there = |end: &&EndpointFacts| match machine(end) {
                Some(machine) if !machine.is_empty() => *machine == host.hostname,
                _ => number == 0,
            };
            let ends = environment.endpoints.iter().filter(is_there).cloned().collect();
            Self { host: host.clone(), ends, refused: Vec::new() }
        };
        environment.hosts.iter().enumerate().map(of_host).collect()
    }

    /// Its cards.
    pub fn cards(&self) -> Cards {
        let of = |(end, interface): (&EndpointFacts, &InterfaceFacts)| {
            interface.card.as_ref()?;
            let readings = end.readings.get(&interface.name).cloned().unwrap_or_default();
            Some(Port { interface: interface.clone(), readings })
        };
        Cards { ports: self.interfaces().filter_map(of).collect(), refused: self.refused.clone() }
    }

    /// Differences to other readings in words, of what two hosts or two moments may have in common: names and addresses are not
    /// compared, and nothing that changes by itself.
    pub fn differences(&self, other: &Self) -> Vec<String> {
        differences(&self.comparable(other), &other.comparable(self))
    }

    /// Readings with interfaces by name. Those that the other host lacks are left out where it was read from other ends.
    fn comparable(&self, other: &Self) -> Comparable {
        let nothing = HostFacts::default();
        let host = HostFacts {
            hostname: nothing.hostname,
            boot_id: nothing.boot_id,
            services: nothing.services,
            ..self.host.clone()
        };
        let has_same_ends = self.ends.len() == other.ends.len();
        fn settings(readings: &HostReadings) -> Option<&BTreeMap<String, Reading<String>>> {
            readings.ends.first().map(|end| &end.sysctls)
        }
        let has_settings = settings(other).is_some_and(|settings| !settings.is_empty());
        let has = |name: &str| other.interfaces().any(|(_, interface)| interface.name == name);
        let of_interface = |interface: &InterfaceFacts| InterfaceFacts {
            addresses: Vec::new(),
            mac: Reading::Absent,
            bus: Reading::Absent,
            card: interface.card.as_ref().map(|card| Card {
                permanent_mac: Reading::Absent,
                module: card.module.clone().map(|module| Module { serial: String::new(), ..module }),
                ..card.clone()
            }),
            ..interface.lasting()
        };
        let interfaces = self.interfaces().filter(|(_, interface)| has_same_ends || has(&interface.name));
        Comparable {
            host,
            interfaces: interfaces.map(|(_, interface)| (interface.name.clone(), of_interface(interface))).collect(),
            sysctls: if has_settings { settings(self).cloned().unwrap_or_default() } else { BTreeMap::new() },
        }
    }
}

/// Readings that can be compared.
#[derive(Serialize, Deserialize)]
struct Comparable {
    host: HostFacts,
    interfaces: BTreeMap<String, InterfaceFacts>,
    sysctls: BTreeMap<String, Reading<String>>,
}

/// Inspection of a machine of a run.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Inspection {
    /// Name of the machine.
    pub host: String,
    /// The goal, by what the plan measures.
    pub goal: Goal,
    /// Findings before the first trial, the worst first; those that are as wanted are left out.
    pub before: Vec<Finding>,
    /// Findings after the last trial that were none before.
    pub appeared: Vec<Finding>,
    /// Findings before the first trial that were none after the last one.
    pub gone: Vec<Finding>,
}

/// Key of the values of a finding that root could read.
pub const ROOT: &str = "root";
/// Key of the values of a finding whose command takes effect at the next start.
pub const REBOOT: &str = "reboot";

/// Result of one check on one object.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    /// The check; its name is also the key of its title and of its reason among the texts.
    pub check: Check,
    /// The interface, device, core or setting; empty for the machine.
    pub object: String,
    /// How much it matters.
    pub severity: Severity,
    /// The value that was read.
    pub read: Read,
    /// The value that is wanted, in notation that needs no translation, like `>= 4096`.
    pub wanted: String,
    /// Values in the words of the reason.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub values: BTreeMap<String, String>,
    /// Documents that say so.
    pub sources: Vec<Document>,
    /// The command that mends it; null where no command does.
    pub mend: Option<String>,
}

impl Finding {
    /// A finding that is as wanted.
    pub fn of(check: Check, object: &str, read: Read, wanted: impl ToString, sources: &[(&str, &str)]) -> Self {
        let document =
            |(title, section): &(&str, &str)| Document { title: (*title).into(), section: (*section).into() };
        Self {
            check,
            object: object.to_owned(),
            severity: Severity::Ok,
            read,
            wanted: wanted.to_string(),
            values: BTreeMap::new(),
            sources: sources.iter().map(document).collect(),
            mend: None,
        }
    }

    /// The same with this severity and this command, unless it is as wanted.
    #[must_use]
    pub fn unless(self, is_wanted: bool, severity: Severity, mend: Option<String>) -> Self {
        if is_wanted { self } else { Self { severity, mend, ..self } }
    }

    /// The same with a value in the words of its reason.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl ToString) -> Self {
        self.values.insert(name.to_owned(), value.to_string());
        self
    }

    /// A check whose reading failed.
    pub fn unknown(check: Check, object: &str, place: &str, why: &str) -> Self {
        let read = Read::of(why, place);
        Self { severity: Severity::Unknown, ..Self::of(check, object, read, "", &[]) }
    }
}

impl Read {
    /// A value with its place.
    pub fn of(value: impl ToString, place: impl Into<String>) -> Self {
        Self { value: value.to_string(), place: place.into() }
    }
}

/// A value, and where it was read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Read {
    /// The value, as the kernel writes it; the reason where it cannot be read.
    pub value: String,
    /// The file or the command.
    pub place: String,
}

/// A document that gives a reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Document {
    /// Its name.
    pub title: String,
    /// The section.
    pub section: String,
}

/// How much a finding matters, the worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Results are wrong, or there are none.
    Fail,
    /// Results suffer.
    Warn,
    /// It could not be read.
    Unknown,
    /// Worth knowing.
    Info,
    /// As wanted.
    Ok,
}

/// Subjects, in the order in which findings of one severity are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Group {
    /// Cards, their links and modules.
    Link,
    /// PCI Express.
    Pcie,
    /// Interrupts, queues and memory nodes.
    Placement,
    /// Rings, coalescing and offloads.
    Driver,
    /// Memory of FreeBSD's network stack.
    Mbufs,
    /// Processor, memory and hypervisor.
    Processor,
    /// Sockets and TCP.
    Tcp,
    /// MTUs and path MTU discovery.
    Path,
    /// Forwarding.
    Forwarding,
    /// Drops and errors.
    Drops,
    /// Programs that work against the settings.
    Services,
}

/// Declares the checks, each with its group.
macro_rules! checks {
    ($($(#[$of:meta])+ $check:ident: $group:ident,)+) => {
        /// A check. Its title and its reason are texts of its name.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "kebab-case")]
        pub enum Check {
            $($(#[$of])+ $check,)+
        }

        impl Check {
            /// All checks.
            pub const ALL: &'static [Self] = &[$(Self::$check),+];

            /// Its subject.
            pub fn group(self) -> Group {
                match self {
                    $(Self::$check => Group::$group),+
                }
            }
        }
    };
}

checks! {
    /// A card has an interface.
    CardRefused: Link,
    /// An interface that is up has a link.
    LinkDown: Link,
    /// The link has the highest speed of the port.
    LinkSlow: Link,
    /// The link has the speed that is asked for.
    SpeedShort: Link,
    /// Both directions work at the same time.
    HalfDuplex: Link,
    /// Both ends agree on pause frames.
    PauseOneSided: Link,
    /// A fast link corrects errors.
    FecOff: Link,
    /// The module hears light.
    NoLight: Link,
    /// Messages of the kernel about cards and the network stack.
    KernelComplains: Link,
    /// The narrowest hop carries all ports.
    PcieNarrow: Pcie,
    /// The link has the width and speed that both of its ends can have.
    PcieTrainedDown: Pcie,
    /// The link has the width and speed of the card, where its other end is not known.
    PcieBelowCard: Pcie,
    /// Size of payloads.
    PciePayload: Pcie,
    /// Size of read requests.
    PcieReadRequest: Pcie,
    /// Errors that PCI Express corrected or reported.
    PcieErrors: Pcie,
    /// Translation of addresses by the IOMMU.
    Iommu: Pcie,
    /// Interrupts on cores of the card's node.
    IrqNode: Placement,
    /// Interrupts of several queues on several cores.
    IrqOneCore: Placement,
    /// No interrupts on isolated cores.
    IrqIsolated: Placement,
    /// As many queues as cores.
    Channels: Placement,
    /// Interrupts of a fast card are not throttled.
    InterruptStorm: Placement,
    /// Packets of one queue spread over cores by software.
    ReceiveSteering: Placement,
    /// Hash of received packets by the card.
    ReceiveHash: Placement,
    /// The receive ring is long enough.
    RingReceive: Driver,
    /// The transmit ring is long enough.
    RingTransmit: Driver,
    /// The card interrupts at once.
    CoalescingLatency: Driver,
    /// The card collects packets before it interrupts.
    CoalescingThroughput: Driver,
    /// The card or the kernel handles large segments and checksums.
    OffloadOff: Driver,
    /// Received packets stay as they were where they are forwarded.
    LroForwarding: Driver,
    /// The driver can take an XDP program.
    XdpMtu: Driver,
    /// Enough clusters for the queues of fast cards.
    MbufClusters: Mbufs,
    /// Clusters are neither denied nor nearly used up.
    MbufsShort: Mbufs,
    /// Cores at full clock.
    Governor: Processor,
    /// Cores wake at once.
    IdleStates: Processor,
    /// No two threads share a core.
    Smt: Processor,
    /// Cores without other work.
    IsolatedCores: Processor,
    /// Memory pages stay as they are.
    HugePages: Processor,
    /// Memory stays on its node.
    NumaBalancing: Processor,
    /// No watchdog interrupts.
    NmiWatchdog: Processor,
    /// System calls poll the card.
    BusyPoll: Processor,
    /// The clock is read without leaving the program.
    ClockSource: Processor,
    /// A hypervisor.
    Hypervisor: Processor,
    /// Time that the hypervisor took.
    Steal: Processor,
    /// The receive buffer holds what is under way.
    ReceiveBuffer: Tcp,
    /// The send buffer holds what is under way.
    SendBuffer: Tcp,
    /// Limit of receive buffers that programs choose.
    ReceiveBufferLimit: Tcp,
    /// Limit of send buffers that programs choose.
    SendBufferLimit: Tcp,
    /// Limit of all socket buffers.
    SocketBufferLimit: Tcp,
    /// Buffers grow by themselves.
    BufferAuto: Tcp,
    /// Windows beyond 64 KiB.
    WindowScaling: Tcp,
    /// Acknowledgements of single segments.
    SelectiveAcks: Tcp,
    /// Time stamps of TCP.
    Timestamps: Tcp,
    /// The congestion control.
    CongestionControl: Tcp,
    /// The queueing discipline of new interfaces.
    DefaultQdisc: Tcp,
    /// A queueing discipline that limits or delays.
    QdiscShapes: Tcp,
    /// Values of earlier connections.
    MetricsCache: Tcp,
    /// A connection that rested begins as it ended.
    SlowStartAfterIdle: Tcp,
    /// Members of a bridge, bond or team have its MTU.
    MtuMember: Path,
    /// An interface on another one fits into it.
    MtuLower: Path,
    /// Both ends of a virtual cable have one MTU.
    MtuPeer: Path,
    /// No stale MTU of a path.
    RouteMtu: Path,
    /// The default route has the MTU of its interface.
    RouteMtuBelow: Path,
    /// TCP finds the MTU where routers say nothing.
    MtuProbing: Path,
    /// Path MTU discovery is on.
    PathMtuDiscovery: Path,
    /// Large frames.
    Jumbo: Path,
    /// IPv4 is forwarded.
    Forwarding: Forwarding,
    /// IPv6 is forwarded.
    Forwarding6: Forwarding,
    /// Answers that come another way are accepted.
    ReversePath: Forwarding,
    /// Drops since the machine was started.
    Drops: Drops,
    /// Damaged frames since the machine was started.
    Damage: Drops,
    /// Received frames that the card could not deliver.
    InputErrors: Drops,
    /// Packets that the network stack dropped.
    StackDrops: Drops,
    /// The backlog of a core is long enough.
    Backlog: Drops,
    /// A core is given enough time for received packets.
    Budget: Drops,
    /// A program that moves interrupts.
    Irqbalance: Services,
    /// A program that sets what is judged here.
    Tuned: Services,
}

crate::json!(HostReadings, Comparable);
