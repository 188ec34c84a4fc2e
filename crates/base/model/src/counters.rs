//! Counters of a machine over a trial: differences between two readings, at one end.

use crate::Total;
use derive_more::Display;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    choice::choice,
    plausible::{Checked, each, finite, seconds},
};

/// Counters of one end: its cores over the counted time, all others over the whole transfer, from before the first packet
/// until the last arrived.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EndCounters {
    /// Length of the counted time, in seconds.
    pub seconds: f64,
    /// Each core of the machine.
    pub cpu: Vec<CoreUse>,
    /// CPU time of the measuring process, in percent of one core.
    #[serde(default)]
    pub own_cpu: f64,
    /// Each counter that moved.
    pub deltas: Vec<Delta>,
    /// Counters that could not be read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unread: Vec<Unread>,
    /// Changes at this end from the start to the end of the counted time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<Event>,
}

/// Something that changed at an end during a trial.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Display)]
#[display("{kind} {what}: {before} → {after}")]
pub struct Event {
    /// When it was noticed, in seconds of the counted time; negative before it.
    pub at_s: f64,
    /// Kind of thing.
    pub kind: EventKind,
    /// Which: an interface's property, an address, a network, an offload.
    pub what: String,
    /// Value before; `none` where it was not there.
    pub before: String,
    /// Value then; `none` where it was gone.
    pub after: String,
}

choice!(
    /// A thing that can change at an end.
    EventKind, "a kind of event", {
        /// The interface: state, MTU, MAC address.
        Link = "link",
        /// The interface lost its carrier; before and after count such losses.
        Carrier = "carrier",
        /// An address of the interface.
        Address = "address",
        /// A route through the interface.
        Route = "route",
        /// The MAC address of a neighbour.
        Neighbour = "neighbour",
        /// A queueing discipline.
        Qdisc = "qdisc",
        /// An offload of the driver.
        Offload = "offload",
        /// Channels, rings or pause frames of the driver.
        Driver = "driver",
        /// The time of day; before and after are seconds by which it had been set.
        Clock = "clock",
    }
);

/// Counters that could not be read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Unread {
    /// Kind.
    pub source: Source,
    /// The file or the question that failed.
    pub path: String,
    /// Why.
    pub why: String,
}

/// One counter that moved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Display)]
#[display("{source} {of} {name} +{delta}")]
pub struct Delta {
    /// Source.
    pub source: Source,
    /// Owner: an interface, a core, a queueing discipline (`tbf 8001:`), a protocol (`Udp`), an interrupt.
    pub of: String,
    /// Name there, as the kernel or the driver writes it.
    pub name: String,
    /// By how much it grew.
    pub delta: u64,
}

choice!(
    /// Source of a counter.
    Source, "a source of counters", {
        /// `ip -s link`: an interface's counters, the same for each driver.
        Link = "link",
        /// `ethtool -S`: a driver's own counters.
        Ethtool = "ethtool",
        /// `tc -s qdisc`: a queueing discipline.
        Qdisc = "qdisc",
        /// `/proc/net/softnet_stat`: receive work of a core, with the names of the kernel's structure.
        Softnet = "softnet",
        /// `/proc/net/snmp` and `/proc/net/snmp6`: protocols.
        Snmp = "snmp",
        /// `/proc/net/netstat`: what `nstat` shows beside them.
        Netstat = "netstat",
        /// `/proc/net/stat/nf_conntrack`: connection tracking of a network namespace.
        Conntrack = "conntrack",
        /// `/proc/interrupts` and `/proc/softirqs`.
        Interrupt = "interrupt",
        /// The receiving program's own count, by what packets carry.
        Receiver = "receiver",
    }
);

/// Use of one core over a trial, in percent of its time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CoreUse {
    /// Number of the core.
    pub cpu: usize,
    /// All but idle and waiting for disks.
    pub busy: f64,
    /// In soft interrupts, where the kernel receives packets.
    pub softirq: f64,
    /// Taken by the hypervisor for somebody else.
    pub steal: f64,
    /// The rest of its time by kind; `None` in runs that were stored without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kinds: Option<CoreKinds>,
    /// Frequency at the beginning and at the end, in MHz, where the kernel says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mhz: Option<[u32; 2]>,
}

/// Use of a core beside soft interrupts and steal, in percent of its time (proc_stat(5)).
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CoreKinds {
    /// In programs.
    pub user: f64,
    /// In the kernel, for programs.
    pub system: f64,
    /// In interrupts.
    pub irq: f64,
    /// Idle, or waiting for disks.
    pub idle: f64,
}

impl EndCounters {
    /// Whether they are possible.
    pub fn check(&self) -> Checked {
        seconds("seconds", self.seconds)?;
        finite("own_cpu", self.own_cpu)?;
        each("cpu", &self.cpu, |core| {
            let shares = [("busy", core.busy), ("softirq", core.softirq), ("steal", core.steal)];
            shares.into_iter().try_for_each(|(name, share)| finite(name, share))
        })?;
        each("events", &self.events, |event| finite("at_s", event.at_s))
    }

    /// By how much a counter grew, summed over all that it belongs to.
    pub fn sum(&self, source: Source, name: &str) -> u64 {
        self.named(source, name).map(|delta| delta.delta).total()
    }

    /// Every counter of this name.
    pub fn named(&self, source: Source, name: &str) -> impl Iterator<Item = &Delta> {
        self.deltas.iter().filter(move |delta| delta.source == source && delta.name == name)
    }

    /// Use of one core.
    pub fn core(&self, cpu: usize) -> Option<&CoreUse> {
        self.cpu.iter().find(|core| core.cpu == cpu)
    }
}
