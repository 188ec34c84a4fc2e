//! Repeatedly reads the counters of all interfaces of a network namespace, for live rates.

use std::{collections::HashMap, sync::Arc};

use kernel::{
    clock, ethtool, namespace, nic,
    statistics::{self, Interface},
};
use model::Nanos;
use rates::{DirectionCounts, DriverReading, Incarnation, LinkReading, LinkState};

/// Reads interfaces, and caches constant facts.
#[derive(Debug, Default)]
pub struct Live {
    known: HashMap<(String, u64, u32), Known>,
    /// Number of readings, to detect interfaces that are gone.
    round: u64,
}

/// Facts read once per interface, and again after a change.
#[derive(Debug)]
struct Known {
    line_bps: Option<u64>,
    carrier_changes: u32,
    names: Arc<[String]>,
    round: u64,
}

impl Live {
    /// Reads these namespaces; an empty name is the caller's own. Returns each with its interfaces, or with the error.
    /// No namespace is kept alive between readings.
    pub fn read(&mut self, namespaces: &[String]) -> Vec<(String, kernel::Result<Vec<LinkReading>>)> {
        self.round += 1;
        let read = |name: &String| {
            let links = namespace::within(name, || self.of_namespace(name)).and_then(|links| links);
            (name.clone(), links)
        };
        let all = namespaces.iter().map(read).collect();
        self.known.retain(|_, known| known.round == self.round);
        all
    }

    fn of_namespace(&mut self, name: &str) -> kernel::Result<Vec<LinkReading>> {
        let identity = namespace::own_identity()?;
        let at = clock::now();
        let interfaces = statistics::of_all()?;
        Ok(interfaces.into_iter().map(|interface| self.reading(name, identity, at, interface)).collect())
    }

    fn reading(&mut self, namespace: &str, identity: u64, at: Nanos, interface: Interface) -> LinkReading {
        let key = (namespace.to_owned(), identity, interface.index);
        let known = self.known.entry(key).or_insert_with(|| Known::of(&interface));
        known.renew(&interface, self.round);
        LinkReading {
            at,
            namespace: namespace.to_owned(),
            incarnation: Incarnation { namespace: identity, index: interface.index },
            ways: ways(&interface),
            driver: driver(&interface.name, known),
            state: LinkState {
                up: interface.up,
                operstate: interface.operstate,
                line_bps: known.line_bps,
                mtu: interface.mtu,
                loopback: interface.loopback,
                kind: interface.kind,
            },
            name: interface.name,
        }
    }
}

impl Known {
    fn of(interface: &Interface) -> Self {
        Self {
            line_bps: line(interface),
            carrier_changes: interface.carrier_changes,
            names: names(&interface.name),
            round: 0,
        }
    }

    /// A link that came back may have another speed.
    fn renew(&mut self, interface: &Interface, round: u64) {
        if self.carrier_changes != interface.carrier_changes {
            (self.line_bps, self.carrier_changes) = (line(interface), interface.carrier_changes);
        }
        self.round = round;
    }
}

fn ways(interface: &Interface) -> [DirectionCounts; 2] {
    let counters = &interface.counters;
    let received = DirectionCounts {
        bytes: counters.rx_bytes,
        packets: counters.rx_packets,
        // As in /proc/net/dev: packets that the card had no room for count separately.
        dropped: counters.rx_dropped.saturating_add(counters.rx_missed_errors),
        errors: counters.rx_errors,
    };
    let sent = DirectionCounts {
        bytes: counters.tx_bytes,
        packets: counters.tx_packets,
        dropped: counters.tx_dropped,
        errors: counters.tx_errors,
    };
    [received, sent]
}

/// Line speed in bit/s. Virtual interfaces have none: a veth's 10 Gbit/s has no meaning.
fn line(interface: &Interface) -> Option<u64> {
    const WITH_LINE: [&str; 5] = ["", "vlan", "bond", "team", "macvlan"];
    let has_line = WITH_LINE.contains(&interface.kind.as_str()) && !interface.loopback;
    let settings = has_line.then(|| nic::link_settings(&interface.name).ok()).flatten();
    settings?.speed_mbps.map(|mbps| u64::from(mbps) * 1_000_000)
}

fn names(interface: &str) -> Arc<[String]> {
    ethtool::counter_names(interface).unwrap_or_default().into()
}

/// A driver without counters is not asked again; after a change of its queues, the names are read again.
fn driver(interface: &str, known: &mut Known) -> DriverReading {
    if known.names.is_empty() {
        return DriverReading::default();
    }
    let values = ethtool::counter_values(interface).unwrap_or_default();
    if values.len() != known.names.len() {
        known.names = names(interface);
    }
    DriverReading { names: Arc::clone(&known.names), values }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_interfaces_are_read_and_a_namespace_that_is_not_there_is_named() {
        let mut live = Live::default();
        let read = live.read(&[String::new(), "wptest-none".to_owned()]);
        let own = read[0].1.as_ref().expect("the own namespace can be read");
        let lo = own.iter().find(|link| link.name == "lo").expect("every namespace has one");
        assert!(lo.state.loopback && lo.state.line_bps.is_none() && lo.at > Nanos(0), "{lo:?}");
        let error = read[1].1.as_ref().expect_err("there is none").to_string();
        assert!(error.contains("namespace wptest-none"), "{error}");
        assert!(!live.known.is_empty());
        live.read(&[]);
        assert!(live.known.is_empty(), "what is there no more is forgotten");
    }
}
