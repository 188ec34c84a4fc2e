//! The account of a program: facts and counters before and after it.

use grant::Attachment;
use host::counters::Snapshot;
use kernel::link;
use model::{
    Delta,
    bypass::{Account, KernelCounted, Link, Obstacle, Passed, Steering},
    counters::Source,
};

use super::RecordedEvents;

/// Facts at the start of the program.
pub(super) struct Known {
    pub(super) obstacle: Option<Obstacle>,
    pub(super) passed: Vec<Passed>,
}

/// Counters before the start of the program.
pub(super) struct Before {
    /// Their names and indices: a name may be reused by the end.
    interfaces: Vec<(String, u32)>,
    reading: Snapshot,
}

impl Before {
    pub(super) fn read(attachment: &Attachment) -> Self {
        let interfaces: Vec<_> = attachment.interfaces().map(|(name, index)| (name.to_owned(), index)).collect();
        let reading = reading(&interfaces);
        Self { interfaces, reading }
    }

    /// The same without bypassed interfaces.
    pub(super) fn of_no_interface(self) -> Self {
        Self { interfaces: Vec::new(), ..self }
    }

    pub(super) fn until_now(self, kept: RecordedEvents, steering: Steering, known: Known) -> Account {
        let RecordedEvents { claims, outside, outside_beyond, refused } = kept;
        let deltas = self.reading.until(&reading(&self.interfaces)).deltas;
        let there = link::list();
        let link = |(name, index): (String, u32)| {
            let sum = |counter| sum(&deltas, Source::Link, &[&name], counter);
            let is_gone = there.as_ref().is_ok_and(|links| links.iter().all(|link| link.index != index));
            let packets = |counter| (!is_gone).then(|| sum(counter));
            Link { received: packets("rx_packets"), sent: packets("tx_packets"), name }
        };
        let udp = |counter| sum(&deltas, Source::Snmp, &["Udp", "Udp6"], counter);
        let kernel = KernelCounted { received: udp("InDatagrams"), sent: udp("OutDatagrams") };
        let links = self.interfaces.into_iter().map(link).collect();
        let Known { obstacle, passed } = known;
        Account { links, claims, outside, outside_beyond, refused, steering, kernel, obstacle, passed }
    }
}

fn reading(interfaces: &[(String, u32)]) -> Snapshot {
    Snapshot::of(&interfaces.iter().map(|(name, _)| name).collect::<Vec<_>>())
}

fn sum(deltas: &[Delta], source: Source, of: &[&str], name: &str) -> u64 {
    let is_it = |delta: &&Delta| delta.source == source && of.contains(&delta.of.as_str()) && delta.name == name;
    deltas.iter().filter(is_it).map(|delta| delta.delta).sum()
}
