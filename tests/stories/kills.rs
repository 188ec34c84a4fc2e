//! `kill -9` of the controller or an agent at any moment leaves nothing behind, and loses no finished trial.

use std::{
    fs,
    process::Command,
    thread,
    time::{Duration, Instant},
};

use crate::{
    machine::{Snapshot, children},
    program::{Desk, MANY, text},
};

/// Of each of two stories, which run in parallel.
const KILLS: u32 = 50;

/// More trials than a run completes before the kill; with a killed machine agent, it goes on to its end.
const REPEATS: &str = "8";

/// A pseudo-random generator with a fixed seed: the moments are the same in every run of the test.
struct Moments(u64);

impl Moments {
    fn next(&mut self, below: u64) -> u64 {
        // SplitMix64 (Steele, Lea, Flood 2014).
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % below
    }
}

#[test]
fn kills_at_fifty_moments_leave_nothing_and_lose_nothing() {
    kill(Moments(0x5eed_0198_0018_0000));
}

#[test]
fn kills_at_fifty_other_moments_leave_nothing_and_lose_nothing() {
    kill(Moments(0x5eed_0198_0018_0001));
}

fn kill(mut moments: Moments) {
    let desk = Desk::new();
    let before = Snapshot::take();
    let plan = desk.plan(MANY);
    let mut finished = 0;
    for kill in 0..KILLS {
        let mut run =
            desk.start(&["verify", text(&plan), "--repeats", REPEATS, "--quiet", "--out", text(&desk.path("out"))]);
        let begun = Instant::now();
        thread::sleep(Duration::from_millis(moments.next(1_200)));
        let mut victims = children(run.id());
        victims.push(run.id());
        let victim = victims[moments.next(victims.len() as u64) as usize];
        let stored_before = stored(&desk);
        // An agent may have ended just now; then the run ends by itself.
        let _ = Command::new("kill").args(["-KILL", &victim.to_string()]).stderr(std::process::Stdio::null()).status();
        let _ = run.wait().unwrap();
        let clean = desk.run(&["clean"]);
        assert_eq!(clean.status, 0, "kill {kill} of {victim} after {:?}: {}", begun.elapsed(), clean.err);
        before.assert_same();
        let stored_after = stored(&desk);
        assert!(stored_after >= stored_before, "kill {kill}: {stored_before} trials, then {stored_after}");
        finished = stored_after;
    }
    assert!(finished > u64::from(KILLS / 2), "the kills met runs under way: {finished} trials");
    for run in desk.runs() {
        let id = run["id"].as_str().unwrap();
        let document = desk.run(&["report", id, "--json", "--quiet", "--out", text(&desk.path("out"))]).json();
        let trials = document["trials"].as_array().unwrap();
        assert_eq!(run["trials"], trials.len() as u64, "each stored trial can be read");
        let numbers: Vec<u64> = trials.iter().map(|trial| trial["number"].as_u64().unwrap()).collect();
        assert_eq!(numbers, (1..=trials.len() as u64).collect::<Vec<_>>(), "none is missing in between");
    }
    fs::remove_file(desk.path("runs.db")).unwrap();
}

fn stored(desk: &Desk) -> u64 {
    if !desk.path("runs.db").exists() {
        return 0;
    }
    desk.runs().iter().map(|run| run["trials"].as_u64().unwrap()).sum()
}
