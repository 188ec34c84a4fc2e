//! ICMP echo requests (RFC 792, RFC 4443) and their fate: a socket of the kernel's own ping (`IPPROTO_ICMP`, icmp(7)), or a
//! raw one where the user may have no such socket.

use std::{
    net::{IpAddr, SocketAddr, UdpSocket},
    ops::Range,
    process,
    time::Duration,
};

use model::IpVersion;
use rustix::net::{AddressFamily, SocketFlags, SocketType, bind, ipproto, socket_with};

use crate::{
    error::{On, Result},
    error_queue::{Arrival, IcmpError, PathSocket, Sent},
};

/// Type, code, checksum, identifier and sequence number.
pub const HEADER: usize = 8;
const IPV6_HEADER: usize = 40;

/// A socket for echo requests, which are never fragmented.
pub struct EchoSocket {
    socket: PathSocket,
    ip: IpVersion,
    /// Raw sockets see the IPv4 header, all of this host's ICMP, and need a checksum.
    is_raw: bool,
    id: u16,
    packet: Vec<u8>,
}

impl EchoSocket {
    /// A socket with this source address.
    pub fn open(local: IpAddr) -> Result<Self> {
        let ip = IpVersion::of(local);
        let (family, protocol) = match ip {
            IpVersion::V4 => (AddressFamily::INET, ipproto::ICMP),
            IpVersion::V6 => (AddressFamily::INET6, ipproto::ICMPV6),
        };
        let open = |kind| socket_with(family, kind, SocketFlags::CLOEXEC, Some(protocol));
        let (socket, is_raw) = match open(SocketType::DGRAM) {
            Ok(socket) => (socket, false),
            // The setting net.ipv4.ping_group_range leaves this user out.
            Err(_) => (open(SocketType::RAW).on("socket(SOCK_RAW)", "ICMP")?, true),
        };
        bind(&socket, &SocketAddr::new(local, 0)).on("bind", local)?;
        let socket = PathSocket::new(UdpSocket::from(socket), ip)?;
        let id = if is_raw { process::id() as u16 } else { socket.local()?.port() };
        Ok(Self { socket, ip, is_raw, id, packet: Vec::new() })
    }

    /// Sends to this host, and receives only from it, from now on.
    pub fn connect(&self, peer: IpAddr) -> Result<()> {
        self.socket.connect(SocketAddr::new(peer, 0))
    }

    /// Sends one request with this payload and TTL.
    pub fn send(&mut self, payload: &[u8], ttl: u8) -> Result<Sent> {
        self.packet.clear();
        self.packet.extend([self.request(), 0, 0, 0]);
        self.packet.extend(self.id.to_be_bytes());
        self.packet.extend([0, 0]);
        self.packet.extend(payload);
        if self.is_raw && self.ip == IpVersion::V4 {
            let sum = checksum(&self.packet).to_be_bytes();
            self.packet[2..4].copy_from_slice(&sum);
        }
        self.socket.send(&self.packet, ttl)
    }

    /// The next reply; its payload is this part of the buffer. `None` without one.
    pub fn receive(&mut self, buffer: &mut [u8]) -> Result<Option<(Arrival, Range<usize>)>> {
        /// Messages of others that are discarded at once.
        const MOST: usize = 64;
        for _ in 0..MOST {
            let Some(arrival) = self.socket.receive(buffer)? else { return Ok(None) };
            let length = arrival.length.min(buffer.len());
            let begin = if self.is_raw && self.ip == IpVersion::V4 { ipv4_header(&buffer[..length]) } else { Some(0) };
            let reply = begin.and_then(|begin| Some((begin, buffer.get(begin..length)?)));
            if let Some((begin, message)) = reply
                && self.is_mine(message, self.reply())
            {
                return Ok(Some((arrival, begin + HEADER..length)));
            }
        }
        Ok(None)
    }

    /// A report on an earlier request, with the payload that it quotes; `None` without one.
    pub fn icmp_error(&mut self) -> Result<Option<IcmpError>> {
        while let Some(error) = self.socket.icmp_error()? {
            // A raw socket of IPv6 is given the quoted packet from its IP header on.
            let begin = [0, IPV6_HEADER].into_iter().find(|begin| {
                let message = error.quote.get(*begin..);
                message.is_some_and(|message| self.is_mine(message, self.request()))
            });
            if let Some(begin) = begin {
                return Ok(Some(IcmpError { fate: error.fate, quote: error.quote[begin + HEADER..].to_vec() }));
            }
        }
        Ok(None)
    }

    /// Sleeps until there is a reply or a report, or for `patience`.
    pub fn wait(&self, patience: Duration) -> Result<()> {
        self.socket.wait(patience)
    }

    fn is_mine(&self, message: &[u8], kind: u8) -> bool {
        message.len() >= HEADER && message[0] == kind && message[4..6] == self.id.to_be_bytes()
    }

    fn request(&self) -> u8 {
        if self.ip == IpVersion::V4 { 8 } else { 128 }
    }

    fn reply(&self) -> u8 {
        if self.ip == IpVersion::V4 { 0 } else { 129 }
    }
}

/// Length of the IPv4 header that a packet begins with.
fn ipv4_header(packet: &[u8]) -> Option<usize> {
    packet.first().map(|first| usize::from(first & 0xf) * 4).filter(|length| *length >= 20)
}

/// The Internet checksum (RFC 1071).
fn checksum(bytes: &[u8]) -> u16 {
    let word = |pair: &[u8]| u32::from(u16::from_be_bytes([pair[0], pair.get(1).copied().unwrap_or(0)]));
    let sum: u32 = bytes.chunks(2).map(word).sum();
    let folded = (sum >> 16) + (sum & 0xffff);
    !((folded >> 16) + (folded & 0xffff)) as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_answers_the_largest_request() {
        for (address, payload) in [("127.0.0.1", 65_507), ("::1", 65_487)] {
            let address: IpAddr = address.parse().expect("an address");
            let mut socket = EchoSocket::open(address).expect("this test needs root");
            socket.connect(address).expect("loopback");
            let sent = vec![7; payload];
            assert_eq!(socket.send(&sent, 9).expect("loopback"), Sent::Yes);
            let mut buffer = vec![0; 65_536];
            let mut reply = None;
            for _ in 0..50 {
                socket.wait(Duration::from_millis(100)).expect("a socket");
                reply = socket.receive(&mut buffer).expect("a socket");
                if reply.is_some() {
                    break;
                }
            }
            let (_, range) = reply.expect("an answer");
            assert_eq!(buffer[range], sent);
        }
    }

    #[test]
    fn the_checksum_is_that_of_rfc_1071() {
        assert_eq!(checksum(&[0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7]), !0xddf2);
        assert_eq!(checksum(&[0xff]), 0x00ff);
    }
}
