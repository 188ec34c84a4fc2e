//! Readings of a machine that a plan of tuning is made from.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{
    change::DriverNumber,
    reading::Reading,
    settings::Offload,
    units::{BitRate, Mtu},
};

/// The readings that a plan needs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Wanted {
    /// Interfaces that are tuned.
    pub interfaces: Vec<String>,
    /// Kernel settings.
    pub sysctls: Vec<String>,
    /// Files below `/sys/class/net/IF`.
    pub settings: Vec<String>,
}

/// Readings of a machine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TuningReadings {
    /// All interfaces of the network namespace, with details of those that are tuned.
    pub interfaces: Vec<InterfaceReading>,
    /// Kernel settings.
    pub sysctls: BTreeMap<String, Reading<String>>,
    /// Cores that are online.
    pub cores: Vec<usize>,
    /// Files of the frequency governor of each core, with its value.
    pub governors: BTreeMap<String, String>,
    /// Governors that there are.
    pub known_governors: Vec<String>,
    /// Idle states of all cores.
    pub idle_states: Vec<IdleState>,
    /// Transparent huge pages: the chosen word.
    pub huge_pages: Reading<String>,
    /// The kernel's command line.
    pub command_line: Reading<String>,
    /// Programs that set the same things by themselves.
    pub rivals: Vec<String>,
}

/// An idle state of a core.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct IdleState {
    /// The file that disables it.
    pub path: String,
    /// Longest time to wake from it, in µs.
    pub latency_us: u64,
    /// Whether it is disabled.
    pub disabled: bool,
}

/// An interface.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct InterfaceReading {
    /// Its name.
    pub name: String,
    /// Its MAC address.
    pub mac: String,
    /// Its driver; empty if unknown.
    pub driver: String,
    /// Whether it has no card.
    pub is_virtual: bool,
    /// Speed of its link.
    pub speed: Option<BitRate>,
    /// Its MTU.
    pub mtu: Mtu,
    /// Smallest and largest MTU of its driver.
    pub mtus: Option<(u32, u32)>,
    /// The bridge, bond or other master that it belongs to.
    pub master: Option<String>,
    /// The interface that it is made on, like a VLAN's.
    pub lower: Option<String>,
    /// Whether the default route or the caller's session goes through it.
    pub carries_us: bool,
    /// Numbers of its driver.
    pub numbers: BTreeMap<DriverNumber, NumberReading>,
    /// Its offloads by the kernel's names.
    pub offloads: BTreeMap<String, Offload>,
    /// Its queueing discipline; absent where it has none.
    pub qdisc: Option<QdiscReading>,
    /// Files below `/sys/class/net/IF` with their values.
    pub settings: BTreeMap<String, Reading<String>>,
    /// Its interrupts with their cores.
    pub interrupts: BTreeMap<u32, String>,
    /// Cores of its card's NUMA node.
    pub local_cores: Vec<usize>,
}

/// A number of a driver.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NumberReading {
    /// Its value.
    pub now: u32,
    /// The most that the driver takes, where it tells.
    pub most: Option<u32>,
}

/// A queueing discipline.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct QdiscReading {
    /// Its kind, like `fq_codel`.
    pub kind: String,
    /// Objects that could not be put back.
    pub lasting: Vec<String>,
}
