//! Sizes that do not pass: failures are reported, and everything else is measured.

use crate::{
    planted::Bad,
    program::{Desk, text},
};

const BED: &str = "holed";

/// Large messages first, so that trials after a failure show.
const PLAN: &str = r#"
name = "sizes"
[[latency]]
protocol = "udp"
frame_sizes = [1518, 64]
count = 200
[[latency]]
protocol = "tcp"
mode = "block"
frame_sizes = [1518, 128]
count = 200
"#;

#[test]
fn a_size_that_does_not_pass_costs_its_own_trials_only() {
    let desk = Desk::new();
    let _bed = desk.bed(BED, &[]);
    let bad = Bad::new(&desk, BED);
    let plan = desk.plan(PLAN);
    bad.tc("drop_large", 1);
    let words = ["verify", text(&plan), "--bed", BED, "--repeats", "1", "--json"];
    let holed = desk.run(&words);
    bad.remove_tc();
    holed.fails(1, &["UDP IPv4 spin 1518 B", "no answer from", "TCP IPv4 block 1518 B", "came no further"]);
    let document = holed.json();
    let sizes = |document: &serde_json::Value| -> Vec<u64> {
        document["trials"].as_array().unwrap().iter().map(|trial| trial["frame_size"].as_u64().unwrap()).collect()
    };
    assert_eq!((sizes(&document), &document["run"]["partial"]), (vec![64, 128], &true.into()));
    let failed = |doubt: &&serde_json::Value| doubt["kind"] == "failed";
    assert_eq!(document["run"]["doubts"].as_array().unwrap().iter().filter(failed).count(), 2);

    let whole = desk.run(&words);
    assert_eq!((whole.status, sizes(&whole.json())), (0, vec![1518, 64, 1518, 128]), "{}", whole.err);
}

/// A path slower than the load: TCP fills its segments.
#[test]
fn messages_that_tcp_joins_are_doubted_and_none_of_them_is_lost() {
    let desk = Desk::new();
    let _bed = desk.bed(BED, &[]);
    let bad = Bad::new(&desk, BED);
    let words = ["latency", "--bed", BED, "--protocol", "tcp", "--frame-sizes", "128", "--rate", "50 kpps"];
    let trial = |duration: &str| {
        let done = desk.run(&[words.as_slice(), &["--duration", duration, "--repeats", "1", "--json"]].concat());
        assert_eq!(done.status, 0, "{}", done.err);
        done.json()["trials"][0].clone()
    };
    bad.at("a", "tc qdisc add dev lab-a root tbf rate 10mbit burst 16kb latency 50ms");
    let joined = trial("2 s");
    bad.at("a", "tc qdisc del dev lab-a root");
    assert!(joined["doubts"].to_string().contains("messages-joined"), "{}", joined["doubts"]);
    assert_eq!(joined["lost"], 0, "over TCP nothing is lost");
    assert!(joined["late"].as_u64() > Some(0), "{}", joined["late"]);
    assert!(joined["segments"].as_u64() < joined["sent"].as_u64(), "{}", joined["segments"]);
}
