//! Packets on their way at the same time, and the knowledge of each. Pure.

use super::search::{Outcome, ProbePacket, TTL};

/// The packets of one burst, numbered one after the other.
pub(super) struct Burst {
    first_id: u32,
    packets: Vec<(ProbePacket, Outcome)>,
}

impl Burst {
    /// Nothing is known yet. `first_id` is the number of the first packet.
    pub(super) fn new(packets: &[ProbePacket], first_id: u32) -> Self {
        Self { first_id, packets: packets.iter().map(|packet| (*packet, Outcome::Silent)).collect() }
    }

    /// Notes an outcome of the packet with this number, 0 where it is not known; the best witness stays. Packets of
    /// earlier bursts are passed over.
    pub(super) fn enter(&mut self, id: u32, outcome: Outcome) {
        let meant = match (id, outcome) {
            (0, Outcome::TooBig { mtu, .. }) => {
                self.packets
                    .iter_mut()
                    .filter(|(packet, _)| packet.size > mtu)
                    .for_each(|packet| note(packet, outcome));
                return;
            }
            // Near routers speak before far ones.
            (0, Outcome::Expired { .. }) => {
                let waiting = |(packet, known): &(ProbePacket, Outcome)| packet.ttl < TTL && *known == Outcome::Silent;
                self.packets.iter().position(waiting)
            }
            _ => id.checked_sub(self.first_id).map(|number| number as usize),
        };
        if let Some(packet) = meant.and_then(|number| self.packets.get_mut(number)) {
            note(packet, outcome);
        }
    }

    /// Whether anything was heard of a packet.
    pub(super) fn is_known(&self, number: usize) -> bool {
        self.packets.get(number).is_none_or(|(_, outcome)| *outcome != Outcome::Silent)
    }

    /// Whether something was heard of every packet.
    pub(super) fn is_all_known(&self) -> bool {
        self.packets.iter().all(|(_, outcome)| *outcome != Outcome::Silent)
    }

    /// Whether nothing is worth waiting for: no packet is left that could arrive although a router speaks against it.
    pub(super) fn is_settled(&self) -> bool {
        !self.packets.iter().any(|(_, outcome)| matches!(outcome, Outcome::TooBig { .. }))
    }

    /// In the order of the packets.
    pub(super) fn outcomes(self) -> Vec<Outcome> {
        self.packets.into_iter().map(|(_, outcome)| outcome).collect()
    }
}

fn note((_, known): &mut (ProbePacket, Outcome), outcome: Outcome) {
    *known = outcome.min(*known);
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use super::*;

    const BY: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(198, 18, 0, 1));

    fn burst(packets: &[(u32, u8)]) -> Burst {
        Burst::new(&packets.iter().map(|&(size, ttl)| ProbePacket { size, ttl }).collect::<Vec<_>>(), 10)
    }

    #[test]
    fn a_packet_that_arrives_refutes_the_router_that_spoke_against_it() {
        let mut burst = burst(&[(1500, TTL), (9000, TTL)]);
        burst.enter(10, Outcome::TooBig { by: BY, mtu: 1400 });
        assert!(burst.is_known(0) && !burst.is_all_known() && !burst.is_settled());
        burst.enter(10, Outcome::Passed { ttl: 63 });
        burst.enter(10, Outcome::TooBig { by: BY, mtu: 1400 });
        assert!(burst.is_settled());
        assert_eq!(burst.outcomes(), [Outcome::Passed { ttl: 63 }, Outcome::Silent]);
    }

    #[test]
    fn what_is_heard_of_earlier_or_unknown_packets_changes_nothing() {
        let mut burst = burst(&[(1500, TTL)]);
        for id in [9, 11, 1] {
            burst.enter(id, Outcome::Passed { ttl: 64 });
        }
        assert_eq!(burst.outcomes(), [Outcome::Silent]);
    }

    #[test]
    fn a_router_that_quotes_no_number_means_all_that_are_too_big() {
        let mut burst = burst(&[(1400, TTL), (1401, TTL)]);
        let too_big = Outcome::TooBig { by: BY, mtu: 1400 };
        burst.enter(0, too_big);
        assert_eq!(burst.outcomes(), [Outcome::Silent, too_big]);
    }

    #[test]
    fn routers_that_quote_no_number_speak_in_the_order_of_the_way() {
        let mut burst = burst(&[(88, 1), (88, 2), (88, 3)]);
        burst.enter(11, Outcome::Expired { by: BY });
        burst.enter(0, Outcome::Expired { by: BY });
        burst.enter(0, Outcome::Expired { by: BY });
        assert!(burst.is_all_known());
    }
}
