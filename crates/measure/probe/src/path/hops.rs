//! Answers of each hop, to packets that expire there. Pure: the times are the caller's.

use std::{
    collections::BTreeMap,
    net::IpAddr,
    time::{Duration, Instant},
};

use model::{
    Nanos,
    trial::{Hop, HopTimes},
};

/// Packets to each hop go out this often: routers limit how often they answer, Linux to one a second (`icmp_ratelimit`).
pub(super) const ROUND: Duration = Duration::from_secs(1);

/// Packets sent to each hop, and their answers.
pub(super) struct Hops {
    hops: Vec<Tally>,
    /// Hop and time of each packet without an answer, by its number.
    waiting: BTreeMap<u32, (usize, Instant)>,
}

#[derive(Clone, Default)]
struct Tally {
    addresses: Vec<IpAddr>,
    sent: u32,
    times: Vec<Nanos>,
}

impl Hops {
    /// So many routers, and the far end.
    pub(super) fn new(routers: u8) -> Self {
        Self { hops: vec![Tally::default(); usize::from(routers) + 1], waiting: BTreeMap::new() }
    }

    /// Notes a packet to a hop, counted from 0.
    pub(super) fn sent(&mut self, id: u32, hop: usize, at: Instant) {
        self.hops[hop].sent += 1;
        self.waiting.insert(id, (hop, at));
    }

    /// Notes the answer to a packet, 0 where its number is not known: the first to a hop of this address is meant, else to one of none.
    pub(super) fn answered(&mut self, id: u32, by: IpAddr, at: Instant) {
        let waits_at = |is_meant: &dyn Fn(&[IpAddr]) -> bool| {
            let waiting = self.waiting.iter().find(|(_, (hop, _))| is_meant(&self.hops[*hop].addresses));
            waiting.map(|(id, _)| *id)
        };
        let first =
            || waits_at(&|addresses| addresses.contains(&by)).or_else(|| waits_at(&|addresses| addresses.is_empty()));
        let id = if id == 0 { first() } else { Some(id) };
        let Some((hop, sent)) = id.and_then(|id| self.waiting.remove(&id)) else { return };
        let tally = &mut self.hops[hop];
        tally.times.push(Nanos(at.saturating_duration_since(sent).as_nanos() as u64));
        if !tally.addresses.contains(&by) {
            tally.addresses.push(by);
        }
    }

    /// Whether nothing is waited for.
    pub(super) fn is_answered(&self) -> bool {
        self.waiting.is_empty()
    }

    /// The outcome so far.
    pub(super) fn so_far(&self) -> Vec<Hop> {
        (1..).zip(self.hops.iter().cloned()).map(|(number, tally)| tally.finish(number)).collect()
    }

    /// The outcome, in the order of the way.
    pub(super) fn finish(self) -> Vec<Hop> {
        (1..).zip(self.hops).map(|(number, tally)| tally.finish(number)).collect()
    }
}

impl Tally {
    fn finish(mut self, number: u8) -> Hop {
        self.times.sort_unstable();
        let times = self.times.first().zip(self.times.last()).map(|(shortest, longest)| HopTimes {
            shortest: *shortest,
            median: self.times[self.times.len() / 2],
            longest: *longest,
        });
        Hop { number, addresses: self.addresses, sent: self.sent, answered: self.times.len() as u32, times }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(last: u8) -> IpAddr {
        [198, 18, 0, last].into()
    }

    #[test]
    fn each_answer_counts_once_for_its_hop() {
        let (mut hops, begun) = (Hops::new(1), Instant::now());
        let after = |millis| begun + Duration::from_millis(millis);
        for round in 0..3_u32 {
            hops.sent(2 * round + 1, 0, begun);
            hops.sent(2 * round + 2, 1, begun);
        }
        hops.answered(1, address(1), after(3));
        hops.answered(1, address(1), after(9));
        hops.answered(3, address(7), after(5));
        for (id, millis) in [(2, 10), (4, 30), (6, 20), (99, 1)] {
            hops.answered(id, address(9), after(millis));
        }
        let times = |shortest, median, longest| {
            Some(HopTimes {
                shortest: Nanos::from_millis(shortest),
                median: Nanos::from_millis(median),
                longest: Nanos::from_millis(longest),
            })
        };
        let router =
            Hop { number: 1, addresses: vec![address(1), address(7)], sent: 3, answered: 2, times: times(3, 5, 5) };
        let end = Hop { number: 2, addresses: vec![address(9)], sent: 3, answered: 3, times: times(10, 20, 30) };
        assert_eq!(hops.so_far(), [router.clone(), end.clone()]);
        assert_eq!(hops.finish(), [router, end]);
    }

    #[test]
    fn an_answer_without_a_number_is_for_the_first_packet_that_may_be_meant() {
        let (mut hops, now) = (Hops::new(2), Instant::now());
        for (id, hop) in [(1, 0), (2, 1), (3, 2), (4, 0), (5, 1)] {
            hops.sent(id, hop, now);
        }
        hops.answered(0, address(1), now);
        hops.answered(0, address(2), now);
        hops.answered(0, address(2), now);
        hops.answered(3, address(3), now);
        let answered: Vec<_> = hops.finish().iter().map(|hop| (hop.answered, hop.addresses.clone())).collect();
        assert_eq!(answered, [(1, vec![address(1)]), (2, vec![address(2)]), (1, vec![address(3)])]);
    }
}
