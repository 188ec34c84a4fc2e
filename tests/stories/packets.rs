//! Numbered packets: sent, counted, lost, refused.

use serde_json::Value;

use crate::{
    machine::Snapshot,
    measuring::assert_schema,
    planted::Bad,
    program::{Desk, Done, done},
    waiting::soon,
    watch::counted,
};

const BED: &str = "pkts";

const SHORT: [&str; 5] = ["--duration", "500 ms", "--repeats", "1", "--json"];

fn packets(desk: &Desk, words: &[&str]) -> Done {
    desk.run(&[&["packets"], words, &SHORT].concat())
}

/// The trials of a completed run.
fn trials(done: &Done) -> Vec<Value> {
    assert_eq!(done.status, 0, "{}", done.err);
    done.json()["trials"].as_array().unwrap().clone()
}

#[test]
fn packets_are_counted_by_number_whatever_sends_them() {
    let desk = Desk::new();
    let before = Snapshot::take();
    for engine in ["live", "af_packet", "udp"] {
        let done = packets(&desk, &["--rate", "20 kpps", "--engine", engine]);
        let trial = &trials(&done)[0];
        assert_schema(&desk, &done.json());
        assert_eq!((&trial["probe"], &trial["engine"]), (&"packets".into(), &engine.into()));
        let [sent, received, lost] = ["sent", "received", "lost"].map(|name| trial[name].as_u64().unwrap());
        assert!(sent > 1_000 && received + lost == sent, "{engine}: {trial}");
        assert_eq!((&trial["frame_size"], &trial["corrupt"]), (&64.into(), &0.into()), "{engine}");
        assert!(!trial["doubts"].to_string().contains("packets-disagree"), "{engine}: {}", trial["doubts"]);
    }
    before.assert_same();
}

#[test]
fn a_ladder_has_a_trial_for_each_load_and_both_ways_are_counted_by_themselves() {
    let desk = Desk::new();
    let done = packets(&desk, &["--rate", "10kpps..30kpps step 10 kpps", "--direction", "both"]);
    let trials = trials(&done);
    let asked: Vec<_> = trials.iter().map(|trial| trial["intended_pps"].as_f64().unwrap()).collect();
    assert_eq!(asked, [10e3, 20e3, 30e3]);
    for trial in &trials {
        let between = &trial["streams"][0]["inter_arrival_ns"];
        assert!(between["n"].as_u64().unwrap() > 4_000 && between["p99"].is_u64(), "{trial}");
        let ways: Vec<_> = trial["streams"].as_array().unwrap().iter().map(|stream| stream["from"].clone()).collect();
        assert_eq!(ways, ["a", "b"]);
    }
    let report = desk.run(&["report", "last", "--format", "csv", "--json"]);
    assert_eq!(report.status, 0, "{}", report.err);
}

#[test]
fn a_ladder_is_climbed_by_one_engine_although_its_lowest_load_alone_has_another() {
    let desk = Desk::new();
    let engines = |rate: &str| {
        let trials = trials(&packets(&desk, &["--rate", rate]));
        trials.iter().map(|trial| trial["engine"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(engines("10 kpps"), ["xsk"]);
    assert_eq!(engines("10kpps..4Mpps step 3990kpps"), ["live", "live"]);
}

#[test]
fn several_senders_of_a_lab_are_counted_each_and_together() {
    let desk = Desk::new();
    let before = Snapshot::take();
    for engine in ["live", "af_packet", "udp"] {
        let bed = ["--bed", "lab:senders=2", "--engine", engine];
        let done = packets(&desk, &[&bed[..], &["--rate", "5kpps..10kpps step 5 kpps"]].concat());
        assert_schema(&desk, &done.json());
        for trial in trials(&done) {
            let streams = trial["streams"].as_array().unwrap();
            let from: Vec<_> = streams.iter().map(|stream| stream["from"].clone()).collect();
            assert_eq!(from, ["a1", "a2"], "{engine}");
            let count = |of: &Value, name: &str| of[name].as_u64().unwrap();
            for name in ["sent", "received", "lost"] {
                let sum: u64 = streams.iter().map(|stream| count(stream, name)).sum();
                assert_eq!(count(&trial["together"][0], name), sum, "{engine}: {name}");
            }
            for stream in streams {
                let [sent, received, lost] = ["sent", "received", "lost"].map(|name| count(stream, name));
                assert!(sent > 1_000 && received + lost == sent, "{engine}: {stream}");
                assert_eq!((&stream["corrupt"], &stream["duplicated"]), (&0.into(), &0.into()), "{engine}");
            }
            // The bridge counts forwarded packets.
            let bridge = trial["dut"]["deltas"].as_array().unwrap();
            let came = bridge.iter().filter(|delta| delta["name"] == "rx_packets" && delta["of"] != "to-b");
            let came: u64 = came.map(|delta| delta["delta"].as_u64().unwrap()).sum();
            assert!(came >= count(&trial["together"][0], "sent"), "{engine}: {}", trial["dut"]);
        }
    }
    before.assert_same();
}

/// One in a hundred, all of them detected.
#[test]
fn planted_loss_and_copies_of_packets_are_counted() {
    const EVERY: u64 = 100;
    Desk::tell_alone(|desk| {
        let _bed = desk.bed(BED, &[]);
        let bad = Bad::new(desk, BED);
        let counted = || {
            let done = desk.undisturbed(|| packets(desk, &["--bed", BED, "--engine", "udp", "--rate", "20 kpps"]));
            trials(&done).remove(0)
        };
        bad.xdp("lose", EVERY);
        let lossy = counted();
        bad.remove_xdp();
        let [sent, lost] = ["sent", "lost"].map(|name| lossy[name].as_u64().unwrap());
        assert!(sent > 1_000 && lost.abs_diff(sent / EVERY) <= 1, "{lossy}");
        assert_eq!(lossy["loss_at"]["packet filter"], lost, "{}", lossy["loss_at"]);

        bad.tc("duplicate", EVERY);
        let doubled = counted();
        bad.remove_tc();
        let [sent, copies] = ["sent", "duplicated"].map(|name| doubled[name].as_u64().unwrap());
        assert!(copies.abs_diff(sent / EVERY) <= 1, "{doubled}");
        assert_eq!(counted()["lost"], 0);
    });
}

/// Counters up to that time are kept.
#[test]
fn a_link_that_goes_down_meanwhile_leaves_what_was_measured() {
    let desk = Desk::new();
    let _bed = desk.bed(BED, &[]);
    let words = ["packets", "--bed", BED, "--rate", "20 kpps", "--duration", "20 s", "--repeats", "1", "--json"];
    let run = desk.start(&words);
    // The first part is the warm-up.
    assert!(soon(|| counted("wppkts-b", "lab-b")[0][1] >= 120_000), "nothing is sent");
    let bad = Bad::new(&desk, BED);
    bad.at("a", "ip link set lab-a down");
    let done = done(run.wait_with_output().unwrap());
    assert_eq!(done.status, 1, "{}", done.err);
    assert!(done.err.contains("lost its link"), "{}", done.err);
    let document = done.json();
    let trial = &document["trials"][0];
    assert!(trial["received"].as_u64() > Some(1_000) && trial["lost"].is_null(), "{trial}");
    assert_eq!((&document["run"]["partial"], &trial["doubts"][0]["kind"]), (&true.into(), &"unfinished".into()));
}

#[test]
fn what_cannot_be_sent_is_refused_before_anything_is_set_up() {
    let desk = Desk::new();
    let before = Snapshot::take();
    for (words, says) in [
        (&["--frame-sizes", "9000"][..], "does not fit MTU 1500"),
        (&["--frame-sizes", "60"], "use 64 to"),
        (&["--rate", "fast"], "\"flat out\", \"1 Mpps\""),
        (&["--rate", "10 Mpps..1 Mpps"], "lower than its last"),
        (&["--engine", "dpdk"], "use live, xsk, af_packet, udp or pktgen"),
        (&["--imix", "--sizes", "64"], "cannot be used with"),
        (&["--ip", "6", "--mtu", "1000"], "has no IPv6 address"),
        (&["--flows", "1000001"], "1000000"),
        (&["--stream-file", "/nowhere.toml"], "/nowhere.toml"),
        (&["--rate", "50 %"], "takes a line with a rate, and this interface has none"),
        (&["--engine", "udp", "--flows", "2"], "engine udp cannot be had: UDP sockets send plain UDP"),
        (&["--engine", "live", "--mtu", "9000", "--frame-sizes", "9018"], "engine xsk can be had"),
        (&["--bed", "lab:senders=2", "--set", "packets.mtus=[1500, 9000]"], "measure once for each MTU, with --mtu"),
        (&["--bed", "lab:senders=0"], "2 to 16 senders"),
        (&["--bed", "lab:senders=99"], "2 to 16 senders"),
        (&["--bed", "lab:senders=two"], "2 to 16 senders"),
    ] {
        let done = packets(&desk, words);
        assert_eq!(done.status, 2, "{words:?}: {}", done.err);
        assert!(done.err.contains(says), "{words:?}: {}", done.err);
    }
    assert!(desk.runs().is_empty(), "nothing was measured");
    before.assert_same();
}
