//! Readings of a machine that a plan of tuning is made from.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::{
    reading::Reading,
    settings::{IdleState, InterfaceSettings},
    units::{BitRate, Mtu},
};

/// Settings that a plan has to know.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SettingsToRead {
    /// Interfaces that are tuned.
    pub interfaces: Vec<String>,
    /// Kernel settings.
    pub sysctls: Vec<String>,
    /// Files below `/sys/class/net/IF`.
    pub files: Vec<String>,
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
    /// Frequency governors, each with its cores, as lists of the kernel.
    pub governors: Reading<BTreeMap<String, String>>,
    /// Governors that there are.
    pub known_governors: Vec<String>,
    /// Idle states of all cores by their folders.
    pub idle_states: Reading<BTreeMap<String, IdleState>>,
    /// Transparent huge pages: the chosen word.
    pub huge_pages: Reading<String>,
    /// The kernel's command line.
    pub command_line: Reading<String>,
    /// Programs that set the same things by themselves.
    pub rivals: Vec<String>,
    /// Interrupts that irqbalance leaves alone; absent where none runs that could be asked.
    #[serde(default)]
    pub banned_interrupts: Reading<BTreeSet<u32>>,
}

/// An interface.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct InterfaceReading {
    /// Name.
    pub name: String,
    /// MAC address.
    pub mac: String,
    /// Driver.
    pub driver: Reading<String>,
    /// Whether it has no card.
    pub is_virtual: bool,
    /// Speed of its link; null where it is not known.
    pub speed: Option<BitRate>,
    /// MTU.
    pub mtu: Mtu,
    /// Smallest and largest MTU of its driver.
    pub mtus: Option<(u32, u32)>,
    /// The bridge, bond or other master that it belongs to.
    pub master: Option<String>,
    /// The interface that it is made on, like a VLAN's.
    pub lower: Option<String>,
    /// Whether the default route or the caller's session goes through it.
    pub carries_us: bool,
    /// Settings, as an inspection reads them.
    pub settings: InterfaceSettings,
    /// Queueing discipline.
    pub qdisc: Reading<QdiscReading>,
    /// Files below `/sys/class/net/IF` with their values.
    pub files: BTreeMap<String, Reading<String>>,
}

/// A queueing discipline.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct QdiscReading {
    /// Kind, like `fq_codel`.
    pub kind: String,
    /// Objects that could not be put back.
    pub lasting: Vec<String>,
}
