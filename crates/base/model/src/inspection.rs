//! Inspection of a host: what it is meant for, its readings, and what is found in them.

mod check;
mod finding;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use check::{Check, Group};
pub use finding::{Document, Finding, REBOOT, ROOT, Read, Severity};

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
    /// Rate that a port shall carry, in bit/s; null for the rate of each port.
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
    /// Ends: the namespace of the program, or each end of a bed on it.
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

    /// Cards.
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

crate::json!(HostReadings, Comparable);
