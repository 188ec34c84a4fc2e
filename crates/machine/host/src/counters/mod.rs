//! What a machine counts, read before and after and subtracted.
//!
//! A reading is taken right before the first packet and after the last, and must not disturb what it watches: it is some
//! small files and three questions to the kernel. Nothing here fails: what cannot be read is left out.

mod cpu;
mod interrupts;
mod live;
mod protocols;
mod softnet;

use std::{collections::BTreeMap, fs};

pub use cpu::CpuTimes;
use interrupts::Device;
pub(crate) use interrupts::interrupt_numbers;
use kernel::{ethtool, statistics};
pub use live::Live;
use model::{Delta, EndCounters, Source};

/// A counter's place and name.
type Key = (Source, String, String);

/// All counters of one end at one moment: those of the machine, and those that the caller's network namespace and
/// interface have for themselves.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    cpu: CpuTimes,
    counters: BTreeMap<Key, u64>,
}

/// A counter as it was read: what it belongs to, its name, its value.
type Counter = (String, String, u64);

impl Reading {
    /// Reads them now, for this interface of the caller's namespace.
    pub fn take(interface: &str) -> Self {
        Self::of(&[interface])
    }

    /// The same for several interfaces.
    pub fn of(interfaces: &[impl AsRef<str>]) -> Self {
        let interfaces: Vec<&str> = interfaces.iter().map(AsRef::as_ref).collect();
        let cpu = CpuTimes::read();
        let mut counters = BTreeMap::new();
        let mut add = |source, read: Vec<Counter>| {
            for (of, name, value) in read {
                // The queues of one card can share a name: they are one counter then.
                *counters.entry((source, of, name)).or_default() += value;
            }
        };
        for interface in &interfaces {
            for (source, mut read) in of_interface(interface) {
                // Queueing disciplines of several interfaces may have one name.
                if source == Source::Qdisc && interfaces.len() > 1 {
                    read.iter_mut().for_each(|(of, ..)| *of = format!("{of} of {interface}"));
                }
                add(source, read);
            }
        }
        add(Source::Softnet, softnet::parse(&text("/proc/thread-self/net/softnet_stat")));
        add(Source::Snmp, protocols::pairs(&text("/proc/thread-self/net/snmp")));
        add(Source::Snmp, protocols::lines(&text("/proc/thread-self/net/snmp6")));
        add(Source::Netstat, protocols::pairs(&text("/proc/thread-self/net/netstat")));
        add(Source::Interrupt, interrupts::soft(&text("/proc/softirqs")));
        for device in interfaces.iter().filter_map(|interface| Device::of(interface)) {
            add(Source::Interrupt, interrupts::hard(&text("/proc/interrupts"), &device));
        }
        Self { cpu, counters }
    }

    /// What was counted from here to a later reading, with the cores' use over the same time.
    pub fn until(&self, later: &Self) -> EndCounters {
        over([self, later], [&self.cpu, &later.cpu])
    }

    /// What each counter grew by; one that did not move is left out, and so is one that went back: somebody reset it. Queueing
    /// disciplines, cores and interrupts count to 2³² and begin again.
    fn deltas(&self, later: &Self) -> Vec<Delta> {
        let grown = later.counters.iter().filter_map(|(key, to)| {
            let from = *self.counters.get(key)?;
            let is_short = matches!(key.0, Source::Qdisc | Source::Softnet | Source::Interrupt) && key.2 != "bytes";
            let is_short = is_short && from <= u64::from(u32::MAX);
            let delta = to.checked_sub(from).or_else(|| is_short.then(|| (to + (1 << 32)).saturating_sub(from)))?;
            (delta > 0).then(|| (key.clone(), delta))
        });
        grown.map(|((source, of, name), delta)| Delta { source, of, name, delta }).collect()
    }
}

/// What one end counted over a trial. Counters are compared over the whole `transfer`, from before the first packet until
/// the last has arrived, because what was lost in the warm-up is part of what was lost; the use of the cores belongs to
/// the figure, and so to the counted time alone, the `window`. `seconds` is the length of the window.
pub fn over(transfer: [&Reading; 2], window: [&CpuTimes; 2]) -> EndCounters {
    let [before, after] = transfer;
    let [opened, closed] = window;
    EndCounters {
        seconds: opened.seconds_until(closed),
        cpu: opened.usage_until(closed),
        deltas: before.deltas(after),
        ..EndCounters::default()
    }
}

fn of_interface(interface: &str) -> Vec<(Source, Vec<Counter>)> {
    let named = |of: &str, counters: statistics::Counters| -> Vec<Counter> {
        counters.into_iter().map(|(name, value)| (of.to_owned(), name.to_owned(), value)).collect()
    };
    let (link, qdiscs) = statistics::of_interface(interface).unwrap_or_default();
    let driver = ethtool::statistics(interface).unwrap_or_default();
    vec![
        (Source::Link, named(interface, link)),
        (Source::Qdisc, qdiscs.into_iter().flat_map(|qdisc| named(&qdisc.name, qdisc.counters)).collect()),
        (Source::Ethtool, driver.into_iter().map(|(name, value)| (interface.to_owned(), name, value)).collect()),
    ]
}

/// Files under `/proc/thread-self` are those of the calling thread's namespace, as are the answers to its questions.
fn text(path: &str) -> String {
    fs::read_to_string(path).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::net::UdpSocket;

    use super::*;

    fn reading(counters: &[(&str, u64)]) -> Reading {
        let key = |name: &str| (Source::Link, "eth0".to_owned(), name.to_owned());
        let counters = counters.iter().map(|(name, value)| (key(name), *value)).collect();
        Reading { counters, ..Reading::default() }
    }

    #[test]
    fn only_what_grew_is_told() {
        let before = reading(&[("rx_packets", 10), ("rx_bytes", 500), ("rx_dropped", 3), ("gone", 1)]);
        let after = reading(&[("rx_packets", 12), ("rx_bytes", 500), ("rx_dropped", 1), ("new", 7)]);
        let deltas: Vec<_> = before.until(&after).deltas.iter().map(ToString::to_string).collect();
        assert_eq!(deltas, ["link eth0 rx_packets +2"]);
    }

    #[test]
    fn a_counter_of_32_bits_that_began_again_went_on() {
        let softnet = |processed| Reading {
            counters: [((Source::Softnet, "cpu 0".to_owned(), "processed".to_owned()), processed)].into(),
            ..Reading::default()
        };
        let deltas = softnet(u64::from(u32::MAX) - 9).until(&softnet(90)).deltas;
        assert_eq!(deltas[0].delta, 100);
    }

    #[test]
    fn traffic_moves_the_counters_of_interface_core_and_protocol() {
        let before = Reading::take("lo");
        let socket = UdpSocket::bind("127.0.0.1:0").expect("loopback");
        for _ in 0..20 {
            socket.send_to(&[0; 100], socket.local_addr().expect("bound")).expect("loopback");
        }
        let counted = before.until(&Reading::take("lo"));
        assert!(counted.sum(Source::Link, "tx_packets") >= 20, "{counted:?}");
        assert!(counted.sum(Source::Softnet, "processed") >= 20, "{counted:?}");
        assert!(counted.sum(Source::Snmp, "OutDatagrams") >= 20, "{counted:?}");
        assert!(counted.sum(Source::Netstat, "InOctets") >= 2000, "{counted:?}");
        assert!(counted.sum(Source::Interrupt, "NET_RX") > 0, "{counted:?}");
        assert!(counted.seconds > 0.0 && !counted.cpu.is_empty(), "{counted:?}");
    }

    #[test]
    fn an_interface_that_is_not_there_leaves_the_machine() {
        let reading = Reading::take("wp-none");
        assert!(reading.counters.keys().any(|(source, ..)| *source == Source::Snmp));
        assert!(reading.counters.keys().all(|(source, ..)| *source != Source::Link));
    }
}
