//! Cache of the kernel's answers about routes and neighbours.

mod hops;

use std::net::IpAddr;

use datagram::NextHop;
use model::stream::Mac;

use super::Kernel;
use crate::{sockaddr::needs_scope, ticks::Ticks};
use hops::Hops;

/// Cached destinations, in sets by a hash of the address.
const SETS: usize = 4096;
const PLACES_OF_A_SET: usize = 4;
/// Lifetime of a route in µs: a smaller path MTU is not announced.
const HOLDS_US: u64 = 1_000_000;
/// Lifetime of the answer that there is no usable route.
const NONE_HOLDS_US: u64 = 10_000;

/// An interface for outgoing packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Exit {
    /// Index in the namespace.
    pub(crate) index: u32,
    pub(crate) mac: Mac,
    pub(crate) mtu: u32,
    /// Whether it is usable.
    pub(crate) open: bool,
}

/// The route to a destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ResolvedRoute {
    pub(crate) way: NextHop,
    /// Default source address.
    pub(crate) source: IpAddr,
    /// Index of its exit.
    pub(crate) exit: usize,
    /// Whether its MTU is locked against path MTU discovery.
    pub(crate) is_mtu_locked: bool,
}

/// A destination, and the chosen source address.
type Ends = (IpAddr, Option<IpAddr>);

#[derive(Clone, Copy)]
struct Place {
    ends: Ends,
    generation: u64,
    until: u64,
    found: Option<ResolvedRoute>,
}

pub(crate) struct RouteCache {
    sets: Vec<[Option<Place>; PLACES_OF_A_SET]>,
    hops: Hops,
    ticks: Ticks,
}

impl RouteCache {
    pub(crate) fn new(ticks: Ticks) -> Self {
        let sets = vec![[None; PLACES_OF_A_SET]; SETS];
        Self { sets, hops: Hops::new(), ticks }
    }

    /// The cached route; `Some(None)` if the datagram is for the kernel, `None` if the kernel has to be asked.
    #[inline]
    pub(crate) fn find(&self, ends: Ends, now: u64, generation: u64) -> Option<Option<ResolvedRoute>> {
        let is_it = |place: &&Place| place.ends == ends && place.generation == generation && now < place.until;
        self.sets[number(ends.0)].iter().flatten().find(is_it).map(|place| place.found)
    }

    /// Bytes of the largest packet that the kernel would send to a destination, from routes and interfaces alone.
    ///
    /// Over IPv6, routers may have announced another MTU for the link.
    pub(crate) fn mtu(&self, (to, from): Ends, exits: &[Exit], kernel: &mut dyn Kernel) -> Option<u32> {
        let route = kernel.route(to, from).filter(|route| route.leaves)?;
        let exit = exits.iter().find(|exit| exit.index == route.interface)?;
        route.mtu.or(Some(exit.mtu).filter(|_| to.is_ipv4()))
    }

    /// Asks the kernel. `None` if the datagram is for the kernel.
    ///
    /// These are datagrams to local and multicast addresses, by another interface, or to an unresolved neighbour.
    #[cold]
    pub(crate) fn ask(
        &mut self,
        ends: Ends,
        now: u64,
        generation: u64,
        exits: &[Exit],
        kernel: &mut dyn Kernel,
    ) -> Option<ResolvedRoute> {
        let asked = self.query_kernel(ends, now, generation, exits, kernel);
        let found = asked.map(|(found, _)| found);
        let until = now + self.ticks.of_us(if found.is_some() { HOLDS_US } else { NONE_HOLDS_US });
        *self.place_for(ends) = Some(Place { ends, generation, until, found });
        asked.filter(|(_, is_sure)| *is_sure).map(|(found, _)| found)
    }

    /// Entry, or the entry that expires first.
    fn place_for(&mut self, ends: Ends) -> &mut Option<Place> {
        let set = &mut self.sets[number(ends.0)];
        let own = set.iter().position(|place| place.is_some_and(|place| place.ends == ends));
        let ends_first = || (0..PLACES_OF_A_SET).min_by_key(|at| set[*at].map_or(0, |place| place.until));
        let at = own.or_else(ends_first).unwrap_or(0);
        &mut set[at]
    }

    /// The kernel's answer, and whether the neighbour is already reliable.
    fn query_kernel(
        &mut self,
        (to, from): Ends,
        now: u64,
        generation: u64,
        exits: &[Exit],
        kernel: &mut dyn Kernel,
    ) -> Option<(ResolvedRoute, bool)> {
        // The kernel sends datagrams to the unspecified address to itself, whatever the route.
        if needs_scope(to) || to.is_multicast() || to.is_unspecified() {
            return None;
        }
        let route = kernel.route(to, from).filter(|route| route.leaves)?;
        let exit = exits.iter().position(|exit| exit.index == route.interface && exit.open)?;
        let until = now + self.ticks.of_us(HOLDS_US);
        let hop = (route.interface, route.gateway.unwrap_or(to));
        let (hop_mac, is_sure) = self.hops.find(kernel, hop, now..until, generation)?;
        let Exit { mac, mtu, .. } = exits[exit];
        let mtu = route.mtu.map_or(mtu, |of_route| of_route.min(mtu));
        let way = NextHop { source_mac: mac, next_hop_mac: hop_mac, mtu: mtu.min(u16::MAX.into()) as u16 };
        let (source, is_mtu_locked) = (from.or(route.source)?, route.is_mtu_locked);
        Some((ResolvedRoute { way, source, exit, is_mtu_locked }, is_sure))
    }
}

/// A set number that differs for most addresses of one network.
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
        let mut routes = RouteCache::new(Ticks::measure());
        let of_one_set = (0..).map(|bits: u32| IpAddr::from(bits.to_be_bytes())).filter(|to| number(*to) == 7);
        let ends: Vec<Ends> = of_one_set.take(PLACES_OF_A_SET + 1).map(|to| (to, None)).collect();
        let mut put = |ends: Ends, until: u64| {
            let before = routes.place_for(ends).replace(Place { ends, generation: 1, until, found: None });
            before.map(|place| place.ends)
        };
        for (ends, until) in ends.iter().zip([5, 2, 3, 4]) {
            assert_eq!(put(*ends, until), None);
        }
        assert_eq!(put(ends[1], 6), Some(ends[1]), "its own");
        assert_eq!(put(ends[4], 7), Some(ends[2]), "the oldest");
    }
}
