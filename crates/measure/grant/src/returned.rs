//! Datagrams that go back to the kernel, into its queue of their socket. Processes that were forked share this queue.
//!
//! The program asks for it on its connection to the launcher, which delivers to a socket of the program alone.

use std::{
    io::{self, IoSlice},
    net::{SocketAddr, UdpSocket},
    os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd},
};

use datagram::{DatagramHeader, NextHop};
use kernel::{
    diag::{Room, udp_sockets},
    link,
};
use rustix::{
    event::PollFlags,
    net::{RecvFlags, Shutdown, ipproto, recv, shutdown, sockopt::socket_protocol},
};
use serde::{Deserialize, Serialize};
use xdp::{Injector, sender::LARGEST_FRAME};

use crate::{
    Grant,
    handover::{REQUEST, events, receive, send_pieces},
    time_left::{TimeLeft, is_late},
};

/// Bytes for an answer of the kernel about its sockets.
const ROOM: usize = size_of::<Room>();
/// Bytes of a request before the payload: that byte, and a [`Returned`] with spaces behind it.
const HEAD: usize = 256;

/// A datagram that a program returns, but for its payload.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Returned {
    /// Index of the interface of arrival.
    pub interface: u32,
    /// Source.
    pub from: SocketAddr,
    /// Destination.
    pub to: SocketAddr,
    /// Time to live, or hop limit.
    pub ttl: u8,
    /// Type of service, or traffic class.
    pub traffic_class: u8,
}

impl Returned {
    /// Asks the launcher to deliver it to a socket of this process; returns whether it did. Nothing is allocated.
    pub fn deliver(&self, claim: BorrowedFd<'_>, socket: BorrowedFd<'_>, payload: &[u8]) -> bool {
        self.ask(claim, socket, payload).unwrap_or_else(|error| {
            if is_late(&error) {
                // A launcher that is stopped is waited for once: this ends the claim, and the sockets are the kernel's then.
                let _ = shutdown(claim, Shutdown::Both);
            }
            false
        })
    }

    fn ask(&self, claim: BorrowedFd<'_>, socket: BorrowedFd<'_>, payload: &[u8]) -> io::Result<bool> {
        let mut head = [b' '; HEAD];
        head[0] = REQUEST;
        serde_json::to_writer(&mut head[1..], self)?;
        send_pieces(&claim, &[IoSlice::new(&head), IoSlice::new(payload)], &[socket])?;
        let mut answer = [0];
        let (length, _) = TimeLeft::default().wait(&claim, || Ok(recv(claim, &mut answer[..], RecvFlags::empty())?))?;
        Ok(length == 1 && answer == [1])
    }

    fn frame(&self, mac: &str, payload: &[u8]) -> Option<Vec<u8>> {
        let mac = mac.parse().ok()?;
        let Self { from, to, ttl, traffic_class, .. } = *self;
        let header = DatagramHeader { from, to, ttl, traffic_class, identification: None, flow_label: 0 };
        let way = NextHop { source_mac: mac, next_hop_mac: mac, mtu: u16::MAX };
        let mut frame = vec![0; LARGEST_FRAME];
        let length = datagram::write(&way, &header, [payload].into_iter(), &mut frame).ok()?;
        frame.truncate(length);
        Some(frame)
    }
}

/// Carries out and answers a program's request; returns whether the datagram was delivered. `None` without a request: the program has
/// ended, complains, or no longer waits for its answer and has the datagram still.
pub(crate) fn serve(connection: &OwnedFd, grant: &Grant) -> Option<bool> {
    let mut first = [0];
    let peeked = recv(connection, &mut first[..], RecvFlags::PEEK | RecvFlags::DONTWAIT);
    let is_withdrawn = events(connection, PollFlags::empty()).contains(PollFlags::HUP);
    if !matches!(peeked, Ok((1, _))) || first != [REQUEST] || is_withdrawn {
        return None;
    }
    let (words, sockets) = receive(connection).ok()?;
    let is_delivered = delivered(connection, grant, &words, sockets).unwrap_or(false);
    // A program that has ended needs no answer.
    let _ = send_pieces(connection, &[IoSlice::new(&[is_delivered.into()])], &[]);
    Some(is_delivered)
}

/// Whether it was delivered; `None` if the program may not ask for it.
fn delivered(connection: &OwnedFd, grant: &Grant, words: &[u8], sockets: Vec<OwnedFd>) -> Option<bool> {
    let (head, payload) = words.split_at_checked(HEAD)?;
    let returned: Returned = serde_json::from_slice(head.get(1..)?).ok()?;
    let [socket] = <[OwnedFd; 1]>::try_from(sockets).ok()?;
    if !is_for(&returned, connection, socket)? {
        return None;
    }
    let links = link::list().ok()?;
    let mut addresses = links.iter().flat_map(|link| &link.addresses);
    let is_local = addresses.any(|(address, _)| *address == returned.to.ip());
    let is_granted = grant.interfaces.iter().any(|granted| granted.index == returned.interface);
    let link = links.iter().find(|link| link.index == returned.interface && is_local && is_granted)?;
    Injector::load().ok()?.inject(link.index, &returned.frame(&link.mac, payload)?).ok()
}

/// Whether the kernel gives such a datagram to this socket, which has to be one of UDP in this network namespace.
fn is_for(returned: &Returned, connection: &OwnedFd, socket: OwnedFd) -> Option<bool> {
    let is_udp = socket_protocol(&socket).ok()? == Some(ipproto::UDP);
    let is_here = namespace(&socket)? == namespace(connection)?;
    let socket = UdpSocket::from(socket);
    let (local, to) = (socket.local_addr().ok()?, returned.to);
    let address = local.ip().to_canonical();
    let is_its_own = local.port() == to.port() && (address.is_unspecified() || address == to.ip());
    let peer = socket.peer_addr().ok().map(|peer| (peer.ip().to_canonical(), peer.port()));
    let is_from_peer = peer.is_none_or(|peer| peer == (returned.from.ip(), returned.from.port()));
    Some(is_udp && is_here && is_its_own && is_from_peer && is_nearest(&socket, returned)?)
}

/// Whether no other socket on the port is nearer to such a datagram: with `SO_REUSEADDR`, several users can have sockets there,
/// and the kernel gives it to the one that names most of its addresses.
fn is_nearest(socket: &UdpSocket, returned: &Returned) -> Option<bool> {
    let inode = rustix::fs::fstat(socket).ok()?.st_ino;
    let has_group = rustix::net::sockopt::socket_reuseport(socket).ok()?;
    let mut candidates = Vec::new();
    udp_sockets(Some(returned.to.port()), &mut [0; ROOM], |bound| {
        let from = (returned.from.ip(), returned.from.port());
        let hears_family = if returned.to.is_ipv4() { !(bound.v6 && bound.v6_only) } else { bound.v6 };
        let is_on_way = bound.address.is_none_or(|address| address == returned.to.ip())
            && bound.peer.is_none_or(|peer| (peer.ip(), peer.port()) == from)
            && bound.device.is_none_or(|device| device == returned.interface);
        if hears_family && is_on_way {
            let named = [bound.address.is_some(), bound.peer.is_some(), bound.device.is_some()];
            // Where two name as much, a socket of IPv4 is nearer to IPv4.
            candidates.push((bound.inode, (named.into_iter().filter(|is_named| *is_named).count(), !bound.v6)));
        }
    })
    .ok()?;
    let most = candidates.iter().map(|(_, named)| *named).max()?;
    let mut nearest = candidates.iter().filter(|(_, named)| *named == most).map(|(inode, _)| *inode);
    // Sockets that share a port by `SO_REUSEPORT` are one user's. Else the first in the kernel's order has the datagram.
    Some(if has_group { nearest.any(|it| it == inode) } else { nearest.next() == Some(inode) })
}

/// Identity of a socket's network namespace.
fn namespace(socket: &OwnedFd) -> Option<u64> {
    let (mut cookie, mut length) = (0_u64, size_of::<u64>() as libc::socklen_t);
    let (fd, option) = (socket.as_fd().as_raw_fd(), libc::SO_NETNS_COOKIE);
    // SAFETY: the kernel writes no more than `length` bytes.
    let answer = unsafe { libc::getsockopt(fd, libc::SOL_SOCKET, option, (&raw mut cookie).cast(), &raw mut length) };
    (answer == 0).then_some(cookie)
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use rustix::net::{
        AddressFamily, SocketFlags, SocketType, bind, socket_with, socketpair, sockopt::set_socket_reuseaddr,
    };

    use super::*;

    #[test]
    fn a_program_is_given_datagrams_for_its_own_sockets_alone() {
        let (connection, _program) =
            socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None).expect("a pair");
        let from = "127.0.0.1:7".parse().expect("an address");
        let is_for = |socket: OwnedFd, to| {
            let returned = Returned { interface: 1, from, to, ttl: 64, traffic_class: 0 };
            super::is_for(&returned, &connection, socket)
        };
        let bound = |address: &str| UdpSocket::bind(address).expect("a port");
        let [own, other] = ["127.0.0.1:0", "0.0.0.0:0"].map(bound);
        let ends = [&own, &other].map(|socket| socket.local_addr().expect("bound"));
        let socket = |it: &UdpSocket| OwnedFd::from(it.try_clone().expect("a copy"));
        assert_eq!(is_for(socket(&own), ends[0]), Some(true));
        assert_eq!(is_for(socket(&own), ends[1]), Some(false), "another port");
        let elsewhere = SocketAddr::new([127, 0, 0, 2].into(), ends[0].port());
        assert_eq!(is_for(socket(&own), elsewhere), Some(false), "another address");
        assert_eq!(is_for(socket(&other), SocketAddr::new([127, 0, 0, 2].into(), ends[1].port())), Some(true));
        own.connect("127.0.0.1:9").expect("a peer");
        assert_eq!(is_for(socket(&own), ends[0]), Some(false), "another peer");
        let tcp = TcpListener::bind("127.0.0.1:0").expect("a port");
        let end = tcp.local_addr().expect("bound");
        assert_eq!(is_for(tcp.into(), end), Some(false), "not UDP");
    }

    /// Two users can have sockets at one address; the kernel gives a datagram to the connected one.
    #[test]
    fn the_datagram_of_a_nearer_socket_is_not_a_programs_to_return() {
        let (connection, _program) =
            socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None).expect("a pair");
        let shared = |address: SocketAddr| {
            let domain = if address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
            let socket = socket_with(domain, SocketType::DGRAM, SocketFlags::CLOEXEC, None).expect("a socket");
            set_socket_reuseaddr(&socket, true).expect("an option");
            bind(&socket, &address).expect("a port");
            socket
        };
        let first = shared("127.0.0.1:0".parse().expect("an address"));
        let to = UdpSocket::from(first.try_clone().expect("a copy")).local_addr().expect("bound");
        let second = shared(to);
        let from: SocketAddr = "127.0.0.1:9".parse().expect("an address");
        let is_for = |socket: &OwnedFd| {
            let returned = Returned { interface: 1, from, to, ttl: 64, traffic_class: 0 };
            super::is_for(&returned, &connection, socket.try_clone().expect("a copy"))
        };
        assert_eq!((is_for(&first), is_for(&second)), (Some(false), Some(true)), "the latest bound hears");
        UdpSocket::from(first.try_clone().expect("a copy")).connect(from).expect("a peer");
        assert_eq!((is_for(&first), is_for(&second)), (Some(true), Some(false)), "the connected one hears");
    }
}
