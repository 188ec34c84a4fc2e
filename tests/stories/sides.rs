//! One side of numbered packets alone: two independent shells.

use std::process::Child;

use serde_json::Value;

use crate::{
    machine::Snapshot,
    program::{Desk, Done, Speaking, WIREPROOF, done, text},
};

const BED: &str = "side";

fn at(desk: &Desk, end: &str, words: &[&str]) -> Child {
    desk.start(&[&["bed", "exec", BED, end, "--", WIREPROOF, "packets"], words].concat())
}

/// A receiver at end b that is ready.
fn receiver(desk: &Desk, more: &[&str]) -> Speaking {
    Speaking::once(at(desk, "b", &[&["receive", "lab-b"], more].concat()), "Counting")
}

fn sent_by_a(desk: &Desk, more: &[&str]) -> Done {
    let to = if more.contains(&"--to") { &[][..] } else { &["--to", "198.18.0.2"] };
    done(at(desk, "a", &[&["send", "lab-a"], to, more].concat()).wait_with_output().unwrap())
}

fn sum(list: &Value, name: &str) -> u64 {
    list.as_array().unwrap().iter().map(|entry| entry[name].as_u64().unwrap()).sum()
}

#[test]
fn two_shells_send_and_count_whatever_sends() {
    let desk = Desk::new();
    let _bed = desk.bed(BED, &[]);
    for (more, sequences) in [
        (&["--rate", "5 kpps"][..], 1),
        (&["--rate", "5 kpps", "--to", "2001:2::2", "--sizes", "64, 1518", "--engine", "af_packet"], 1),
        (&["--rate", "5 kpps", "--engine", "live", "--flows", "100"], 1),
        (&["--rate", "5 kpps", "--engine", "af_packet", "--cpus", "0,1", "--sizes", "imix"], 2),
    ] {
        let receiver = receiver(&desk, &["--one-clock", "--json"]);
        let sent = sent_by_a(&desk, &[more, &["--duration", "1 s", "--json"]].concat());
        assert_eq!(sent.status, 0, "{more:?}: {}", sent.err);
        let received = receiver.interrupted();
        assert_eq!(received.status, 0, "{more:?}: {}", received.err);
        assert!(received.err.contains("received"), "a line a second: {}", received.err);
        let (sent, received) = (sent.json(), received.json());
        for (shape, document) in [("packets-send", &sent), ("packets-receive", &received)] {
            let schema = jsonschema::validator_for(&desk.run(&["schema", shape]).json()).unwrap();
            assert!(schema.is_valid(document), "{shape}: {document}");
        }
        let list = &received["sequences"];
        let frames = sum(&sent["streams"], "frames");
        assert!(frames > 100 && frames == sum(list, "received"), "{more:?}: {frames} {received}");
        assert_eq!(list.as_array().unwrap().len(), sequences, "{more:?}: {received}");
        for name in ["lost", "duplicated", "corrupt"] {
            assert_eq!(sum(list, name), 0, "{more:?}: {name}: {received}");
        }
        assert!(list[0]["latency_ns"]["min"].as_u64() > Some(0), "{more:?}: {received}");
    }
}

#[test]
fn a_side_ends_after_so_many_frames_and_says_what_it_counted() {
    let desk = Desk::new();
    let _bed = desk.bed(BED, &[]);
    let receiver = receiver(&desk, &["--count", "1000"]);
    let sent = sent_by_a(&desk, &["--count", "1000", "--duration", "1 h", "--rate", "20 kpps"]);
    assert_eq!(sent.status, 0, "{}", sent.err);
    assert!(sent.out.contains("1,000") && sent.err.contains("Sending from lab-a to 198.18.0.2"), "{}", sent.out);
    let received = receiver.ended();
    assert_eq!(received.status, 0, "{}", received.err);
    assert!(received.out.contains("1,000") && received.out.contains("Sequence"), "{}", received.out);
    assert!(!received.out.contains("µs"), "nobody said that both have one clock: {}", received.out);
}

/// Without a receiver at the other end, its veth accepts no XDP frames.
#[test]
fn where_nothing_leaves_by_the_best_engine_the_next_one_sends() {
    let desk = Desk::new();
    let _bed = desk.bed(BED, &[]);
    let words = ["--duration", "300 ms", "--json"];
    let sent = sent_by_a(&desk, &words);
    assert_eq!(sent.status, 0, "{}", sent.err);
    let stream = &sent.json()["streams"][0];
    assert_eq!(stream["engine"], "xsk", "{stream}");
    let why = stream["engine_why"].as_str().unwrap();
    assert!(why.contains("tried before it: engine live cannot be had: lab-a took none of the first"), "{why}");
    assert!(stream["frames"].as_u64() > Some(1000), "{stream}");
    let asked = sent_by_a(&desk, &[&words[..], &["--engine", "live"]].concat());
    asked.fails(1, &["engine live cannot be had: lab-a took none of the first"]);
}

#[test]
fn others_packets_are_not_counted_and_copies_are() {
    let desk = Desk::new();
    let _bed = desk.bed(BED, &[]);
    let waiting = receiver(&desk, &["--token", "7", "--json"]);
    assert_eq!(sent_by_a(&desk, &["--count", "500", "--rate", "5 kpps", "--token", "8"]).status, 0);
    let received = waiting.interrupted().json();
    assert!(received["sequences"] == Value::Array(vec![]) && received["others"].as_u64() >= Some(500), "{received}");

    let waiting = receiver(&desk, &["--json"]);
    for _ in 0..2 {
        assert_eq!(sent_by_a(&desk, &["--count", "500", "--rate", "5 kpps"]).status, 0);
    }
    let received = waiting.interrupted().json();
    let counts = ["received", "duplicated", "lost"].map(|name| sum(&received["sequences"], name));
    assert_eq!(counts, [500, 500, 0], "the second run has the numbers of the first: {received}");
}

/// Hand-made frames of two sequences, sent as a capture: every fault is known.
#[test]
fn what_is_missing_twice_late_or_damaged_is_counted_exactly() {
    let desk = Desk::new();
    let _bed = desk.bed(BED, &[]);
    let frame = |stream: u16, sequence: u64| numbered(stream, sequence);
    let mut frames: Vec<Vec<u8>> = (0..1000).filter(|number| number % 10 != 3).map(|number| frame(3, number)).collect();
    frames.push(frame(3, 500));
    frames.extend([frame(5, 0), frame(5, 2), frame(5, 1)]);
    let mut damaged = frame(5, 3);
    damaged[50] ^= 1;
    frames.push(damaged);
    let mut writer = pcap::Writer::new(Vec::new(), &["eth9"]).unwrap();
    for (place, frame) in (0_u64..).zip(&frames) {
        writer.frame(0, model::Nanos(place * 100_000), frame, frame.len() as u32).unwrap();
    }
    std::fs::write(desk.path("faults.pcapng"), writer.finish().unwrap()).unwrap();
    let streams = desk.path("streams.toml");
    std::fs::write(&streams, "[[stream]]\nreplay = \"faults.pcapng\"\nload = \"as captured\"\n").unwrap();
    let waiting = receiver(&desk, &["--json"]);
    let count = frames.len().to_string();
    let sent = sent_by_a(&desk, &["--stream-file", text(&streams), "--count", &count, "--json"]);
    assert_eq!(sent.status, 0, "{}", sent.err);
    let received = waiting.interrupted().json();
    let names = ["number", "received", "lost", "duplicated", "reordered", "corrupt"];
    let rows: Vec<_> = received["sequences"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| names.map(|name| row[name].as_u64().unwrap()))
        .collect();
    assert_eq!(rows, [[3, 900, 100, 1, 0, 0], [5, 3, 0, 0, 1, 1]], "{received}");
}

fn numbered(stream: u16, sequence: u64) -> Vec<u8> {
    let place = frame::Place {
        source_mac: "02:00:00:00:00:01".parse().unwrap(),
        next_hop_mac: "02:00:00:00:00:02".parse().unwrap(),
        source: "198.18.0.1".parse().unwrap(),
        destination: "198.18.0.2".parse().unwrap(),
        mtu: model::Mtu(1500),
    };
    let compiled = frame::Compiled::new(&model::Stream::default(), &place).unwrap();
    let mut frame = vec![0; compiled.longest()];
    compiled.write(&mut frame, sequence, frame::Tag { stream, sequence, token: 0, time: 0 });
    frame
}

#[test]
fn a_side_that_cannot_be_had_says_why() {
    let desk = Desk::new();
    let before = Snapshot::take();
    let standing = desk.bed(BED, &[]);
    for (words, status, says) in [
        (&["send", "none0", "--to", "198.18.0.2"][..], 1, "there is no such interface"),
        (&["send", "lab-a", "--to", "198.18.0.77"], 1, "nobody has told its MAC address"),
        (&["send", "lab-a", "--to", "here"], 2, "--to"),
        (&["send", "lab-a"], 2, "--to"),
        (&["send", "lab-a", "--to", "198.18.0.2", "--mac", "zz"], 2, "--mac"),
        (&["send", "lab-a", "--to", "198.18.0.2", "--cpus", "9999"], 2, "core 9999"),
        (&["send", "lab-a", "--to", "198.18.0.2", "--duration", "0 s"], 2, "longer than nothing"),
        (&["send", "lab-a", "--to", "198.18.0.2", "--rate", "fast"], 2, "\"flat out\""),
        (&["send", "lab-a", "--to", "198.18.0.2", "--sizes", "9000"], 1, "9000"),
        (&["send", "lab-a", "--to", "198.18.0.2", "--engine", "udp"], 1, "use xsk or af_packet"),
        (&["receive", "none0"], 1, "there is no such interface"),
        (&["receive", "lab-a", "--stream-file", "/nowhere.toml"], 2, "/nowhere.toml"),
    ] {
        let told = done(at(&desk, "a", words).wait_with_output().unwrap());
        told.fails(status, &[says]);
        assert!(!told.err.contains("Sending"), "{words:?}: {}", told.err);
    }
    drop(standing);
    before.assert_same();
}
