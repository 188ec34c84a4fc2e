//! Frames between two namespaces on the real kernel. Needs root, and fails without.

mod wire;

use std::time::Duration;

use frame::{Compiled, Place};
use model::{Mtu, Stream, stream::Mac};
use wire::Wire;
use wireproof_xdp::{Receiver, Sender, receiver, sender};

fn receiving(stream: &Compiled) -> receiver::Options {
    receiver::Options {
        token: 0xbeef,
        sequences: vec![stream.clone()],
        verify: true,
        per_flow: false,
        pktgen: false,
        gaps: false,
        compare: true,
    }
}

fn compiled(stream: &Stream) -> Compiled {
    let place = Place {
        source_mac: Mac([2, 0, 0, 0, 0, 1]),
        next_hop_mac: Mac([2, 0, 0, 0, 0, 2]),
        source: "198.18.0.1".parse().expect("an address"),
        destination: "198.18.0.2".parse().expect("an address"),
        mtu: Mtu(1500),
    };
    Compiled::new(stream, &place).expect("it can be sent")
}

fn sending(compiled: &Compiled) -> Vec<sender::Stream<'_>> {
    vec![sender::Stream { compiled, number: 0, pace: None }]
}

fn options(most: u64) -> sender::Options {
    sender::Options { token: 0xbeef, time_every: 256, duration: Duration::from_secs(60), most }
}

#[test]
fn a_million_frames_arrive_numbered_and_none_is_lost() {
    const FRAMES: u64 = 1_000_000;
    let wire = Wire::up("million");
    let stream = compiled(&Stream::default());
    let receiver = wire.at_b(|| Receiver::attach("wp0", &receiving(&stream))).expect("veth has native XDP");
    let sender = wire.at_a(|| Sender::load("wp0", &sending(&stream), &options(FRAMES))).expect("root");
    wire.at_a(|| {
        // Packets of a sender that moves to another core would find a full ring there.
        kernel::cpu::pin_current_thread(0).expect("there is a first core");
        sender.run(FRAMES as u32 + 1000, 64).expect("live frames")
    });
    let sent = sender.progress().expect("readable");
    let received = receiver.read().expect("readable");
    assert_eq!(sent[0].frames, FRAMES);
    assert_eq!(received[0].frames, FRAMES, "{received:?}");
    assert_eq!(received[0].bytes, FRAMES * 60);
    assert_eq!((received[0].duplicated, received[0].reordered, received[0].corrupt), (0, 0, 0));
    let timed: u64 = received[0].latency.counts.iter().map(|(_, count)| count).sum();
    assert_eq!(timed, FRAMES.div_ceil(256));
    let rate = FRAMES as f64 / (sent[0].last - sent[0].first) as f64 * 1e3;
    println!("{rate:.2} Mpps, {:?}", received[0]);
}
