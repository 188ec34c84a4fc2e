//! Several sockets on one port: the kernel and the stack give each the same datagrams.

use std::{
    io::{ErrorKind, IoSliceMut},
    net::{SocketAddr, UdpSocket},
    os::fd::AsFd,
    time::{Duration, Instant},
};

use kernel::{link, socket::set_option};
use rustix::net::{AddressFamily, SocketFlags, SocketType, bind, connect, socket_with};
use wireproof_stack::{Incoming, Outcome, SocketId, Stack};

use crate::{
    ends::Version,
    wire::{PORT, Wire},
};

/// The common port. The one behind it has a single socket, whose datagram marks the end.
///
/// Each run has other ports: a process that another thread is starting may hold closed sockets a moment longer.
fn port(seed: u64) -> u16 {
    30_000 + 2 * seed as u16
}

/// Ports of the far end; some are peers.
const FAR: std::ops::Range<u16> = 20_000..20_024;

/// Options of one of several sockets.
#[derive(Clone, Copy, Debug)]
struct One {
    v6: bool,
    own: Option<Version>,
    peer: Option<Version>,
    device: bool,
    shares: bool,
}

impl One {
    /// Options by these bits.
    fn of(bits: u64) -> Self {
        let bit = |number: u32| bits >> number & 1 == 1;
        let v6 = bit(0);
        let version = |native: bool| match (v6, native) {
            (false, _) => Version::V4,
            (true, true) => Version::V6,
            (true, false) => Version::Both,
        };
        let own = bit(1).then(|| version(bit(2)));
        // A socket bound to an address of one version has no peer of the other.
        let peer = (bit(3) && bit(4)).then(|| own.unwrap_or(version(bit(5))));
        // The kernel does not tell the binding order of sockets of both versions, which would matter between equal
        // scores by a device or a peer; nor the place of a connected IPv6 socket that shares.
        //
        // One that was bound to its address and shares starts a new group with the next one.
        let device = bit(6) && bit(7) && (!v6 || own == Some(Version::V6));
        let shares = bit(8) && (peer.is_none() || !v6 && own.is_none());
        Self { v6, own, peer, device, shares }
    }

    /// The socket, unless the kernel refuses to bind it.
    fn make(self, port: u16) -> Option<UdpSocket> {
        let family = if self.v6 { AddressFamily::INET6 } else { AddressFamily::INET };
        let fd = socket_with(family, SocketType::DGRAM, SocketFlags::CLOEXEC, None).expect("a socket");
        let device = if self.device { link::index(PORT).expect("it is there") } else { 0 };
        set_option(&fd, libc::SOL_SOCKET, libc::SO_REUSEADDR, 1).expect("settable");
        set_option(&fd, libc::SOL_SOCKET, libc::SO_REUSEPORT, u32::from(self.shares)).expect("settable");
        // SO_BINDTOIFINDEX
        set_option(&fd, libc::SOL_SOCKET, 62, device).expect("settable");
        let any: SocketAddr = if self.v6 { ([0_u16; 8], port).into() } else { ([0_u8; 4], port).into() };
        bind(&fd, &self.own.map_or(any, |own| own.at(1, port))).ok()?;
        if let Some(version) = self.peer {
            connect(&fd, &version.at(2, FAR.start + u16::from(self.v6))).expect("on the link");
        }
        let socket = UdpSocket::from(fd);
        socket.set_nonblocking(true).expect("settable");
        Some(socket)
    }
}

/// Datagrams that each socket received over IPv4 and IPv6. The sockets are bound in one order; with a stack, they are
/// bypassed in another.
pub(crate) fn heard(wire: &Wire, far: &[UdpSocket], seed: u64, stack: Option<&Stack>) -> String {
    let port = port(seed);
    let all: Vec<One> = (0..2 + seed % 3).map(|number| One::of(mixed(seed * 8 + number))).collect();
    let sockets: Vec<(One, UdpSocket)> = all.iter().filter_map(|one| Some((*one, one.make(port)?))).collect();
    let last = UdpSocket::bind(SocketAddr::from(([0_u16; 8], port + 1))).expect("it is free");
    last.set_nonblocking(true).expect("settable");
    let open = |socket: &UdpSocket| stack.map(|stack| stack.open_for_later(socket.as_fd()).expect("it goes past"));
    let opened: Vec<_> = sockets.iter().rev().map(|(_, socket)| open(socket)).collect();
    let ids: Vec<_> = opened.into_iter().rev().collect();
    let last_id = open(&last);
    let mut told = String::new();
    for version in [Version::V4, Version::V6] {
        let far = far.iter().filter(|far| far.local_addr().expect("bound").is_ipv4() == (version == Version::V4));
        wire.at_b(|| {
            far.clone().for_each(|far| _ = far.send_to(b"x", version.at(1, port)).expect("on the link"));
            far.clone().take(1).for_each(|far| _ = far.send_to(b"x", version.at(1, port + 1)).expect("on the link"));
        });
        let begun = Instant::now();
        while take(&last, stack.zip(last_id)) == 0 {
            assert!(begun.elapsed() < Duration::from_secs(5), "nothing came");
        }
        let counts = sockets.iter().zip(&ids).map(|((_, socket), id)| take(socket, stack.zip(*id)));
        let counts: Vec<usize> = counts.collect();
        // The distribution within a sharing group is not compared.
        let several = counts.iter().filter(|count| **count > 1).count() > 1;
        let counts: Vec<usize> = counts.iter().map(|count| if several { (*count).min(2) } else { *count }).collect();
        told += &format!("{counts:?} ");
    }
    for id in ids.into_iter().chain([last_id]).flatten() {
        let stack = stack.expect("it was opened");
        assert_eq!(stack.record(id).expect("it is open").through.received, 0, "it came past the kernel");
        stack.close(id);
    }
    format!("{told} of {:?}", sockets.iter().map(|(one, _)| one).collect::<Vec<_>>())
}

/// Receives all waiting datagrams of a socket; returns their number.
fn take(socket: &UdpSocket, past: Option<(&Stack, SocketId)>) -> usize {
    let mut byte = [0; 4];
    let one = || match past {
        Some((stack, id)) => {
            let received = stack.receive(id, &mut Incoming::new(&mut [IoSliceMut::new(&mut byte)]), libc::MSG_DONTWAIT);
            assert_ne!(received, Outcome::Kernel);
            received == Outcome::Done(1)
        }
        None => match socket.recv(&mut byte) {
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::WouldBlock);
                false
            }
            Ok(_) => true,
        },
    };
    std::iter::repeat_with(one).take_while(|came| *came).count()
}

/// Sockets of the far end, of both versions.
pub(crate) fn far(wire: &Wire) -> Vec<UdpSocket> {
    let bind = |version: Version, port| UdpSocket::bind(version.at(2, port)).expect("it is free");
    wire.at_b(|| FAR.flat_map(|port| [Version::V4, Version::V6].map(|version| bind(version, port))).collect())
}

/// Pseudo-random bits (splitmix64).
fn mixed(seed: u64) -> u64 {
    let seed = seed.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let seed = (seed ^ seed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let seed = (seed ^ seed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    seed ^ seed >> 31
}
