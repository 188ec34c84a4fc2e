//! Agents that die, hang or have another build; interrupts; and a store that fills up during a run.

use std::{
    fs,
    path::Path,
    process::{Child, Command},
    time::{Duration, Instant},
};

use serde_json::Value;

use crate::{
    machine::{Snapshot, children},
    program::{Desk, Done, MANY, SMALL, WIREPROOF, done, text, without_caller},
    waiting::soon,
};

fn signal(pid: u32, name: &str) {
    assert!(Command::new("kill").args([name, &pid.to_string()]).status().unwrap().success());
}

/// Waits until a run has this many stored trials.
pub(crate) fn wait_for_trials(desk: &Desk, trials: u64) {
    let stored =
        || desk.path("runs.db").exists() && desk.runs().iter().any(|run| run["trials"].as_u64() >= Some(trials));
    assert!(soon(stored), "no trials come");
}

/// A running run with at least two stored trials.
fn under_way(desk: &Desk) -> Child {
    let child = desk.start(&["verify", text(&desk.plan(MANY)), "--json", "--out", text(&desk.path("out"))]);
    wait_for_trials(desk, 2);
    child
}

pub(crate) fn end_of(child: Child) -> Done {
    done(child.wait_with_output().unwrap())
}

/// Finished trials are printed, stored and reported as partial.
pub(crate) fn assert_kept(desk: &Desk, ended: &Done) {
    let document = ended.json();
    assert_eq!(document["run"]["partial"], true);
    let trials = document["trials"].as_array().unwrap().len();
    assert!((2..80).contains(&trials), "{trials}");
    assert_eq!(desk.runs()[0]["trials"], trials as u64);
    assert!(desk.path("out").join("report.html").exists());
}

#[test]
fn an_interrupt_keeps_what_was_measured_and_gives_everything_back() {
    for name in ["-INT", "-TERM"] {
        let desk = Desk::new();
        let before = Snapshot::take();
        let run = under_way(&desk);
        signal(run.id(), name);
        let asked = Instant::now();
        let ended = end_of(run);
        assert!(asked.elapsed() < Duration::from_secs(5), "{:?}", asked.elapsed());
        assert_eq!(ended.status, 130, "{}", ended.err);
        assert_kept(&desk, &ended);
        before.assert_same();
    }
}

#[test]
fn an_agent_that_dies_is_named_and_nothing_measured_is_lost() {
    for which in 0..3 {
        let desk = Desk::new();
        let before = Snapshot::take();
        let run = under_way(&desk);
        let agents = children(run.id());
        assert_eq!(agents.len(), 3, "one machine agent, two port agents");
        signal(agents[which], "-KILL");
        let ended = end_of(run);
        if which == 0 {
            // The run needs it only for setup and giving back.
            ended.fails(1, &["machine agent", "killed by signal 9", "a new agent has undone"]);
            assert_eq!(ended.json()["trials"].as_array().unwrap().len(), 80);
        } else {
            ended.fails(1, &["agent at endpoint", "killed by signal 9"]);
            assert_kept(&desk, &ended);
        }
        before.assert_same();
    }
}

#[test]
fn an_agent_that_hangs_is_noticed_and_ended() {
    let desk = Desk::new();
    let before = Snapshot::take();
    let run = under_way(&desk);
    let agents = children(run.id());
    signal(agents[2], "-STOP");
    let ended = end_of(run);
    ended.fails(1, &["agent at endpoint b", "has said nothing for 10s"]);
    assert_kept(&desk, &ended);
    before.assert_same();
}

#[test]
fn another_build_is_told_apart() {
    // The linker's build ID identifies a build: a copy with another ID counts as another build.
    let desk = Desk::new();
    let other = desk.path("other");
    let mut bytes = fs::read(WIREPROOF).unwrap();
    let note = bytes.windows(8).position(|window| window == b"\x03\0\0\0GNU\0").expect("a build id note");
    bytes[note + 8] ^= 0xff;
    fs::write(&other, bytes).unwrap();
    let hello = |program: &Path| {
        let mut child = Command::new(program);
        child.args(["agent", "--stdio"]);
        String::from_utf8_lossy(&child.stdin(std::process::Stdio::null()).output().unwrap().stdout).into_owned()
    };
    assert!(Command::new("chmod").arg("+x").arg(&other).status().unwrap().success());
    let build = |text: String| text.split("\"build\":\"").nth(1).unwrap().split('"').next().unwrap().to_owned();
    assert_ne!(build(hello(Path::new(WIREPROOF))), build(hello(&other)));
}

#[test]
fn a_store_that_fills_up_leaves_the_report() {
    let desk = Desk::new();
    let before = Snapshot::take();
    let small_disk = desk.path("disk");
    fs::create_dir(&small_disk).unwrap();
    let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", "size=96k", "none", text(&small_disk)]).status();
    assert!(mounted.unwrap().success());
    let mut command = without_caller(WIREPROOF.as_ref());
    let plan = desk.plan(MANY);
    command.args(["verify", text(&plan), "--json", "--out", text(&desk.path("out")), "--store"]);
    let ended = done(command.arg(small_disk.join("runs.db")).output().unwrap());
    let unmounted = Command::new("umount").arg(&small_disk).status().unwrap();
    assert!(unmounted.success());
    ended.fails(1, &["full", "could not be stored, its report is the only copy"]);
    let report: Value =
        serde_json::from_str(&fs::read_to_string(desk.path("out").join("report.json")).unwrap()).unwrap();
    assert_eq!(report["trials"].as_array().unwrap().len(), 80, "all of it was measured and reported");
    before.assert_same();
}

#[test]
fn a_disk_that_holds_neither_store_nor_report_leaves_what_is_printed() {
    let desk = Desk::new();
    let small_disk = desk.path("disk");
    fs::create_dir(&small_disk).unwrap();
    let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", "size=64k", "none", text(&small_disk)]).status();
    assert!(mounted.unwrap().success());
    let mut command = without_caller(WIREPROOF.as_ref());
    command.args(["verify", text(&desk.plan(SMALL)), "--json", "--store"]);
    let ended = done(command.arg(small_disk.join("runs.db")).output().unwrap());
    assert!(Command::new("umount").arg(&small_disk).status().unwrap().success());
    ended.fails(1, &["No space left", "not whole either: keep what was printed"]);
    assert_eq!(ended.json()["trials"].as_array().unwrap().len(), 8, "all of it");
}
