//! The kernel's own sockets.

use std::net::{SocketAddr, UdpSocket};

use kernel::link;

use crate::{
    pingpong::End,
    wire::{PORT, Wire},
};

/// Addresses of both ends.
pub(crate) const NEAR: &str = "198.18.0.1:7001";
pub(crate) const FAR: &str = "198.18.0.2:7002";

/// Assigns addresses to both ends.
pub(crate) fn address(wire: &Wire) {
    for (namespace, end) in [(&wire.a, NEAR), (&wire.b, FAR)] {
        let address: SocketAddr = end.parse().unwrap();
        link::add_address(namespace, PORT, address.ip(), 24).unwrap();
    }
}

/// Connected non-blocking sockets in the namespaces of the two ends.
pub(crate) fn sockets(wire: &Wire) -> [UdpSocket; 2] {
    let open = |own: &str, peer: &str| {
        let socket = UdpSocket::bind(own).unwrap();
        socket.connect(peer).unwrap();
        socket.set_nonblocking(true).unwrap();
        socket
    };
    [wire.at_a(|| open(NEAR, FAR)), wire.at_b(|| open(FAR, NEAR))]
}

impl End for UdpSocket {
    fn send(&mut self, payload: &[u8]) {
        UdpSocket::send(self, payload).unwrap();
    }

    fn receive(&mut self, payload: &mut [u8]) -> Option<usize> {
        self.recv(payload).ok()
    }
}

/// Makes both kernels resolve the other's MAC address.
pub(crate) fn acquaint(near: &UdpSocket, far: &UdpSocket) {
    for (from, to) in [(near, far), (far, near)] {
        from.send(b"hello").unwrap();
        while to.recv(&mut [0; 8]).is_err() {}
    }
}
