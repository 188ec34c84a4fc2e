//! The search over simulated paths.

use std::{convert::Infallible, net::Ipv4Addr};

use super::*;

const SMALLEST: u32 = 68;

/// A path of routers, from the sender to the receiver.
struct Path {
    /// MTU of the sender's interface.
    own: u32,
    routers: Vec<Router>,
    /// Larger packets vanish on the last link.
    last: u32,
    /// Every packet of which this drawing says so is lost.
    lost: fn(u64) -> bool,
    random: u64,
    bursts: u32,
    packets: u64,
}

#[derive(Clone, Copy)]
struct Router {
    /// Larger packets vanish on the link to it.
    before: u32,
    /// MTU of the link behind it.
    mtu: u32,
    /// The MTU that it names; `None` where it says nothing.
    names: Option<u32>,
    /// Whether it tells of expired packets.
    tells: bool,
}

const ROUTER: Router = Router { before: u32::MAX, mtu: u32::MAX, names: None, tells: true };

impl Path {
    fn of(own: u32, routers: &[Router]) -> Self {
        Self { own, routers: routers.to_vec(), last: u32::MAX, lost: |_| false, random: 1, bursts: 0, packets: 0 }
    }

    fn leg(&mut self, likely: u32) -> Leg {
        let Ok(leg) = search(self, SMALLEST, likely);
        leg
    }

    fn outcome(&mut self, packet: ProbePacket) -> Outcome {
        if packet.size > self.own {
            return Outcome::Refused { mtu: self.own };
        }
        self.packets += 1;
        self.random = self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        if (self.lost)(self.random >> 33) {
            return Outcome::Silent;
        }
        for (number, router) in (1..).zip(&self.routers) {
            if packet.size > router.before {
                return Outcome::Silent;
            }
            if packet.ttl == number {
                return if router.tells { Outcome::Expired { by: address(number) } } else { Outcome::Silent };
            }
            if packet.size > router.mtu {
                let too_big = |mtu| Outcome::TooBig { by: address(number), mtu };
                return router.names.map_or(Outcome::Silent, too_big);
            }
        }
        if packet.size > self.last {
            return Outcome::Silent;
        }
        Outcome::Passed { ttl: packet.ttl - self.routers.len() as u8 }
    }
}

impl ProbeSender for Path {
    type Error = Infallible;

    fn send_all(&mut self, packets: &[ProbePacket]) -> Result<Vec<Outcome>, Infallible> {
        self.bursts += 1;
        Ok(packets.iter().map(|packet| self.outcome(*packet)).collect())
    }
}

fn address(number: u8) -> IpAddr {
    Ipv4Addr::new(198, 18, 0, number).into()
}

fn silent(last_router: Option<u8>, routers_answer: Option<bool>) -> Refusal {
    Refusal::Silent { last_router: last_router.map(address), routers_answer }
}

fn leg(mtu: u32, refusal: Refusal, routers: u8) -> Leg {
    Leg { mtu: Some(Mtu(mtu)), refusal, routers: Some(routers) }
}

#[test]
fn a_clean_path_takes_one_burst() {
    for own in [1280, 1500, 9000, 65_535] {
        let mut path = Path::of(own, &[]);
        let refusal = if own == 65_535 { Refusal::Largest } else { Refusal::Interface };
        assert_eq!(path.leg(own), leg(own, refusal, 0));
        assert_eq!(path.bursts, 1, "{own}");
    }
    assert_eq!(Path::of(65_536, &[]).leg(65_536), leg(65_535, Refusal::Largest, 0));
}

#[test]
fn an_interface_that_is_not_as_thought_is_found_out() {
    for (likely, own) in [(9000, 1500), (1500, 9000), (1500, 65_536), (65_535, 1413)] {
        let expected = if own > 65_535 { leg(65_535, Refusal::Largest, 0) } else { leg(own, Refusal::Interface, 0) };
        let mut path = Path::of(own, &[]);
        assert_eq!(path.leg(likely), expected, "likely {likely}, own {own}");
        assert!(path.bursts <= 8, "{}", path.bursts);
    }
}

#[test]
fn a_router_that_says_so_is_named_after_few_bursts() {
    let mut path = Path::of(9000, &[ROUTER, Router { mtu: 1413, names: Some(1413), ..ROUTER }]);
    assert_eq!(path.leg(9000), leg(1413, Refusal::TooBig { by: address(2), mtu: Mtu(1413) }, 2));
    assert!(path.bursts <= 4, "{}", path.bursts);
}

#[test]
fn two_routers_that_say_so_take_a_step_each() {
    let narrow = |mtu| Router { mtu, names: Some(mtu), ..ROUTER };
    let mut path = Path::of(9000, &[narrow(4352), narrow(1400)]);
    assert_eq!(path.leg(9000), leg(1400, Refusal::TooBig { by: address(2), mtu: Mtu(1400) }, 2));
}

#[test]
fn a_router_that_lies_is_not_believed() {
    for lie in [0, 68, 576, 1399, 1401, 2000, 8999, 9000, u32::MAX] {
        let mut path = Path::of(9000, &[Router { mtu: 1400, names: Some(lie), ..ROUTER }]);
        let found = path.leg(9000);
        assert_eq!(found, leg(1400, Refusal::TooBig { by: address(1), mtu: Mtu(lie) }, 1), "names {lie}");
    }
}

#[test]
fn a_black_hole_of_any_size_is_found_to_the_byte() {
    for (own, sizes) in
        [(1500, (68..1500).step_by(13)), (9000, (68..9000).step_by(101)), (65_535, (68..65_535).step_by(997))]
    {
        for size in sizes {
            let mut path = Path { last: size, ..Path::of(own, &[]) };
            assert_eq!(path.leg(own), leg(size, silent(None, None), 0), "{own}");
            assert!(path.bursts <= 11, "{} bursts for {size} of {own}", path.bursts);
        }
    }
}

#[test]
fn the_last_router_before_a_black_hole_is_found() {
    let hole = Router { before: 1400, ..ROUTER };
    assert_eq!(Path::of(9000, &[ROUTER, hole, ROUTER]).leg(9000), leg(1400, silent(Some(1), Some(true)), 3));
    assert_eq!(Path::of(9000, &[hole, ROUTER]).leg(9000), leg(1400, silent(None, Some(true)), 2));
    let mute = Router { tells: false, ..ROUTER };
    assert_eq!(Path::of(9000, &[ROUTER, mute, hole]).leg(9000), leg(1400, silent(Some(1), Some(true)), 3));
    let filtered = Router { mtu: 1400, ..mute };
    assert_eq!(Path::of(9000, &[mute, filtered]).leg(9000), leg(1400, silent(None, Some(false)), 2));
}

#[test]
fn one_packet_in_ten_lost_there_and_back_changes_next_to_nothing() {
    let mut wrong = 0;
    for random in 0..200 {
        let said = Router { mtu: 1413, names: Some(1413), ..ROUTER };
        for (routers, last) in [(vec![], u32::MAX), (vec![said], u32::MAX), (vec![], 1413)] {
            let expected = if routers.is_empty() { last.min(9000) } else { 1413 };
            let lost = |drawn| drawn % 100 < 19;
            let mut path = Path { last, lost, random, ..Path::of(9000, &routers) };
            wrong += u32::from(path.leg(9000).mtu != Some(Mtu(expected)));
        }
    }
    // It takes six losses in a row, or three before any other loss is noticed. The drawings are the same each time.
    assert!(wrong <= 3, "{wrong} of 600");
}

#[test]
fn where_nothing_passes_there_is_no_figure() {
    let mut path = Path { last: 0, ..Path::of(1500, &[]) };
    assert_eq!(path.leg(1500), Leg { mtu: None, refusal: silent(None, None), routers: None });
    assert!(path.bursts <= 3 && path.packets < 12, "{} bursts, {} packets", path.bursts, path.packets);
}
