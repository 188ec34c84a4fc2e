//! Ways to destinations: what the kernel's routes and neighbours say, kept for a while.

use std::net::IpAddr;

use datagram::Way;
use kernel::{neighbour, route};
use model::stream::Mac;

use crate::{look::needs_scope, ticks::Ticks};

/// Destinations that are kept; those that share a place take it from one another.
const PLACES: usize = 256;
/// How long a way holds, in µs: paths learn of smaller MTUs, which nobody is told.
const HOLDS_US: u64 = 1_000_000;
/// How long it holds that there is none for us.
const NONE_HOLDS_US: u64 = 10_000;

/// An interface that packets may leave by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Exit {
    /// Its number in the namespace.
    pub(crate) index: u32,
    pub(crate) mac: Mac,
    pub(crate) mtu: u32,
    /// Whether it can be used.
    pub(crate) open: bool,
}

/// The way to a destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) way: Way,
    /// Where it leaves from, if nobody chose.
    pub(crate) source: IpAddr,
    /// Which of the exits it leaves by.
    pub(crate) exit: usize,
}

/// Whom it is to: a destination, from an address if one is chosen.
type Ends = (IpAddr, Option<IpAddr>);

#[derive(Clone, Copy)]
struct Place {
    ends: Ends,
    generation: u64,
    until: u64,
    found: Option<Found>,
    /// The neighbour's address that the kernel was given a datagram to confirm, since it last changed.
    doubted: Option<(u64, Mac)>,
}

pub(crate) struct Ways {
    places: Vec<Option<Place>>,
    ticks: Ticks,
}

impl Ways {
    pub(crate) fn new(ticks: Ticks) -> Self {
        Self { places: vec![None; PLACES], ticks }
    }

    /// The way past the kernel; `None` where the datagram is for the kernel: to ourselves, to many, by another interface, or to a neighbour that
    /// the kernel has to find first.
    #[inline]
    pub(crate) fn find(&mut self, ends: Ends, now: u64, generation: u64, exits: &[Exit]) -> Option<Found> {
        let number = number(ends.0);
        match &self.places[number] {
            Some(place) if place.ends == ends && place.generation == generation && now < place.until => place.found,
            _ => self.ask(number, ends, now, generation, exits),
        }
    }

    #[cold]
    fn ask(&mut self, number: usize, ends: Ends, now: u64, generation: u64, exits: &[Exit]) -> Option<Found> {
        let before = self.places[number].filter(|place| place.ends == ends);
        let asked = asked(ends, exits);
        let holds = if asked.is_some() { HOLDS_US } else { NONE_HOLDS_US };
        let found = asked.map(|(found, _)| found);
        let doubted = asked.filter(|(_, confirmed)| !confirmed).map(|(found, _)| (generation, found.way.next_hop_mac));
        let until = now + self.ticks.of_us(holds);
        self.places[number] = Some(Place { ends, generation, until, found, doubted });
        // One datagram through the kernel makes it ask the neighbour, each time that something has changed.
        let is_known = doubted.is_none() || before.is_some_and(|before| before.doubted == doubted);
        found.filter(|_| is_known)
    }
}

/// What the kernel says, and whether the neighbour is confirmed.
fn asked((to, from): Ends, exits: &[Exit]) -> Option<(Found, bool)> {
    if needs_scope(to) || to.is_multicast() {
        return None;
    }
    let route = route::to(to, from).ok().filter(|route| route.leaves)?;
    let exit = exits.iter().position(|exit| exit.index == route.interface && exit.open)?;
    let hop = neighbour::at(route.interface, route.gateway.unwrap_or(to)).ok()??;
    let Exit { mac, mtu, .. } = exits[exit];
    let mtu = route.mtu.map_or(mtu, |of_route| of_route.min(mtu));
    let way = Way { source_mac: mac, next_hop_mac: hop.mac, mtu: mtu.min(u16::MAX.into()) as u16 };
    Some((Found { way, source: from.or(route.source)?, exit }, hop.confirmed))
}

/// A place that most addresses of one network do not share.
fn number(to: IpAddr) -> usize {
    let bits = match to {
        IpAddr::V4(address) => u64::from(u32::from(address)),
        IpAddr::V6(address) => {
            let bits = u128::from(address);
            (bits >> 64) as u64 ^ bits as u64
        }
    };
    (bits.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as usize % PLACES
}
