//! AF_XDP sockets over a veth pair between two namespaces. Needs root, and fails without.

mod wire;

use std::{thread::sleep, time::Duration};

use kernel::link;
use wire::{PORT, Wire};
use wireproof_xdp::{
    Redirect, RedirectError,
    socket::{Frame, FrameSize, Mode, Options, Packet, Socket, SocketError, Umem, WakeOutcome},
};

impl Wire {
    fn within<T: Send>(&self, end: usize, f: impl FnOnce() -> T + Send) -> T {
        if end == 0 { self.at_a(f) } else { self.at_b(f) }
    }

    fn open(&self, end: usize, umem: &Umem, options: &Options, frames: &mut Vec<Frame>) -> Result<Socket, SocketError> {
        self.within(end, || Socket::open(umem, options, frames))
    }

    /// A receiving socket at an end, with its XDP program.
    fn listen(&self, end: usize, umem: &Umem, parts: bool, frames: &mut Vec<Frame>) -> (Socket, Redirect) {
        let redirect = self.within(end, || Redirect::attach(PORT, 1)).expect("veth has native XDP");
        let options = Options { send: None, parts, ..Options::new(PORT, 0) };
        let socket = self.open(end, umem, &options, frames).expect("the queue is free");
        redirect.add(0, &socket).expect("the socket is bound to it");
        (socket, redirect)
    }
}

fn sending() -> Options {
    Options { receive: None, ..Options::new(PORT, 0) }
}

/// A frame with an experimental EtherType, filled with one byte.
fn write(bytes: &mut [u8], fill: u8) {
    bytes.fill(fill);
    bytes[..14].copy_from_slice(&[255, 255, 255, 255, 255, 255, 2, 0, 0, 0, 0, 1, 0x88, 0xb5]);
}

/// Wakes until all packets are sent.
fn send_all(socket: &mut Socket, frames: &mut Vec<Frame>) {
    let sender = socket.sender.as_mut().expect("it sends");
    sender.tell();
    for _ in 0..1_000 {
        assert_ne!(sender.wake().expect("the link is up"), WakeOutcome::Dropped);
        sender.completed(frames);
        if sender.out() == 0 {
            return;
        }
        sleep(Duration::from_micros(100));
    }
    panic!("{} packets did not leave", sender.out());
}

/// The next `count` packets.
fn receive(socket: &mut Socket, count: usize) -> Vec<Packet> {
    let receiver = socket.receiver.as_mut().expect("it receives");
    let mut packets = Vec::new();
    for _ in 0..100 {
        receiver.receive(u32::MAX, |packet| packets.push(packet));
        if packets.len() >= count {
            return packets;
        }
        receiver.wake().expect("the link is up");
        receiver.wait(Duration::from_millis(20)).expect("poll");
    }
    panic!("{} of {count} packets came", packets.len());
}

#[test]
fn packets_arrive_in_order_and_frames_go_round() {
    let wire = Wire::up("order");
    let (out, mut out_frames) = Umem::new(64, FrameSize::Half).expect("memory");
    let (into, mut in_frames) = Umem::new(256, FrameSize::Page).expect("memory");
    let (mut to, _redirect) = wire.listen(1, &into, false, &mut in_frames);
    let mut from = wire.open(0, &out, &sending(), &mut Vec::new()).expect("the queue is free");
    assert!(!from.is_zero_copy() && from.receiver.is_none() && to.sender.is_none());
    for round in 0..20_u8 {
        for number in 0..64 {
            let mut packet =
                Packet { frame: out_frames.pop().expect("all came back"), offset: 8, length: 60, more: false };
            write(out.packet_mut(&mut packet), round);
            out.packet_mut(&mut packet)[59] = number;
            from.sender.as_mut().expect("it sends").put(packet).expect("there is room");
        }
        send_all(&mut from, &mut out_frames);
        let mut expected = 0..64;
        for packet in receive(&mut to, 64) {
            let bytes = into.packet(&packet);
            assert_eq!((bytes.len(), bytes[14], Some(bytes[59])), (60, round, expected.next()));
            in_frames.push(packet.frame);
        }
        to.receiver.as_mut().expect("it receives").refill(&mut in_frames);
        assert_eq!((out_frames.len(), in_frames.len()), (64, 0));
    }
    let statistics = to.statistics().expect("readable");
    assert_eq!((statistics.dropped, statistics.ring_full, statistics.bad_frames), (0, 0, 0));
    assert_eq!(from.statistics().expect("readable").bad_packets, 0);
}

#[test]
fn one_memory_serves_both_ends_and_a_packet_is_sent_back_from_where_it_lies() {
    let wire = Wire::up("share");
    let (umem, mut frames) = Umem::new(8192, FrameSize::Half).expect("memory");
    let mut ends = [0, 1].map(|end| {
        let redirect = wire.within(end, || Redirect::attach(PORT, 1)).expect("veth has native XDP");
        let socket = wire.open(end, &umem, &Options::new(PORT, 0), &mut frames).expect("the queue is free");
        redirect.add(0, &socket).expect("the socket is bound to it");
        (socket, redirect)
    });
    let mut packet = Packet { frame: frames.pop().expect("enough"), offset: 0, length: 100, more: false };
    write(umem.packet_mut(&mut packet), 7);
    for hop in 0..10 {
        let (from, to) = (hop % 2, (hop + 1) % 2);
        umem.packet_mut(&mut packet)[14] += 1;
        ends[from].0.sender.as_mut().expect("it sends").put(packet).expect("there is room");
        send_all(&mut ends[from].0, &mut frames);
        packet = receive(&mut ends[to].0, 1).pop().expect("one");
    }
    assert_eq!(umem.packet(&packet)[13..16], [0xb5, 17, 7]);
}

#[test]
fn a_packet_larger_than_a_frame_goes_in_parts() {
    let wire = Wire::with_mtu("parts", 9000);
    let (umem, mut frames) = Umem::new(512, FrameSize::Page).expect("memory");
    let (into, mut in_frames) = Umem::new(512, FrameSize::Page).expect("memory");
    let (mut to, _redirect) = wire.listen(1, &into, true, &mut in_frames);
    let options = Options { parts: true, ..sending() };
    let mut from = wire.open(0, &umem, &options, &mut Vec::new()).expect("Linux 6.6");
    let lengths = [4096, 4096, 808];
    for (part, length) in lengths.into_iter().enumerate() {
        let mut packet = Packet { frame: frames.pop().expect("enough"), offset: 0, length, more: part < 2 };
        match part {
            0 => write(umem.packet_mut(&mut packet), 0),
            _ => umem.packet_mut(&mut packet).fill(part as u8),
        }
        from.sender.as_mut().expect("it sends").put(packet).expect("there is room");
    }
    send_all(&mut from, &mut frames);
    let mut parts = receive(&mut to, 1);
    while parts.last().is_some_and(|last| last.more) {
        parts.extend(receive(&mut to, 1));
    }
    let bytes: Vec<u8> = parts.iter().flat_map(|part| into.packet(part).to_vec()).collect();
    assert_eq!((bytes.len(), parts.len() > 1), (9000, true));
    assert!(bytes[14..4096].iter().all(|byte| *byte == 0) && bytes[4096..8192].iter().all(|byte| *byte == 1));
    assert!(bytes[8192..].iter().all(|byte| *byte == 2));
}

#[test]
fn what_finds_no_frame_is_counted() {
    let wire = Wire::up("starve");
    let (umem, mut frames) = Umem::new(64, FrameSize::Half).expect("memory");
    let mut few = frames.split_off(60);
    let (mut to, _redirect) = wire.listen(1, &umem, false, &mut few);
    let (out, mut out_frames) = Umem::new(16, FrameSize::Half).expect("memory");
    let mut from = wire.open(0, &out, &sending(), &mut Vec::new()).expect("the queue is free");
    for _ in 0..10 {
        let mut packet = Packet { frame: out_frames.pop().expect("enough"), offset: 0, length: 60, more: false };
        write(out.packet_mut(&mut packet), 0);
        from.sender.as_mut().expect("it sends").put(packet).expect("there is room");
    }
    send_all(&mut from, &mut out_frames);
    assert_eq!(receive(&mut to, 4).len(), 4);
    // All have been sent, but some may still be on their way.
    let statistics = || to.statistics().expect("readable");
    for _ in 0..500 {
        if statistics().no_frame >= 6 {
            break;
        }
        sleep(Duration::from_millis(10));
    }
    sleep(Duration::from_millis(20));
    let statistics = statistics();
    assert_eq!((statistics.no_frame, statistics.dropped, statistics.ring_full), (6, 6, 0));
}

#[test]
fn a_socket_that_cannot_be_had_says_why_and_loses_no_frame() {
    let wire = Wire::up("errors");
    let (umem, mut frames) = Umem::new(64, FrameSize::Half).expect("memory");
    let mut refused = |options: &Options| {
        let Err(error) = wire.open(0, &umem, options, &mut frames) else { panic!("{options:?} can be had") };
        assert_eq!(frames.len(), 64, "{error}");
        error
    };
    let any = Options::new(PORT, 0);
    let error = refused(&Options { queue: 7, ..any.clone() });
    assert!(matches!(error, SocketError::NoQueue { queue: 7, .. }), "{error}");
    let error = refused(&Options { mode: Mode::ZeroCopy, ..any.clone() });
    assert!(matches!(error, SocketError::NoSupport { .. }), "{error}");
    let error = refused(&Options { interface: "none0".to_owned(), ..any.clone() });
    assert_eq!(error.to_string(), "there is no interface none0 in this network namespace");
    let error = refused(&Options { send: Some(100), ..any.clone() });
    assert!(matches!(error, SocketError::BadOption(_)), "{error}");
    let error = refused(&Options { send: None, receive: None, ..any.clone() });
    assert!(matches!(error, SocketError::BadOption(_)), "{error}");

    let first = wire.open(0, &Umem::new(8, FrameSize::Half).expect("memory").0, &sending(), &mut Vec::new());
    let error = wire.open(0, &umem, &any, &mut frames).err().expect("the queue is taken");
    assert!(matches!(error, SocketError::Busy { queue: 0, .. }), "{error}");
    drop(first.expect("the queue is free"));
    wire.open(0, &umem, &sending(), &mut frames).expect("the queue is free again");
}

#[test]
fn a_link_that_goes_away_is_named() {
    let wire = Wire::up("gone");
    let (umem, mut frames) = Umem::new(8, FrameSize::Half).expect("memory");
    let mut from = wire.open(0, &umem, &sending(), &mut Vec::new()).expect("the queue is free");
    link::set_down(&wire.a, PORT).expect("it is there");
    let sender = from.sender.as_mut().expect("it sends");
    sender.put(Packet { frame: frames.pop().expect("enough"), offset: 0, length: 60, more: false }).expect("room");
    sender.tell();
    let error = sender.wake().expect_err("it is down");
    assert_eq!(error.to_string(), format!("interface {PORT} is down or gone"));
}

#[test]
fn a_second_program_is_refused_and_the_first_goes_with_its_owner() {
    let wire = Wire::up("program");
    let attach = || wire.within(0, || Redirect::attach(PORT, 1));
    let first = attach().expect("veth has native XDP");
    let error = attach().err().expect("there is one");
    assert!(matches!(error, RedirectError::Busy(_)), "{error}");
    drop(first);
    attach().expect("it has gone");
    let error = wire.within(0, || Redirect::attach("none0", 1)).err().expect("no interface");
    assert!(matches!(error, RedirectError::NoInterface(_)), "{error}");
}
