//! Live frames between two namespaces, counted by number at the other end. Needs root, and fails without.

#[path = "../../../machine/xdp/tests/wire/mod.rs"]
mod wire;

use std::{
    env,
    io::{BufRead, BufReader},
    num::NonZeroU32,
    process::{Command, Stdio},
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
    thread,
    time::{Duration, Instant},
};

use frame::{Compiled, Place, Tag};
use kernel::{link, packet::Frames};
use model::{
    IpVersion, Mtu, Nanos, PacketRate, Stream,
    stream::{Load, Mac, Pacing, Rate},
};
use wire::Wire;
use wireproof_engine::{AfPacket, Counter, EngineError, Job, Live, Received, Receiver, ReceiverOptions, Sender, Sent};

const SECOND: Nanos = Nanos(1_000_000_000);

fn place(ip: IpVersion) -> Place {
    let [source, destination] = match ip {
        IpVersion::V4 => ["198.18.0.1", "198.18.0.2"],
        IpVersion::V6 => ["2001:2::1", "2001:2::2"],
    };
    Place {
        source_mac: Mac([2, 0, 0, 0, 0, 1]),
        next_hop_mac: Mac([2, 0, 0, 0, 0, 2]),
        source: source.parse().expect("an address"),
        destination: destination.parse().expect("an address"),
        mtu: Mtu(1500),
    }
}

fn compiled(stream: &Stream) -> Compiled {
    Compiled::new(stream, &place(stream.ip)).expect("it can be sent")
}

fn job(streams: &[Stream]) -> Job {
    Job {
        first: 0,
        interface: "wp0".to_owned(),
        streams: streams.iter().map(compiled).collect(),
        loads: streams.iter().map(|stream| stream.load).collect(),
        line: None,
        cpus: vec![0],
        token: 0xdead_beef,
        duration: Nanos(20 * SECOND.0),
        most: Some(100_000),
    }
}

fn send(wire: &Wire, job: &Job) -> Result<Sent, EngineError> {
    wire.at_a(|| Live::new(job.clone(), 256)?.send(&AtomicBool::new(false), &AtomicU64::new(0)))
}

/// Reports of the sender and the receiver.
fn measure(test: &str, job: &Job, receive: &ReceiverOptions) -> (Sent, Received) {
    let wire = Wire::up(test);
    let receiver = wire.at_b(|| Receiver::attach("wp0", receive)).expect("veth has native XDP");
    let sent = send(&wire, job).expect("live frames");
    (sent, receiver.read().expect("readable"))
}

/// Every frame arrived once, in order, and intact.
fn assert_whole(sent: &Sent, received: &Received) {
    for (number, frames) in sent.streams.iter().flat_map(|stream| &stream.numbered) {
        let arrived = &received.numbered[usize::from(*number)];
        assert_eq!(arrived.frames, *frames, "{sent:?} {arrived:?}");
        assert_eq!((arrived.duplicated, arrived.reordered, arrived.late, arrived.corrupt), (0, 0, 0, 0), "{arrived:?}");
    }
    let fcs: u64 = sent.streams.iter().map(|stream| 4 * stream.frames).sum();
    let bytes: u64 = sent.streams.iter().map(|stream| stream.bytes).sum();
    assert_eq!(received.numbered.iter().map(|stream| stream.bytes).sum::<u64>() + fcs, bytes);
}

#[test]
fn frames_of_every_kind_arrive_whole() {
    let words = |toml: &str| Stream::parse_file(toml).expect("a stream file");
    let kinds = [
        ("plain", "[[stream]]"),
        ("imix", "[[stream]]\nsizes = \"imix\""),
        ("sweep", "[[stream]]\nsizes = \"64..1518 step 7\""),
        ("large", "[[stream]]\nsizes = \"1518\""),
        ("vlan", "[[stream]]\nvlans = [\"100 priority 5\"]"),
        ("qinq", "[[stream]]\nvlans = [\"10\", \"20\"]\nsizes = \"128\""),
        ("six", "[[stream]]\nip = 6"),
        ("tcp", "[[stream]]\nprotocol = \"tcp\""),
        ("tcp6", "[[stream]]\nprotocol = \"tcp\"\nip = 6\nsizes = \"90, 91, 1000\""),
        ("flows", "[[stream]]\nflows = 1000\nsource_ip = \"198.18.0.1..198.18.0.100\"\nsource_port = \"1..10\""),
        (
            "random",
            "[[stream]]\nflows = 100000\nsource_ip = \"random 198.18.0.1..198.18.255.254 seed 7\"\ndestination_port = \"1, 7, 5000\"",
        ),
        (
            "macs",
            "[[stream]]\nsizes = \"imix\"\nsource_mac = \"02:00:00:00:01:00..02:00:00:00:01:ff\"\nvlans = [\"7\"]",
        ),
        ("two", "[[stream]]\n[[stream]]\nname = \"six\"\nip = 6\nsizes = \"200, 100\"\nflows = 10"),
    ];
    for (name, toml) in kinds {
        let job = job(&words(toml));
        let (sent, received) = measure(name, &job, &job.receiver_options());
        println!("{name}: {sent:?}");
        assert_eq!(sent.streams.iter().map(|stream| stream.frames).sum::<u64>(), 100_000, "{name}: {sent:?}");
        assert_whole(&sent, &received);
    }
}

#[test]
fn flows_are_counted_one_by_one_up_to_a_million() {
    let stream = Stream { flows: Some(1_000_000), ..Stream::default() };
    let job = Job { most: Some(3_000_000), ..job(&[stream]) };
    let (sent, received) = measure("million", &job, &ReceiverOptions { per_flow: true, ..job.receiver_options() });
    assert_whole(&sent, &received);
}

#[test]
fn two_cores_number_a_sequence_each_and_lose_nothing() {
    let job = Job { cpus: vec![0, 1], most: Some(1_000_001), ..job(&[Stream::default()]) };
    let wire = Wire::with_queues("cores", 2);
    let receiver = wire.at_b(|| Receiver::attach("wp0", &job.receiver_options())).expect("veth has native XDP");
    let sent = send(&wire, &job).expect("live frames");
    assert_eq!(sent.streams[0].numbered, [(0, 500_001), (1, 500_000)]);
    assert_eq!(sent.streams[0].refused, 0);
    assert_whole(&sent, &receiver.read().expect("readable"));
}

#[test]
fn a_load_is_met_and_its_end_too() {
    for pacing in [Pacing::Constant, Pacing::Burst(NonZeroU32::new(32).expect("not zero")), Pacing::Poisson] {
        let load = Load { rate: Rate::Packets(PacketRate(100_000)), pacing, ..Load::default() };
        let stream = Stream { load, ..Stream::default() };
        let job = Job { most: None, duration: SECOND, ..job(&[stream]) };
        let (sent, received) = measure("load", &job, &job.receiver_options());
        assert_whole(&sent, &received);
        let (first, last) = sent.streams[0].span.expect("frames were sent");
        let Nanos(given_up) = sent.streams[0].given_up;
        println!("{pacing}: {} in {} ns, {given_up} ns given up", sent.streams[0].frames, last.0 - first.0);
        // A machine that loses the processor reports the time given up; the rest keeps the rate.
        let intended = 100_000.0 * (1.0 - given_up as f64 / 1e9);
        let error = if pacing == Pacing::Poisson { 1_500.0 } else { 100.0 };
        assert!((sent.streams[0].frames as f64 - intended).abs() < error, "{pacing}: {sent:?}");
        assert!(last.0 - first.0 <= SECOND.0, "{pacing}: {sent:?}");
    }
}

#[test]
fn the_times_between_frames_are_taken_where_they_are_asked_for() {
    let load = Load { rate: Rate::Packets(PacketRate(20_000)), ..Load::default() };
    for stream in [
        Stream { load, ..Stream::default() },
        Stream { load, vlans: vec!["7".parse().expect("a VLAN")], ..Stream::default() },
    ] {
        let job = Job { most: Some(4_000), ..job(&[stream]) };
        let (sent, received) = measure("gaps", &job, &ReceiverOptions { gaps: true, ..job.receiver_options() });
        let gaps = &received.numbered[0].gaps;
        assert_eq!(gaps.counts.iter().map(|(_, count)| count).sum::<u64>(), 3_999, "{gaps:?}");
        let (first, last) = sent.streams[0].span.expect("frames were sent");
        // The gaps add up to the time from the first frame to the last; each is measured shortly after its frame was
        // sent.
        assert!(gaps.sum.abs_diff(last.0 - first.0) < SECOND.0 / 10, "{gaps:?} {sent:?}");
        assert!(gaps.least <= 50_000 && gaps.longest >= 50_000, "{gaps:?}");
    }
    let job = job(&[Stream::default()]);
    let (_, received) = measure("nogaps", &job, &job.receiver_options());
    assert!(received.numbered[0].gaps.counts.is_empty());
}

#[test]
fn a_stop_is_obeyed_and_what_was_sent_until_then_is_known() {
    let job = Job { most: None, ..job(&[Stream::default()]) };
    let wire = Wire::up("stop");
    let receiver = wire.at_b(|| Receiver::attach("wp0", &job.receiver_options())).expect("veth has native XDP");
    let (stop, progress) = (AtomicBool::new(false), AtomicU64::new(0));
    let mut sender = wire.at_a(|| Live::new(job.clone(), 256)).expect("root");
    let (sent, took) = thread::scope(|scope| {
        let sending = scope.spawn(|| wire.at_a(|| sender.send(&stop, &progress)));
        while progress.load(Ordering::Relaxed) == 0 {
            thread::sleep(Duration::from_millis(1));
        }
        let asked = Instant::now();
        stop.store(true, Ordering::Relaxed);
        (sending.join().expect("no panic").expect("live frames"), asked.elapsed())
    });
    assert!(took < Duration::from_secs(1), "{took:?}");
    assert_whole(&sent, &receiver.read().expect("readable"));
}

#[test]
fn a_receiver_that_is_there_already_is_left_alone() {
    let job = job(&[Stream::default()]);
    let wire = Wire::up("busy");
    let first = wire.at_b(|| Receiver::attach("wp0", &job.receiver_options())).expect("veth has native XDP");
    let error =
        wire.at_b(|| Receiver::attach("wp0", &job.receiver_options())).err().expect("one at a time").to_string();
    assert!(error.contains("wp0 already has an XDP program") && error.contains("ip link show wp0"), "{error}");
    let sent = send(&wire, &job).expect("live frames");
    assert_whole(&sent, &first.read().expect("readable"));
}

#[test]
fn what_cannot_be_is_said_beforehand() {
    let job = job(&[Stream::default()]);
    let wire = Wire::with_queues("queues", 2);
    wire.set_queues(&wire.b, 1, 2);
    let error =
        wire.at_b(|| Receiver::attach("wp0", &job.receiver_options())).err().expect("too few queues").to_string();
    assert!(error.contains("ethtool -L wp0"), "{error}");
    let none =
        wire.at_b(|| Receiver::attach("none0", &job.receiver_options())).err().expect("no interface").to_string();
    assert_eq!(none, "there is no interface none0 here");
    let none = wire.at_a(|| Live::new(Job { interface: "none0".to_owned(), ..job.clone() }, 256)).err();
    assert_eq!(none.expect("no interface").to_string(), "there is no interface none0 here");
    let large = Stream { sizes: "3600".parse().expect("a size"), ..Stream::default() };
    let place = Place { mtu: Mtu(9000), ..place(IpVersion::V4) };
    let large = Compiled::new(&large, &place).expect("it fits the MTU");
    let error = wire.at_a(|| Live::new(Job { streams: vec![large], ..job }, 256)).err().expect("too large").to_string();
    assert!(error.contains("not 3596 B"), "{error}");
}

#[test]
fn attaching_and_detaching_take_little_time() {
    let job = job(&[Stream::default()]);
    let wire = Wire::up("quick");
    let mut times: Vec<Duration> = (0..5)
        .map(|_| {
            let start = Instant::now();
            let receiver = wire.at_b(|| Receiver::attach("wp0", &job.receiver_options())).expect("veth has native XDP");
            let sender = wire.at_a(|| Live::new(job.clone(), 256)).expect("root");
            drop((receiver, sender));
            start.elapsed()
        })
        .collect();
    times.sort();
    println!("attached, loaded and detached in {times:?}");
    // Unoptimised code loads programs slowly; ./x bench packets limits the optimised one to 200 ms.
    assert!(times[2] < Duration::from_secs(2), "{times:?}");
}

/// One token in 2³² is right, and one in 65,536 in the short form.
#[test]
fn who_does_not_know_the_token_hits_with_no_half_of_it() {
    let tagged = Stream::parse_file("[[stream]]\nsizes = \"64\"\nvlans = [1]").expect("a stream file");
    for (streams, hits) in [(&[Stream::default()][..], [0, 0, 1]), (&tagged, [0, 1, 1])] {
        let job = job(streams);
        let wire = Wire::up("blind");
        let receiver = wire.at_b(|| Receiver::attach("wp0", &job.receiver_options())).expect("veth has native XDP");
        let counted = || {
            let arrived = receiver.read().expect("readable").numbered.remove(0);
            arrived.frames + arrived.corrupt + arrived.duplicated
        };
        let mut so_far = 0;
        // All lower halves without the upper one, all upper halves without the lower one, and the token itself.
        let lower = (0..=0xffff).collect();
        let upper = (0..=0xffff).map(|half: u32| half << 16 | 0x1234).collect();
        for (tokens, hits) in [lower, upper, vec![job.token]].into_iter().zip(hits) {
            wire.at_a(|| {
                let socket = Frames::open("wp0", 0x0800).expect("it is up");
                for token in tokens {
                    let mut frame = [0; 60];
                    let length = job.streams[0].write(&mut frame, 0, Tag::of(token, 0, 0, 0));
                    socket.send(&frame[..length]).expect("it is up");
                }
            });
            so_far += hits;
            assert_eq!(counted(), so_far, "{streams:?}");
        }
    }
}

#[test]
fn one_fault_of_each_kind_among_a_million_frames_is_found() {
    const FRAMES: u64 = 1_000_000;
    // With faults on another core than the rest, both count the sequence.
    for cpu in [0, 1] {
        let job = Job { most: Some(FRAMES), ..job(&[Stream::default()]) };
        let wire = Wire::with_queues("faults", 2);
        let receiver = wire.at_b(|| Receiver::attach("wp0", &job.receiver_options())).expect("veth has native XDP");
        send(&wire, &job).expect("live frames");
        let put = |sequence: u64, damaged: bool| {
            let mut frame = [0; 60];
            let tag = Tag::of(job.token, 0, sequence, 0);
            job.streams[0].write(&mut frame, sequence, tag);
            frame[30] ^= u8::from(damaged) << 3;
            wire.at_a(|| {
                kernel::cpu::pin_current_thread(cpu).expect("there are two cores");
                Frames::open("wp0", 0x0800)?.send(&frame)
            })
            .expect("it is up");
        };
        put(FRAMES - 1000, false); // duplicate
        put(FRAMES + 1, false);
        put(FRAMES, false); // reordered
        put(FRAMES + 3, false); // one lost before it
        put(FRAMES + 4, true);
        put(FRAMES + 1, false); // duplicate
        let received = receiver.read().expect("readable");
        let arrived = &received.numbered[0];
        assert_eq!(arrived.frames, FRAMES + 3, "{arrived:?}");
        assert_eq!(
            (arrived.duplicated, arrived.reordered, arrived.corrupt, arrived.late),
            (2, 1, 1, 0),
            "core {cpu}: {arrived:?}"
        );
        assert_eq!(arrived.cpus.len(), if cpu == 0 { 1 } else { 2 }, "{arrived:?}");
    }
}

#[test]
fn jumbo_frames_of_several_parts_are_counted_and_verified() {
    let stream = Stream { sizes: "9018".parse().expect("a size"), ..Stream::default() };
    let jumbo = Compiled::new(&stream, &Place { mtu: Mtu(9000), ..place(IpVersion::V4) }).expect("it fits the MTU");
    let job = Job { streams: vec![jumbo], most: Some(1_000), ..job(&[Stream::default()]) };
    let wire = Wire::up("jumbo");
    for end in [&wire.a, &wire.b] {
        link::set_mtu(end, "wp0", Mtu(9000)).expect("veth takes it");
    }
    let receiver =
        wire.at_b(|| Receiver::attach("wp0", &job.receiver_options())).expect("it takes frames of several parts");
    let send = || AfPacket::open(job.clone())?.send(&AtomicBool::new(false), &AtomicU64::new(0));
    let sent = wire.at_a(send).expect("it is up");
    assert_eq!(sent.streams[0].frames, 1_000);
    let mut damaged = vec![0; 9014];
    job.streams[0].write(&mut damaged, 1_000, Tag::of(job.token, 0, 1_000, 0));
    damaged[9_000] ^= 1;
    wire.at_a(|| Frames::open("wp0", 0x0800)?.send(&damaged)).expect("it is up");
    let received = receiver.read().expect("readable");
    assert_eq!((received.numbered[0].frames, received.numbered[0].corrupt), (1_000, 1), "{received:?}");
    assert_eq!(received.numbered[0].bytes, 1_000 * 9_014);
}

/// A checksum misses words that changed places. One frame in 64 is compared whole, also those of an odd length and of several parts.
#[test]
fn changes_under_a_valid_checksum_are_found_in_compared_frames() {
    let wire = Wire::up("forged");
    for end in [&wire.a, &wire.b] {
        link::set_mtu(end, "wp0", Mtu(9000)).expect("veth takes it");
    }
    for size in [122, 123, 125, 1517, 1518, 9018] {
        let words = format!("[[stream]]\nsizes = \"{size}\"\npayload = \"random seed 7\"");
        let stream = &Stream::parse_file(&words).expect("a stream file")[0];
        let compiled =
            Compiled::new(stream, &Place { mtu: Mtu(9000), ..place(IpVersion::V4) }).expect("it fits the MTU");
        let job = Job { streams: vec![compiled], ..job(&[Stream::default()]) };
        let what = job.receiver_options();
        for (compare, counts) in [(true, (128, 2, 3)), (false, (130, 0, 0))] {
            let receive = ReceiverOptions { compare, ..what.clone() };
            let receiver = wire.at_b(|| Receiver::attach("wp0", &receive)).expect("veth has native XDP");
            wire.at_a(|| {
                let socket = Frames::open("wp0", 0x0800).expect("it is up");
                for sequence in 0..130 {
                    let mut frame = vec![0; size - 4];
                    job.streams[0].write(&mut frame, sequence, Tag::of(job.token, 0, sequence, 0));
                    let last = (frame.len() & !1) - 2;
                    if [0, 1, 128].contains(&sequence) {
                        frame.swap(last, last - 2);
                        frame.swap(last + 1, last - 1);
                    }
                    socket.send(&frame).expect("it is up");
                }
            });
            let received = receiver.read().expect("readable");
            let arrived = &received.numbered[0];
            assert_eq!((arrived.frames, arrived.corrupt, arrived.compared), counts, "{size}: {arrived:?}");
        }
    }
}

#[test]
fn what_nobody_takes_at_the_other_end_is_said_at_once() {
    let job = Job { most: None, ..job(&[Stream::default()]) };
    let wire = Wire::up("nobody");
    let start = Instant::now();
    let error = send(&wire, &job).expect_err("a veth drops them without a word").to_string();
    assert!(error.contains("wp0 took none of the first") && error.contains("gro on"), "{error}");
    assert!(start.elapsed() < Duration::from_secs(5));
}

#[test]
fn what_nobody_takes_at_the_other_end_is_said_of_few_frames_too() {
    let load = Load { rate: Rate::Packets(PacketRate(10_000)), ..Load::default() };
    let job = Job { most: Some(500), ..job(&[Stream { load, ..Stream::default() }]) };
    let error = send(&Wire::up("nobodyfew"), &job).expect_err("a veth drops them without a word").to_string();
    assert!(error.contains("wp0 took none of the first 500 frames"), "{error}");
}

#[test]
fn an_interface_that_vanishes_ends_the_sending_with_its_name() {
    let job = Job { most: None, ..job(&[Stream::default()]) };
    let wire = Wire::up("vanish");
    let _receiver = wire.at_b(|| Receiver::attach("wp0", &job.receiver_options())).expect("veth has native XDP");
    let start = Instant::now();
    let error = thread::scope(|scope| {
        let sending = scope.spawn(|| send(&wire, &job));
        thread::sleep(Duration::from_millis(500));
        link::delete(&wire.b, "wp0").expect("it is there");
        sending.join().expect("no panic").expect_err("nothing can be sent any more").to_string()
    });
    assert!(error.contains("interface wp0") && error.contains("went away"), "{error}");
    assert!(start.elapsed() < Duration::from_secs(10));
}

#[test]
fn a_killed_receiver_leaves_nothing_attached() {
    const HELD: &str = "WIREPROOF_TEST_HELD_NAMESPACE";
    let job = job(&[Stream::default()]);
    if let Ok(namespace) = env::var(HELD) {
        let attach = || Receiver::attach("wp0", &job.receiver_options());
        let _receiver = kernel::namespace::within(&namespace, attach).expect("it exists").expect("veth has native XDP");
        println!("attached");
        thread::sleep(Duration::from_secs(60));
        return;
    }
    let wire = Wire::up("killed");
    let own = env::current_exe().expect("it runs");
    let words = ["--exact", "a_killed_receiver_leaves_nothing_attached", "--nocapture"];
    let mut child = Command::new(own).args(words).env(HELD, &wire.b).stdout(Stdio::piped()).spawn().expect("it runs");
    let lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    assert!(lines.map_while(Result::ok).any(|line| line.ends_with("attached")));
    assert!(wire.link_of_b().contains("prog/xdp"), "{}", wire.link_of_b());
    child.kill().expect("it runs");
    child.wait().expect("it was killed");
    let gone = (0..100).any(|_| {
        thread::sleep(Duration::from_millis(20));
        !wire.link_of_b().contains("xdp")
    });
    assert!(gone, "{}", wire.link_of_b());
}
