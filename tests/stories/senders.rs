//! Several hosts that send to this one.

use std::{
    fs,
    process::{Child, Command},
    time::{Duration, Instant},
};

use serde_json::Value;

use crate::{
    faults::wait_for_trials,
    machine::Snapshot,
    other_host::{NEAR, OtherHost, signal},
    program::{Desk, Done, done, text},
    waiting::within,
};

/// Three hosts: a bridge of the first one connects the wires of the other two.
struct Three {
    before: Snapshot,
    wires: [String; 2],
    senders: [OtherHost; 2],
    desk: Desk,
}

const PLAN: &str = r#"
name = "senders"
[[path]]
[[latency]]
protocol = "udp"
frame_sizes = [64]
count = 500
warmup = 50
[[goodput]]
protocol = "tcp"
duration = "2 s"
warmup = "100 ms"
[[goodput]]
protocol = "udp"
rate = "100 Mbit/s"
duration = "1 s"
warmup = "100 ms"
[[limits]]
metric = "goodput_mean"
protocol = "udp"
at_least = "195 Mbit/s"
[[limits]]
metric = "rtt_p50"
at_most = "1 s"
"#;

impl Three {
    fn new() -> Self {
        let desk = Desk::alone();
        let first = OtherHost::with_tmp("size=1g");
        let second = OtherHost::beside(&first);
        for line in [
            "link add br0 type bridge",
            "addr del 198.18.101.1/24 dev wire-n",
            "link set wire-n master br0",
            "link set wire-n2 master br0",
            "addr add 198.18.101.1/24 dev br0",
            "link set br0 up",
        ] {
            let done = Command::new("ip").args(["-n", NEAR]).args(line.split(' ')).output().unwrap();
            assert!(done.status.success(), "{line}: {}", String::from_utf8_lossy(&done.stderr));
        }
        Self { before: Snapshot::take(), wires: [first.wire(), second.wire()], senders: [first, second], desk }
    }

    fn bed(&self) -> String {
        let [a, b] = [&self.senders[0].address, &self.senders[1].address];
        let end = |host: u8| format!("dev=wire-f&addr=198.18.101.{host}/24");
        format!("hosts:ssh://root@{a}?{},ssh://root@{b}?{}", end(2), end(3))
    }

    fn start(&self, words: &[&str]) -> Child {
        let first = &self.senders[0];
        let bed = ["--bed", &self.bed(), "--ssh", &first.ssh(), "--cpus", "0,1"];
        first.program(&self.desk, &[words, &bed].concat()).spawn().unwrap()
    }

    fn run(&self, words: &[&str]) -> Done {
        done(self.start(words).wait_with_output().unwrap())
    }

    /// All hosts are as they were.
    fn assert_same(&self) {
        self.before.assert_same();
        let wires = || [self.senders[0].wire(), self.senders[1].wire()];
        within(Duration::from_secs(12), || wires() == self.wires);
        assert_eq!(wires(), self.wires, "the other hosts are not as they were");
    }
}

fn flows(trial: &Value) -> Vec<(&str, &str, f64)> {
    let flows = trial["flows"].as_array().unwrap();
    let bps = |flow: &Value| flow["goodput_bps"]["mean"].as_f64().unwrap();
    flows.iter().map(|flow| (flow["from"].as_str().unwrap(), flow["to"].as_str().unwrap(), bps(flow))).collect()
}

#[test]
fn several_hosts_send_to_this_one_at_once_and_take_turns_with_round_trips() {
    let story = Three::new();
    let plan = story.desk.plan(PLAN);
    let verify = story.run(&["verify", text(&plan), "--json"]);
    assert_eq!(verify.status, 4, "one trial of each is too few for a verdict: {}", verify.err);
    story.assert_same();
    let document = verify.json();
    let ends: Vec<_> = document["bed"]["endpoints"].as_array().unwrap().iter().map(|end| &end["machine"]).collect();
    let here = document["environment"]["before"]["hosts"][0]["hostname"].clone();
    assert_eq!(ends, [&Value::from("far-host"), &Value::from("third-host"), &here]);

    let trials = document["trials"].as_array().unwrap();
    let order: Vec<_> = trials
        .iter()
        .map(|trial| format!("{} {}", trial["probe"].as_str().unwrap(), trial["endpoint_from"].as_str().unwrap()))
        .collect();
    assert_eq!(order, ["path a1", "path a2", "latency a1", "latency a2", "goodput a1", "goodput a1"]);
    for trial in &trials[4..] {
        let flows = flows(trial);
        let names: Vec<_> = flows.iter().map(|(from, to, _)| format!("{from} {to}")).collect();
        assert_eq!(names, ["a1 b", "a2 b"], "{trial}");
        let sum: f64 = flows.iter().map(|(.., bps)| bps).sum();
        let total = trial["total_bps"]["mean"].as_f64().unwrap();
        assert!((total - sum).abs() < 1.0 && flows.iter().all(|(.., bps)| *bps > 0.0), "{total} {flows:?}");
        let shares: f64 = trial["flows"].as_array().unwrap().iter().map(|flow| flow["share"].as_f64().unwrap()).sum();
        assert!((shares - 1.0).abs() < 1e-9, "{shares}");
        assert_eq!(trial["other_senders"][0]["counters"]["endpoint"], "a2");
        assert!(!trial["doubts"].to_string().contains("disagree"), "{}", trial["doubts"]);
    }
    let udp = flows(&trials[5]);
    assert!(udp.iter().all(|(.., bps)| (*bps - 1e8).abs() < 2e6), "each sends what was asked for: {udp:?}");
    let limits = document["limits"].as_array().unwrap();
    let probes: Vec<_> = limits.iter().map(|limit| limit["probe"].as_str().unwrap()).collect();
    assert!(probes[1].ends_with("from a1") && probes[2].ends_with("from a2"), "{probes:?}");
    assert!(limits[0]["median"].as_f64().unwrap() > 1.95e8, "both together: {}", limits[0]);
    let report = fs::read_to_string(story.desk.path("out").join("report.html")).unwrap();
    assert!(report.contains("All ends together") && report.contains("a1, a2 → b"));
}

#[test]
fn one_of_several_senders_that_is_lost_leaves_what_there_was() {
    let story = Three::new();
    let plan =
        story.desk.plan("name = \"long\"\n[[goodput]]\nprotocol = \"tcp\"\nduration = \"60 s\"\nwarmup = \"100 ms\"\n");
    let run = story.start(&["verify", text(&plan), "--json"]);
    // Stored every five seconds.
    wait_for_trials(&story.desk, 1);
    let lost = Instant::now();
    story.senders[1].connections().into_iter().for_each(|pid| signal(pid, "-KILL"));
    let ended = done(run.wait_with_output().unwrap());
    ended.fails(1, &["agent at endpoint a2 on third-host", "ended unexpectedly", "third-host undoes by itself"]);
    let document = ended.json();
    assert_eq!(document["run"]["partial"], true);
    let trial = &document["trials"][0];
    assert!(trial["doubts"].to_string().contains("unfinished"), "{trial}");
    let flows = flows(trial);
    assert!(flows.len() == 2 && flows.iter().all(|(.., bps)| *bps > 0.0), "{flows:?}");
    story.assert_same();
    assert!(lost.elapsed() < Duration::from_secs(25), "{:?}", lost.elapsed());
}

#[test]
fn senders_that_cannot_be_meant_are_refused() {
    let story = Three::new();
    let [first, second] = &story.senders;
    let refused = |bed: String, status: i32, says: &[&str]| {
        let ssh = first.ssh();
        let words = ["latency", "--count", "10", "--bed", &bed, "--ssh", &ssh];
        done(first.program(&story.desk, &words).output().unwrap()).fails(status, says);
    };
    let [a, b] = [&first.address, &second.address];
    refused(
        format!("hosts:ssh://root@{a}?dev=wire-f&addr=198.18.101.2/24,ssh://root@{a}?dev=wire-f"),
        1,
        &["are one host"],
    );
    refused(
        format!("hosts:ssh://root@{a}?dev=wire-f&addr=198.18.101.2/24,ssh://root@{b}?dev=control-f"),
        1,
        &["several interfaces", "near-dev="],
    );
    refused(format!("hosts:ssh://root@{a}?dev=wire-f,ssh://root@{b}"), 2, &["interface of the far end is not named"]);
    story.assert_same();
}
