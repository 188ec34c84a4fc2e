//! A UDP socket that reports the fate of its datagrams: refusals of its own interface, and ICMP errors (ip(7),
//! `IP_RECVERR`).

use std::{
    collections::VecDeque,
    io,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket},
    time::Duration,
};

use model::{IpVersion, Mtu};
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::Errno,
    net::sockopt,
};

use crate::{
    control::{self, Control, Received},
    error::{On, Result},
    socket::set_option,
};

/// Bytes kept of a datagram that is quoted in an error.
const QUOTE: usize = 128;
/// Errors from ICMP (`icmp_err_convert` and `icmpv6_err_convert` of Linux). The error queue has the details.
///
/// The next call on the socket, whatever its purpose, returns the errno.
const BY_ICMP: [i32; 10] = [
    libc::EACCES,
    libc::EMSGSIZE,
    libc::ECONNREFUSED,
    libc::EHOSTUNREACH,
    libc::ENETUNREACH,
    libc::EHOSTDOWN,
    libc::ENONET,
    libc::ENOPROTOOPT,
    libc::EOPNOTSUPP,
    libc::EPROTO,
];

/// A UDP socket that never fragments its packets, and ignores the kernel's estimate of the path MTU.
pub struct PathSocket {
    socket: UdpSocket,
    ip: IpVersion,
    icmp_errors: VecDeque<IcmpError>,
}

/// Outcome of a send call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sent {
    /// The packet was sent.
    Yes,
    /// The interface does not accept a packet of this size.
    TooBig(Mtu),
    /// A firewall of this machine dropped it, or a queue was full.
    Dropped,
}

/// A received datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// Bytes of payload.
    pub length: usize,
    /// Remaining TTL (IPv6: hop limit).
    pub ttl: u8,
    /// Whether it arrived in fragments.
    pub fragmented: bool,
}

/// A report on a sent datagram.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IcmpError {
    /// Fate.
    pub fate: Fate,
    /// The beginning of its payload; empty if the router quotes headers only.
    pub quote: Vec<u8>,
}

/// Fate of a datagram according to ICMP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// Larger than the next link's MTU.
    TooBig {
        /// Sender of the report.
        by: IpAddr,
        /// The reported MTU; 0 from routers older than RFC 1191.
        mtu: Mtu,
    },
    /// Its TTL expired.
    Expired {
        /// Router at which it expired.
        by: IpAddr,
    },
    /// It came to a port or host that does not take it.
    Refused {
        /// Sender of the report: the host itself, or a router or packet filter before it.
        by: IpAddr,
    },
}

/// An entry of the error queue: from our own interface, or from ICMP.
enum Entry {
    Local(Mtu),
    Icmp(IcmpError),
    Other,
}

impl PathSocket {
    /// Takes a bound socket of this IP version.
    pub fn new(socket: UdpSocket, ip: IpVersion) -> Result<Self> {
        let what = "a UDP socket";
        let (level, numbers) = match ip {
            IpVersion::V4 => {
                sockopt::set_ip_mtu_discover(&socket, sockopt::Ipv4PathMtuDiscovery::PROBE)
                    .on("setsockopt(IP_MTU_DISCOVER)", what)?;
                (libc::IPPROTO_IP, [libc::IP_RECVERR, libc::IP_RECVTTL, libc::IP_RECVFRAGSIZE])
            }
            IpVersion::V6 => {
                sockopt::set_ipv6_mtu_discover(&socket, sockopt::Ipv6PathMtuDiscovery::PROBE)
                    .on("setsockopt(IPV6_MTU_DISCOVER)", what)?;
                (libc::IPPROTO_IPV6, [libc::IPV6_RECVERR, libc::IPV6_RECVHOPLIMIT, libc::IPV6_RECVFRAGSIZE])
            }
        };
        for number in numbers {
            set_option(&socket, level, number, 1).on("setsockopt(IP_RECVERR, IP_RECVTTL, IP_RECVFRAGSIZE)", what)?;
        }
        socket.set_nonblocking(true).on("fcntl(O_NONBLOCK)", what)?;
        Ok(Self { socket, ip, icmp_errors: VecDeque::new() })
    }

    /// Local address.
    pub fn local(&self) -> Result<SocketAddr> {
        self.socket.local_addr().on("getsockname", "a UDP socket")
    }

    /// Sends to this address, and receives only from it, from now on.
    pub fn connect(&self, peer: SocketAddr) -> Result<()> {
        self.socket.connect(peer).on("connect", peer)
    }

    /// Length and source address of the next datagram, which stays queued; `None` without one.
    pub fn caller(&self, buffer: &mut [u8]) -> Result<Option<(usize, SocketAddr)>> {
        match self.socket.peek_from(buffer) {
            Ok(seen) => Ok(Some(seen)),
            Err(error) if is_nothing(&error) || is_by_icmp(&error) => Ok(None),
            Err(error) => Err(error).on("recvfrom(MSG_PEEK)", "a UDP socket"),
        }
    }

    /// Sends one datagram in one packet with this TTL.
    pub fn send(&mut self, payload: &[u8], ttl: u8) -> Result<Sent> {
        let set = match self.ip {
            IpVersion::V4 => sockopt::set_ip_ttl(&self.socket, ttl.into()),
            IpVersion::V6 => sockopt::set_ipv6_unicast_hops(&self.socket, Some(ttl)),
        };
        set.on("setsockopt(IP_TTL)", "a UDP socket")?;
        // The first call may return the error of an earlier datagram.
        const TRIES: usize = 4;
        for _ in 0..TRIES {
            self.drain()?;
            match self.socket.send(payload) {
                Ok(_) => return Ok(Sent::Yes),
                Err(error) if is_by_icmp(&error) => {
                    if let Some(mtu) = self.drain()? {
                        return Ok(Sent::TooBig(mtu));
                    }
                }
                Err(error) if is_nothing(&error) || is_dropped(&error) => return Ok(Sent::Dropped),
                Err(error) => return Err(error).on("send", self.what()),
            }
        }
        Ok(Sent::Dropped)
    }

    /// The next datagram; `None` without one.
    pub fn receive(&mut self, buffer: &mut [u8]) -> Result<Option<Arrival>> {
        loop {
            let mut room = [0; _];
            match control::receive(&self.socket, buffer, &mut room, libc::MSG_DONTWAIT) {
                Ok(message) => return Ok(Some(arrival(&message))),
                Err(error) if is_nothing(&error) => return Ok(None),
                Err(error) if is_by_icmp(&error) => {}
                Err(error) => return Err(error).on("recvmsg", self.what()),
            }
        }
    }

    /// A report on an earlier datagram; `None` without one.
    pub fn icmp_error(&mut self) -> Result<Option<IcmpError>> {
        self.drain()?;
        Ok(self.icmp_errors.pop_front())
    }

    /// Sleeps until there is a datagram or a report, or for `patience`.
    pub fn wait(&self, patience: Duration) -> Result<()> {
        if !self.icmp_errors.is_empty() {
            return Ok(());
        }
        let patience = Timespec { tv_sec: patience.as_secs() as i64, tv_nsec: patience.subsec_nanos().into() };
        match poll(&mut [PollFd::new(&self.socket, PollFlags::IN)], Some(&patience)) {
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(error) => Err(error).on("poll", "a UDP socket"),
        }
    }

    /// Empties the error queue; returns the MTU of our own interface if it refused a datagram.
    fn drain(&mut self) -> Result<Option<Mtu>> {
        let mut refused = None;
        let mut buffer = [0; QUOTE];
        loop {
            let mut room = [0; _];
            match control::receive(&self.socket, &mut buffer, &mut room, libc::MSG_ERRQUEUE | libc::MSG_DONTWAIT) {
                Ok(message) => match entry(&message, &buffer) {
                    Entry::Local(mtu) => refused = Some(mtu),
                    Entry::Icmp(error) => self.icmp_errors.push_back(error),
                    Entry::Other => {}
                },
                Err(error) if is_nothing(&error) => return Ok(refused),
                Err(error) => return Err(error).on("recvmsg(MSG_ERRQUEUE)", self.what()),
            }
        }
    }

    fn what(&self) -> String {
        self.socket.peer_addr().map_or_else(|_| "a UDP socket".to_owned(), |peer| format!("a UDP socket to {peer}"))
    }
}

fn is_nothing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
}

fn is_by_icmp(error: &io::Error) -> bool {
    error.raw_os_error().is_some_and(|errno| BY_ICMP.contains(&errno))
}

fn is_dropped(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EPERM | libc::ENOBUFS))
}

fn arrival(received: &Received<'_>) -> Arrival {
    let mut arrival = Arrival { length: received.length, ttl: 0, fragmented: false };
    for control in received.controls() {
        match (control.level, control.kind) {
            (libc::IPPROTO_IP, libc::IP_TTL) | (libc::IPPROTO_IPV6, libc::IPV6_HOPLIMIT) => {
                arrival.ttl = control.number(0).and_then(|ttl| ttl.try_into().ok()).unwrap_or_default();
            }
            (libc::IPPROTO_IP, libc::IP_RECVFRAGSIZE) | (libc::IPPROTO_IPV6, libc::IPV6_RECVFRAGSIZE) => {
                arrival.fragmented = true;
            }
            _ => {}
        }
    }
    arrival
}

fn entry(received: &Received<'_>, buffer: &[u8]) -> Entry {
    let error = received.controls().find(Control::is_error);
    error.and_then(|error| parsed(error.data, &buffer[..received.length.min(buffer.len())])).unwrap_or(Entry::Other)
}

/// `struct sock_extended_err` of linux/errqueue.h, followed by the address of the error's sender.
fn parsed(error: &[u8], quote: &[u8]) -> Option<Entry> {
    const FRAGMENTATION_NEEDED: (u8, u8, u8) = (libc::SO_EE_ORIGIN_ICMP, 3, 4);
    const TIME_EXCEEDED: (u8, u8, u8) = (libc::SO_EE_ORIGIN_ICMP, 11, 0);
    const PACKET_TOO_BIG: (u8, u8, u8) = (libc::SO_EE_ORIGIN_ICMP6, 2, 0);
    const HOP_LIMIT_EXCEEDED: (u8, u8, u8) = (libc::SO_EE_ORIGIN_ICMP6, 3, 0);
    let [origin, kind, code] = *error.get(4..7)? else { return None };
    let mtu = Mtu(number(error, 8)?);
    if origin == libc::SO_EE_ORIGIN_LOCAL && number(error, 0)? == libc::EMSGSIZE as u32 {
        return Some(Entry::Local(mtu));
    }
    let by = offender(error.get(16..)?)?;
    let fate = match (origin, kind, code) {
        FRAGMENTATION_NEEDED | PACKET_TOO_BIG => Fate::TooBig { by, mtu },
        TIME_EXCEEDED | HOP_LIMIT_EXCEEDED => Fate::Expired { by },
        (libc::SO_EE_ORIGIN_ICMP, 3, _) | (libc::SO_EE_ORIGIN_ICMP6, 1, _) => Fate::Refused { by },
        _ => return Some(Entry::Other),
    };
    Some(Entry::Icmp(IcmpError { fate, quote: quote.to_vec() }))
}

/// The address in a `sockaddr_in` or `sockaddr_in6`.
fn offender(address: &[u8]) -> Option<IpAddr> {
    match i32::from(u16::from_ne_bytes(address.get(..2)?.try_into().ok()?)) {
        libc::AF_INET => Some(Ipv4Addr::from(<[u8; 4]>::try_from(address.get(4..8)?).ok()?).into()),
        libc::AF_INET6 => Some(Ipv6Addr::from(<[u8; 16]>::try_from(address.get(8..24)?).ok()?).into()),
        _ => None,
    }
}

fn number(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(address: &str, ip: IpVersion) -> (PathSocket, PathSocket) {
        let bind = || UdpSocket::bind((address, 0)).expect("loopback");
        let [one, other] = [bind(), bind()].map(|socket| PathSocket::new(socket, ip).expect("a UDP socket"));
        one.connect(other.local().expect("bound")).expect("loopback");
        (one, other)
    }

    #[test]
    fn the_largest_packet_arrives_whole_with_its_ttl() {
        for (address, ip, payload) in [("127.0.0.1", IpVersion::V4, 65_507), ("::1", IpVersion::V6, 65_487)] {
            let (mut one, mut other) = pair(address, ip);
            assert_eq!(one.send(&vec![7; payload], 9).expect("loopback"), Sent::Yes);
            other.wait(Duration::from_secs(5)).expect("a socket");
            let arrived = other.receive(&mut vec![0; 65_536]).expect("a socket");
            assert_eq!(arrived, Some(Arrival { length: payload, ttl: 9, fragmented: false }));
            assert_eq!(other.receive(&mut [0]).expect("a socket"), None);
        }
    }

    #[test]
    fn a_port_that_nobody_listens_on_makes_no_later_call_fail() {
        let (mut one, other) = pair("127.0.0.1", IpVersion::V4);
        drop(other);
        for _ in 0..3 {
            assert_eq!(one.send(b"x", 64).expect("loopback"), Sent::Yes);
            one.wait(Duration::from_millis(100)).expect("a socket");
            assert_eq!(one.receive(&mut [0]).expect("a socket"), None);
            let report = one.icmp_error().expect("a socket").expect("a refusal");
            assert_eq!(report.fate, Fate::Refused { by: "127.0.0.1".parse().expect("an address") });
            assert_eq!(report.quote, b"x");
        }
    }
}
