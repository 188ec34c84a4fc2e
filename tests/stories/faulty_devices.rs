//! Searches through devices with a fault: each ends, and says what is wrong.

use std::process::Command;

use serde_json::Value;

use crate::{
    machine::Snapshot,
    planted::Bad,
    program::{Desk, text},
};

const BED: &str = "faulty";

/// A fault at the router's port towards the sender, with its parameter.
struct Faulty {
    fault: &'static str,
    every: u64,
    duration: &'static str,
    /// Whether the report says what is wrong.
    is_named: fn(&Value) -> bool,
}

const FAULTY: [Faulty; 7] = [
    Faulty {
        fault: "all",
        every: 1,
        duration: "500 ms",
        is_named: |run| has_doubt(run, "nothing-arrived") && throughput(run).is_none(),
    },
    Faulty {
        fault: "reflect",
        every: 1,
        duration: "500 ms",
        is_named: |run| has_doubt(run, "nothing-arrived") && throughput(run).is_none(),
    },
    Faulty { fault: "lose", every: 10_000, duration: "500 ms", is_named: |run| loses(run, 1e-5, 1e-3) },
    // Each trial has a whole outage.
    Faulty { fault: "away", every: 700, duration: "1100 ms", is_named: |run| has_doubt(run, "outage") },
    // It is back before the search ends, which goes on.
    Faulty {
        fault: "reboot",
        every: 700,
        duration: "500 ms",
        is_named: |run| has_doubt(run, "outage") && !is_lost(run["trials"].as_array().unwrap().last().unwrap()),
    },
    Faulty { fault: "degrade", every: 20_000, duration: "500 ms", is_named: |run| loses(run, 1e-3, 1.0) },
    Faulty {
        fault: "learn",
        every: 40,
        duration: "500 ms",
        is_named: |run| has_doubt(run, "outage") || loses(run, 1e-3, 1.0),
    },
];

/// All kinds of doubts of a run's trials.
fn has_doubt(run: &Value, kind: &str) -> bool {
    let trials = run["trials"].as_array().unwrap();
    trials.iter().flat_map(|trial| trial["doubts"].as_array().unwrap()).any(|doubt| doubt["kind"] == kind)
}

/// Whether nothing arrived in a trial.
fn is_lost(trial: &Value) -> bool {
    trial["received"] == 0
}

fn size(run: &Value) -> &Value {
    &run["rfc2544"][0]["sizes"][0]
}

fn throughput(run: &Value) -> Option<f64> {
    size(run)["throughput"]["load_pps"].as_f64()
}

/// Whether the loss test saw a loss between these shares at the highest load.
fn loses(run: &Value, least: f64, most: f64) -> bool {
    let rungs = size(run)["loss"].as_array().unwrap();
    rungs.iter().any(|rung| (least..=most).contains(&rung["loss_ratio"].as_f64().unwrap()))
}

const TESTS: [&str; 8] =
    ["--tests", "throughput,loss", "--rate", "1 kpps..50 kpps", "--frame-sizes", "64", "--lang", "en"];

#[test]
fn no_device_with_a_fault_hangs_a_search_and_each_is_named() {
    let desk = Desk::new();
    let before = Snapshot::take();
    {
        let _bed = desk.bed(BED, &["--bed", "lab:router"]);
        let bad = Bad::new(&desk, BED);
        for Faulty { fault, every, duration, is_named } in FAULTY {
            bad.xdp_at("to-a", fault, every);
            let done = desk.run(&[&["rfc2544", "--bed", BED, "--json", "--duration", duration][..], &TESTS].concat());
            bad.remove_xdp_at("to-a");
            assert_eq!(done.status, 0, "{fault}: {}", done.err);
            let run = done.json();
            assert!(is_named(&run), "{fault}: {:#} {:#}", run["rfc2544"], run["trials"][0]["doubts"]);
        }
        // Forwards one way alone: with both, no load is a throughput.
        bad.xdp_at("to-b", "all", 1);
        let both =
            [&["rfc2544", "--bed", BED, "--directions", "both", "--json", "--duration", "500 ms"][..], &TESTS].concat();
        let done = desk.run(&both);
        bad.remove_xdp_at("to-b");
        assert_eq!(done.status, 0, "{}", done.err);
        let run = done.json();
        let from_b = run["trials"][0]["doubts"].as_array().unwrap().iter().any(|it| it["from"] == "b");
        assert!(throughput(&run).is_none() && from_b, "{:#}", run["trials"][0]["doubts"]);
    }
    before.assert_same();
}

/// A throughput and a loss test at 128 bytes, which have room for a payload.
fn tested(desk: &Desk, rate: &str, duration: &str) -> Value {
    let words =
        ["rfc2544", "--bed", BED, "--tests", "throughput,loss", "--frame-sizes", "128", "--lang", "en", "--json"];
    let done = desk.run(&[&words[..], &["--rate", rate, "--duration", duration]].concat());
    assert_eq!(done.status, 0, "{}", done.err);
    done.json()
}

/// The first doubt of this kind.
fn doubt<'r>(run: &'r Value, kind: &str) -> &'r Value {
    let trials = run["trials"].as_array().unwrap();
    let mut all = trials.iter().flat_map(|trial| trial["doubts"].as_array().unwrap());
    all.find(|doubt| doubt["kind"] == kind).unwrap_or_else(|| panic!("{kind}: {:#}", trials[0]))
}

#[test]
fn a_device_that_sends_out_of_a_wrong_port_is_named_with_the_port() {
    let desk = Desk::new();
    let before = Snapshot::take();
    {
        let _bed = desk.bed(BED, &["--bed", "lab:router"]);
        let bad = Bad::new(&desk, BED);
        for words in ["add to-c type veth peer name far-c", "set to-c up", "set far-c up"] {
            bad.at("router", &format!("ip link {words}"));
        }
        bad.generic_xdp_at("to-a", "misroute", bad.reads("router", "/sys/class/net/to-c/ifindex"));
        let run = tested(&desk, "1 kpps..50 kpps", "500 ms");
        bad.at("router", "ip link set dev to-a xdpgeneric off");
        assert!(throughput(&run).is_none());
        let wrong = doubt(&run, "wrong-port");
        assert!(wrong["port"] == "to-c" && wrong["packets"].as_u64() > Some(20_000), "{wrong}");

        bad.tc_at("to-a", "ingress", "back", 1);
        let run = tested(&desk, "1 kpps..50 kpps", "500 ms");
        bad.at("router", "tc qdisc del dev to-a clsact");
        let wrong = doubt(&run, "wrong-port");
        assert!(throughput(&run).is_none() && wrong["port"] == "a", "{wrong}");
    }
    before.assert_same();
}

#[test]
fn a_device_that_copies_or_changes_frames_is_named() {
    let desk = Desk::new();
    let before = Snapshot::take();
    {
        let _bed = desk.bed(BED, &["--bed", "lab:router"]);
        let bad = Bad::new(&desk, BED);
        bad.xdp_at("to-a", "corrupt", 1_000);
        let run = tested(&desk, "1 kpps..50 kpps", "500 ms");
        bad.remove_xdp_at("to-a");
        assert!(loses(&run, 5e-4, 5e-3), "a changed frame is a lost one: {:#}", size(&run));
        assert!(doubt(&run, "corrupted")["packets"].as_u64() >= Some(20));

        bad.tc_at("to-b", "egress", "duplicate", 1_000);
        let run = tested(&desk, "1 kpps..50 kpps", "500 ms");
        bad.at("router", "tc qdisc del dev to-b clsact");
        assert!(doubt(&run, "duplicated")["packets"].as_u64() >= Some(20));
        assert!(!has_doubt(&run, "corrupted"));
    }
    before.assert_same();
}

#[test]
fn a_device_that_lets_frames_overtake_each_other_is_named() {
    let desk = Desk::new();
    let before = Snapshot::take();
    {
        let _bed = desk.bed(BED, &["--bed", "lab:router"]);
        let bad = Bad::new(&desk, BED);
        // Two consecutive frames on a slow path, which has tokens for one: the second falls behind later ones.
        for words in [
            "qdisc add dev to-b root handle 1: htb default 10",
            "class add dev to-b parent 1: classid 1:10 htb rate 90gbit quantum 60000",
            "class add dev to-b parent 1: classid 1:20 htb rate 1mbit burst 20 quantum 1500",
        ] {
            bad.at("router", &format!("tc {words}"));
        }
        bad.tc_at("to-b", "egress", "reorder", 1_000);
        let run = tested(&desk, "1 kpps..50 kpps", "500 ms");
        assert!(doubt(&run, "reordered")["packets"].as_u64() >= Some(10));
        assert!(!has_doubt(&run, "duplicated") && throughput(&run).is_some(), "{:#}", size(&run));
    }
    before.assert_same();
}

#[test]
fn a_device_whose_link_flaps_is_named_and_its_outages_are_timed() {
    let desk = Desk::new();
    let before = Snapshot::take();
    {
        let _bed = desk.bed(BED, &["--bed", "lab:router"]);
        // A link that is down now and then, once the run has begun.
        let flaps = "sleep 2; for round in $(seq 120); do ip link set to-b down; sleep 0.3; ip link set to-b up; sleep 0.7; done";
        let mut router = Command::new("ip");
        router.args(["netns", "exec", &format!("wp{BED}-router"), "sh", "-c", flaps]);
        let mut router = router.spawn().unwrap();
        let run = tested(&desk, "1 kpps..50 kpps", "1500 ms");
        router.kill().unwrap();
        router.wait().unwrap();
        let lost = doubt(&run, "link-lost");
        assert!(lost["endpoint"] == "b" && lost["times"].as_u64() >= Some(1), "{lost}");
        let outage = doubt(&run, "outage");
        let seconds = outage["seconds"].as_f64().unwrap();
        assert!(outage["to"] == "b" && (0.2..2.0).contains(&seconds), "{outage}");
        assert!(loses(&run, 1e-3, 1.0), "{:#}", size(&run));
        let report =
            desk.run(&["report", "last", "--format", "md", "--out", text(&desk.path("flaps")), "--lang", "en"]);
        assert_eq!(report.status, 0, "{}", report.err);
        let page = std::fs::read_to_string(desk.path("flaps").join("report.md")).unwrap();
        assert!(page.contains("The interface of endpoint b lost its link"), "{page}");
    }
    before.assert_same();
}

#[test]
fn a_loss_of_one_in_a_million_takes_a_longer_trial_and_no_shorter_one_excludes_it() {
    Desk::tell_alone(|desk| {
        let _bed = desk.bed(BED, &["--bed", "lab:router"]);
        let bad = Bad::new(desk, BED);
        bad.xdp_at("to-a", "lose", 1_000_000);
        let short = tested(desk, "100 kpps..200 kpps", "300 ms");
        let at = &size(&short)["throughput"];
        let frames = at["frames"].as_u64().unwrap_or_else(|| panic!("{:#}", size(&short)));
        assert!((20_000..200_000).contains(&frames) && at["lost"] == 0, "{at:#}");
        let report =
            desk.run(&["report", "last", "--format", "md", "--out", text(&desk.path("short")), "--lang", "en"]);
        assert_eq!(report.status, 0, "{}", report.err);
        let page = std::fs::read_to_string(desk.path("short").join("report.md")).unwrap();
        assert!(page.contains(&format!("0 of {},{:03}", frames / 1000, frames % 1000)), "{page}");
        // More than a million frames in each trial.
        let long = tested(desk, "190 kpps..200 kpps", "6 s");
        assert!(throughput(&long).is_none() && loses(&long, 3e-7, 4e-6), "{:#}", size(&long));
    });
}

#[test]
fn a_device_that_stops_forwarding_for_300_ms_is_timed() {
    Desk::tell_alone(|desk| {
        let _bed = desk.bed(BED, &["--bed", "lab:router"]);
        // It stops 700 ms after its program came, for the first time within the trial.
        let object = Bad::new(desk, BED).compile(1_000);
        let stops = format!("ip -n wp{BED}-router link set dev to-a xdp obj {} sec xdp/away", text(&object));
        let words = ["rfc2544", "--bed", BED, "--tests", "reset", "--rate", "1 kpps..5 kpps", "--frame-sizes", "64"];
        let more = ["--duration", "300 ms", "--reset-duration", "2200 ms", "--reset-by", &stops, "--json"];
        let done = desk.run(&[&words[..], &more].concat());
        assert_eq!(done.status, 0, "{}", done.err);
        let run = done.json();
        let reset = &size(&run)["reset"];
        // A sender that shares its core sends less than it is counted with.
        let by = |key: &str| reset[key].as_f64().unwrap_or_else(|| panic!("{reset:#} {}", done.err));
        assert!((0.29..0.45).contains(&by("by_time_s")) && (0.1..0.6).contains(&by("by_loss_s")), "{reset:#}");
        assert_eq!((&reset["is_seen"], &reset["is_back"]), (&true.into(), &true.into()), "{reset:#}");
        assert!(!has_doubt(&run, "outage"), "a reset is asked for");
    });
}

#[test]
fn goals_that_no_search_can_meet_are_refused_before_anything_is_sent() {
    let desk = Desk::new();
    let goals = desk.path("goals.toml");
    for (line, says) in [
        ("width = 0", "width"),
        ("width = \"-1 %\"", "width"),
        ("exceed_ratio = 1", "exceed_ratio"),
        ("loss_ratio = 1", "loss_ratio"),
        ("duration_sum = \"0 s\"", "duration_sum"),
        ("final_trial_duration = \"0 s\"", "final_trial_duration"),
    ] {
        let key = line.split(' ').next().unwrap();
        let all = ["final_trial_duration = \"1 s\"", "duration_sum = \"1 s\"", "loss_ratio = 0", "exceed_ratio = 0"];
        let others = all.into_iter().filter(|other| !other.starts_with(key));
        let text_of_goal: Vec<&str> = ["[[goal]]", "name = \"g\""].into_iter().chain(others).chain([line]).collect();
        std::fs::write(&goals, text_of_goal.join("\n")).unwrap();
        desk.run(&["rfc2544", "--goals", text(&goals), "--rate", "1 Mpps"]).fails(2, &["goals.toml", says]);
        assert!(!desk.path("runs.db").exists(), "{line}");
    }
}
