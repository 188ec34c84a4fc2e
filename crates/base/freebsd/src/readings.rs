//! Readings of all commands, parsed once, for checks.

use std::collections::BTreeMap;

use model::{
    Cards, Reading,
    environment::{EndpointFacts, InterfaceFacts},
    inspection::HostReadings,
};

use crate::{
    boot::{self, Boot},
    counters, facts,
    interfaces::{self, Interface},
    interrupts::{self, Interrupt},
    mbufs::{self, Mbufs},
    pci::{self, Device},
    route::{self, Route},
    session::Said,
    sysctl,
    system::{self, System},
};

/// Counters by their words, of each interface or protocol.
type Counters = BTreeMap<String, BTreeMap<String, u64>>;

/// Readings of a machine.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Readings {
    /// `uname -a`.
    pub system: Reading<System>,
    /// `sysctl`: values by name.
    pub values: Reading<BTreeMap<String, String>>,
    /// `ifconfig -vm`.
    pub interfaces: Reading<Vec<Interface>>,
    /// `pciconf -lvbc`: devices with their capabilities.
    pub devices: Reading<Vec<Device>>,
    /// `netstat -idn`.
    pub counters: Reading<Counters>,
    /// `netstat -s`.
    pub protocols: Reading<Counters>,
    /// `netstat -m`.
    pub mbufs: Reading<Mbufs>,
    /// The default route; absent if there is none.
    pub route: Reading<Route>,
    /// `vmstat -i`.
    pub interrupts: Reading<Vec<Interrupt>>,
    /// `dmesg`.
    pub boot: Reading<Boot>,
    /// `kldstat`.
    pub modules: Reading<Vec<String>>,
    /// Cards, as of these.
    pub cards: Cards,
}

impl Readings {
    /// Reads what the commands said. An output without any of its facts is not taken for an empty one.
    pub fn of(said: &Said) -> Self {
        Self {
            system: filled("uname -a", &said.uname, system::uname),
            values: filled("sysctl", &said.sysctl, |text| Some(sysctl::read(text)).filter(|all| !all.is_empty())),
            interfaces: filled("ifconfig -vm", &said.ifconfig, |text| {
                Some(interfaces::read(text)).filter(|all| !all.is_empty())
            }),
            // A virtual machine may have no PCI bus.
            devices: said.pciconf.clone().map(|text| pci::read(&text)),
            counters: filled("netstat -idn", &said.counters, |text| {
                Some(counters::interfaces(text)).filter(|all| !all.is_empty())
            }),
            protocols: filled("netstat -s", &said.protocols, |text| {
                Some(counters::protocols(text)).filter(|all| !all.is_empty())
            }),
            mbufs: filled("netstat -m", &said.mbufs, |text| {
                Some(mbufs::read(text)).filter(|all| !all.uses.is_empty() && !all.denied.is_empty())
            }),
            route: default_route(&said.route),
            interrupts: said.interrupts.clone().map(|text| interrupts::read(&text)),
            boot: said.dmesg.clone().map(|text| boot::read(&text)),
            modules: said.modules.clone().map(|text| system::modules(&text)),
            cards: facts::cards(said),
        }
    }
}

/// The facts in an output, unless it has none that are understood.
fn filled<T>(command: &str, text: &Reading<String>, read: impl Fn(&str) -> Option<T>) -> Reading<T> {
    match text {
        Reading::Known(text) => read(text).map_or_else(|| nothing(command), Reading::Known),
        Reading::Absent => Reading::Absent,
        Reading::Unreadable { path, why } => Reading::Unreadable { path: path.clone(), why: why.clone() },
    }
}

fn nothing<T>(command: &str) -> Reading<T> {
    Reading::Unreadable { path: command.to_owned(), why: "it printed nothing of what it prints on FreeBSD".to_owned() }
}

/// Words of route(8) for a machine without default route.
const NO_ROUTE: [&str; 3] = ["route has not been found", "not in table", "No such process"];

fn default_route(text: &Reading<String>) -> Reading<Route> {
    match text {
        Reading::Unreadable { why, .. } if NO_ROUTE.iter().any(|words| why.contains(words)) => Reading::Absent,
        text => text.clone().and_then(|text| route::read(&text)),
    }
}

/// The machine in the types that Linux machines have, to be shown and compared.
pub fn host(said: &Said) -> HostReadings {
    let host = facts::machine(said);
    let Cards { ports, refused } = facts::cards(said);
    let values = said.sysctl.clone().map(|text| sysctl::read(&text));
    let all = interfaces::read(&said.ifconfig.clone().or_default());
    let with_card = |name: &str| ports.iter().find(|port| port.interface.name == name);
    let facts = |interface: &Interface| -> InterfaceFacts {
        let card = with_card(&interface.name).map(|port| port.interface.clone());
        card.unwrap_or_else(|| facts::facts(interface, None, &all, &values))
    };
    let is_loopback = |interface: &&Interface| interface.flags.iter().any(|flag| flag == "LOOPBACK");
    let end = EndpointFacts {
        endpoint: host.hostname.clone(),
        interfaces: all.iter().filter(|interface| !is_loopback(interface)).map(facts).collect(),
        readings: ports.iter().map(|port| (port.interface.name.clone(), port.readings.clone())).collect(),
        ..EndpointFacts::default()
    };
    HostReadings { host, ends: vec![end], refused }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recorded;

    fn known(text: &str) -> Reading<String> {
        Reading::Known(text.to_owned())
    }

    #[test]
    fn an_output_without_its_facts_is_not_an_empty_machine() {
        let odd = || known("Usage: it\n");
        let said = Said { uname: odd(), ifconfig: odd(), mbufs: odd(), counters: odd(), ..Said::default() };
        let readings = Readings::of(&said);
        assert!(matches!(&readings.interfaces, Reading::Unreadable { path, .. } if path == "ifconfig -vm"));
        assert!(matches!(readings.mbufs, Reading::Unreadable { .. }));
        assert!(matches!(readings.counters, Reading::Unreadable { .. }));
        let half = known(&recorded::NETSTAT_M_13[..120]);
        let cut = Readings::of(&Said { mbufs: half, ..Said::default() });
        assert!(matches!(cut.mbufs, Reading::Unreadable { .. }), "it says nothing of denied requests");
    }

    #[test]
    fn no_default_route_is_none() {
        let of = |why: &str| {
            let route = Reading::Unreadable { path: "route -n get default".into(), why: why.into() };
            Readings::of(&Said { route, ..Said::default() }).route
        };
        assert_eq!(of("route: route has not been found"), Reading::Absent);
        assert!(matches!(of("sh: route: not found"), Reading::Unreadable { .. }));
    }

    #[test]
    fn interfaces_without_card_are_there_too() {
        let text = "lo0: flags=8049<UP,LOOPBACK,RUNNING,MULTICAST> metric 0 mtu 16384\n\
                    bridge0: flags=8843<UP> metric 0 mtu 1500\n\tmember: ix0 flags=143<LEARNING>\n\tgroups: bridge\n";
        let said = Said {
            ifconfig: known(&(recorded::IFCONFIG_IX_13_DOWN.replace("ix1", "ix0") + text)),
            devices: known(recorded::PCICONF_IX_12),
            ..Said::default()
        };
        let host = host(&said);
        let told: Vec<_> = host.ends[0].interfaces.iter().map(|it| (it.name.as_str(), it.master.as_deref())).collect();
        assert!(told.contains(&("bridge0", None)) && told.contains(&("ix0", Some("bridge0"))), "{told:?}");
        assert_eq!(host.cards().ports.len(), 1, "its name alone, without root");
    }
}
