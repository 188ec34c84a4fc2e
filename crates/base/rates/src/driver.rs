//! Rates of a driver's own counters: queue by queue, what XDP did, and all else that moves.

use std::{collections::BTreeMap, sync::Arc};

use crate::{
    counters::grown,
    name::{Counts, QueueQuantity, counts},
    reading::DriverReading,
};

/// Counts of one driver.
#[derive(Clone, Debug, Default)]
pub struct DriverRates {
    names: Arc<[String]>,
    counts: Vec<Counts>,
    before: Vec<u64>,
    /// By how much each grew in the last interval, in a second, and in all.
    moving: Vec<(f64, u64)>,
}

/// Traffic of one queue.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct QueueRates {
    /// Number.
    pub queue: u32,
    /// packets/s received and sent, where the driver says.
    pub pps: [Option<f64>; 2],
    /// bit/s received and sent, where the driver says.
    pub bps: [Option<f64>; 2],
    /// Packets dropped since it is watched, received and sent, where the driver says.
    pub dropped: [Option<u64>; 2],
    /// Whether any of it has moved since it is watched.
    pub moved: bool,
}

/// A counter that moves.
#[derive(Clone, Debug, PartialEq)]
pub struct Moving {
    /// Name.
    pub name: String,
    /// By how much it grows in a second.
    pub per_second: f64,
    /// By how much it has grown since it is watched.
    pub total: u64,
}

impl DriverRates {
    /// Takes a reading, so many seconds after the last one; without them it is what later ones are compared with.
    pub(crate) fn take(&mut self, reading: &DriverReading, seconds: Option<f64>) {
        let same = Arc::ptr_eq(&self.names, &reading.names) || self.names == reading.names;
        if !same {
            self.names = Arc::clone(&reading.names);
            self.counts = understood(&reading.names);
            self.moving = vec![(0.0, 0); reading.names.len()];
        }
        match seconds.filter(|_| same && self.before.len() == reading.values.len()) {
            Some(seconds) => {
                let values = self.before.iter().zip(&reading.values);
                for ((before, after), moving) in values.zip(&mut self.moving) {
                    let grown = grown(*before, *after).unwrap_or_default();
                    *moving = (grown as f64 / seconds, moving.1 + grown);
                }
            }
            None => self.moving.iter_mut().for_each(|moving| moving.0 = 0.0),
        }
        self.before.clone_from(&reading.values);
    }

    /// Each queue that the driver tells of, by its number.
    pub fn queues(&self) -> Vec<QueueRates> {
        let mut queues: BTreeMap<u32, QueueRates> = BTreeMap::new();
        for (counts, (rate, total)) in self.counts.iter().zip(&self.moving) {
            if let Counts::Queue { way, queue, what } = counts {
                let rates = queues.entry(*queue).or_insert(QueueRates { queue: *queue, ..QueueRates::default() });
                rates.moved |= *total > 0;
                match what {
                    QueueQuantity::Packets => *rates.pps[*way].get_or_insert_default() += rate,
                    QueueQuantity::Bytes => *rates.bps[*way].get_or_insert_default() += 8.0 * rate,
                    QueueQuantity::Drops => *rates.dropped[*way].get_or_insert_default() += total,
                }
            }
        }
        queues.into_values().collect()
    }

    /// Outcome of packets at XDP programs: each counter that has moved since it is watched, over all queues.
    pub fn xdp(&self) -> Vec<Moving> {
        let mut sums: BTreeMap<String, (f64, u64)> = BTreeMap::new();
        for (counts, (rate, total)) in self.counts.iter().zip(&self.moving) {
            if let Counts::Xdp { way, name, .. } = counts {
                let sum = sums.entry(format!("{} {name}", ["rx", "tx"][*way])).or_default();
                *sum = (sum.0 + rate, sum.1 + total);
            }
        }
        let moved = sums.into_iter().filter(|(_, (_, total))| *total > 0);
        moved.map(|(name, (per_second, total))| Moving { name, per_second, total }).collect()
    }

    /// All other counters that have moved since they are watched, in the driver's order.
    pub fn others(&self) -> Vec<Moving> {
        let all = self.names.iter().zip(&self.counts).zip(&self.moving);
        let moved = all.filter(|((_, counts), (_, total))| matches!(counts, Counts::Other) && *total > 0);
        moved
            .map(|((name, _), (per_second, total))| Moving {
                name: name.trim().to_owned(),
                per_second: *per_second,
                total: *total,
            })
            .collect()
    }
}

/// Sums over all counters of a driver, with what only the others tell.
fn understood(names: &[String]) -> Vec<Counts> {
    let mut all: Vec<Counts> = names.iter().map(|name| counts(name)).collect();
    let by_queue = |wanted: &Counts| {
        all.iter().any(|counts| match (counts, wanted) {
            (Counts::Xdp { way, name, queue: Some(_) }, Counts::Xdp { way: its, name: wanted, queue: None }) => {
                (way, name) == (its, wanted)
            }
            _ => false,
        })
    };
    let twice: Vec<bool> = all.iter().map(by_queue).collect();
    let plain = all.iter().any(|counts| matches!(counts, Counts::Queue { what: QueueQuantity::Packets, .. }));
    for (counts, twice) in all.iter_mut().zip(twice) {
        if twice {
            *counts = Counts::Other;
        } else if !plain {
            traffic_of_xdp(counts);
        }
    }
    all
}

/// A veth counts what its polling takes as `xdp_packets` and nothing else, with a program or without: that is the queue's
/// traffic.
fn traffic_of_xdp(counts: &mut Counts) {
    let Counts::Xdp { way, name, queue: Some(queue) } = &*counts else { return };
    let what = match name.as_str() {
        "xdp_packets" => QueueQuantity::Packets,
        "xdp_bytes" => QueueQuantity::Bytes,
        _ => return,
    };
    *counts = Counts::Queue { way: *way, queue: *queue, what };
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading(values: &[(&str, u64)]) -> DriverReading {
        DriverReading {
            names: values.iter().map(|(name, _)| (*name).to_owned()).collect(),
            values: values.iter().map(|(_, value)| *value).collect(),
        }
    }

    fn after(values: &[(&str, u64, u64)], seconds: f64) -> DriverRates {
        let mut rates = DriverRates::default();
        let at = |later: bool| -> Vec<_> {
            values.iter().map(|(name, from, to)| (*name, if later { *to } else { *from })).collect()
        };
        rates.take(&reading(&at(false)), None);
        rates.take(&reading(&at(true)), Some(seconds));
        rates
    }

    #[test]
    fn each_queue_has_its_rates() {
        let rates = after(
            &[
                ("rx_queue_0_packets", 10, 1010),
                ("rx_queue_0_bytes", 0, 64_000),
                ("rx_queue_1_packets", 5, 5),
                ("tx_queue_1_packets", 0, 20),
                ("rx_queue_1_drops", 3, 7),
            ],
            2.0,
        );
        let [first, second] = rates.queues()[..] else { panic!("two queues") };
        assert_eq!((first.pps, first.bps), ([Some(500.0), None], [Some(256_000.0), None]));
        assert_eq!((second.pps, second.dropped), ([Some(0.0), Some(10.0)], [Some(4), None]));
        assert!(rates.xdp().is_empty() && rates.others().is_empty());
    }

    #[test]
    fn a_veth_has_queues_and_what_xdp_did_over_all_of_them() {
        let rates = after(
            &[
                ("peer_ifindex", 7, 7),
                ("rx_queue_0_xdp_packets", 0, 100),
                ("rx_queue_0_xdp_redirect", 0, 60),
                ("rx_queue_1_xdp_redirect", 10, 50),
                ("tx_queue_0_xdp_xmit", 0, 0),
                ("rx_pp_alloc_fast", 1, 3),
            ],
            1.0,
        );
        assert_eq!(rates.queues()[0].pps[0], Some(100.0));
        let xdp = Moving { name: "rx xdp_redirect".to_owned(), per_second: 100.0, total: 100 };
        assert_eq!(rates.xdp(), [xdp]);
        assert_eq!(rates.others().iter().map(|it| it.name.as_str()).collect::<Vec<_>>(), ["rx_pp_alloc_fast"]);
    }

    #[test]
    fn what_a_driver_counts_by_queue_and_in_all_is_counted_once() {
        let rates =
            after(&[("rx_xdp_drop", 0, 9), ("rx0_xdp_drop", 0, 4), ("rx1_xdp_drop", 0, 5), ("rx0_packets", 0, 9)], 1.0);
        assert_eq!(rates.xdp()[0].total, 9);
    }

    #[test]
    fn another_list_of_names_begins_anew() {
        let mut rates = after(&[("rx0_packets", 0, 100)], 1.0);
        rates.take(&reading(&[("rx0_packets", 300), ("rx1_packets", 900)]), Some(1.0));
        assert!(rates.queues().iter().all(|queue| queue.pps[0] == Some(0.0)));
        rates.take(&reading(&[("rx0_packets", 310), ("rx1_packets", 900)]), Some(0.5));
        assert_eq!(rates.queues()[0].pps[0], Some(20.0));
    }
}
