//! Captures: recorded, and replayed unchanged.

use std::{fs, io::Write, path::Path, process::Command};

use crate::{
    machine::Snapshot,
    program::{Desk, Done, Speaking, WIREPROOF, text},
};

const BED: &str = "capt";

/// Frames of several kinds, 5 ms apart: ARP, with a VLAN tag, of odd length, and of the MTU's length.
fn frames() -> Vec<Vec<u8>> {
    let frame = |ether_type: [u8; 2], length: usize, fill: u8| {
        let mut frame = vec![fill; length];
        frame[..12].copy_from_slice(&[2, 0, 0, 0, 0, 9, 2, 0, 0, 0, 0, 8]);
        frame[12..14].copy_from_slice(&ether_type);
        frame
    };
    let mut tagged = frame([0x81, 0], 101, 3);
    tagged[14..18].copy_from_slice(&[0x20, 100, 0x88, 0xb5]);
    vec![frame([8, 6], 60, 1), frame([0x88, 0xb5], 61, 2), tagged, frame([0x88, 0xb5], 1514, 4), frame([8, 0], 300, 5)]
}

fn write(file: &Path, frames: &[Vec<u8>]) {
    let mut writer = pcap::Writer::new(Vec::new(), &["eth9"]).unwrap();
    for (place, frame) in (0_u64..).zip(frames) {
        writer.frame(0, model_nanos(place * 5_000_000), frame, frame.len() as u32).unwrap();
    }
    fs::write(file, writer.finish().unwrap()).unwrap();
}

fn model_nanos(nanos: u64) -> model::Nanos {
    model::Nanos(1_700_000_000_000_000_000 + nanos)
}

fn replay(desk: &Desk, file: &Path, more: &[&str]) -> Done {
    let words = ["packets", "--replay", text(file), "--duration", "1 s", "--repeats", "1", "--json"];
    desk.run(&[&words[..], more].concat())
}

/// A running capture at end b of the bed.
fn capture_at_b(desk: &Desk, file: &Path, more: &[&str]) -> Speaking {
    let exec = ["bed", "exec", BED, "b", "--", WIREPROOF, "packets", "capture", "lab-b", text(file)];
    Speaking::once(desk.start(&[&exec[..], more].concat()), "Capturing")
}

#[test]
fn a_capture_is_sent_again_byte_for_byte_and_in_its_rhythm() {
    Desk::tell_alone(|desk| {
        let _bed = desk.bed(BED, &[]);
        let (file, frames) = (desk.path("in.pcapng"), frames());
        write(&file, &frames);
        for engine in ["af_packet", "xsk"] {
            let mut times = 0;
            let (out, sent, captured) = desk.undisturbed(|| {
                times += 1;
                let out = desk.path(&format!("{engine}-{times}.pcapng"));
                let capture = capture_at_b(desk, &out, &[]);
                let sent = replay(desk, &file, &["--bed", BED, "--engine", engine]);
                (out, sent, capture.interrupted())
            });
            assert_eq!(sent.status, 0, "{}", sent.err);
            assert_eq!(captured.status, 0, "{}", captured.err);
            assert!(captured.err.contains("0 dropped"), "{}", captured.err);

            let trial = &sent.json()["trials"][0];
            let [left, came, lost] = ["sent", "received", "lost"].map(|name| trial[name].as_u64().unwrap());
            assert_eq!((came, lost), (left, 0), "{engine}: {trial}");
            assert!(trial["doubts"].to_string().contains("not-numbered"), "{}", trial["doubts"]);
            // 5 frames in each round of 25 ms.
            let pps = trial["offered_pps"].as_f64().unwrap();
            assert!((190.0..=210.0).contains(&pps), "{engine}: {pps}");
            let arrived: Vec<_> = pcap::read(&fs::read(&out).unwrap()).unwrap();
            let ours: Vec<_> = arrived.iter().filter(|frame| frames.contains(&frame.bytes)).collect();
            assert_eq!(ours.len() as u64, left, "{engine}");
            assert!(
                ours.iter().zip(frames.iter().cycle()).all(|(came, left)| came.bytes == *left),
                "{engine}: out of order"
            );
            let mut gaps: Vec<u64> = ours.windows(2).map(|two| two[1].time.0 - two[0].time.0).collect();
            gaps.sort_unstable();
            assert!(gaps[gaps.len() / 2].abs_diff(5_000_000) < 1_000_000, "{engine}: {gaps:?}");
        }
        let fast = ["--bed", BED, "--engine", "af_packet", "--rate", "2 kpps"];
        let faster = desk.undisturbed(|| replay(desk, &file, &fast));
        let sent = faster.json()["trials"][0]["sent"].as_u64().unwrap();
        assert!((1_900..=2_001).contains(&sent), "{sent}");
    });
}

#[test]
fn what_cannot_be_sent_again_says_why() {
    let desk = Desk::new();
    let before = Snapshot::take();
    let file = |name: &str, bytes: &[u8]| {
        let file = desk.path(name);
        fs::write(&file, bytes).unwrap();
        file
    };
    let empty = pcap::Writer::new(Vec::new(), &["eth9"]).unwrap().finish().unwrap();
    let (good, long) = (desk.path("good.pcapng"), desk.path("long.pcapng"));
    write(&good, &frames());
    write(&long, &[&frames()[..], &[vec![6; 1515], vec![7; 9000]]].concat());
    let refused = |file: &Path, more: &[&str], status: i32, says: &str| {
        let done = replay(&desk, file, more);
        assert_eq!(done.status, status, "{file:?}: {}", done.err);
        assert!(done.err.contains(says), "{file:?}: {}", done.err);
    };
    refused(Path::new("/nowhere.pcapng"), &[], 2, "/nowhere.pcapng");
    refused(&file("text", b"a line of text that is long enough"), &[], 2, "neither pcap nor pcapng");
    refused(&file("empty.pcapng", &empty), &[], 2, "no frames");
    refused(&long, &[], 2, "2 of its frames are too long: frame 6 has 1515 bytes, and MTU 1500 lets 1514 through");
    refused(&good, &["--engine", "live"], 2, "engine live cannot be had: it makes all frames itself");
    refused(&good, &["--engine", "udp"], 2, "engine udp");
    refused(&good, &["--flows", "9"], 2, "cannot be used with");
    let streams = desk.path("streams.toml");
    fs::write(&streams, "[[stream]]\nreplay = \"good.pcapng\"\ndscp = 46\n").unwrap();
    let done = desk.run(&["packets", "--stream-file", text(&streams)]);
    assert!(done.status == 2 && done.err.contains("beside replay write name and load alone"), "{}", done.err);
    before.assert_same();
}

/// By the other end, and by a later run with the same sum.
#[test]
fn a_capture_that_was_exchanged_is_refused() {
    let desk = Desk::new();
    let (file, streams) = (desk.path("good.pcapng"), desk.path("streams.toml"));
    write(&file, &frames());
    let meant = pcap::sha256(&fs::read(&file).unwrap());
    let toml = |sha256: &str| format!("[[stream]]\nreplay = \"good.pcapng\"\nreplay_sha256 = \"{sha256}\"\n");
    fs::write(&streams, toml(&meant)).unwrap();
    let words = ["packets", "--stream-file", text(&streams), "--duration", "200 ms", "--repeats", "1", "--json"];
    let done = desk.run(&words);
    assert_eq!(done.status, 0, "{}", done.err);
    assert!(desk.run(&["report", "last", "--json", "--quiet", "--out", text(&desk.path("out"))]).out.contains(&meant));
    write(&file, &frames()[1..]);
    desk.run(&words).fails(2, &["good.pcapng", "it is not the capture that the run is for"]);
}

/// A numbered stream and a capture at the same time, each counted in its own way.
#[test]
fn a_stream_file_may_name_captures_beside_numbered_streams() {
    Desk::tell_alone(|desk| {
        write(&desk.path("voice.pcapng"), &frames());
        let streams = desk.path("streams.toml");
        let toml = "[[stream]]\nname = \"voice\"\nreplay = \"voice.pcapng\"\nload = \"as captured\"\n[[stream]]\nname = \"bulk\"\nload = \"5 kpps\"\n";
        fs::write(&streams, toml).unwrap();
        let words = ["packets", "--stream-file", text(&streams), "--engine", "af_packet"];
        let words = [&words[..], &["--duration", "1 s", "--repeats", "1", "--json"]].concat();
        let done = desk.undisturbed(|| desk.run(&words));
        assert_eq!(done.status, 0, "{}", done.err);
        let document = done.json();
        for (stream, pps) in document["trials"][0]["streams"].as_array().unwrap().iter().zip([200.0, 5000.0]) {
            let [left, came] = ["sent", "received"].map(|name| stream[name].as_u64().unwrap());
            assert!(left == came && (stream["offered_pps"].as_f64().unwrap() - pps).abs() < 0.05 * pps, "{stream}");
        }
    });
}

#[test]
fn chosen_frames_are_captured_and_other_programs_read_them() {
    let desk = Desk::new();
    let _bed = desk.bed(BED, &[]);
    let out = desk.path("out.pcapng");
    let capture = capture_at_b(&desk, &out, &["--filter", "stream udp", "--count", "500", "--json"]);
    let sent = desk.run(&[
        "packets",
        "--bed",
        BED,
        "--rate",
        "5 kpps",
        "--engine",
        "udp",
        "--duration",
        "500 ms",
        "--repeats",
        "1",
        "--json",
    ]);
    assert_eq!(sent.status, 0, "{}", sent.err);
    let port = sent.json()["trials"][0]["sent"].as_u64().unwrap();
    assert!(port > 500);
    let captured = capture.interrupted();
    assert_eq!(captured.status, 0, "{}", captured.err);
    assert_eq!(captured.json()["dropped"], 0);
    let read = Command::new("tshark").args(["-r", text(&out), "-T", "fields", "-e", "udp.length"]).output();
    let read = read.expect("tshark: ./x test installs it");
    let lines = String::from_utf8_lossy(&read.stdout).lines().count() as u64;
    assert_eq!(captured.json()["frames"].as_u64(), Some(lines), "{}", String::from_utf8_lossy(&read.stderr));
}

#[test]
fn a_capture_that_cannot_be_says_why() {
    let desk = Desk::new();
    let there = desk.path("there.pcapng");
    fs::File::create(&there).unwrap().write_all(b"mine").unwrap();
    let new = desk.path("new.pcapng");
    for (words, status, says) in [
        (&["lo", text(&there)][..], 2, "is there already"),
        (&["none0", text(&new)], 1, "wireproof: none0: there is no such interface"),
        (&["lo", text(&new), "--filter", "udp or tcp"], 2, "all of them have to hold"),
        (&["lo", "/nowhere/new.pcapng"], 1, "cannot write /nowhere/new.pcapng"),
    ] {
        let done = desk.run(&[&["packets", "capture"], words].concat());
        assert_eq!(done.status, status, "{words:?}: {}", done.err);
        assert!(done.err.contains(says), "{words:?}: {}", done.err);
    }
    assert_eq!(fs::read(&there).unwrap(), b"mine");
    assert!(!new.exists());
    let done =
        desk.run(&["packets", "capture", "lo", text(&new), "--time", "100 ms", "--filter", "vlan 4000", "--json"]);
    assert_eq!((done.status, done.json()["frames"].as_u64()), (0, Some(0)), "{}", done.err);
    assert_eq!(pcap::read(&fs::read(&new).unwrap()), Err(pcap::PcapError::Empty));
}
