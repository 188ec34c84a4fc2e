//! Going on with runs that were cut off.

use std::{
    process::Command,
    thread,
    time::{Duration, Instant},
};

use crate::{
    machine::Snapshot,
    program::{Desk, text},
};

/// Six short trials, each different from the one before, and none of which is over at once.
const SLOW: &str = r#"
name = "slow"
repeats = 3
[[latency]]
protocol = "udp"
frame_sizes = [64]
duration = "700 ms"
warmup = 10
[[goodput]]
protocol = "tcp"
duration = "1 s"
warmup = "100 ms"
"#;

fn trials(desk: &Desk) -> u64 {
    if desk.path("runs.db").exists() { desk.runs().first().map_or(0, |run| run["trials"].as_u64().unwrap()) } else { 0 }
}

/// Waits until the run under way has this many trials.
fn wait_for(desk: &Desk, wanted: u64) {
    let until = Instant::now() + Duration::from_secs(60);
    while trials(desk) < wanted {
        assert!(Instant::now() < until, "{wanted} trials do not come");
        thread::sleep(Duration::from_millis(100));
    }
}

fn kill(pid: u32) {
    assert!(Command::new("kill").args(["-KILL", &pid.to_string()]).status().unwrap().success());
}

#[test]
fn a_run_that_was_killed_twice_comes_to_its_end() {
    let desk = Desk::new();
    let before = Snapshot::take();
    let plan = desk.plan(SLOW);
    let mut run = desk.start(&["verify", text(&plan), "--quiet"]);
    wait_for(&desk, 2);
    kill(run.id());
    run.wait().unwrap();
    let mut again = desk.start(&["resume", "--quiet"]);
    wait_for(&desk, 4);
    kill(again.id());
    again.wait().unwrap();

    let known = desk.run(&["report", "--json", "--quiet"]).json();
    assert_eq!(known["run"]["partial"], true);
    let out = desk.path("out");
    let done = desk.run(&["resume", "last", "--json", "--out", text(&out)]);
    assert_eq!(done.status, 0, "{}", done.err);
    let document = done.json();
    let numbers: Vec<_> =
        document["trials"].as_array().unwrap().iter().map(|it| it["number"].as_u64().unwrap()).collect();
    assert_eq!(numbers, [1, 2, 3, 4, 5, 6]);
    // What was whole is as it was, to the last bit.
    assert_eq!(document["trials"].as_array().unwrap()[..3], known["trials"].as_array().unwrap()[..3]);
    let entry = &document["run"];
    assert_eq!((&entry["partial"], entry["resumed"].as_array().unwrap().len()), (&false.into(), 2), "{entry}");
    assert_eq!(entry["command"][3], "verify", "what repeats it is what began it, its store named first");
    let doubts = entry["doubts"].to_string();
    for absent in ["interrupted", "failed", "environment-changed", "other-build"] {
        assert!(!doubts.contains(absent), "{absent}: {doubts}");
    }
    assert!(!document["trials"].to_string().contains("unfinished"));
    let page = std::fs::read_to_string(out.join("report.html")).unwrap();
    assert!(page.contains("Resumed") && page.contains("was interrupted and resumed"));
    assert_eq!(desk.runs()[0]["partial"], false);
    desk.run(&["resume"]).fails(1, &["is complete", "6 trials"]);
    before.assert_same();
}

#[test]
fn a_run_that_is_under_way_is_left_alone() {
    let desk = Desk::new();
    let mut run = desk.start(&["goodput", "--duration", "100 s", "--repeats", "1", "--quiet"]);
    wait_for(&desk, 1);
    let pid = format!("(pid {})", run.id());
    desk.run(&["resume"]).fails(1, &["is under way", &pid]);
    assert!(run.try_wait().unwrap().is_none(), "it goes on");
    assert!(Command::new("kill").args(["-INT", &run.id().to_string()]).status().unwrap().success());
    assert_eq!(run.wait().unwrap().code(), Some(130));
}

#[test]
fn a_run_whose_bed_is_gone_or_that_is_not_there_is_refused() {
    let desk = Desk::new();
    desk.run(&["resume"]).fails(1, &["there is no store"]);
    let standing = desk.bed("gone", &[]);
    let plan = desk.plan(SLOW);
    let mut run = desk.start(&["verify", text(&plan), "--bed", "gone", "--quiet"]);
    wait_for(&desk, 1);
    kill(run.id());
    run.wait().unwrap();
    drop(standing);
    desk.run(&["resume"]).fails(1, &["there is no bed \"gone\""]);
    desk.run(&["resume", "nonsense"]).fails(1, &["there is no run \"nonsense\""]);
}
