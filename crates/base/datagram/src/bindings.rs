//! Lookup of the socket that a datagram is for, by the rules of the kernel's own (`compute_score` and `udp4_lib_lookup2` of net/ipv4/udp.c, and the same
//! of IPv6), which no manual tells.

use std::{
    collections::{HashMap, hash_map::Entry},
    hash::{BuildHasher, RandomState},
    net::{IpAddr, Ipv4Addr, SocketAddr},
};

/// A socket, as whoever owns it numbers them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SocketId(pub u32);

/// Addresses that a socket is bound and connected to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Binding {
    /// Own address; `None` is any.
    pub address: Option<IpAddr>,
    /// Own port.
    pub port: u16,
    /// The one that it hears alone; `None` is all.
    pub peer: Option<SocketAddr>,
    /// Versions that it hears where its own address is any.
    pub versions: Versions,
    /// Whether it is bound to a device (`SO_BINDTODEVICE`), by which it hears alone.
    pub has_device: bool,
    /// Whether it shares what comes with those that are bound alike (`SO_REUSEPORT`).
    pub shares: bool,
}

/// IP versions that a socket hears.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Versions {
    /// IPv4: `AF_INET`.
    V4,
    /// IPv6: `AF_INET6` with `IPV6_V6ONLY`.
    V6,
    /// Both: `AF_INET6` without it.
    Both,
}

/// All sockets and what they are bound to.
#[derive(Debug, Default)]
pub struct Bindings {
    /// Sockets of each port in the order of the kernel's own chain, in which the first one of those that fit alike is taken.
    ports: HashMap<u16, Vec<(SocketId, Binding)>>,
    bound: HashMap<SocketId, u16>,
    hasher: RandomState,
}

impl Bindings {
    /// Binds a socket, as the last one of its port; or binds it anew, which is the same where its own end changes.
    pub fn bind(&mut self, id: SocketId, binding: Binding) {
        let sockets = self.ports.get_mut(&binding.port);
        let bound = sockets.and_then(|sockets| sockets.iter_mut().find(|(other, _)| *other == id));
        if let Some((_, before)) = bound.filter(|(_, before)| before.address == binding.address) {
            *before = binding;
            return;
        }
        self.release(id);
        self.bound.insert(id, binding.port);
        self.put(id, binding);
    }

    /// Puts those of a port into the order of the kernel's own chain, as it tells it (`udp_diag`): each has a place of its own in it.
    pub fn order(&mut self, port: u16, place: impl Fn(SocketId) -> u64) {
        let place = |(id, _): &(SocketId, Binding)| place(*id);
        if let Some(sockets) = self.ports.get_mut(&port).filter(|sockets| !sockets.is_sorted_by_key(place)) {
            sockets.sort_unstable_by_key(place);
        }
    }

    /// Sockets of a port, in this order.
    pub fn of_port(&self, port: u16) -> &[(SocketId, Binding)] {
        self.ports.get(&port).map_or(&[], Vec::as_slice)
    }

    /// As the kernel does: at the head of the chain, but that those of IPv6 that share are behind all others.
    fn put(&mut self, id: SocketId, binding: Binding) {
        let sockets = self.ports.entry(binding.port).or_default();
        sockets
            .insert(if binding.shares && binding.versions != Versions::V4 { sockets.len() } else { 0 }, (id, binding));
    }

    /// Forgets a socket; whether it was bound.
    pub fn release(&mut self, id: SocketId) -> bool {
        let Some(port) = self.bound.remove(&id) else { return false };
        if let Entry::Occupied(mut sockets) = self.ports.entry(port) {
            sockets.get_mut().retain(|(other, _)| *other != id);
            if sockets.get().is_empty() {
                sockets.remove();
            }
        }
        true
    }

    /// The socket that a datagram is for: one with just this address before one with any; of the first a connected one before others, of which the
    /// last one has all; then one that is bound to a device, then one of IPv4 for a datagram of IPv4. Of several that are alike the one
    /// that was bound last has all, or shares with those like it (`SO_REUSEPORT`) by the four ends, so that a flow stays with one of them.
    pub fn receiver(&self, from: SocketAddr, to: SocketAddr) -> Option<SocketId> {
        let sockets = self.ports.get(&to.port())?;
        let is_connected = |binding: &Binding| binding.peer == Some(from) && binding.address == Some(to.ip());
        if let Some((id, _)) = sockets.iter().find(|(_, binding)| is_connected(binding)) {
            return Some(*id);
        }
        let first = |asked: fn(Rank) -> bool| self.first(sockets, asked, (from, to));
        first(|rank| rank.address).or_else(|| first(|rank| !rank.address))
    }

    fn first(
        &self,
        sockets: &[(SocketId, Binding)],
        asked: fn(Rank) -> bool,
        ends: (SocketAddr, SocketAddr),
    ) -> Option<SocketId> {
        let ranked = || {
            let ranked = sockets.iter().filter_map(|(id, binding)| Some((binding.rank(ends.0, ends.1)?, *id, binding)));
            ranked.filter(|(rank, ..)| asked(*rank))
        };
        let mut best = None;
        for (rank, id, binding) in ranked() {
            if best.is_some_and(|(best, _)| rank <= best) {
                continue;
            }
            best = Some((rank, id));
            // The kernel looks no further then, even where another one would fit better.
            if binding.is_of_group() {
                let group = || {
                    let alike = ranked().filter(|(other, ..)| *other == rank);
                    alike.filter(|(.., other)| other.is_of_group() && other.versions == binding.versions)
                };
                let number = self.hasher.hash_one(ends) as usize % group().count();
                return group().nth(number).map(|(_, id, _)| id);
            }
        }
        best.map(|(_, id)| id)
    }

    /// Number of sockets.
    pub fn len(&self) -> usize {
        self.bound.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.bound.is_empty()
    }
}

impl Binding {
    /// Whether it hears what comes to this address.
    pub fn hears(&self, address: IpAddr) -> bool {
        match self.address {
            Some(own) => own == address,
            None => self.versions.hear(address),
        }
    }

    /// Whether the kernel may give the other one something that comes to this address and that this one hears too.
    pub fn yields_to(&self, other: &Self, address: IpAddr) -> bool {
        const ANYBODY: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::UNSPECIFIED), 0);
        if self.port != other.port {
            return false;
        }
        let (from, to) = (self.peer.or(other.peer).unwrap_or(ANYBODY), SocketAddr::new(address, self.port));
        let [own, others] = [self, other].map(|binding| binding.rank(from, to));
        own.zip(others).is_some_and(|(own, others)| others >= own)
    }

    /// Score of a datagram; `None` where it does not fit.
    fn rank(&self, from: SocketAddr, to: SocketAddr) -> Option<Rank> {
        let is_peer = self.peer.is_none_or(|peer| peer == from);
        (self.hears(to.ip()) && is_peer).then_some(Rank {
            address: self.address.is_some(),
            peer: self.peer.is_some(),
            device: self.has_device,
            family: self.versions == Versions::V4,
        })
    }

    /// Whether it shares what comes: one that is connected does not.
    fn is_of_group(&self) -> bool {
        self.shares && self.peer.is_none()
    }
}

/// Score of a datagram for a socket, the weightiest part first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Rank {
    /// Just this address, and not any.
    address: bool,
    /// Connected to where it comes from.
    peer: bool,
    device: bool,
    /// A socket of IPv4, and not one of IPv6 that hears IPv4 too.
    family: bool,
}

impl Versions {
    /// Whether they are those of an address.
    pub fn hear(self, address: IpAddr) -> bool {
        match self {
            Self::V4 => address.is_ipv4(),
            Self::V6 => address.is_ipv6(),
            Self::Both => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> SocketAddr {
        text.parse().expect("an address and a port")
    }

    fn bound(address: Option<&str>, peer: Option<&str>) -> Binding {
        let address = address.map(|address| address.parse().expect("an address"));
        let peer = peer.map(at);
        Binding { address, port: 53, peer, versions: Versions::V4, has_device: false, shares: false }
    }

    fn receiver(bindings: &[Binding], from: &str, to: &str) -> Option<u32> {
        let mut all = Bindings::default();
        for (id, binding) in (0..).zip(bindings) {
            all.bind(SocketId(id), *binding);
        }
        all.receiver(at(from), at(to)).map(|id| id.0)
    }

    #[test]
    fn the_closest_binding_hears_it() {
        let any = bound(None, None);
        let own = bound(Some("198.18.0.2"), None);
        let connected = bound(Some("198.18.0.2"), Some("198.18.0.1:7"));
        let all = [any, own, connected];
        assert_eq!(receiver(&all, "198.18.0.1:7", "198.18.0.2:53"), Some(2));
        assert_eq!(receiver(&all, "198.18.0.1:8", "198.18.0.2:53"), Some(1));
        assert_eq!(receiver(&all, "198.18.0.1:7", "198.18.0.3:53"), Some(0));
        assert_eq!(receiver(&all, "198.18.0.1:7", "198.18.0.2:54"), None);
        assert_eq!(receiver(&[connected], "198.18.0.1:8", "198.18.0.2:53"), None, "not its peer");
        let anywhere_connected = bound(None, Some("198.18.0.1:7"));
        assert_eq!(receiver(&[anywhere_connected, own], "198.18.0.1:7", "198.18.0.2:53"), Some(1), "address first");
    }

    #[test]
    fn versions_are_kept_apart_unless_a_socket_hears_both() {
        let of = |versions| Binding { versions, ..bound(None, None) };
        let hears = |versions, to| {
            receiver(&[of(versions)], if to == "198.18.0.2:53" { "198.18.0.1:7" } else { "[2001:2::1]:7" }, to)
        };
        for (versions, v4, v6) in
            [(Versions::V4, true, false), (Versions::V6, false, true), (Versions::Both, true, true)]
        {
            assert_eq!(hears(versions, "198.18.0.2:53").is_some(), v4);
            assert_eq!(hears(versions, "[2001:2::2]:53").is_some(), v6);
        }
    }

    /// Number of flows, of a thousand, that each of these hears.
    fn heard<const N: usize>(all: &Bindings, to: &str) -> [u32; N] {
        let (to, mut heard) = (at(to), [0; N]);
        for port in 1..=1000 {
            let from: IpAddr = if to.is_ipv4() { [198, 18, 0, 1].into() } else { [0x2001, 2, 0, 0, 0, 0, 0, 1].into() };
            let from = SocketAddr::new(from, port);
            let id = all.receiver(from, to).expect("one of them");
            assert_eq!(all.receiver(from, to), Some(id));
            heard[id.0 as usize] += 1;
        }
        heard
    }

    fn of(bindings: &[Binding]) -> Bindings {
        let mut all = Bindings::default();
        (0..).zip(bindings).for_each(|(id, binding)| all.bind(SocketId(id), *binding));
        all
    }

    #[test]
    fn sockets_that_are_alike_share_and_a_flow_stays_with_one() {
        let all = of(&[Binding { shares: true, ..bound(None, None) }; 4]);
        let heard: [u32; 4] = heard(&all, "198.18.0.2:53");
        assert!(heard.iter().all(|count| (150..350).contains(count)), "{heard:?}");
    }

    #[test]
    fn without_sharing_the_one_that_was_bound_last_hears_all() {
        let mut all = of(&[bound(None, None); 3]);
        assert_eq!(heard(&all, "198.18.0.2:53"), [0, 0, 1000]);
        all.bind(SocketId(1), bound(None, None));
        assert_eq!(heard(&all, "198.18.0.2:53"), [0, 0, 1000], "it is where it was");
        all.order(53, |id| [1, 0, 2][id.0 as usize]);
        assert_eq!(heard(&all, "198.18.0.2:53"), [0, 1000, 0]);
        assert_eq!(all.of_port(53).iter().map(|(id, _)| id.0).collect::<Vec<_>>(), [1, 0, 2]);
        all.order(54, |_| 0);
        assert!(all.of_port(54).is_empty());
        all.release(SocketId(1));
        assert_eq!(heard(&all, "198.18.0.2:53"), [1000, 0, 0]);
        all.bind(SocketId(2), bound(Some("198.18.0.2"), None));
        all.bind(SocketId(2), bound(None, None));
        assert_eq!(heard(&all, "198.18.0.2:53"), [0, 0, 1000], "it was bound to another end meanwhile");
    }

    #[test]
    fn a_socket_of_ipv4_comes_before_one_that_hears_both() {
        let (v4, both) = (bound(None, None), Binding { versions: Versions::Both, ..bound(None, None) });
        for shares in [false, true] {
            let all = [v4, both].map(|binding| Binding { shares, ..binding });
            assert_eq!(heard(&of(&all), "198.18.0.2:53"), [1000, 0]);
            assert_eq!(heard(&of(&all), "[2001:2::2]:53"), [0, 1000]);
        }
        let connected = Binding { peer: Some(at("198.18.0.1:7")), ..both };
        assert_eq!(receiver(&[v4, connected], "198.18.0.1:7", "198.18.0.2:53"), Some(1), "a peer counts more");
    }

    #[test]
    fn a_device_counts_less_than_a_peer_and_more_than_a_version() {
        let device = |binding| Binding { has_device: true, ..binding };
        let (own, both) = (bound(Some("198.18.0.2"), None), Binding { versions: Versions::Both, ..bound(None, None) });
        assert_eq!(receiver(&[device(both), bound(None, None)], "198.18.0.1:7", "198.18.0.2:53"), Some(0));
        let connected = bound(Some("198.18.0.2"), Some("198.18.0.1:7"));
        assert_eq!(receiver(&[device(connected), connected], "198.18.0.1:7", "198.18.0.2:53"), Some(1), "the last one");
        assert_eq!(receiver(&[connected, device(own)], "198.18.0.1:7", "198.18.0.2:53"), Some(0));
        assert_eq!(receiver(&[own, device(bound(None, None))], "198.18.0.1:7", "198.18.0.2:53"), Some(0));
    }

    #[test]
    fn those_that_share_and_one_that_does_not_are_taken_as_they_were_bound() {
        let (alone, shares) = (bound(None, None), Binding { shares: true, ..bound(None, None) });
        assert_eq!(heard(&of(&[shares, shares, alone]), "198.18.0.2:53"), [0, 0, 1000]);
        let [none, first, second] = heard(&of(&[alone, shares, shares]), "198.18.0.2:53");
        assert!(none == 0 && first > 300 && second > 300, "{first} {second}");
        // Sockets of IPv6 that share are behind.
        let v6 = |binding| Binding { versions: Versions::V6, ..binding };
        assert_eq!(heard(&of(&[alone, shares, shares].map(v6)), "[2001:2::2]:53"), [1000, 0, 0]);
        // One that is connected is none of a group.
        let connected = Binding { shares: true, ..bound(Some("198.18.0.2"), Some("198.18.0.9:7")) };
        let own = Binding { shares: true, ..bound(Some("198.18.0.2"), None) };
        assert_eq!(heard(&of(&[own, connected]), "198.18.0.2:53"), [1000, 0]);
    }

    #[test]
    fn one_yields_to_another_that_hears_the_same_and_fits_as_well_or_better() {
        let (any, own) = (bound(None, None), bound(Some("198.18.0.2"), None));
        let connected = bound(Some("198.18.0.2"), Some("198.18.0.1:7"));
        let other_peer = bound(Some("198.18.0.2"), Some("198.18.0.1:8"));
        let elsewhere = bound(Some("127.0.0.1"), None);
        let both = Binding { versions: Versions::Both, ..any };
        let yields = |one: &Binding, other: &Binding| one.yields_to(other, at("198.18.0.2:0").ip());
        for (one, other, expected) in [
            (any, any, [true, true]),
            (any, own, [true, false]),
            (own, connected, [true, false]),
            (any, connected, [true, false]),
            (connected, other_peer, [false, false]),
            (any, elsewhere, [false, false]),
            (both, any, [true, false]),
            (any, Binding { port: 54, ..any }, [false, false]),
        ] {
            assert_eq!([yields(&one, &other), yields(&other, &one)], expected, "{one:?} {other:?}");
        }
        assert!(!any.yields_to(&both, at("[2001:2::2]:0").ip()), "it hears none of that");
    }

    #[test]
    fn a_million_that_come_and_go_leave_nothing() {
        let mut all = Bindings::default();
        for id in 0..1_000_000 {
            all.bind(SocketId(id), Binding { port: id as u16, ..bound(None, None) });
            assert!(all.release(SocketId(id)) && !all.release(SocketId(id)));
        }
        assert!(all.is_empty() && all.ports.is_empty());
    }
}
