//! Which socket a datagram is for, by the rules of the kernel's own lookup (udp(7), socket(7)).

use std::{
    collections::{HashMap, hash_map::Entry},
    hash::{BuildHasher, RandomState},
    net::{IpAddr, SocketAddr},
};

/// A socket, as whoever owns it numbers them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SocketId(pub u32);

/// What a socket is bound and connected to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Binding {
    /// Its own address; `None` is any.
    pub address: Option<IpAddr>,
    /// Its own port.
    pub port: u16,
    /// The one that it hears alone; `None` is all.
    pub peer: Option<SocketAddr>,
    /// Versions that it hears where its own address is any.
    pub versions: Versions,
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
    ports: HashMap<u16, Vec<(SocketId, Binding)>>,
    bound: HashMap<SocketId, u16>,
    hasher: RandomState,
}

impl Bindings {
    /// Binds a socket, or binds it anew.
    pub fn bind(&mut self, id: SocketId, binding: Binding) {
        self.release(id);
        self.bound.insert(id, binding.port);
        self.ports.entry(binding.port).or_default().push((id, binding));
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

    /// The socket that a datagram is for: one with just this address before one with any, among those a connected one before others.
    /// Several that are alike (`SO_REUSEPORT`) share by the four ends, so that a flow stays with one of them.
    pub fn receiver(&self, from: SocketAddr, to: SocketAddr) -> Option<SocketId> {
        let sockets = self.ports.get(&to.port())?;
        let ranks = || sockets.iter().filter_map(|(id, binding)| Some((binding.rank(from, to)?, *id)));
        let best = ranks().map(|(rank, _)| rank).max()?;
        let alike = || ranks().filter(|(rank, _)| *rank == best).map(|(_, id)| id);
        match alike().count() {
            1 => alike().next(),
            count => alike().nth(self.hasher.hash_one((from, to)) as usize % count),
        }
    }

    /// How many sockets there are.
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

    /// How well a datagram fits: whether by its address, whether by its peer; `None` where it does not.
    fn rank(&self, from: SocketAddr, to: SocketAddr) -> Option<(bool, bool)> {
        let is_peer = self.peer.is_none_or(|peer| peer == from);
        (self.hears(to.ip()) && is_peer).then_some((self.address.is_some(), self.peer.is_some()))
    }
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
        Binding { address, port: 53, peer: peer.map(at), versions: Versions::V4 }
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

    #[test]
    fn sockets_that_are_alike_share_and_a_flow_stays_with_one() {
        let mut all = Bindings::default();
        for id in 0..4 {
            all.bind(SocketId(id), bound(None, None));
        }
        let to = at("198.18.0.2:53");
        let mut heard = [0; 4];
        for port in 1..=1000 {
            let from = SocketAddr::new([198, 18, 0, 1].into(), port);
            let id = all.receiver(from, to).expect("one of them");
            assert_eq!(all.receiver(from, to), Some(id));
            heard[id.0 as usize] += 1;
        }
        assert!(heard.iter().all(|count| (150..350).contains(count)), "{heard:?}");
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
