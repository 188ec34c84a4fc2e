//! Steering of datagrams to an AF_XDP socket or to the kernel, over a veth pair between two namespaces. Needs root, and
//! fails without.

mod wire;

use std::{
    net::{SocketAddr, UdpSocket},
    os::fd::AsFd,
    thread::sleep,
    time::Duration,
};

use kernel::{
    link::{self, Link},
    sysctl,
};
use model::stream::Mac;
use wire::{PORT, Wire};
use wireproof_xdp::{
    Error, Steer,
    socket::{Frame, FrameSize, Options, Packet, Socket, Umem},
    steer::{Attachment, Counters, Flow, FlowTable},
};

const A: [&str; 2] = ["198.18.0.1", "2001:2::1"];
const B: [&str; 2] = ["198.18.0.2", "2001:2::2"];

fn at(address: &str, port: u16) -> SocketAddr {
    SocketAddr::new(address.parse().expect("an address"), port)
}

fn link_in(namespace: &str) -> Link {
    let links = kernel::namespace::within(namespace, link::list).expect("it exists").expect("readable");
    links.into_iter().find(|link| link.name == PORT).expect("it is there")
}

fn mac_of(namespace: &str) -> Mac {
    link_in(namespace).mac.parse().expect("an address")
}

fn any(local: SocketAddr) -> Flow {
    Flow { local, peer: None }
}

/// A wire with addresses of both versions; b's end has the steering program.
struct Steered {
    steer: Steer,
    flows: FlowTable,
    socket: Socket,
    _frames: Vec<Frame>,
    wire: Wire,
}

impl Steered {
    fn new(test: &str, mtu: u32) -> Self {
        let wire = Wire::with_mtu(test, mtu);
        for (namespace, addresses) in [(&wire.a, A), (&wire.b, B)] {
            let enable = || sysctl::write("net.ipv6.conf.all.disable_ipv6", "0");
            kernel::namespace::within(namespace, enable).expect("it exists").expect("settable");
            for (address, prefix) in addresses.into_iter().zip([24, 64]) {
                let address = address.parse().expect("an address");
                link::add_address(namespace, PORT, address, prefix).expect("it is new");
            }
        }
        let mut steer = Steer::load(1).expect("this test needs root");
        wire.at_b(|| steer.attach(PORT, mac_of(&wire.b), 1, 1792)).expect("veth has native XDP");
        let flows = FlowTable::map(&steer.table().expect("a descriptor")).expect("it can be mapped");
        let (umem, mut frames) = Umem::new(4096, FrameSize::Half).expect("memory");
        let socket = wire.at_b(|| Socket::open(&umem, &Options::new(PORT, 0), &mut frames)).expect("the queue is free");
        Self { steer, flows, socket, _frames: frames, wire }
    }

    fn add_socket(&mut self) {
        self.steer.add(PORT, 0, &self.socket).expect("it is bound to that queue");
    }

    fn socket_at_a(&self, address: SocketAddr) -> UdpSocket {
        self.wire.at_a(|| UdpSocket::bind(address)).expect("it can be bound")
    }

    fn socket_at_b(&self, address: SocketAddr) -> UdpSocket {
        let socket = self.wire.at_b(|| UdpSocket::bind(address)).expect("it can be bound");
        socket.set_read_timeout(Some(Duration::from_secs(10))).expect("settable");
        socket
    }

    /// Payloads that arrived at the AF_XDP socket.
    fn past(&mut self, wanted: usize) -> Vec<Vec<u8>> {
        let mut payloads = Vec::new();
        let umem = self.socket.umem().clone();
        let receiver = self.socket.receiver.as_mut().expect("it receives");
        for _ in 0..200 {
            receiver.receive(u32::MAX, |packet| {
                let bytes = umem.packet(&packet);
                payloads.push(bytes[if bytes[12] == 8 { 42 } else { 62 }..].to_vec());
            });
            if wanted > 0 && payloads.len() >= wanted {
                break;
            }
            sleep(Duration::from_millis(if wanted > 0 { 5 } else { 1 }));
        }
        payloads
    }

    /// The next frame at the AF_XDP socket.
    fn caught(&mut self) -> Vec<u8> {
        let umem = self.socket.umem().clone();
        let receiver = self.socket.receiver.as_mut().expect("it receives");
        let mut caught = Vec::new();
        while caught.is_empty() {
            receiver.receive(1, |packet| caught = umem.packet(&packet).to_vec());
        }
        caught
    }

    /// Sends raw frames from a.
    fn send_as_they_are(&self, all: &[Vec<u8>]) {
        let (out, mut frames) = Umem::new(16, FrameSize::Half).expect("memory");
        let options = Options { receive: None, ..Options::new(PORT, 0) };
        let mut from = self.wire.at_a(|| Socket::open(&out, &options, &mut Vec::new())).expect("the queue is free");
        let sender = from.sender.as_mut().expect("it sends");
        for bytes in all {
            let frame = frames.pop().expect("enough");
            let mut packet = Packet { frame, offset: 0, length: bytes.len() as u32, more: false };
            out.packet_mut(&mut packet).copy_from_slice(bytes);
            sender.put(packet).expect("there is room");
        }
        sender.tell();
        sender.wake().expect("the link is up");
    }

    fn counters(&self) -> Counters {
        self.steer.counters().expect("readable")
    }
}

fn through(socket: &UdpSocket) -> usize {
    socket.recv(&mut [0; 9000]).expect("it comes through the kernel")
}

#[test]
fn datagrams_of_a_flow_come_past_the_kernel_and_others_through_it() {
    let mut steered = Steered::new("flow", 1500);
    for version in 0..2 {
        let before = steered.counters();
        let (here, there) = (at(B[version], 7000), at(A[version], 5000));
        let (kernel, other_port) = (steered.socket_at_b(here), steered.socket_at_b(at(B[version], 7001)));
        let (peer, other_peer) = (steered.socket_at_a(there), steered.socket_at_a(at(A[version], 5001)));
        let send = |from: &UdpSocket, to: SocketAddr, text: &[u8]| from.send_to(text, to).expect("it goes");

        let taken = steered.flows.insert(&any(here)).expect("room");
        if version == 0 {
            send(&peer, here, b"no socket yet");
            assert_eq!((through(&kernel), steered.counters().no_socket), (13, 1));
            steered.add_socket();
        }
        send(&peer, here, b"first");
        send(&other_peer, here, b"second");
        send(&peer, other_port.local_addr().expect("bound"), b"third");
        assert_eq!(steered.past(2), [b"first".to_vec(), b"second".to_vec()]);
        assert_eq!(through(&other_port), 5);

        steered.flows.remove(taken);
        let connected = Flow { local: here, peer: Some(there) };
        let taken = steered.flows.insert(&connected).expect("room");
        send(&peer, here, b"of the peer");
        send(&other_peer, here, b"of another");
        assert_eq!((steered.past(1), through(&kernel)), (vec![b"of the peer".to_vec()], 10));

        steered.flows.remove(taken);
        send(&peer, here, b"all over");
        assert_eq!((through(&kernel), steered.past(0).len()), (8, 0));
        let counters = steered.counters();
        assert_eq!((counters.taken - before.taken, counters.no_flow - before.no_flow), (3, 1));
    }
}

#[test]
fn who_kept_the_table_and_the_socket_of_before_takes_nothing_more() {
    let mut steered = Steered::new("renewed", 1500);
    let here = at(B[0], 7000);
    let (kernel, peer) = (steered.socket_at_b(here), steered.socket_at_a(at(A[0], 5000)));
    steered.add_socket();
    let _taken = steered.flows.insert(&any(here)).expect("room");
    peer.send_to(b"before", here).expect("it goes");
    assert_eq!(steered.past(1), [b"before".to_vec()]);

    steered.steer.renew().expect("root");
    let _again = steered.flows.insert(&any(here)).expect("room");
    peer.send_to(b"to the old ones", here).expect("it goes");
    assert_eq!((through(&kernel), steered.past(0).len()), (15, 0));

    let mut flows = FlowTable::map(&steered.steer.table().expect("a descriptor")).expect("it can be mapped");
    assert!(flows.is_empty());
    let _new = flows.insert(&any(here)).expect("room");
    steered.add_socket();
    peer.send_to(b"to the new ones", here).expect("it goes");
    assert_eq!(steered.past(1), [b"to the new ones".to_vec()]);
    assert_eq!(steered.counters().taken, 2, "of both programs");
    let attached = steered.wire.at_b(|| steered.steer.attachment(PORT)).expect("it was attached");
    assert_eq!(attached, Attachment::There);
}

#[test]
fn what_the_kernel_alone_understands_goes_to_it() {
    let mut steered = Steered::new("kernels", 1500);
    let here = at(B[0], 7000);
    steered.add_socket();
    let _taken = steered.flows.insert(&any(here)).expect("room");
    let kernel = steered.socket_at_b(here);
    let peer = steered.socket_at_a(at(A[0], 5000));

    peer.send_to(&[1; 4000], here).expect("it goes in fragments");
    assert_eq!(through(&kernel), 4000);

    let options = steered.socket_at_a(at(A[0], 5001));
    // Four times IPOPT_NOOP.
    kernel::socket::set_option(&options, libc::IPPROTO_IP, libc::IP_OPTIONS, 0x0101_0101).expect("settable");
    options.send_to(b"options", here).expect("it goes");
    assert_eq!(through(&kernel), 7);

    let _group = steered.flows.insert(&any(at("239.1.1.1", 7000))).expect("room");
    let group = steered.socket_at_b(at("239.1.1.1", 7000));
    group.join_multicast_v4(&"239.1.1.1".parse().expect("one"), &B[0].parse().expect("one")).expect("it can be joined");
    peer.send_to(b"to many", at("239.1.1.1", 7000)).expect("it goes");
    assert_eq!(through(&group), 7);

    assert_eq!((steered.past(0).len(), steered.counters()), (0, Counters::default()));
}

/// A captured frame is sent again with a VLAN tag, and without.
#[test]
fn tagged_frames_are_not_taken() {
    let mut steered = Steered::new("vlan", 1500);
    let here = at(B[0], 7000);
    steered.add_socket();
    let _taken = steered.flows.insert(&any(here)).expect("room");
    steered.socket_at_a(at(A[0], 5000)).send_to(b"a frame of 60 bytes, more or less", here).expect("it goes");
    let caught = steered.caught();
    let tagged = [&caught[..12], &[0x81, 0, 0, 7], &caught[12..]].concat();
    steered.send_as_they_are(&[tagged, caught.clone()]);
    assert_eq!((steered.past(1), steered.counters().taken), (vec![caught[42..].to_vec()], 2));
}

/// A captured frame is sent again from source addresses that are invalid for hosts, and then from its own.
#[test]
fn sources_that_the_kernel_drops_are_left_to_it() {
    let mut steered = Steered::new("martian", 1500);
    steered.add_socket();
    let sources: [(usize, &[&str]); 2] = [
        (26, &["0.0.0.0", "0.1.2.3", "127.0.0.1", "224.0.0.1", "255.255.255.255"]),
        (22, &["::", "::1", "ff02::1", "::ffff:127.0.0.1"]),
    ];
    for (version, (place, addresses)) in sources.into_iter().enumerate() {
        let before = steered.counters();
        let here = at(B[version], 7000);
        let _taken = steered.flows.insert(&any(here)).expect("room");
        steered.socket_at_a(at(A[version], 5000)).send_to(b"from a", here).expect("it goes");
        let own = steered.caught();
        let forged = |address: &&str| {
            let source = match address.parse().expect("an address") {
                std::net::IpAddr::V4(address) => address.octets().to_vec(),
                std::net::IpAddr::V6(address) => address.octets().to_vec(),
            };
            let mut frame = own.clone();
            frame[place..place + source.len()].copy_from_slice(&source);
            frame
        };
        steered.send_as_they_are(&addresses.iter().map(forged).chain([own.clone()]).collect::<Vec<_>>());
        assert_eq!(steered.past(0).len(), 1, "{addresses:?}");
        assert_eq!(steered.counters().taken - before.taken, 2, "{addresses:?}");
    }
}

#[test]
fn frames_for_another_card_go_to_the_kernel() {
    let mut steered = Steered::new("card", 1500);
    steered.add_socket();
    let (here, from) = (at(B[0], 7000), steered.socket_at_a(at(A[0], 5000)));
    let _taken = steered.flows.insert(&any(here)).expect("room");
    from.send_to(b"to this card", here).expect("it goes");
    let own = steered.caught();
    let mut others = own.clone();
    others[5] ^= 1;
    steered.send_as_they_are(&[others.clone(), own.clone()]);
    assert_eq!((steered.past(0).len(), steered.counters().taken), (1, 2));

    // The card has the other MAC address from now on.
    let index = link_in(&steered.wire.b).index;
    steered.steer.follow(index, Mac(*others.first_chunk().expect("long enough"))).expect("it is attached there");
    steered.send_as_they_are(&[own.clone(), others, own]);
    assert_eq!((steered.past(0).len(), steered.counters().taken), (1, 3));
}

#[test]
fn what_a_frame_does_not_take_goes_to_the_kernel() {
    let mut steered = Steered::new("large", 9000);
    let here = at(B[1], 7000);
    steered.add_socket();
    let _taken = steered.flows.insert(&any(here)).expect("room");
    let kernel = steered.socket_at_b(here);
    let peer = steered.socket_at_a(at(A[1], 5000));
    // 14 + 40 + 8 bytes before the payload, in a frame with room for 1,792.
    for length in [1730, 1731, 8000] {
        peer.send_to(&vec![1; length], here).expect("it goes");
    }
    assert_eq!((through(&kernel), through(&kernel)), (1731, 8000));
    assert_eq!(steered.past(1).iter().map(Vec::len).collect::<Vec<_>>(), [1730]);
    assert_eq!(steered.counters(), Counters { taken: 1, too_large: 2, ..Counters::default() });
}

#[test]
fn memory_and_socket_are_used_where_they_are_adopted() {
    let mut steered = Steered::new("adopt", 1500);
    drop(steered.socket);
    let (shared, mut frames) = Umem::shared(4096, FrameSize::Half).expect("memory");
    let options = Options::new(PORT, 0);
    let opened = steered.wire.at_b(|| Socket::open(&shared, &options, &mut frames)).expect("the queue is free");
    steered.steer.add(PORT, 0, &opened).expect("it is bound to that queue");

    let duplicate = |fd: std::os::fd::BorrowedFd<'_>| fd.try_clone_to_owned().expect("dup");
    let file = duplicate(shared.file().expect("it is shared"));
    let (umem, ours) = Umem::adopt(file, 4096, FrameSize::Half, 0..frames.len() as u32).expect("the same memory");
    assert_eq!(ours.len(), 4096 - 2048);
    let larger = Options { receive: Some(4096), ..options.clone() };
    let refused = Socket::adopt(&umem, &larger, duplicate(opened.as_fd())).err().expect("the ring ends before");
    assert!(refused.to_string().contains("mmap"), "{refused}");
    steered.socket = Socket::adopt(&umem, &options, duplicate(opened.as_fd())).expect("Linux 6.4");
    drop((opened, shared));

    let (here, there) = (at(B[0], 7000), at(A[0], 5000));
    let _taken = steered.flows.insert(&any(here)).expect("room");
    let peer = steered.socket_at_a(there);
    // Two rounds of the ring: frames have to come back too.
    let mut back = ours;
    for number in 0..5_000_u32 {
        peer.send_to(&number.to_be_bytes(), here).expect("it goes");
        let mut came = None;
        let receiver = steered.socket.receiver.as_mut().expect("it receives");
        while came.is_none() {
            receiver.receive(1, |packet| came = Some(packet));
        }
        let packet = came.expect("it came");
        assert_eq!(umem.packet(&packet)[42..46], number.to_be_bytes());
        back.push(packet.frame);
        receiver.refill(&mut back);
    }
    assert_eq!(steered.counters().taken, 5_000);
}

#[test]
fn another_program_or_none_is_told_of() {
    let mut steered = Steered::new("other", 1500);
    let mut second = Steer::load(1).expect("root");
    let error = steered.wire.at_b(|| second.attach(PORT, mac_of(&steered.wire.b), 1, 1792)).expect_err("there is one");
    assert!(matches!(error, Error::Busy(_)), "{error}");
    assert!(matches!(second.add(PORT, 0, &steered.socket), Err(Error::NoInterface(_))));
    assert!(matches!(steered.steer.add(PORT, 1, &steered.socket), Err(Error::NoInterface(_))));
    assert_eq!(steered.steer.attachment(PORT).expect("readable"), Attachment::There);
    link::delete(&steered.wire.b, PORT).expect("it is there");
    assert_eq!(steered.steer.attachment(PORT).expect("readable"), Attachment::Gone);
}
