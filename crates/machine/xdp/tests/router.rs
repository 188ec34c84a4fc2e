//! The routing program between two hosts, each in a namespace of its own. Needs root, and fails without.

use std::{
    process::Command,
    time::{Duration, Instant},
};

use kernel::{
    ethtool, link, namespace,
    packet::{Capture, Frames},
    sysctl,
};
use model::{
    LinkEnd, Mac, Mtu,
    router::{Dropped, Mode, Passed, PortCounters},
};
use wireproof_xdp::{Router, router::VlanInterface};

/// Name of both hosts' interfaces.
const PORT: &str = "wp0";
const IPV4: u16 = 0x0800;
const IPV6: u16 = 0x86dd;
/// Bytes of an Ethernet header.
const L2: usize = 14;
/// Time in which something that is sent has to arrive.
const PATIENCE: Duration = Duration::from_secs(5);
/// Time in which something that must not arrive would do so.
const MOMENT: Duration = Duration::from_millis(200);

/// Two hosts and the router between them.
struct Net {
    hosts: [String; 2],
    between: String,
}

impl Net {
    fn up(test: &str) -> Self {
        let name = |node: &str| format!("wptest{}{test}-{node}", std::process::id());
        let net = Self { hosts: [name("a"), name("b")], between: name("r") };
        for namespace in net.hosts.iter().chain([&net.between]) {
            namespace::create(namespace).expect("this test needs root");
        }
        for (key, value) in [
            ("net.ipv4.ip_forward", "1"),
            ("net.ipv6.conf.default.disable_ipv6", "0"),
            ("net.ipv6.conf.all.forwarding", "1"),
        ] {
            namespace::within(&net.between, || sysctl::write(key, value)).expect("it exists").expect("settable");
        }
        for (side, host) in net.hosts.iter().enumerate() {
            let enable = || sysctl::write("net.ipv6.conf.default.disable_ipv6", "0");
            namespace::within(host, enable).expect("it exists").expect("settable");
            let ends = [(host, PORT), (&net.between, port(side))];
            let [near, far] = ends
                .map(|(namespace, interface)| LinkEnd { namespace: namespace.clone(), interface: interface.into() });
            link::create_veth(&near, &far, Mtu(1500)).expect("veth");
            // Without it, a veth drops what XDP sends to it.
            namespace::within(host, || ethtool::set_gro(PORT, true)).expect("it exists").expect("settable");
            for end in [near, far] {
                link::set_up(&end.namespace, &end.interface).expect("it was just made");
            }
            net.ip(host, &format!("address add 198.1{}.0.2/24 dev {PORT}", 8 + side));
            net.ip(host, &format!("address add 2001:2:0:{side}::2/64 dev {PORT} nodad"));
            net.ip(&net.between, &format!("address add 198.1{}.0.1/24 dev {}", 8 + side, port(side)));
            net.ip(&net.between, &format!("address add 2001:2:0:{side}::1/64 dev {} nodad", port(side)));
            let mac = net.mac(host, PORT);
            for address in [format!("198.1{}.0.2", 8 + side), format!("2001:2:0:{side}::2")] {
                net.ip(
                    &net.between,
                    &format!("neighbour replace {address} lladdr {mac} dev {} nud permanent", port(side)),
                );
            }
        }
        net
    }

    fn router(&self, mode: Mode) -> Router {
        let mut router = Router::load().expect("this test needs root");
        let macs = [0, 1].map(|side| self.mac(&self.between, port(side)));
        let attach = || {
            for (side, mac) in macs.into_iter().enumerate() {
                router.attach(port(side), mac, mode).expect("veth takes the program");
            }
            router.start().expect("it starts");
            router
        };
        namespace::within(&self.between, attach).expect("it exists")
    }

    fn ip(&self, namespace: &str, words: &str) {
        let done = Command::new("ip").args(["-n", namespace]).args(words.split(' ')).output();
        let done = done.expect("iproute2 is installed");
        assert!(done.status.success(), "ip {words}: {}", String::from_utf8_lossy(&done.stderr));
    }

    fn mac(&self, namespace: &str, interface: &str) -> Mac {
        let links = namespace::within(namespace, link::list).expect("it exists").expect("readable");
        let link = links.iter().find(|link| link.name == interface).expect("it is there");
        link.mac.parse().expect("an address")
    }

    /// An interface that stands for a VLAN interface on a port, which not every kernel has, with the second host as its neighbour.
    fn vlan(&self, side: usize, tpid: u16, id: u16) -> VlanInterface {
        let (name, other) = (format!("vlan{id}"), format!("other{id}"));
        self.ip(&self.between, &format!("link add {name} type veth peer name {other}"));
        self.ip(&self.between, &format!("address add 198.19.{id}.1/24 dev {name}"));
        self.ip(&self.between, &format!("link set {name} up"));
        self.ip(&self.between, &format!("link set {other} up"));
        let host = self.mac(&self.hosts[1], PORT);
        self.ip(&self.between, &format!("neighbour replace 198.19.{id}.2 lladdr {host} dev {name} nud permanent"));
        let index = |name: &str| {
            namespace::within(&self.between, || link::index(name)).expect("it exists").expect("it was just made")
        };
        VlanInterface { index: index(&name), mac: self.mac(&self.between, &name), port: index(port(side)), tpid, id }
    }

    /// Frames of this type at a host.
    fn frames(&self, side: usize, ethertype: u16) -> Frames {
        namespace::within(&self.hosts[side], || Frames::open(PORT, ethertype)).expect("it exists").expect("root")
    }

    /// Addresses of a frame from the first host to the router.
    fn to_router(&self) -> [Mac; 2] {
        [self.mac(&self.between, port(0)), self.mac(&self.hosts[0], PORT)]
    }

    /// Addresses of a frame from the router to the second host.
    fn after_router(&self) -> [Mac; 2] {
        [self.mac(&self.hosts[1], PORT), self.mac(&self.between, port(1))]
    }
}

impl Drop for Net {
    fn drop(&mut self) {
        for name in self.hosts.iter().chain([&self.between]) {
            // An earlier test may have failed and left it.
            let _ = namespace::delete(name);
        }
    }
}

fn port(side: usize) -> &'static str {
    ["to-a", "to-b"][side]
}

fn counters(router: &Router) -> PortCounters {
    let (name, place) = router.places().next().expect("a port");
    assert_eq!(name, "to-a");
    router.counters(place).expect("readable")
}

/// A packet of UDP over IPv4 from the first host to the second one, with these options, in a frame.
fn v4([to, from]: [Mac; 2], ttl: u8, options: &[u8], payload: usize) -> Vec<u8> {
    let head = 20 + options.len();
    let length = (head + 8 + payload) as u16;
    let mut ip = vec![0x40 | (head / 4) as u8, 0xb8];
    ip.extend(length.to_be_bytes());
    // Identification, "don't fragment", TTL, UDP, and the checksum that is still to be computed.
    ip.extend([0x12, 0x34, 0x40, 0, ttl, 17, 0, 0, 198, 18, 0, 2, 198, 19, 0, 2]);
    ip.extend(options);
    let check = (!sum(&ip)).to_be_bytes();
    ip[10..12].copy_from_slice(&check);
    framed(to, from, IPV4, ip, payload)
}

/// The same over IPv6.
fn v6([to, from]: [Mac; 2], hop_limit: u8, payload: usize) -> Vec<u8> {
    let mut ip = vec![0x6b, 0x80, 0x12, 0x34];
    ip.extend((8 + payload as u16).to_be_bytes());
    ip.extend([17, hop_limit]);
    for side in 0..2 {
        ip.extend([0x20, 1, 0, 2, 0, 0, 0, side, 0, 0, 0, 0, 0, 0, 0, 2]);
    }
    framed(to, from, IPV6, ip, payload)
}

fn framed(Mac(to): Mac, Mac(from): Mac, ethertype: u16, ip: Vec<u8>, payload: usize) -> Vec<u8> {
    let mut frame = [to, from].concat();
    frame.extend(ethertype.to_be_bytes());
    frame.extend(ip);
    frame.extend([0x13, 0x88, 0x1b, 0x58]);
    frame.extend((8 + payload as u16).to_be_bytes());
    frame.extend([0, 0]);
    frame.extend((0..payload).map(|byte| byte as u8));
    frame
}

/// The same packet of IPv4 for another destination.
fn readdressed(mut frame: Vec<u8>, destination: [u8; 4]) -> Vec<u8> {
    frame[L2 + 16..L2 + 20].copy_from_slice(&destination);
    frame[L2 + 10..L2 + 12].fill(0);
    let check = (!sum(&frame[L2..L2 + 20])).to_be_bytes();
    frame[L2 + 10..L2 + 12].copy_from_slice(&check);
    frame
}

/// The same frame with a tag.
fn tagged(mut frame: Vec<u8>, tpid: u16, id: u16) -> Vec<u8> {
    let ([a, b], [c, d]) = (tpid.to_be_bytes(), id.to_be_bytes());
    frame.splice(L2 - 2..L2 - 2, [a, b, c, d]);
    frame
}

/// One's complement sum of words (RFC 1071).
fn sum(bytes: &[u8]) -> u16 {
    let sum: u32 = bytes.chunks(2).map(|word| u32::from(u16::from_be_bytes([word[0], word[1]]))).sum();
    let folded = (sum & 0xffff) + (sum >> 16);
    (folded + (folded >> 16)) as u16
}

/// The next frame like this, within the time.
fn next(frames: &Frames, within: Duration, is_meant: impl Fn(&[u8]) -> bool) -> Option<Vec<u8>> {
    let (until, mut room) = (Instant::now() + within, [0; 2048]);
    while Instant::now() < until {
        let frame = frames.receive(&mut room, Duration::from_millis(20)).expect("readable");
        if let Some(frame) = frame.filter(|frame| is_meant(frame)) {
            return Some(frame.to_vec());
        }
    }
    None
}

fn is_udp(frame: &[u8]) -> bool {
    frame[if frame[12..14] == IPV4.to_be_bytes() { L2 + 9 } else { L2 + 6 }] == 17
}

/// An ICMP message of this type and code.
fn is_icmp(kind: u8, code: u8) -> impl Fn(&[u8]) -> bool {
    move |frame| frame[L2 + 9] == 1 && frame[L2 + 20..L2 + 22] == [kind, code]
}

/// The frame as the router has to forward it.
fn forwarded(mut frame: Vec<u8>, [Mac(to), Mac(from)]: [Mac; 2]) -> Vec<u8> {
    frame[..6].copy_from_slice(&to);
    frame[6..12].copy_from_slice(&from);
    if frame[12..14] == IPV6.to_be_bytes() {
        frame[L2 + 7] -= 1;
        return frame;
    }
    frame[L2 + 8] -= 1;
    frame[L2 + 10..L2 + 12].fill(0);
    let head = L2 + usize::from(frame[L2] & 0xf) * 4;
    let check = (!sum(&frame[L2..head])).to_be_bytes();
    frame[L2 + 10..L2 + 12].copy_from_slice(&check);
    frame
}

#[test]
fn packets_are_forwarded_once_with_one_hop_less_and_nothing_else_changed() {
    for mode in [Mode::Native, Mode::Generic] {
        let net = Net::up(&mode.to_string()[..3]);
        let router = net.router(mode);
        for (ethertype, frame) in [
            (IPV4, v4(net.to_router(), 64, &[], 100)),
            (IPV6, v6(net.to_router(), 2, 101)),
            (IPV4, v4(net.to_router(), 2, &[], 1472)),
        ] {
            let before = counters(&router);
            let [from, to] = [net.frames(0, ethertype), net.frames(1, ethertype)];
            from.send(&frame).expect("it goes");
            let came = next(&to, PATIENCE, is_udp).expect("it is forwarded");
            assert_eq!(came, forwarded(frame.clone(), net.after_router()), "{mode}");
            assert_eq!(next(&to, MOMENT, is_udp), None, "{mode}: once");
            let after = counters(&router);
            let forwarded = (after.forwarded - before.forwarded, after.bytes - before.bytes);
            assert_eq!(forwarded, (1, frame.len() as u64), "{mode}: {after:?}");
        }
    }
}

#[test]
fn the_checksum_stays_right_wherever_it_is() {
    let net = Net::up("sum");
    let router = net.router(Mode::Native);
    let [from, to] = [net.frames(0, IPV4), net.frames(1, IPV4)];
    for step in 0..=255_u8 {
        let ttl = step.max(2);
        let mut frame = v4(net.to_router(), ttl, &[], 18);
        // An odd factor: the first byte of the checksum takes all values, also those at which adding to it wraps.
        frame[L2 + 4..L2 + 6].copy_from_slice(&[step.wrapping_mul(7), 0xff]);
        frame[L2 + 10..L2 + 12].fill(0);
        let check = (!sum(&frame[L2..L2 + 20])).to_be_bytes();
        frame[L2 + 10..L2 + 12].copy_from_slice(&check);
        from.send(&frame).expect("it goes");
        let came = next(&to, PATIENCE, is_udp).expect("it is forwarded");
        assert_eq!((came[L2 + 8], sum(&came[L2..L2 + 20])), (ttl - 1, 0xffff), "{check:x?}");
    }
    assert_eq!(counters(&router).forwarded, 256);
}

#[test]
fn the_kernel_answers_and_forwards_what_the_program_passes_to_it() {
    let net = Net::up("kernel");
    let router = net.router(Mode::Native);
    let [from, to] = [net.frames(0, IPV4), net.frames(1, IPV4)];
    from.send(&v4(net.to_router(), 1, &[], 18)).expect("it goes");
    next(&from, PATIENCE, is_icmp(11, 0)).expect("time exceeded");
    let with_options = v4(net.to_router(), 64, &[1, 1, 1, 0], 18);
    from.send(&with_options).expect("it goes");
    assert_eq!(
        next(&to, PATIENCE, is_udp),
        Some(forwarded(with_options, net.after_router())),
        "the kernel forwards it"
    );

    net.ip(&net.between, "link set to-b mtu 1000");
    from.send(&v4(net.to_router(), 64, &[], 1100)).expect("it goes");
    next(&from, PATIENCE, is_icmp(3, 4)).expect("fragmentation needed");
    net.ip(&net.between, "link set to-b mtu 1500");

    net.ip(&net.between, "route add unreachable 198.19.0.2/32");
    from.send(&v4(net.to_router(), 64, &[], 18)).expect("it goes");
    next(&from, PATIENCE, is_icmp(3, 1)).expect("host unreachable");
    net.ip(&net.between, "route del unreachable 198.19.0.2/32");

    let mut wrong = v4(net.to_router(), 64, &[], 18);
    wrong[L2 + 11] ^= 1;
    from.send(&wrong).expect("it goes");
    let others = [Mac([2, 0, 0, 0, 0, 7]), net.to_router()[1]];
    from.send(&v4(others, 64, &[], 18)).expect("it goes");
    let mut to_all = v4(net.to_router(), 64, &[], 18);
    to_all[L2 + 16..L2 + 20].copy_from_slice(&[224, 0, 0, 251]);
    to_all = forwarded(to_all, net.to_router());
    from.send(&to_all).expect("it goes");
    assert_eq!(next(&to, MOMENT, is_udp), None, "none of these is forwarded");

    let mut counted = counters(&router);
    // Multicast of the hosts' IPv6 is among them.
    assert!(counted.passed.remove(&Passed::LinkAddress) >= Some(1));
    counted.passed.remove(&Passed::NotIp);
    let expected = [
        (Passed::Malformed, 1),
        (Passed::Options, 1),
        (Passed::Scope, 1),
        (Passed::HopLimit, 1),
        (Passed::Refused, 1),
        (Passed::TooBig, 1),
    ];
    assert_eq!((counted.forwarded, counted.passed), (0, expected.into()));
}

#[test]
fn tagged_frames_are_routed_as_those_of_their_vlan_interfaces() {
    for mode in [Mode::Native, Mode::Generic] {
        let net = Net::up(&format!("vlan{}", &mode.to_string()[..3]));
        let mut router = net.router(mode);
        let (one, other) = (net.vlan(0, 0x8100, 10), net.vlan(1, 0x88a8, 20));
        router.follow_vlans(vec![one, other]).expect("there is room");
        let from = net.frames(0, IPV4);
        let mut to = namespace::within(&net.hosts[1], || Capture::open(PORT, false)).expect("it exists").expect("root");
        let mut came = |within: Duration| {
            let (until, mut found) = (Instant::now() + within, None);
            while found.is_none() && Instant::now() < until {
                let mut keep = |bytes: &[u8]| {
                    let is_ours = [L2, L2 + 4].iter().any(|ip| {
                        let [protocol, source] = [ip + 9..ip + 10, ip + 12..ip + 16].map(|range| bytes.get(range));
                        protocol == Some(&[17]) && source == Some(&[198, 18, 0, 2])
                    });
                    found = found.take().or(is_ours.then(|| bytes.to_vec()));
                };
                to.take(Duration::from_millis(20), |frame| keep(frame.bytes)).expect("readable");
            }
            found
        };
        let [port, host] = net.to_router();
        let [next, out] = net.after_router();
        let tag = |frame: Vec<u8>, vlan: Option<VlanInterface>| match vlan {
            Some(vlan) => tagged(frame, vlan.tpid, vlan.id),
            None => frame,
        };
        for (by, destination, leaves_by) in [
            (Some(one), [198, 19, 20, 2], Some(other)),
            (Some(one), [198, 19, 0, 2], None),
            (None, [198, 19, 20, 2], Some(other)),
        ] {
            for payload in [14, 1472] {
                let packet = |macs| readdressed(v4(macs, 64, &[], payload), destination);
                let into = by.map_or(port, |vlan: VlanInterface| vlan.mac);
                from.send(&tag(packet([into, host]), by)).expect("it goes");
                let leaving = forwarded(packet([into, host]), [next, leaves_by.map_or(out, |vlan| vlan.mac)]);
                let mut expected = tag(leaving, leaves_by);
                // A frame that loses its tag stays as long as the shortest one.
                expected.resize(expected.len().max(if by.is_some() && leaves_by.is_none() { 60 } else { 0 }), 0);
                let is =
                    came(PATIENCE).unwrap_or_else(|| panic!("{mode} {by:?} {leaves_by:?}: {:?}", counters(&router)));
                assert_eq!(is, expected, "{mode} {by:?} {leaves_by:?}");
            }
        }
        let before = counters(&router);
        assert_eq!((before.forwarded, before.passed.get(&Passed::Vlan)), (6, None), "{before:?}");
        // Neither a VLAN without interface, nor a second tag, nor a VLAN whose interface has gone.
        let packet = readdressed(v4([one.mac, host], 64, &[], 18), [198, 19, 20, 2]);
        from.send(&tagged(packet.clone(), 0x8100, 11)).expect("it goes");
        from.send(&tagged(packet.clone(), 0x88a8, 10)).expect("it goes");
        from.send(&tagged(tagged(packet.clone(), 0x8100, 10), 0x8100, 10)).expect("it goes");
        router.follow_vlans(vec![other]).expect("there is room");
        from.send(&tagged(packet, 0x8100, 10)).expect("it goes");
        assert_eq!(came(MOMENT), None, "{mode}");
        let after = counters(&router);
        assert_eq!((after.forwarded, after.passed.get(&Passed::Vlan)), (6, Some(&4)), "{mode}: {after:?}");
    }
}

#[test]
fn routes_and_neighbours_are_followed_at_once() {
    let net = Net::up("follow");
    let router = net.router(Mode::Native);
    let [from, to] = [net.frames(0, IPV4), net.frames(1, IPV4)];
    let frame = v4(net.to_router(), 64, &[], 18);
    let goes_to = |mac: Mac| {
        from.send(&frame).expect("it goes");
        let came = next(&to, PATIENCE, is_udp).expect("it is forwarded");
        assert_eq!(came[..6], mac.0);
    };
    goes_to(net.after_router()[0]);
    for last in 1..=20 {
        let mac = Mac([2, 0, 0, 0, 7, last]);
        net.ip(&net.between, &format!("neighbour replace 198.19.0.2 lladdr {mac} dev to-b nud permanent"));
        goes_to(mac);
    }
    net.ip(&net.between, "route add blackhole 198.19.0.2/32");
    from.send(&frame).expect("it goes");
    assert_eq!(next(&to, MOMENT, is_udp), None);
    assert_eq!(counters(&router).dropped, [(Dropped::Blackhole, 1)].into());
    net.ip(&net.between, "route del blackhole 198.19.0.2/32");
    goes_to(Mac([2, 0, 0, 0, 7, 20]));
    assert_eq!(counters(&router).forwarded, 22);
}

#[test]
fn a_router_that_is_dropped_leaves_no_program() {
    let net = Net::up("gone");
    let has_program = || {
        let shown = Command::new("ip").args(["-n", &net.between, "link"]).output().expect("iproute2 is installed");
        String::from_utf8_lossy(&shown.stdout).contains("xdp")
    };
    let router = net.router(Mode::Native);
    assert!(has_program());
    drop(router);
    assert!(!has_program());
    let [from, to] = [net.frames(0, IPV4), net.frames(1, IPV4)];
    from.send(&v4(net.to_router(), 64, &[], 18)).expect("it goes");
    next(&to, PATIENCE, is_udp).expect("the kernel forwards it");
}
