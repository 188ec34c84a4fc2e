//! Counters of a machine, read before and after, and subtracted.
//!
//! A snapshot is taken right before the first packet and after the last one, and must be cheap: a few small files and
//! three system calls. Unreadable counters are missing, and named.

mod conntrack;
mod cpu;
mod interrupts;
mod live;
mod protocols;
mod softnet;

use std::collections::BTreeMap;

pub use cpu::CpuTimes;
use interrupts::Device;
pub(crate) use interrupts::interrupt_numbers;
use kernel::statistics;
pub use live::Live;
use model::{
    Delta, EndCounters, Reading, Source,
    counters::Unread,
    drop_counters::{tells_of_damage, tells_of_loss},
};

use crate::source::{self, LocalSource};

/// A counter's place and name.
type Key = (Source, String, String);

/// All counters of one end at one moment: the machine's, and those of the caller's network namespace and interface.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Snapshot {
    cpu: CpuTimes,
    counters: BTreeMap<Key, u64>,
    unread: Vec<Unread>,
}

/// A counter: its owner, its name, its value.
type Counter = (String, String, u64);

impl Snapshot {
    /// Reads them for this interface of the caller's namespace.
    pub fn take(interface: &str) -> Self {
        Self::of(&[interface])
    }

    /// The same for several interfaces.
    pub fn of(interfaces: &[impl AsRef<str>]) -> Self {
        let interfaces: Vec<&str> = interfaces.iter().map(AsRef::as_ref).collect();
        let mut snapshot = Self { cpu: CpuTimes::read(), ..Self::default() };
        snapshot.read(&LocalSource, &interfaces);
        snapshot
    }

    fn read(&mut self, machine: &dyn source::Source, interfaces: &[&str]) {
        for interface in interfaces {
            let of = |qdisc: &str| match interfaces {
                [_] => qdisc.to_owned(),
                // Queueing disciplines of several interfaces may share a name.
                _ => format!("{qdisc} of {interface}"),
            };
            let all = machine.counters(interface);
            self.add(Source::Link, all.clone().map(|(link, _)| named(interface, link)));
            self.add(
                Source::Qdisc,
                all.map(|(_, qdiscs)| qdiscs.into_iter().flat_map(|it| named(&of(&it.name), it.counters)).collect()),
            );
            let driver = machine.driver_counters(interface);
            self.add(
                Source::Ethtool,
                driver.map(|all| all.into_iter().map(|(name, value)| ((*interface).to_owned(), name, value)).collect()),
            );
        }
        // Files below `/proc/thread-self` are of the calling thread's namespace, as are the kernel's answers.
        let text = |file: &str| machine.read(&format!("/proc/{file}"));
        self.add(Source::Softnet, text("thread-self/net/softnet_stat").map(|text| softnet::parse(&text)));
        self.add(Source::Snmp, text("thread-self/net/snmp").map(|text| protocols::pairs(&text)));
        self.add(Source::Snmp, text("thread-self/net/snmp6").map(|text| protocols::lines(&text)));
        self.add(Source::Netstat, text("thread-self/net/netstat").map(|text| protocols::pairs(&text)));
        self.add(Source::Conntrack, text("thread-self/net/stat/nf_conntrack").map(|text| conntrack::parse(&text)));
        self.add(Source::Interrupt, text("softirqs").map(|text| interrupts::soft(&text)));
        for device in interfaces.iter().filter_map(|interface| Device::of(machine, interface)) {
            self.add(Source::Interrupt, text("interrupts").map(|text| interrupts::hard(&text, &device)));
        }
    }

    fn add(&mut self, source: Source, read: Reading<Vec<Counter>>) {
        match read {
            Reading::Known(counters) => {
                for (of, name, value) in counters {
                    // Queues of one card can share a name: they count as one.
                    *self.counters.entry((source, of, name)).or_default() += value;
                }
            }
            Reading::Absent => {}
            Reading::Unreadable { path, why } => self.unread.push(Unread { source, path, why }),
        }
    }

    /// Counters of drops and errors since the machine was started that are not 0.
    pub(crate) fn losses(machine: &dyn source::Source, interfaces: &[&str]) -> Vec<Delta> {
        let mut snapshot = Self::default();
        snapshot.read(machine, interfaces);
        let is_loss =
            |(source, _, name): &Key| *source != Source::Interrupt && (tells_of_loss(name) || tells_of_damage(name));
        let losses = snapshot.counters.into_iter().filter(|(key, count)| *count > 0 && is_loss(key));
        losses.map(|((source, of, name), delta)| Delta { source, of, name, delta }).collect()
    }

    /// Differences until a later reading, with the cores' use over the same time.
    pub fn until(&self, later: &Self) -> EndCounters {
        over([self, later], [&self.cpu, &later.cpu])
    }

    /// Increase of each counter, without unchanged ones, and without those that decreased after a reset. Queueing
    /// disciplines, cores and interrupts have 32-bit counters that wrap: one that falls from its upper half.
    fn deltas(&self, later: &Self) -> Vec<Delta> {
        let grown = later.counters.iter().filter_map(|(key, to)| {
            let from = match self.counters.get(key) {
                Some(from) => *from,
                // A queueing discipline that was made meanwhile began at 0.
                None => (key.0 == Source::Qdisc).then_some(0)?,
            };
            let is_short = matches!(key.0, Source::Qdisc | Source::Softnet | Source::Interrupt) && key.2 != "bytes";
            let is_short = is_short && (1 << 31..1 << 32).contains(&from);
            let delta = to.checked_sub(from).or_else(|| is_short.then(|| (to + (1 << 32)).saturating_sub(from)))?;
            (delta > 0).then(|| (key.clone(), delta))
        });
        grown.map(|((source, of, name), delta)| Delta { source, of, name, delta }).collect()
    }
}

/// Counters of one end over a trial. `seconds` is the length of the window.
///
/// Counters span the whole `transfer`, from before the first packet until the last has arrived: losses include those of
/// the warm-up.
///
/// The use of the cores belongs to the figure, and so spans the counted time only, the `window`.
pub fn over(transfer: [&Snapshot; 2], window: [&CpuTimes; 2]) -> EndCounters {
    let [before, after] = transfer;
    let [opened, closed] = window;
    EndCounters {
        seconds: opened.seconds_until(closed),
        cpu: opened.usage_until(closed),
        deltas: before.deltas(after),
        unread: after.unread.clone(),
        ..EndCounters::default()
    }
}

fn named(of: &str, counters: statistics::Counters) -> Vec<Counter> {
    counters.into_iter().map(|(name, value)| (of.to_owned(), name.to_owned(), value)).collect()
}

#[cfg(test)]
mod tests {
    use std::net::UdpSocket;

    use super::*;
    use crate::recorded::Recorded;

    fn reading(counters: &[(&str, u64)]) -> Snapshot {
        let key = |name: &str| (Source::Link, "eth0".to_owned(), name.to_owned());
        let counters = counters.iter().map(|(name, value)| (key(name), *value)).collect();
        Snapshot { counters, ..Snapshot::default() }
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
        let softnet = |processed| Snapshot {
            counters: [((Source::Softnet, "cpu 0".to_owned(), "processed".to_owned()), processed)].into(),
            ..Snapshot::default()
        };
        let deltas = softnet(u64::from(u32::MAX) - 9).until(&softnet(90)).deltas;
        assert_eq!(deltas[0].delta, 100);
    }

    #[test]
    fn traffic_moves_the_counters_of_interface_core_and_protocol() {
        let before = Snapshot::take("lo");
        let socket = UdpSocket::bind("127.0.0.1:0").expect("loopback");
        for _ in 0..20 {
            socket.send_to(&[0; 100], socket.local_addr().expect("bound")).expect("loopback");
        }
        let counted = before.until(&Snapshot::take("lo"));
        assert!(counted.sum(Source::Link, "tx_packets") >= 20, "{counted:?}");
        assert!(counted.sum(Source::Softnet, "processed") >= 20, "{counted:?}");
        assert!(counted.sum(Source::Snmp, "OutDatagrams") >= 20, "{counted:?}");
        assert!(counted.sum(Source::Netstat, "InOctets") >= 2000, "{counted:?}");
        assert!(counted.sum(Source::Interrupt, "NET_RX") > 0, "{counted:?}");
        assert!(counted.seconds > 0.0 && !counted.cpu.is_empty(), "{counted:?}");
    }

    #[test]
    fn counters_that_cannot_be_read_are_named_and_the_others_are_there() {
        let machine = Recorded::new(&[("/proc/thread-self/net/snmp6", "Ip6InReceives 1700")]);
        machine.make_folder("/proc/thread-self/net/softnet_stat");
        let mut snapshot = Snapshot::default();
        snapshot.read(&machine, &["eth1"]);
        assert_eq!(snapshot.counters.len(), 1);
        let counted = Snapshot::default().until(&snapshot);
        assert_eq!(counted.unread.len(), 1);
        assert!(counted.unread[0].source == Source::Softnet && counted.unread[0].path.ends_with("softnet_stat"));
    }

    #[test]
    fn an_interface_that_is_not_there_leaves_the_machine() {
        let reading = Snapshot::take("wp-none");
        assert!(reading.counters.keys().any(|(source, ..)| *source == Source::Snmp));
        assert!(reading.counters.keys().all(|(source, ..)| *source != Source::Link));
    }
}
