//! Outcome of a bypassed frame: the socket that its datagram is for.

use std::net::SocketAddr;

use crate::{Arrived, Binding, Bindings, SocketId, Sums, read};

/// All sockets, as frames find them. Nothing here is taken on trust: frames are whatever somebody sent.
#[derive(Debug, Default)]
pub struct Input {
    bindings: Bindings,
    /// The ends of the last datagram, and whose it was: the next one is most often of the same flow.
    last: Option<(SocketAddr, SocketAddr, SocketId)>,
}

impl Input {
    /// Binds a socket, or binds it anew.
    pub fn bind(&mut self, id: SocketId, binding: Binding) {
        self.last = None;
        self.bindings.bind(id, binding);
    }

    /// Forgets a socket.
    pub fn release(&mut self, id: SocketId) {
        self.last = None;
        self.bindings.release(id);
    }

    /// Puts those of a port into the order of the kernel's own chain: each has a place of its own in it.
    pub fn order(&mut self, port: u16, place: impl Fn(SocketId) -> u64) {
        self.last = None;
        self.bindings.order(port, place);
    }

    /// Sockets of a port, in this order.
    pub fn of_port(&self, port: u16) -> &[(SocketId, Binding)] {
        self.bindings.of_port(port)
    }

    /// The datagram of a frame and the socket it is for; `None` where it is no datagram, or nobody's.
    #[inline]
    pub fn sort<'f>(&mut self, frame: &'f [u8], sums: Sums) -> Option<(SocketId, Arrived<'f>)> {
        let arrived = read(frame, sums).ok()?;
        if let Some((from, to, id)) = &self.last
            && *from == arrived.from
            && *to == arrived.to
        {
            return Some((*id, arrived));
        }
        let id = self.bindings.receiver(arrived.from, arrived.to)?;
        self.last = Some((arrived.from, arrived.to, id));
        Some((id, arrived))
    }
}

#[cfg(test)]
mod tests {
    use model::stream::Mac;
    use proptest::prelude::*;

    use super::*;
    use crate::{DatagramHeader, NextHop, Versions, write};

    fn bound(port: u16) -> Binding {
        Binding { address: None, port, peer: None, versions: Versions::Both, has_device: false, shares: false }
    }

    fn frame(from: &str, to: &str, payload: &[u8]) -> Vec<u8> {
        let way = NextHop { source_mac: Mac([2; 6]), next_hop_mac: Mac([2; 6]), mtu: 1500 };
        let [from, to] = [from, to].map(|end| end.parse().expect("an address"));
        let mut frame = vec![0; 1600];
        let header = DatagramHeader { from, to, ttl: 1, traffic_class: 0, identification: None, flow_label: 0 };
        let length = write(&way, &header, [payload].into_iter(), &mut frame).expect("it fits");
        frame.truncate(length);
        frame
    }

    #[test]
    fn a_flow_that_goes_to_another_socket_goes_there_at_once() {
        let mut input = Input::default();
        let frame = frame("198.18.0.1:7", "198.18.0.2:53", b"x");
        let receiver = |input: &mut Input| input.sort(&frame, Sums::Whole).map(|(id, _)| id.0);
        input.bind(SocketId(1), bound(53));
        assert_eq!([receiver(&mut input), receiver(&mut input)], [Some(1); 2]);
        let peer = Some("198.18.0.1:7".parse().expect("an address"));
        input.bind(SocketId(2), Binding { peer, ..bound(53) });
        assert_eq!(receiver(&mut input), Some(2), "a connected one comes first");
        input.release(SocketId(2));
        assert_eq!(receiver(&mut input), Some(1));
        input.release(SocketId(1));
        assert_eq!(receiver(&mut input), None);
    }

    proptest! {
        #[test]
        fn hostile_frames_do_no_harm(
            frames in prop::collection::vec((any::<bool>(), prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6), 0..1700_usize), 1..20),
        ) {
            let mut input = Input::default();
            input.bind(SocketId(1), bound(53));
            for (v4, changes, length) in frames {
                let mut frame = match v4 {
                    true => frame("198.18.0.1:7", "198.18.0.2:53", b"payload"),
                    false => frame("[2001:2::1]:7", "[2001:2::2]:53", b"payload"),
                };
                for (at, value) in changes {
                    let at = at.index(frame.len());
                    frame[at] = value;
                }
                frame.resize(length, 0);
                if let Some((id, arrived)) = input.sort(&frame, Sums::PartialToo) {
                    prop_assert_eq!((id, arrived.to.port()), (SocketId(1), 53));
                    prop_assert!(arrived.payload.len() <= frame.len());
                }
            }
        }
    }
}
