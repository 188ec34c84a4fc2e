//! Options of a socket. They are read from the kernel, so inherited sockets and those from other processes work too.

use std::{net::SocketAddr, os::fd::RawFd};

use datagram::{Binding, Versions};
use model::bypass::Reason;

use crate::{
    calls::{flags, is_nonblocking, number, option},
    classify::{ends, is_v6},
    sockaddr::needs_scope,
};

/// Options that leave a socket with the kernel unless their value is 0.
const NOT_PAST: [(i32, i32, Reason); 26] = [
    (libc::SOL_SOCKET, libc::SO_TIMESTAMPING, Reason::Timestamping),
    (libc::SOL_SOCKET, 65, Reason::Timestamping), // SO_TIMESTAMPING_NEW
    (libc::SOL_SOCKET, 63, Reason::Timestamp),    // SO_TIMESTAMP_NEW
    (libc::SOL_SOCKET, 64, Reason::Timestamp),    // SO_TIMESTAMPNS_NEW
    (libc::SOL_SOCKET, libc::SO_ZEROCOPY, Reason::ZeroCopy),
    (libc::SOL_SOCKET, libc::SO_MARK, Reason::Mark),
    (libc::SOL_SOCKET, libc::SO_DONTROUTE, Reason::DontRoute),
    (libc::SOL_SOCKET, libc::SO_RXQ_OVFL, Reason::Overflow),
    (libc::SOL_UDP, libc::UDP_CORK, Reason::Cork),
    (libc::SOL_UDP, libc::UDP_ENCAP, Reason::Encapsulation),
    (libc::SOL_UDP, 102, Reason::Checksum), // UDP_NO_CHECK6_RX
    (libc::SOL_IP, libc::IP_TRANSPARENT, Reason::Transparent),
    (libc::SOL_IP, libc::IP_MINTTL, Reason::MinTtl),
    (libc::SOL_IP, libc::IP_PASSSEC, Reason::Security),
    (libc::SOL_IP, libc::IP_RECVORIGDSTADDR, Reason::OriginalAddress),
    (libc::SOL_IP, 23, Reason::Checksum),         // IP_CHECKSUM
    (libc::SOL_IP, 25, Reason::FragmentSize),     // IP_RECVFRAGSIZE
    (libc::SOL_IP, 50, Reason::UnicastInterface), // IP_UNICAST_IF
    (libc::SOL_IPV6, 2, Reason::OldPacketInfo),   // IPV6_2292PKTINFO
    (libc::SOL_IPV6, 8, Reason::OldPacketInfo),   // IPV6_2292HOPLIMIT
    (libc::SOL_IPV6, libc::IPV6_FLOWINFO, Reason::FlowInfo),
    (libc::SOL_IPV6, 33, Reason::FlowInfo),         // IPV6_FLOWINFO_SEND
    (libc::SOL_IPV6, 73, Reason::MinTtl),           // IPV6_MINHOPCOUNT
    (libc::SOL_IPV6, 74, Reason::OriginalAddress),  // IPV6_RECVORIGDSTADDR
    (libc::SOL_IPV6, 76, Reason::UnicastInterface), // IPV6_UNICAST_IF
    (libc::SOL_IPV6, 77, Reason::FragmentSize),     // IPV6_RECVFRAGSIZE
];

/// Options that hold IP options or extension headers; their length tells whether any are set.
const EXTENSIONS: [(i32, i32); 5] = [
    (libc::SOL_IP, libc::IP_OPTIONS),
    (libc::SOL_IPV6, libc::IPV6_HOPOPTS),
    (libc::SOL_IPV6, libc::IPV6_RTHDRDSTOPTS),
    (libc::SOL_IPV6, libc::IPV6_RTHDR),
    (libc::SOL_IPV6, libc::IPV6_DSTOPTS),
];

/// Options of a kernel socket.
#[derive(Clone, Debug)]
pub(crate) struct SocketOptions {
    /// Local address; the port is not 0.
    pub(crate) local: SocketAddr,
    /// Peer address.
    pub(crate) peer: Option<SocketAddr>,
    /// Kind of packets that it receives.
    pub(crate) binding: Binding,
    /// Whether it is an IPv6 socket (`AF_INET6`).
    pub(crate) v6: bool,
    /// The interface of `SO_BINDTODEVICE`.
    pub(crate) device: Option<u32>,
    /// Whether other sockets may share its port.
    pub(crate) shares_port: bool,
    /// Whether it is non-blocking.
    pub(crate) nonblocking: bool,
    /// TTL and type of service, then hop limit and traffic class.
    pub(crate) v4_marks: [u8; 2],
    pub(crate) v6_marks: [u8; 2],
    /// Path MTU discovery over IPv4 and IPv6.
    pub(crate) v4_discovery: Discovery,
    pub(crate) v6_discovery: Discovery,
    /// Whether IPv6 packets carry flow labels (`IPV6_AUTOFLOWLABEL`).
    pub(crate) labels: bool,
    /// Receive buffer in bytes.
    pub(crate) room: usize,
    /// Segment size in bytes (`UDP_SEGMENT`); 0: not cut.
    pub(crate) segment: u16,
    /// Control messages to receive.
    pub(crate) requested: RequestedControl,
}

impl SocketOptions {
    /// Whether both receive the same datagrams and share their ports alike.
    pub(crate) fn hears_as(&self, other: &Self) -> bool {
        self.binding == other.binding && self.device == other.device && self.shares_port == other.shares_port
    }
}

/// Path MTU discovery of a socket (`IP_MTU_DISCOVER`, `IPV6_MTU_DISCOVER`), as numbers of ip(7).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Discovery(i32);

impl Discovery {
    /// Whether routers may fragment its packets (`ip_dont_fragment` and `__ip_make_skb` of Linux).
    ///
    /// They may with `IP_PMTUDISC_DONT`, `_INTERFACE` and `_OMIT`, and with `_WANT` if the route's MTU is locked.
    pub(crate) fn lets_routers_cut(self, is_mtu_locked: bool) -> bool {
        match self.0 {
            libc::IP_PMTUDISC_DONT | libc::IP_PMTUDISC_INTERFACE | libc::IP_PMTUDISC_OMIT => true,
            libc::IP_PMTUDISC_WANT => is_mtu_locked,
            _ => false,
        }
    }

    /// Whether only the interface's MTU counts.
    pub(crate) fn ignores_path(self) -> bool {
        self.0 >= libc::IP_PMTUDISC_PROBE
    }
}

/// Control messages that a socket has requested.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct RequestedControl {
    pub(crate) micros: bool,
    pub(crate) nanos: bool,
    pub(crate) v4_info: bool,
    pub(crate) v4_ttl: bool,
    pub(crate) v4_class: bool,
    pub(crate) v6_info: bool,
    pub(crate) v6_hops: bool,
    pub(crate) v6_class: bool,
}

impl RequestedControl {
    /// Whether it requests timestamps.
    pub(crate) fn time(self) -> bool {
        self.micros || self.nanos
    }
}

/// Reads the options of a descriptor.
pub(crate) fn read(fd: RawFd) -> Result<SocketOptions, Reason> {
    let v6 = is_v6(fd)?;
    rule_out(fd)?;
    let (local, peer) = ends(fd);
    let local = local.ok_or(Reason::Unreadable)?;
    if local.port() == 0 {
        return Err(Reason::NotBound);
    }
    if [Some(local), peer].into_iter().flatten().any(|end| needs_scope(end.ip()) || end.ip().is_multicast()) {
        return Err(Reason::Scope);
    }
    let address = (!local.ip().is_unspecified()).then_some(local.ip());
    let versions = match (v6, v6 && is_set(fd, libc::SOL_IPV6, libc::IPV6_V6ONLY)) {
        (false, _) => Versions::V4,
        (true, true) => Versions::V6,
        (true, false) => Versions::Both,
    };
    let byte = |level: i32, name: i32| number(fd, level, name) as u8;
    // SO_BINDTOIFINDEX
    let device = Some(number(fd, libc::SOL_SOCKET, 62) as u32).filter(|index| *index != 0);
    let shares = is_set(fd, libc::SOL_SOCKET, libc::SO_REUSEPORT);
    Ok(SocketOptions {
        local,
        peer,
        binding: Binding { address, port: local.port(), peer, versions, has_device: device.is_some(), shares },
        v6,
        device,
        shares_port: shares || is_set(fd, libc::SOL_SOCKET, libc::SO_REUSEADDR),
        nonblocking: is_nonblocking(fd),
        v4_marks: [byte(libc::SOL_IP, libc::IP_TTL), byte(libc::SOL_IP, libc::IP_TOS)],
        v6_marks: match v6 {
            true => [byte(libc::SOL_IPV6, libc::IPV6_UNICAST_HOPS), byte(libc::SOL_IPV6, libc::IPV6_TCLASS)],
            false => [0; 2],
        },
        v4_discovery: Discovery(number(fd, libc::SOL_IP, libc::IP_MTU_DISCOVER)),
        v6_discovery: Discovery(if v6 { number(fd, libc::SOL_IPV6, libc::IPV6_MTU_DISCOVER) } else { 0 }),
        labels: v6 && is_set(fd, libc::SOL_IPV6, 70),
        room: number(fd, libc::SOL_SOCKET, libc::SO_RCVBUF).max(0) as usize,
        segment: number(fd, libc::SOL_UDP, libc::UDP_SEGMENT) as u16,
        requested: requested(fd, v6),
    })
}

fn rule_out(fd: RawFd) -> Result<(), Reason> {
    if let Some((_, _, reason)) = NOT_PAST.into_iter().find(|(level, name, _)| is_set(fd, *level, *name)) {
        return Err(reason);
    }
    if flags(fd) & libc::O_ASYNC != 0 {
        return Err(Reason::Signals);
    }
    if EXTENSIONS.into_iter().any(|(level, name)| option::<40>(fd, level, name).is_ok_and(|(_, length)| length > 0)) {
        return Err(Reason::IpOptions);
    }
    // Without room, the kernel returns a filter's length; it keeps a filter that is no list of instructions (eBPF) to
    // itself.
    match option::<0>(fd, libc::SOL_SOCKET, libc::SO_GET_FILTER) {
        Ok((_, 1..)) | Err(libc::EACCES) => return Err(Reason::Filter),
        _ => {}
    }
    // -1 is off; 0 is an offset.
    match option::<4>(fd, libc::SOL_SOCKET, libc::SO_PEEK_OFF) {
        Ok((value, _)) if i32::from_ne_bytes(value) >= 0 => Err(Reason::PeekOffset),
        _ => Ok(()),
    }
}

fn requested(fd: RawFd, v6: bool) -> RequestedControl {
    let v6_set = |name: i32| v6 && is_set(fd, libc::SOL_IPV6, name);
    RequestedControl {
        micros: is_set(fd, libc::SOL_SOCKET, libc::SO_TIMESTAMP),
        nanos: is_set(fd, libc::SOL_SOCKET, libc::SO_TIMESTAMPNS),
        v4_info: is_set(fd, libc::SOL_IP, libc::IP_PKTINFO),
        v4_ttl: is_set(fd, libc::SOL_IP, libc::IP_RECVTTL),
        v4_class: is_set(fd, libc::SOL_IP, libc::IP_RECVTOS),
        v6_info: v6_set(libc::IPV6_RECVPKTINFO),
        v6_hops: v6_set(libc::IPV6_RECVHOPLIMIT),
        v6_class: v6_set(libc::IPV6_RECVTCLASS),
    }
}

fn is_set(fd: RawFd, level: i32, name: i32) -> bool {
    number(fd, level, name) != 0
}

#[cfg(test)]
mod tests {
    use std::{
        net::{TcpListener, UdpSocket},
        os::fd::{AsRawFd, OwnedFd},
    };

    use kernel::socket::set_option;

    use super::*;

    fn on_loopback() -> UdpSocket {
        UdpSocket::bind("127.0.0.1:0").expect("loopback")
    }

    #[test]
    fn a_socket_is_seen_as_it_is() {
        let socket = on_loopback();
        let own = socket.local_addr().expect("bound");
        let seen = read(socket.as_raw_fd()).expect("UDP");
        assert_eq!((seen.local, seen.peer, seen.v6, seen.nonblocking, seen.device), (own, None, false, false, None));
        assert_eq!(
            (seen.v4_marks, seen.segment, seen.requested, seen.shares_port),
            ([64, 0], 0, RequestedControl::default(), false)
        );
        socket.connect("127.0.0.1:9").expect("loopback");
        socket.set_nonblocking(true).expect("settable");
        socket.set_ttl(9).expect("settable");
        set_option(&socket, libc::SOL_IP, libc::IP_RECVTTL, 1).expect("settable");
        set_option(&socket, libc::SOL_SOCKET, libc::SO_TIMESTAMPNS, 1).expect("settable");
        let seen = read(socket.as_raw_fd()).expect("UDP");
        assert_eq!(seen.peer, Some("127.0.0.1:9".parse().expect("an address")));
        assert!(seen.nonblocking && seen.v4_marks[0] == 9);
        assert_eq!(seen.requested, RequestedControl { v4_ttl: true, nanos: true, ..RequestedControl::default() });
    }

    #[test]
    fn both_versions_are_told_apart() {
        let socket = UdpSocket::bind("[::]:0").expect("any");
        let seen = read(socket.as_raw_fd()).expect("UDP");
        assert_eq!((seen.v6, seen.binding.address, seen.binding.versions), (true, None, Versions::Both));
        let socket = UdpSocket::bind("[::ffff:127.0.0.1]:0").expect("loopback");
        let seen = read(socket.as_raw_fd()).expect("UDP");
        assert_eq!((seen.v6, seen.binding.address), (true, Some([127, 0, 0, 1].into())));
    }

    #[test]
    fn what_is_not_to_go_past_the_kernel_says_why() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("loopback");
        let reason = |fd: RawFd| read(fd).map(|_| ()).expect_err("it stays");
        assert_eq!(reason(listener.as_raw_fd()), Reason::Tcp);
        assert_eq!(reason(std::fs::File::open("/dev/null").expect("there").as_raw_fd()), Reason::NotUdp);
        for (level, name, why) in [
            (libc::SOL_UDP, libc::UDP_CORK, Reason::Cork),
            (libc::SOL_SOCKET, libc::SO_TIMESTAMPING, Reason::Timestamping),
            (libc::SOL_SOCKET, libc::SO_ZEROCOPY, Reason::ZeroCopy),
            (libc::SOL_IP, libc::IP_MINTTL, Reason::MinTtl),
            (libc::SOL_SOCKET, libc::SO_PEEK_OFF, Reason::PeekOffset),
        ] {
            let socket = on_loopback();
            set_option(&socket, level, name, 2 - u32::from(name != libc::SO_TIMESTAMPING)).expect("settable");
            assert_eq!(reason(socket.as_raw_fd()), why, "{level} {name}");
        }
        let labels = UdpSocket::bind("[::1]:0").expect("loopback");
        set_option(&labels, libc::SOL_IPV6, 33, 1).expect("settable");
        assert_eq!(reason(labels.as_raw_fd()), Reason::FlowInfo, "IPV6_FLOWINFO_SEND");
        let unsummed = UdpSocket::bind("[::1]:0").expect("loopback");
        set_option(&unsummed, libc::SOL_UDP, 102, 1).expect("settable");
        assert_eq!(reason(unsummed.as_raw_fd()), Reason::Checksum, "UDP_NO_CHECK6_RX");
        let told = on_loopback();
        rustix::fs::fcntl_setfl(&told, rustix::fs::OFlags::from_bits_retain(libc::O_ASYNC as u32)).expect("settable");
        assert_eq!(reason(told.as_raw_fd()), Reason::Signals);
        let socket = socket2_unbound();
        assert_eq!(reason(socket.as_raw_fd()), Reason::NotBound);
    }

    fn socket2_unbound() -> OwnedFd {
        use rustix::net::{AddressFamily, SocketType, socket};
        socket(AddressFamily::INET, SocketType::DGRAM, None).expect("a socket")
    }
}
