//! Ways to destinations: what the kernel's routes and neighbours say, kept for a while.

mod hops;

use std::{
    net::IpAddr,
    os::fd::{AsFd, AsRawFd, RawFd},
};

use datagram::Way;
use kernel::{Asker, route};
use model::stream::Mac;

use crate::{aside::aside, look::needs_scope, ticks::Ticks};
use hops::Hops;

/// Destinations that are kept: sets of places, each of which has what falls into it.
const SETS: usize = 4096;
const PLACES_OF_A_SET: usize = 4;
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
    /// Whether its MTU holds whatever the path says.
    pub(crate) is_mtu_locked: bool,
}

/// Whom it is to: a destination, from an address if one is chosen.
type Ends = (IpAddr, Option<IpAddr>);

#[derive(Clone, Copy)]
struct Place {
    ends: Ends,
    generation: u64,
    until: u64,
    found: Option<Found>,
}

pub(crate) struct Ways {
    sets: Vec<[Option<Place>; PLACES_OF_A_SET]>,
    hops: Hops,
    /// None where there was no descriptor for it.
    asker: Option<Asker>,
    ticks: Ticks,
}

impl Ways {
    pub(crate) fn new(ticks: Ticks) -> Self {
        let sets = vec![[None; PLACES_OF_A_SET]; SETS];
        Self { sets, hops: Hops::new(), asker: Asker::open(aside).ok(), ticks }
    }

    /// The descriptor by which the kernel is asked.
    pub(crate) fn descriptor(&self) -> Option<RawFd> {
        self.asker.as_ref().map(|asker| asker.as_fd().as_raw_fd())
    }

    /// The way past the kernel; `None` where the datagram is for the kernel: to ourselves, to many, by another interface, or to a neighbour that
    /// the kernel has to find first.
    #[inline]
    pub(crate) fn find(&mut self, ends: Ends, now: u64, generation: u64, exits: &[Exit]) -> Option<Found> {
        let is_it = |place: &&Place| place.ends == ends && place.generation == generation && now < place.until;
        match self.sets[number(ends.0)].iter().flatten().find(is_it) {
            Some(place) => place.found,
            None => self.ask(ends, now, generation, exits),
        }
    }

    /// Bytes of the largest packet that the kernel would send to a destination, as far as routes and interfaces say so: over IPv6 routers may have told it of
    /// another one for the link.
    pub(crate) fn mtu(&mut self, (to, from): Ends, exits: &[Exit]) -> Option<u32> {
        let route = route::to(self.asker.as_mut()?, to, from).ok().filter(|route| route.leaves)?;
        let exit = exits.iter().find(|exit| exit.index == route.interface)?;
        route.mtu.or(Some(exit.mtu).filter(|_| to.is_ipv4()))
    }

    #[cold]
    fn ask(&mut self, ends: Ends, now: u64, generation: u64, exits: &[Exit]) -> Option<Found> {
        let asked = self.asked(ends, now, generation, exits);
        let found = asked.map(|(found, _)| found);
        let until = now + self.ticks.of_us(if found.is_some() { HOLDS_US } else { NONE_HOLDS_US });
        *self.place_for(ends) = Some(Place { ends, generation, until, found });
        asked.filter(|(_, is_sure)| *is_sure).map(|(found, _)| found)
    }

    /// Its own place, or that of what is asked for again first.
    fn place_for(&mut self, ends: Ends) -> &mut Option<Place> {
        let set = &mut self.sets[number(ends.0)];
        let own = set.iter().position(|place| place.is_some_and(|place| place.ends == ends));
        let ends_first = || (0..PLACES_OF_A_SET).min_by_key(|at| set[*at].map_or(0, |place| place.until));
        let at = own.or_else(ends_first).unwrap_or(0);
        &mut set[at]
    }

    /// What the kernel says, and whether the neighbour can be relied on already.
    fn asked(&mut self, (to, from): Ends, now: u64, generation: u64, exits: &[Exit]) -> Option<(Found, bool)> {
        // What is for no address the kernel sends to itself, and not by the way that there may be to it.
        if needs_scope(to) || to.is_multicast() || to.is_unspecified() {
            return None;
        }
        let asker = self.asker.as_mut()?;
        let route = route::to(asker, to, from).ok().filter(|route| route.leaves)?;
        let exit = exits.iter().position(|exit| exit.index == route.interface && exit.open)?;
        let until = now + self.ticks.of_us(HOLDS_US);
        let hop = (route.interface, route.gateway.unwrap_or(to));
        let (hop_mac, is_sure) = self.hops.find(asker, hop, now..until, generation)?;
        let Exit { mac, mtu, .. } = exits[exit];
        let mtu = route.mtu.map_or(mtu, |of_route| of_route.min(mtu));
        let way = Way { source_mac: mac, next_hop_mac: hop_mac, mtu: mtu.min(u16::MAX.into()) as u16 };
        let (source, is_mtu_locked) = (from.or(route.source)?, route.is_mtu_locked);
        Some((Found { way, source, exit, is_mtu_locked }, is_sure))
    }
}

/// A set that most addresses of one network do not share.
fn number(to: IpAddr) -> usize {
    let bits = match to {
        IpAddr::V4(address) => u64::from(u32::from(address)),
        IpAddr::V6(address) => {
            let bits = u128::from(address);
            (bits >> 64) as u64 ^ bits as u64
        }
    };
    (bits.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 48) as usize % SETS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_destination_keeps_its_place_and_the_oldest_of_a_set_goes() {
        let mut ways = Ways::new(Ticks::measure());
        let of_one_set = (0..).map(|bits: u32| IpAddr::from(bits.to_be_bytes())).filter(|to| number(*to) == 7);
        let ends: Vec<Ends> = of_one_set.take(PLACES_OF_A_SET + 1).map(|to| (to, None)).collect();
        let mut put = |ends: Ends, until: u64| {
            let before = ways.place_for(ends).replace(Place { ends, generation: 1, until, found: None });
            before.map(|place| place.ends)
        };
        for (ends, until) in ends.iter().zip([5, 2, 3, 4]) {
            assert_eq!(put(*ends, until), None);
        }
        assert_eq!(put(ends[1], 6), Some(ends[1]), "its own");
        assert_eq!(put(ends[4], 7), Some(ends[2]), "the oldest");
    }
}
