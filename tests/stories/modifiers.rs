//! Tests of RFC 2544 that are made again under its modifiers (section 11).

use std::{fs, process::Command};

use serde_json::Value;

use crate::{
    machine::{Snapshot, agents},
    other_host::signal,
    program::{Desk, text},
    rfc2544::QUICK,
    waiting::soon,
};

/// Tables of nftables in a namespace of this story.
fn tables(namespace: &str) -> String {
    let listed = Command::new("ip").args(["netns", "exec", namespace, "nft", "list", "tables"]).output().unwrap();
    assert!(listed.status.success(), "{}", String::from_utf8_lossy(&listed.stderr));
    String::from_utf8_lossy(&listed.stdout).into_owned()
}

/// Results of each modifier, in the order of the tests.
fn results(run: &Value) -> Vec<(&str, f64)> {
    let sizes = run["rfc2544"][0]["sizes"].as_array().unwrap();
    let result = |size: &'_ Value| size["throughput"]["load_pps"].as_f64().unwrap_or_else(|| panic!("{size:#}"));
    sizes.iter().map(|size| (size["modifier"].as_str().unwrap_or("none"), result(size))).collect()
}

/// Frames sent and received of the broadcasts in a trial that has some.
fn broadcasts(run: &Value) -> Option<(u64, u64, u64)> {
    let trial = run["trials"].as_array().unwrap().iter().find(|trial| trial["modifier"] == "broadcast")?;
    let count = |stream: usize, key: &str| trial["streams"][stream][key].as_u64().unwrap();
    assert_eq!(trial["streams"][1]["stream"], "broadcasts beside stream", "{trial:#}");
    assert_eq!(trial["doubts"].as_array().unwrap().iter().find(|it| it["kind"] == "broadcast-share"), None);
    Some((count(0, "sent"), count(1, "sent"), count(1, "received")))
}

#[test]
fn all_tests_are_made_again_under_each_modifier() {
    Desk::tell_alone(|desk| {
        let all = ["--modifiers", "broadcast,1-filter,25-filters"];
        let done = desk.run(&[&QUICK[..], &all, &["--bed", "lab:router", "--lang", "en"]].concat());
        assert_eq!(done.status, 0, "{}", done.err);
        let run = done.json();
        let modifiers: Vec<&str> = results(&run).into_iter().map(|(modifier, _)| modifier).collect();
        assert_eq!(modifiers, ["none", "broadcast", "1-filter", "25-filters"]);
        // A router drops broadcasts, and none of them counts as lost.
        let (frames, sent, received) = broadcasts(&run).expect("a trial with broadcasts");
        assert!(sent.abs_diff(frames / 100) <= 2 && received == 0, "{frames} {sent} {received}");
        assert_eq!(run["rfc2544"][0]["filters"].as_array().unwrap().len(), 2);

        let out = desk.path("report");
        let report = desk.run(&["report", "last", "--format", "md,csv", "--out", text(&out), "--lang", "en"]);
        assert_eq!(report.status, 0, "{}", report.err);
        assert!(report.out.contains("128, 25 filters"), "{}", report.out);
        let file = |ending: &str| {
            let mut files = fs::read_dir(&out).unwrap().map(|entry| entry.unwrap().path());
            fs::read_to_string(files.find(|path| text(path).ends_with(ending)).unwrap()).unwrap()
        };
        let (page, rows) = (file(".md"), file(".csv"));
        for words in ["1 % broadcasts", "ip saddr 198.18.0.124 ip daddr 198.19.0.124 drop", "not tested: management"] {
            assert!(page.contains(words), "{words}: {page}");
        }
        assert!(rows.lines().any(|row| row.contains("25-filters")), "{rows}");
    });
}

#[test]
fn a_bridge_passes_broadcasts_on_and_what_its_filters_let_through() {
    Desk::tell_alone(|desk| {
        let all = ["--modifiers", "broadcast,25-filters", "--ip", "6"];
        let done = desk.run(&[&QUICK[..], &all, &["--bed", "lab:bridge"]].concat());
        assert_eq!(done.status, 0, "{}", done.err);
        let run = done.json();
        assert_eq!(results(&run).len(), 3);
        let (frames, sent, received) = broadcasts(&run).expect("a trial with broadcasts");
        assert!(sent.abs_diff(frames / 100) <= 2 && received > sent / 2, "{frames} {sent} {received}");
        assert!(run["rfc2544"][0]["filters"][0].as_str().unwrap().starts_with("table bridge"));
    });
}

#[test]
fn filters_are_undone_after_the_run_and_after_a_crash() {
    let desk = Desk::new();
    let before = Snapshot::take();
    {
        let _bed = desk.bed("filtered", &["--bed", "lab:router"]);
        let (device, long) =
            ("wpfiltered-router", ["--bed", "filtered", "--modifiers", "25-filters", "--duration", "4 s"]);
        let words: Vec<&str> = QUICK.iter().copied().filter(|word| !["--duration", "300 ms"].contains(word)).collect();
        let words = [&words[..], &long].concat();
        let is_set = || tables(device).contains("wireproof_filters");
        // The first ones only show that they can be had.
        let is_measured = |runs: usize| {
            let stored = if desk.path("runs.db").exists() { desk.runs() } else { vec![] };
            is_set() && stored.len() == runs && stored.iter().all(|run| run["trials"].as_u64() > Some(0))
        };
        let mut run = desk.start(&words);
        assert!(soon(|| is_measured(1)), "the filters are set");
        signal(run.id(), "-KILL");
        run.wait().unwrap();
        assert!(soon(|| !is_set()), "the agent undoes them");
        let mut run = desk.start(&words);
        assert!(soon(|| is_measured(2)), "the filters are set");
        // A controller that stands still does not answer the end of its agents.
        signal(run.id(), "-STOP");
        agents().into_iter().chain([run.id()]).for_each(|pid| signal(pid, "-KILL"));
        run.wait().unwrap();
        assert!(is_set(), "nobody is left to undo them");
        let clean = desk.run(&["clean"]);
        assert!(
            clean.status == 0 && clean.out.contains("25 filters in wpfiltered-router"),
            "{} {}",
            clean.out,
            clean.err
        );
        assert!(!is_set());
    }
    before.assert_same();
}

#[test]
fn modifiers_that_cannot_be_had_are_refused_before_anything_is_sent() {
    let desk = Desk::new();
    let refused = |more: &[&str], status: i32, says: &[&str]| {
        desk.run(&[&QUICK[..], more].concat()).fails(status, says);
        assert!(!desk.path("runs.db").exists() || desk.runs().is_empty(), "{more:?}");
    };
    for bed in ["lab", "lab:xdp-router", "lab:ovs", "lab:vswitch"] {
        refused(&["--bed", bed, "--modifiers", "1-filter"], 2, &["lab:router or lab:bridge", "leave the modifier out"]);
    }
    refused(&["--bed", "lab:router", "--modifiers", "management"], 2, &["SNMP", "leave it out"]);
    refused(&["--bed", "lab:router", "--modifiers", "1-filter,1-filter"], 2, &["each modifier once"]);
    // Mounts of a story are its own.
    let hide = |words: &[&str]| assert!(Command::new("mount").args(words).status().unwrap().success());
    hide(&["--bind", "/dev/null", "/usr/sbin/nft"]);
    refused(&["--bed", "lab:router", "--modifiers", "25-filters"], 1, &["nft", "not installed", "nftables"]);
    assert!(Command::new("umount").arg("/usr/sbin/nft").status().unwrap().success());
}

/// Routes at the device that updates delete and add.
fn updated_routes(namespace: &str) -> usize {
    let listed = Command::new("ip").args(["-n", namespace, "route"]).output().unwrap();
    assert!(listed.status.success(), "{}", String::from_utf8_lossy(&listed.stderr));
    String::from_utf8_lossy(&listed.stdout).lines().filter(|line| line.starts_with("198.19.0.1")).count()
}

#[test]
fn routes_of_the_device_change_during_the_tests_and_are_gone_afterwards() {
    let desk = Desk::new();
    let before = Snapshot::take();
    {
        let _bed = desk.bed("updated", &["--bed", "lab:router"]);
        let device = "wpupdated-router";
        let words: Vec<&str> = QUICK.iter().copied().filter(|word| !["--duration", "300 ms"].contains(word)).collect();
        let long = ["--bed", "updated", "--modifiers", "route-updates", "--duration", "3 s"];
        let words = [&words[..], &long].concat();
        // Other trials come first.
        let change = || [64, 0, 64, 0].into_iter().all(|routes| soon(|| updated_routes(device) == routes));
        let run = desk.start(&words);
        assert!(change(), "routes come and go");
        assert!(run.wait_with_output().unwrap().status.success());
        assert_eq!(updated_routes(device), 0);

        let mut run = desk.start(&words);
        assert!(change(), "routes come and go");
        signal(run.id(), "-KILL");
        run.wait().unwrap();
        assert!(soon(|| agents().is_empty()), "the agents end");
        assert_eq!(updated_routes(device), 0, "the agent undoes them");
    }
    before.assert_same();
}

#[test]
fn routers_forward_while_their_routes_change() {
    Desk::tell_alone(|desk| {
        for bed in ["lab:router", "lab:xdp-router"] {
            for ip in ["4", "6"] {
                let more = ["--modifiers", "route-updates", "--bed", bed, "--ip", ip];
                let done = desk.run(&[&QUICK[..], &more].concat());
                assert_eq!(done.status, 0, "{}", done.err);
                let modifiers =
                    results(&done.json()).iter().map(|(modifier, _)| modifier.to_string()).collect::<Vec<_>>();
                assert_eq!(modifiers, ["none", "route-updates"]);
            }
        }
        let out = desk.path("report");
        let report = desk.run(&["report", "last", "--format", "md", "--out", text(&out), "--lang", "en"]);
        assert_eq!(report.status, 0, "{}", report.err);
        let page = fs::read_to_string(out.join("report.md")).unwrap();
        assert!(page.contains("64 routes of the device") && page.contains("route updates"), "{page}");
    });
    let desk = Desk::new();
    for bed in ["lab", "lab:bridge", "lab:ovs"] {
        let more = ["--bed", bed, "--modifiers", "route-updates"];
        desk.run(&[&QUICK[..], &more].concat())
            .fails(2, &["lab:router or lab:xdp-router", "BIRD", "leave the modifier out"]);
    }
}
