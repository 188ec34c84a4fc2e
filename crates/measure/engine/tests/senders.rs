//! Engines that write frames in user space, over a veth pair between two namespaces. Needs root, and fails without.

#[path = "../../../machine/xdp/tests/wire/mod.rs"]
mod wire;

use std::{
    sync::atomic::{AtomicBool, AtomicU64},
    time::Duration,
};

use frame::{Compiled, Place, Tag};
use kernel::link;
use model::{Mtu, Nanos, Stream, stream::Mac};
use wire::{PORT, Wire};
use wireproof_engine::{AfPacket, Counter, EngineError, Job, Mode, Sender, Sent, SocketReceiver, Udp, Xsk};
use xdp::{
    Redirect,
    socket::{Frame, FrameSize, Options, Socket, Umem},
};

/// Whole frames at the other end.
struct Ear {
    socket: Socket,
    umem: Umem,
    frames: Vec<Frame>,
    _redirect: Redirect,
}

impl Ear {
    fn open(wire: &Wire) -> Self {
        let (umem, mut frames) = Umem::new(8192, FrameSize::Page).expect("memory");
        let options = Options { send: None, receive: Some(4096), parts: true, ..Options::new(PORT, 0) };
        let open = || {
            let redirect = Redirect::attach(PORT, 1).expect("veth has native XDP");
            let socket = Socket::open(&umem, &options, &mut frames).expect("the queue is free");
            redirect.add(0, &socket).expect("it is bound");
            (socket, redirect)
        };
        let (socket, redirect) = wire.at_b(open);
        Self { socket, umem, frames, _redirect: redirect }
    }

    /// All available packets.
    fn hear(&mut self) -> Vec<Vec<u8>> {
        let (umem, frames) = (&self.umem, &mut self.frames);
        let receiver = self.socket.receiver.as_mut().expect("it receives");
        receiver.wait(Duration::from_millis(200)).expect("poll");
        let (mut packets, mut packet) = (Vec::new(), Vec::new());
        receiver.receive(u32::MAX, |part| {
            packet.extend_from_slice(umem.packet(&part));
            if !part.more {
                packets.push(std::mem::take(&mut packet));
            }
            frames.push(part.frame);
        });
        receiver.refill(frames);
        packets
    }
}

fn job(streams: &str, mtu: u32, most: u64) -> Job {
    let place = Place {
        source_mac: Mac([2, 0, 0, 0, 0, 1]),
        next_hop_mac: Mac([2, 0, 0, 0, 0, 2]),
        source: "198.18.0.1".parse().expect("an address"),
        destination: "198.18.0.2".parse().expect("an address"),
        mtu: Mtu(mtu),
    };
    let streams = Stream::parse_file(streams).expect("streams");
    Job {
        first: 0,
        interface: PORT.to_owned(),
        loads: streams.iter().map(|stream| stream.load).collect(),
        streams: streams.iter().map(|stream| Compiled::new(stream, &place).expect("it fits")).collect(),
        line: None,
        cpus: vec![0],
        token: 0xdead_beef,
        duration: Nanos(10_000_000_000),
        most: Some(most),
    }
}

/// An engine opened in its namespace.
type Opened = Result<Box<dyn Sender>, EngineError>;
type Open = fn(Job) -> Opened;

fn xsk(job: Job) -> Opened {
    Ok(Box::new(Xsk::open(job, Mode::Any)?))
}

fn af_packet(job: Job) -> Opened {
    Ok(Box::new(AfPacket::open(job)?))
}

fn send(wire: &Wire, open: Open, job: &Job) -> Result<Sent, EngineError> {
    wire.at_a(|| open(job.clone())?.send(&AtomicBool::new(false), &AtomicU64::new(0)))
}

/// Sends with each engine, and compares every received byte.
fn arrives_as_written(test: &str, streams: &str, mtu: u32) {
    const COUNT: u64 = 300;
    let wire = Wire::with_mtu(test, mtu);
    let mut ear = Ear::open(&wire);
    let job = job(streams, mtu, COUNT);
    for engine in [xsk as Open, af_packet] {
        let sent = send(&wire, engine, &job).expect("it sends");
        let (frames, refused): (Vec<u64>, Vec<u64>) = sent.streams.iter().map(|it| (it.frames, it.refused)).unzip();
        assert_eq!((frames.iter().sum::<u64>(), refused.iter().sum::<u64>()), (COUNT, 0));
        let (mut next, mut bytes) = (vec![0; job.streams.len()], 0);
        while next.iter().sum::<u64>() < COUNT {
            let packets = ear.hear();
            assert!(!packets.is_empty(), "{next:?} of {frames:?} came");
            for packet in packets {
                let tag = job.streams[0].offsets.tag;
                let tag = Tag::read(&packet[tag..], packet.len() - tag).expect("it is one of ours");
                let stream = usize::from(tag.number(job.token));
                assert_eq!((tag.sequence, tag.token), (next[stream], 0xbeef));
                let mut expected = vec![0; job.longest()];
                let length = job.streams[stream].write(&mut expected, tag.sequence, tag);
                assert_eq!(packet, expected[..length]);
                next[stream] += 1;
                bytes += length as u64 + 4;
            }
        }
        assert_eq!((next, bytes), (frames, sent.streams.iter().map(|stream| stream.bytes).sum()));
    }
}

#[test]
fn frames_arrive_as_they_were_written() {
    let streams = "[[stream]]\nsizes = \"imix\"\nflows = 10\n[[stream]]\nname = \"small\"\nload = \"50 kpps burst 10\"";
    arrives_as_written("bytes", streams, 1500);
}

#[test]
fn jumbo_frames_arrive_as_they_were_written() {
    arrives_as_written("jumbo", "[[stream]]\nsizes = [9018, 4114, 4115, 64]\nload = \"20 kpps\"", 9000);
}

#[test]
fn an_interface_that_is_not_there_is_named() {
    let wire = Wire::up("none");
    let job = Job { interface: "none0".to_owned(), ..job("[[stream]]", 1500, 1) };
    for engine in [xsk as Open, af_packet] {
        let error = send(&wire, engine, &job).expect_err("there is none").to_string();
        assert!(error.contains("none0"), "{error}");
    }
}

#[test]
fn an_interface_that_is_down_is_named() {
    let wire = Wire::up("down");
    link::set_down(&wire.a, PORT).expect("it is there");
    let job = job("[[stream]]", 1500, 1);
    for engine in [xsk as Open, af_packet] {
        let error = send(&wire, engine, &job).expect_err("it is down").to_string();
        assert!(error.contains(PORT) && error.to_lowercase().contains("down"), "{error}");
    }
}

#[test]
fn a_second_sender_on_a_queue_is_refused_before_it_sends() {
    let wire = Wire::up("busy");
    let job = job("[[stream]]", 1500, 1);
    let _first = wire.at_a(|| xsk(job.clone())).expect("the queue is free");
    let Err(error) = wire.at_a(|| xsk(job)) else { panic!("two have it") };
    assert!(error.to_string().contains("queue 0 of interface wp0 is taken by another AF_XDP socket"), "{error}");
}

/// The kernel writes the headers in both directions, so addresses are needed.
#[test]
fn udp_sockets_send_and_count_without_a_driver() {
    const COUNT: u64 = 5_000;
    let wire = Wire::up("udp");
    for (namespace, address) in [(&wire.a, "198.18.0.1"), (&wire.b, "198.18.0.2")] {
        link::add_address(namespace, PORT, address.parse().expect("an address"), 24).expect("it is there");
    }
    let (from, to) = ("198.18.0.1".parse().expect("an address"), "198.18.0.2".parse().expect("an address"));
    let job = job(
        "[[stream]]\nsizes = \"imix\"\nload = \"50 kpps poisson\"\n[[stream]]\nname = \"small\"\nload = \"10 kpps\"",
        1500,
        COUNT,
    );
    let what = job.receiver_options();
    let receiver = wire.at_b(|| SocketReceiver::open(to, &what, None)).expect("a port is free");
    let port = receiver.port();
    let sent = wire.at_a(|| {
        let mut udp = Udp::open(job.clone(), from, (to, port).into())?;
        udp.send(&AtomicBool::new(false), &AtomicU64::new(0))
    });
    let sent = sent.expect("it sends");
    std::thread::sleep(Duration::from_millis(200));
    let received = receiver.read().expect("readable");
    let frames: Vec<u64> = sent.streams.iter().map(|stream| stream.frames).collect();
    assert_eq!(frames.iter().sum::<u64>(), COUNT);
    for (sent, came) in sent.streams.iter().zip(&received.numbered) {
        assert_eq!((came.frames, came.bytes + 4 * came.frames), (sent.frames, sent.bytes));
        assert_eq!((came.duplicated, came.reordered, came.corrupt), (0, 0, 0));
        assert_eq!(came.latency.counts.iter().map(|(_, count)| count).sum::<u64>(), sent.frames);
    }
    assert!(sent.streams.iter().all(|stream| stream.pacing.is_some()) && received.others == 0, "{received:?}");
}
