//! Agents that die, hang or have another build; interrupts; and a store that fills up during a run.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use serde_json::Value;

use crate::{
    machine::{Snapshot, children},
    program::{Desk, Done, MANY, WIREPROOF, done, text, without_caller},
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
fn a_run_that_was_stopped_says_so_and_how_it_goes_on() {
    let desk = Desk::new();
    let before = Snapshot::take();
    let run = under_way(&desk);
    let agents = children(run.id());
    signal(run.id(), "-STOP");
    // They take it for gone, and undo. It cannot take note of their ends yet.
    let ended = |pid: &u32| fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| stat.contains(") Z "));
    assert!(soon(|| agents.iter().all(ended)), "agents stay");
    signal(run.id(), "-CONT");
    let ended = end_of(run);
    let id = desk.runs()[0]["id"].as_str().unwrap().to_owned();
    ended.fails(1, &["wireproof itself was stopped for", &format!("wireproof resume {id} --store")]);
    assert_kept(&desk, &ended);
    before.assert_same();
    let done = desk.run(&["resume", &id, "--json", "--out", text(&desk.path("out"))]);
    assert_eq!((done.status, done.json()["trials"].as_array().unwrap().len()), (0, 80), "{}", done.err);
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

/// A small disk, until this is dropped.
struct Disk(PathBuf);

impl Disk {
    fn new(desk: &Desk, size: &str) -> Self {
        let disk = Self(desk.path("disk"));
        fs::create_dir(&disk.0).unwrap();
        disk.mount(&format!("size={size}"));
        disk
    }

    fn mount(&self, options: &str) {
        let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", options, "none", text(&self.0)]).status();
        assert!(mounted.unwrap().success());
    }

    /// Takes all that is free of it.
    fn fill(&self) {
        assert!(fs::write(self.0.join("ballast"), vec![0; 256 << 20]).is_err(), "the disk is small");
    }

    /// A command that keeps its runs there.
    fn start(&self, words: &[&str]) -> Child {
        let mut command = without_caller(WIREPROOF.as_ref());
        command.args(words).arg("--store").arg(self.0.join("runs.db"));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    /// Waits for the first trial, then takes all room.
    fn fill_under_way(&self) {
        let runs = || end_of(self.start(&["runs", "--json"])).json();
        let stored = || {
            let there = self.0.join("runs.db").exists();
            there && runs()["runs"].as_array().unwrap().iter().any(|run| run["trials"].as_u64() >= Some(1))
        };
        assert!(soon(stored), "no trials come");
        self.fill();
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).status();
    }
}

#[test]
fn a_full_disk_is_said_before_anything_is_measured() {
    let desk = Desk::new();
    let disk = Disk::new(&desk, "2m");
    let before = Snapshot::take();
    let begun = Instant::now();
    let plan = desk.plan(MANY);
    let [out, other] = [disk.0.join("out"), desk.path("out")];
    for (place, option) in [(&out, "--store PATH and --out DIR"), (&other, "--store PATH")] {
        let ended = end_of(disk.start(&["verify", text(&plan), "--out", text(place)]));
        ended.fails(1, &["nothing was measured: the disk of", "KiB are free", option]);
    }
    let words = ["verify", text(&plan), "--out", text(&out)];
    desk.run(&words).fails(1, &["nothing was measured: the disk of", "--out DIR"]);
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
    assert!(desk.runs().is_empty());
    before.assert_same();
}

#[test]
fn a_store_that_fills_up_leaves_the_report() {
    let desk = Desk::new();
    let disk = Disk::new(&desk, "64m");
    let before = Snapshot::take();
    let plan = desk.plan(MANY);
    let run = disk.start(&["verify", text(&plan), "--json", "--out", text(&desk.path("out"))]);
    disk.fill_under_way();
    let ended = end_of(run);
    ended.fails(1, &["full", "could not be stored, its report is the only copy"]);
    let report: Value =
        serde_json::from_str(&fs::read_to_string(desk.path("out").join("report.json")).unwrap()).unwrap();
    assert_eq!(report["trials"].as_array().unwrap().len(), 80, "all of it was measured and reported");
    before.assert_same();
}

#[test]
fn a_disk_that_holds_neither_store_nor_report_leaves_what_is_printed() {
    let desk = Desk::new();
    let disk = Disk::new(&desk, "64m");
    let plan = desk.plan(MANY);
    let run = disk.start(&["verify", text(&plan), "--json"]);
    disk.fill_under_way();
    let ended = end_of(run);
    ended.fails(1, &["No space left", "not whole either: keep what was printed"]);
    assert_eq!(ended.json()["trials"].as_array().unwrap().len(), 80, "all of it");
}
