//! The engines that write frames in user space, over a veth pair between two namespaces. Needs root, and fails without.

use std::{
    sync::atomic::{AtomicBool, AtomicU64},
    time::Duration,
};

use frame::{Compiled, Place, Tag};
use kernel::{link, namespace, sysctl};
use model::{LinkEnd, Mtu, Nanos, Stream, stream::Mac};
use wireproof_engine::{AfPacket, EngineError, Job, Sender, Sent, Xsk};
use xdp::{
    Redirect,
    socket::{Frame, FrameSize, Mode, Options, Socket, Umem},
};

/// What both ends of a pair are called in their namespaces.
const PORT: &str = "port0";

/// Two namespaces and a veth pair, gone when it ends.
struct Pair([String; 2]);

impl Pair {
    fn new(test: &str, mtu: u32) -> Self {
        let pair = Self(["a", "b"].map(|end| format!("wptest{}{test}-{end}", std::process::id())));
        let ends = pair.0.each_ref().map(|name| {
            namespace::create(name).expect("this test needs root");
            LinkEnd { namespace: name.clone(), interface: PORT.to_owned() }
        });
        link::create_veth(&ends[0], &ends[1], Mtu(mtu)).expect("veth");
        pair.0.iter().for_each(|name| {
            // Nothing but our own packets shall be there.
            let disable = || sysctl::write("net.ipv6.conf.all.disable_ipv6", "1");
            namespace::within(name, disable).expect("it exists").expect("settable");
            link::set_up(name, PORT).expect("it is there");
        });
        pair
    }

    fn send(&self, sender: &mut dyn Sender) -> Result<Sent, EngineError> {
        let run = || sender.send(&AtomicBool::new(false), &AtomicU64::new(0));
        namespace::within(&self.0[0], run).expect("it exists")
    }
}

impl Drop for Pair {
    fn drop(&mut self) {
        for name in &self.0 {
            // A test that failed may have left it or not; either way there is nothing to add to its own message.
            let _ = namespace::delete(name);
        }
    }
}

/// What arrives at the other end, whole.
struct Ear {
    socket: Socket,
    umem: Umem,
    frames: Vec<Frame>,
    _redirect: Redirect,
}

impl Ear {
    fn open(pair: &Pair) -> Self {
        let (umem, mut frames) = Umem::new(8192, FrameSize::Page).expect("memory");
        let options = Options { send: None, receive: Some(4096), parts: true, ..Options::new(PORT, 0) };
        let open = || {
            let redirect = Redirect::attach(PORT, 1).expect("veth has native XDP");
            let socket = Socket::open(&umem, &options, &mut frames).expect("the queue is free");
            redirect.add(0, &socket).expect("it is bound");
            (socket, redirect)
        };
        let (socket, redirect) = namespace::within(&pair.0[1], open).expect("it exists");
        Self { socket, umem, frames, _redirect: redirect }
    }

    /// All packets that are there.
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
        interface: PORT.to_owned(),
        loads: streams.iter().map(|stream| stream.load).collect(),
        streams: streams.iter().map(|stream| Compiled::new(stream, &place).expect("it fits")).collect(),
        line: None,
        cpus: vec![0],
        token: 0xbeef,
        duration: Nanos(10_000_000_000),
        most: Some(most),
    }
}

/// Sends with each engine, and looks at every byte that comes.
fn arrives_as_written(test: &str, streams: &str, mtu: u32) {
    const COUNT: u64 = 300;
    let pair = Pair::new(test, mtu);
    let mut ear = Ear::open(&pair);
    let job = job(streams, mtu, COUNT);
    let engines: [Box<dyn Sender>; 2] =
        [Box::new(Xsk::new(job.clone(), Mode::Any)), Box::new(AfPacket::new(job.clone()))];
    for mut engine in engines {
        let sent = pair.send(engine.as_mut()).expect("it sends");
        let (frames, refused): (Vec<u64>, Vec<u64>) = sent.streams.iter().map(|it| (it.frames, it.refused)).unzip();
        assert_eq!((frames.iter().sum::<u64>(), refused.iter().sum::<u64>()), (COUNT, 0));
        let (mut next, mut bytes) = (vec![0; job.streams.len()], 0);
        while next.iter().sum::<u64>() < COUNT {
            let packets = ear.hear();
            assert!(!packets.is_empty(), "{next:?} of {frames:?} came");
            for packet in packets {
                let tag = job.streams[0].offsets.tag;
                let tag = Tag::read(&packet[tag..], packet.len() - tag).expect("it is one of ours");
                let stream = usize::from(tag.stream);
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
    let pair = Pair::new("none", 1500);
    let job = Job { interface: "none0".to_owned(), ..job("[[stream]]", 1500, 1) };
    for mut engine in [Box::new(Xsk::new(job.clone(), Mode::Any)) as Box<dyn Sender>, Box::new(AfPacket::new(job))] {
        let error = pair.send(engine.as_mut()).expect_err("there is none").to_string();
        assert!(error.contains("none0"), "{error}");
    }
}

#[test]
fn an_interface_that_is_down_is_named() {
    let pair = Pair::new("down", 1500);
    link::set_down(&pair.0[0], PORT).expect("it is there");
    let job = job("[[stream]]", 1500, 1);
    for mut engine in [Box::new(Xsk::new(job.clone(), Mode::Any)) as Box<dyn Sender>, Box::new(AfPacket::new(job))] {
        let error = pair.send(engine.as_mut()).expect_err("it is down").to_string();
        assert!(error.contains(PORT) && error.to_lowercase().contains("down"), "{error}");
    }
}
