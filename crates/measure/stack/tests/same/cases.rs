//! Scripts of calls, each run twice.

use std::{
    net::{IpAddr, SocketAddrV6, UdpSocket},
    os::fd::AsRawFd,
    process::Command,
    thread::sleep,
    time::{Duration, Instant},
};

use kernel::socket::set_option;

use crate::{
    ends::{Ends, Version, control},
    wire::PORT,
};

pub(crate) struct Case {
    pub(crate) name: &'static str,
    pub(crate) connected: bool,
    pub(crate) script: fn(&mut Ends<'_>),
    /// Whether datagrams bypass the kernel, each way.
    pub(crate) sends_past: bool,
    pub(crate) receives_past: bool,
}

pub(crate) const fn case(name: &'static str, connected: bool, script: fn(&mut Ends<'_>), past: [bool; 2]) -> Case {
    Case { name, connected, script, sends_past: past[0], receives_past: past[1] }
}

const BOTH: [bool; 2] = [true, true];
const SENDS: [bool; 2] = [true, false];
const RECEIVES: [bool; 2] = [false, true];
const NEITHER: [bool; 2] = [false, false];

pub(crate) const CASES: [Case; 24] = [
    case("datagrams of all lengths, connected", true, lengths, BOTH),
    case("datagrams of all lengths, not connected", false, lengths_to, BOTH),
    case("datagrams that are longer than the room for them", true, too_long, RECEIVES),
    case("peeking", true, peeking, RECEIVES),
    case("nothing there", true, nothing_there, NEITHER),
    case("names with little room", false, names, RECEIVES),
    case("control messages beside what came", false, told, RECEIVES),
    case("times of what waited", true, waited, RECEIVES),
    case("control messages with little room", true, told_briefly, RECEIVES),
    case("control messages beside what goes", false, said, SENDS),
    case("control messages for the other version", false, said_for_the_other, SENDS),
    case("from an address of one link alone", false, from_one_link, RECEIVES),
    case("options for all that goes", true, marks, SENDS),
    case("labels of flows", true, labels, SENDS),
    case("control messages that are refused", true, refused_controls, NEITHER),
    case("pieces", true, pieces, BOTH),
    case("one large datagram cut into many", true, segments, SENDS),
    case("datagrams larger than the MTU", true, fragments, SENDS),
    case("nobody listens there", true, unreachable, SENDS),
    case("what others send to a connected socket", true, from_others, RECEIVES),
    case("destinations that are none", false, bad_destinations, NEITHER),
    case("to ourselves, and to many", false, to_ourselves, NEITHER),
    case("connected anew", true, connected_anew, BOTH),
    case("order of many", true, many, BOTH),
];

pub(crate) fn bytes(length: usize) -> Vec<u8> {
    (0..length).map(|at| (at * 7 + length) as u8).collect()
}

fn longest(ends: &Ends<'_>) -> usize {
    if ends.version == Version::V6 { 1452 } else { 1472 }
}

fn lengths(ends: &mut Ends<'_>) {
    for length in [0, 1, 2, 17, 18, 19, 100, 1000, longest(ends) - 1, longest(ends)] {
        ends.send(&bytes(length), None);
        ends.far_receives();
        ends.far_sends(&bytes(length));
        ends.receive(&[2000], 0);
    }
}

fn lengths_to(ends: &mut Ends<'_>) {
    let far = ends.version.at(2, 7002);
    for length in [0, 18, longest(ends)] {
        ends.send(&bytes(length), Some(far));
        ends.far_receives();
        ends.far_sends(&bytes(length));
        ends.receive(&[2000], 0);
    }
}

fn too_long(ends: &mut Ends<'_>) {
    for flags in [0, libc::MSG_TRUNC, libc::MSG_PEEK | libc::MSG_TRUNC, libc::MSG_WAITALL, libc::MSG_DONTWAIT] {
        ends.far_sends(&bytes(100));
        ends.receive(&[40], flags);
        if flags & libc::MSG_PEEK != 0 {
            ends.receive(&[100], 0);
        }
        ends.far_sends(&bytes(100));
        ends.receive(&[], flags & !libc::MSG_PEEK);
    }
    ends.receive(&[100], libc::MSG_DONTWAIT);
}

fn peeking(ends: &mut Ends<'_>) {
    ends.far_sends(&bytes(10));
    ends.far_sends(&bytes(20));
    ends.receive(&[100], libc::MSG_PEEK);
    ends.receive(&[5], libc::MSG_PEEK);
    ends.receive(&[100], 0);
    ends.receive(&[100], libc::MSG_PEEK | libc::MSG_DONTWAIT);
    ends.receive(&[100], 0);
    ends.receive(&[100], libc::MSG_PEEK | libc::MSG_DONTWAIT);
}

fn nothing_there(ends: &mut Ends<'_>) {
    ends.receive(&[100], libc::MSG_DONTWAIT);
    let begun = Instant::now();
    ends.receive(&[100], 0);
    ends.note("it waited", begun.elapsed().as_millis() >= 180);
    ends.near.socket().set_nonblocking(true).expect("settable");
    ends.near.refresh();
    let begun = Instant::now();
    ends.receive(&[100], 0);
    ends.note("it waited", begun.elapsed().as_millis() > 50);
    ends.near.socket().set_nonblocking(false).expect("settable");
    ends.near.socket().set_read_timeout(Some(Duration::from_millis(20))).expect("settable");
    // There is no notification: the stack notices it a moment later.
    sleep(Duration::from_millis(1));
    let begun = Instant::now();
    ends.receive(&[100], 0);
    ends.note("it waited", begun.elapsed().as_millis() >= 18);
    ends.receive(&[100], libc::MSG_ERRQUEUE | libc::MSG_DONTWAIT);
    ends.receive(&[100], libc::MSG_OOB);
}

fn names(ends: &mut Ends<'_>) {
    for room in [0, 1, 4, 16, 24, 28] {
        ends.far_sends(b"x");
        ends.receive_with(&[10], room, 0, 0);
    }
}

fn wants_all(ends: &mut Ends<'_>) {
    let v4 = [libc::IP_PKTINFO, libc::IP_RECVTTL, libc::IP_RECVTOS];
    let v6 = [libc::IPV6_RECVPKTINFO, libc::IPV6_RECVHOPLIMIT, libc::IPV6_RECVTCLASS];
    v4.into_iter().for_each(|name| ends.set(libc::SOL_IP, name, 1));
    if ends.version != Version::V4 {
        v6.into_iter().for_each(|name| ends.set(libc::SOL_IPV6, name, 1));
    }
}

fn told(ends: &mut Ends<'_>) {
    let (level, ttl, tos) = match ends.version {
        Version::V6 => (libc::SOL_IPV6, libc::IPV6_UNICAST_HOPS, libc::IPV6_TCLASS),
        _ => (libc::SOL_IP, libc::IP_TTL, libc::IP_TOS),
    };
    set_option(&ends.far, level, ttl, 9).expect("settable");
    set_option(&ends.far, level, tos, 0xb8).expect("settable");
    wants_all(ends);
    for time in [libc::SO_TIMESTAMP, libc::SO_TIMESTAMPNS] {
        ends.set(libc::SOL_SOCKET, time, 1);
        ends.far_sends(b"x");
        ends.receive(&[10], 0);
        ends.far_sends(b"y");
        ends.receive(&[10], libc::MSG_PEEK);
        ends.receive(&[10], 0);
        ends.set(libc::SOL_SOCKET, time, 0);
    }
}

fn waited(ends: &mut Ends<'_>) {
    ends.far_sends(b"before");
    sleep(Duration::from_millis(5));
    // Later datagrams are stamped; the kernel starts a moment later.
    ends.set(libc::SOL_SOCKET, libc::SO_TIMESTAMPNS, 1);
    let age = ends.near.age();
    ends.note("what came before came now", age < Duration::from_secs(1));
    sleep(Duration::from_millis(50));
    for _ in 0..3 {
        ends.far_sends(b"x");
        ends.far_sends(b"y");
        sleep(Duration::from_millis(300));
        let ages = [(); 2].map(|()| ends.near.age());
        ends.note("they say so", ages.map(|age| age >= Duration::from_millis(250)));
    }
}

fn told_briefly(ends: &mut Ends<'_>) {
    wants_all(ends);
    for room in [0, 8, 16, 18, 24, 40, 44, 64, 72] {
        ends.far_sends(b"x");
        ends.receive_with(&[10], 28, room, 0);
    }
}

/// TTL and type of service as the far end receives them.
fn far_marks(ends: &mut Ends<'_>) {
    let (level, names) = match ends.version {
        Version::V6 => (libc::SOL_IPV6, [libc::IPV6_RECVHOPLIMIT, libc::IPV6_RECVTCLASS]),
        _ => (libc::SOL_IP, [libc::IP_RECVTTL, libc::IP_RECVTOS]),
    };
    names.into_iter().for_each(|name| set_option(&ends.far, level, name, 1).expect("settable"));
    let received = far_receives_beside(ends);
    ends.note("the far end received", received);
}

/// Datagrams and control messages as the far end receives them.
fn far_receives_beside(ends: &Ends<'_>) -> (isize, Vec<u8>) {
    let (mut payload, mut room) = ([0_u8; 2000], [0_u8; 128]);
    let mut part = libc::iovec { iov_base: payload.as_mut_ptr().cast(), iov_len: payload.len() };
    // SAFETY: zeros are a valid header.
    let mut header: libc::msghdr = unsafe { std::mem::zeroed() };
    (header.msg_iov, header.msg_iovlen) = (&raw mut part, 1);
    (header.msg_control, header.msg_controllen) = (room.as_mut_ptr().cast(), room.len());
    // SAFETY: the header points to memory of the lengths that it says.
    let length = unsafe { libc::recvmsg(ends.far.as_raw_fd(), &raw mut header, 0) };
    (length, room[..header.msg_controllen].to_vec())
}

/// The sender chooses flow labels, but one flow has one label.
fn labels(ends: &mut Ends<'_>) {
    const IPV6_AUTOFLOWLABEL: i32 = 70;
    let is_v6 = ends.version == Version::V6;
    if is_v6 {
        set_option(&ends.far, libc::SOL_IPV6, libc::IPV6_FLOWINFO, 1).expect("settable");
    }
    for wanted in [1, 0] {
        if is_v6 {
            ends.set(libc::SOL_IPV6, IPV6_AUTOFLOWLABEL, wanted);
        }
        let [one, other] = [b"x", b"y"].map(|payload| {
            ends.send(payload, None);
            far_receives_beside(ends)
        });
        ends.note("the same", one == other);
        ends.note("there is a label", !one.1.is_empty());
    }
}

fn said(ends: &mut Ends<'_>) {
    let far = ends.version.at(2, 7002);
    far_marks_on(ends);
    let number = |value: i32| value.to_ne_bytes();
    let controls = match ends.version {
        Version::V6 => {
            let mut info = [0; 20];
            info[..16].copy_from_slice(&[0x20, 1, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]);
            let level = libc::SOL_IPV6;
            [
                control(level, libc::IPV6_HOPLIMIT, &number(3)),
                control(level, libc::IPV6_TCLASS, &number(0x28)),
                control(level, libc::IPV6_PKTINFO, &info),
            ]
        }
        Version::V4 | Version::Both => {
            let info = [0, 0, 0, 0, 198, 18, 0, 1, 0, 0, 0, 0];
            let level = libc::SOL_IP;
            [
                control(level, libc::IP_TTL, &number(3)),
                control(level, libc::IP_TOS, &number(0x28)),
                control(level, libc::IP_PKTINFO, &info),
            ]
        }
    };
    for controls in [&controls[..1], &controls[1..2], &controls[2..], &controls[..], &[]] {
        ends.send_with(&[b"x"], Some(far), &controls.concat(), 0);
        far_marks(ends);
    }
}

/// Control messages that the kernel ignores or refuses.
fn said_for_the_other(ends: &mut Ends<'_>) {
    let far = ends.version.at(2, 7002);
    far_marks_on(ends);
    let number = |value: i32| value.to_ne_bytes();
    let info = |source: &str| {
        let address: std::net::Ipv6Addr = source.parse().expect("an address");
        control(libc::SOL_IPV6, libc::IPV6_PKTINFO, &[&address.octets()[..], &[0; 4]].concat())
    };
    let v4 = [
        control(libc::SOL_IP, libc::IP_TTL, &number(3)),
        control(libc::SOL_IP, libc::IP_TTL, &number(300)),
        control(libc::SOL_IP, libc::IP_TOS, &number(0x28)),
        control(libc::SOL_IP, libc::IP_PKTINFO, &[0, 0, 0, 0, 198, 18, 77, 77, 0, 0, 0, 0]),
        info("::ffff:198.18.0.1"),
    ];
    let v6 = [
        control(libc::SOL_IPV6, libc::IPV6_HOPLIMIT, &number(3)),
        control(libc::SOL_IPV6, libc::IPV6_HOPLIMIT, &number(0)),
        control(libc::SOL_IPV6, libc::IPV6_TCLASS, &number(0x28)),
        info("2001:2::1"),
        info("::"),
    ];
    for controls in if ends.version == Version::V6 { v4 } else { v6 } {
        let before = ends.log.len();
        ends.send_with(&[b"x"], Some(far), &controls, 0);
        if ends.log[before].contains("Ok") {
            far_marks(ends);
        }
    }
}

/// A link-local source address comes with its scope.
fn from_one_link(ends: &mut Ends<'_>) {
    if ends.version == Version::V6 {
        let of_link = || {
            let links = kernel::link::list().expect("netlink");
            let addresses = links.into_iter().filter(|link| link.name == PORT).flat_map(|link| link.addresses);
            let mut v6 =
                addresses.filter_map(|(address, _)| if let IpAddr::V6(it) = address { Some(it) } else { None });
            v6.find(|address| address.is_unicast_link_local()).expect("it has one")
        };
        let socket = ends.wire.at_b(|| {
            let index =
                kernel::link::list().expect("netlink").iter().find(|link| link.name == PORT).expect("there").index;
            UdpSocket::bind(SocketAddrV6::new(of_link(), 7003, 0, index)).expect("it is free")
        });
        socket.send_to(b"x", ends.version.at(1, 7001)).expect("on the link");
        ends.receive(&[10], 0);
    }
    ends.far_sends(b"y");
    ends.receive(&[10], 0);
}

/// Before the first datagram, so that all are covered.
fn far_marks_on(ends: &mut Ends<'_>) {
    for name in [libc::IP_RECVTTL, libc::IP_RECVTOS] {
        set_option(&ends.far, libc::SOL_IP, name, 1).expect("settable");
    }
    if ends.version != Version::V4 {
        for name in [libc::IPV6_RECVHOPLIMIT, libc::IPV6_RECVTCLASS] {
            set_option(&ends.far, libc::SOL_IPV6, name, 1).expect("settable");
        }
    }
}

fn marks(ends: &mut Ends<'_>) {
    far_marks_on(ends);
    ends.send(b"x", None);
    far_marks(ends);
    ends.set(libc::SOL_IP, libc::IP_TTL, 5);
    ends.set(libc::SOL_IP, libc::IP_TOS, 0x10);
    if ends.version != Version::V4 {
        ends.set(libc::SOL_IPV6, libc::IPV6_UNICAST_HOPS, 6);
        ends.set(libc::SOL_IPV6, libc::IPV6_TCLASS, 0x20);
    }
    ends.send(b"x", None);
    far_marks(ends);
}

fn refused_controls(ends: &mut Ends<'_>) {
    let of_version = match ends.version {
        Version::V6 => {
            let info = [&[0x20, 1, 0, 2, 0x77, 0x77][..], &[0; 14]].concat();
            [
                control(libc::SOL_IPV6, libc::IPV6_HOPLIMIT, &256_i32.to_ne_bytes()),
                control(libc::SOL_IPV6, libc::IPV6_PKTINFO, &info),
            ]
        }
        Version::V4 | Version::Both => [
            control(libc::SOL_IP, libc::IP_TTL, &0_i32.to_ne_bytes()),
            control(libc::SOL_IP, libc::IP_PKTINFO, &[0, 0, 0, 0, 198, 18, 77, 77, 0, 0, 0, 0]),
        ],
    };
    let of_any = [control(libc::SOL_UDP, 99, &[0; 4]), vec![1, 0, 0, 0, 0, 0, 0, 0]];
    for controls in of_version.into_iter().chain(of_any) {
        ends.send_with(&[b"x"], None, &controls, 0);
    }
}

fn pieces(ends: &mut Ends<'_>) {
    ends.send_with(&[b"ab", b"", b"cdefg", b"h"], None, &[], libc::MSG_NOSIGNAL);
    ends.far_receives();
    ends.send_with(&[], None, &[], 0);
    ends.far_receives();
    ends.far_sends(&bytes(50));
    ends.receive(&[3, 0, 40, 2, 100], 0);
    ends.far_sends(&bytes(50));
    ends.receive(&[3, 0, 40, 2], 0);
}

fn segments(ends: &mut Ends<'_>) {
    let size = control(libc::SOL_UDP, libc::UDP_SEGMENT, &300_u16.to_ne_bytes());
    for length in [1000, 900, 300, 299] {
        ends.send_with(&[&bytes(length)[..17], &bytes(length)[17..]], None, &size, 0);
        for _ in 0..length.div_ceil(300) {
            ends.far_receives();
        }
    }
    // More than one datagram may hold.
    let large = control(libc::SOL_UDP, libc::UDP_SEGMENT, &1400_u16.to_ne_bytes());
    for length in [65_528, 100_000] {
        ends.send_with(&[&bytes(length)], None, &large, 0);
    }
    ends.set(libc::SOL_UDP, libc::UDP_SEGMENT, 400);
    ends.send(&bytes(1000), None);
    (0..3).for_each(|_| ends.far_receives());
}

fn fragments(ends: &mut Ends<'_>) {
    for length in [longest(ends) + 1, 5000, 60_000] {
        ends.send(&bytes(length), None);
        ends.far_receives();
        ends.far_sends(&bytes(length));
        ends.receive(&[length], 0);
    }
    ends.send(&bytes(70_000), None);
    ends.send(&bytes(10), None);
    ends.far_receives();
}

fn unreachable(ends: &mut Ends<'_>) {
    ends.near.socket().connect(ends.version.at(2, 9)).expect("on the link");
    ends.near.refresh();
    ends.send(b"x", None);
    sleep(Duration::from_millis(5));
    ends.send(b"x", None);
    ends.send(b"x", None);
    sleep(Duration::from_millis(5));
    ends.receive(&[10], 0);
    ends.receive(&[10], libc::MSG_DONTWAIT);
}

fn from_others(ends: &mut Ends<'_>) {
    let (version, wire) = (ends.version, ends.wire);
    let other = wire.at_b(|| UdpSocket::bind(version.at(2, 7003))).expect("it is free");
    other.send_to(b"other", version.at(1, 7001)).expect("on the link");
    ends.receive(&[10], libc::MSG_DONTWAIT);
    ends.far_sends(b"peer");
    ends.receive(&[10], 0);
    ends.receive(&[10], libc::MSG_DONTWAIT);
}

fn bad_destinations(ends: &mut Ends<'_>) {
    ends.send(b"x", None);
    ends.send(b"x", Some(ends.version.at(2, 0)));
    let other = if ends.version == Version::V4 { Version::V6 } else { Version::V4 };
    ends.send_with(&[b"x"], Some(other.at(99, 1)), &[], libc::MSG_OOB);
    ends.send(b"x", Some("203.0.113.1:9".parse().expect("an address")));
    ends.send(b"x", Some("[2001:db8::1]:9".parse().expect("an address")));
}

fn to_ourselves(ends: &mut Ends<'_>) {
    let own = ends.version.at(1, 7001);
    ends.send(b"own", Some(own));
    ends.receive(&[10], 0);
    if ends.version == Version::V4 {
        ends.send(b"many", Some("198.18.0.255:9".parse().expect("an address")));
        ends.send(b"many", Some("224.0.0.77:9".parse().expect("an address")));
        ends.send(b"loop", Some("127.0.0.1:7001".parse().expect("an address")));
        ends.receive(&[10], 0);
    }
    if ends.version == Version::V6 {
        // Also if a route would disable it.
        let route = |word: &str| {
            let words = ["-6", "route", word, "::/8", "via", "2001:2::2"];
            assert!(Command::new("ip").args(words).status().expect("iproute2 is installed").success());
        };
        route("add");
        ends.send(b"none", Some("[::]:7001".parse().expect("an address")));
        ends.receive(&[10], 0);
        route("del");
    }
}

fn connected_anew(ends: &mut Ends<'_>) {
    let (version, wire) = (ends.version, ends.wire);
    let other = wire.at_b(|| UdpSocket::bind(version.at(2, 7003))).expect("it is free");
    other.set_read_timeout(Some(Duration::from_millis(200))).expect("settable");
    ends.far_sends(b"before");
    ends.near.socket().connect(version.at(2, 7003)).expect("on the link");
    ends.near.refresh();
    ends.send(b"x", None);
    let came = other.recv_from(&mut [0; 10]).map_err(|error| error.raw_os_error());
    ends.note("the other one received", came);
    other.send_to(b"other", version.at(1, 7001)).expect("on the link");
    // Earlier datagrams still belong to the socket.
    ends.receive(&[10], 0);
    ends.receive(&[10], 0);
    ends.receive(&[10], libc::MSG_DONTWAIT);
}

fn many(ends: &mut Ends<'_>) {
    for round in 0..50 {
        for number in 0..20 {
            ends.send(&[round, number], None);
            ends.far_sends(&[number, round]);
        }
        for _ in 0..20 {
            ends.far_receives();
            ends.receive(&[10], 0);
        }
    }
}
