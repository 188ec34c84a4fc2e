//! `kill -9` of the controller or an agent at any moment leaves nothing behind, and loses no finished trial.

use std::{
    collections::BTreeMap,
    fs,
    panic::{AssertUnwindSafe, catch_unwind},
    process::Child,
    thread,
    time::{Duration, Instant},
};

use crate::{
    machine::{Snapshot, agents, children},
    other_host::signal,
    program::{Desk, Done, MANY, text},
    waiting::within,
};

/// Times of each of two stories, which run in parallel.
const KILLS: u32 = 50;

/// More trials than a run completes before the kill; with a killed machine agent, it goes on to its end.
pub(crate) const REPEATS: &str = "8";

/// Longest time that a run goes on without one of its processes.
const PATIENCE: Duration = Duration::from_secs(120);

/// A pseudo-random generator with a fixed seed: the moments are the same in every run of the test.
pub(crate) struct Moments(pub(crate) u64);

impl Moments {
    pub(crate) fn next(&mut self, below: u64) -> u64 {
        // SplitMix64 (Steele, Lea, Flood 2014).
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % below
    }
}

/// Runs whose processes are killed, one in each.
pub(crate) trait Scene {
    /// Store.
    fn desk(&self) -> &Desk;
    /// Starts a run of short trials.
    fn start(&self) -> Child;
    /// Milliseconds within which a process of it is killed.
    fn lasts(&self) -> u64 {
        3_000
    }
    /// The processes of a run, among which one is killed.
    fn victims(&self, run: u32) -> Vec<u32> {
        // Agents of another host are no descendants.
        let mut all = vec![run];
        all.extend(agents());
        let mut next = 0;
        while let Some(parent) = all.get(next).copied() {
            all.extend(children(parent).into_iter().filter(|child| !all.contains(child)).collect::<Vec<_>>());
            next += 1;
        }
        all
    }
    /// Undoes what is left, as a user does.
    fn clean(&self) -> Done {
        self.desk().run(&["clean"])
    }
    /// Panics unless all is as it was before.
    fn assert_same(&self);
}

/// A bed within this machine.
pub(crate) struct Own {
    desk: Desk,
    before: Snapshot,
    options: &'static [&'static str],
    lasts: u64,
}

impl Own {
    pub(crate) fn new(options: &'static [&'static str], lasts: u64) -> Self {
        Self { desk: Desk::new(), before: Snapshot::take(), options, lasts }
    }
}

impl Scene for Own {
    fn desk(&self) -> &Desk {
        &self.desk
    }

    fn start(&self) -> Child {
        let (plan, out) = (self.desk.plan(MANY), self.desk.path("out"));
        let words = ["verify", text(&plan), "--repeats", REPEATS, "--quiet", "--out", text(&out)];
        self.desk.start(&[&words, self.options].concat())
    }

    fn lasts(&self) -> u64 {
        self.lasts
    }

    fn assert_same(&self) {
        self.before.assert_same();
    }
}

/// Outcome of the kills of a scene.
#[derive(Default)]
pub(crate) struct Told {
    /// Kills of each kind of process.
    pub(crate) killed: BTreeMap<&'static str, u32>,
    /// Trials that were finished and stored.
    pub(crate) finished: u64,
}

#[test]
fn kills_at_fifty_moments_leave_nothing_and_lose_nothing() {
    told_of_lab(Moments(0x5eed_0198_0018_0000));
}

#[test]
fn kills_at_fifty_other_moments_leave_nothing_and_lose_nothing() {
    told_of_lab(Moments(0x5eed_0198_0018_0001));
}

fn told_of_lab(mut moments: Moments) {
    let told = kill(&Own::new(&[], 1_200), &mut moments, KILLS).unwrap_or_else(|wrong| panic!("{wrong}"));
    assert!(told.finished > u64::from(KILLS / 2), "the kills met runs under way: {} trials", told.finished);
}

/// Kills so many processes at random moments; the error names the first kill that left or lost something.
pub(crate) fn kill(scene: &dyn Scene, moments: &mut Moments, kills: u32) -> Result<Told, String> {
    let mut told = Told::default();
    for kill in 0..kills {
        let (seed, begun) = (moments.0, Instant::now());
        let mut run = scene.start();
        thread::sleep(Duration::from_millis(moments.next(scene.lasts())));
        let victims = scene.victims(run.id());
        let before = stored(scene.desk());
        let mut victim = "nobody";
        if !victims.is_empty() {
            let pid = victims[moments.next(victims.len() as u64) as usize];
            victim = if pid == run.id() { "controller" } else { role(pid) };
            // It may have ended just now; then the run ends by itself.
            signal(pid, "-KILL");
        }
        *told.killed.entry(victim).or_default() += 1;
        let after = || format!("kill {kill} (seed {seed:#x}) of the {victim} after {:.2?}", begun.elapsed());
        if !within(PATIENCE, || run.try_wait().unwrap().is_some()) {
            let _ = run.kill();
            return Err(format!("{}: the run does not end", after()));
        }
        let clean = scene.clean();
        if clean.status != 0 {
            return Err(format!("{}: clean says {}", after(), clean.err));
        }
        let is_same = catch_unwind(AssertUnwindSafe(|| scene.assert_same()));
        is_same.map_err(|left| format!("{}: {}", after(), said(&*left)))?;
        told.finished = stored(scene.desk());
        if told.finished < before {
            return Err(format!("{}: {before} trials were stored, then {}", after(), told.finished));
        }
    }
    assert_readable(scene.desk());
    Ok(told)
}

/// Each stored trial can be read, and none is missing in between.
fn assert_readable(desk: &Desk) {
    if !desk.path("runs.db").exists() {
        return;
    }
    for run in desk.runs() {
        let id = run["id"].as_str().unwrap();
        let document = desk.run(&["report", id, "--json", "--quiet", "--out", text(&desk.path("out"))]).json();
        let trials = document["trials"].as_array().unwrap();
        assert_eq!(run["trials"], trials.len() as u64, "each stored trial can be read");
        let numbers: Vec<u64> = trials.iter().map(|trial| trial["number"].as_u64().unwrap()).collect();
        assert_eq!(numbers, (1..=trials.len() as u64).collect::<Vec<_>>(), "none is missing in between");
    }
}

fn stored(desk: &Desk) -> u64 {
    if !desk.path("runs.db").exists() {
        return 0;
    }
    desk.runs().iter().map(|run| run["trials"].as_u64().unwrap()).sum()
}

/// Process identity, by its command line.
fn role(pid: u32) -> &'static str {
    let words = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let words = String::from_utf8_lossy(&words);
    match words.split('\0').next().unwrap_or_default() {
        _ if words.contains("agent\0--stdio\0") => "agent",
        program if program.contains("ssh") => "ssh",
        program if program.ends_with("wireproof") => "launcher",
        "" => "process that was ending",
        _ => "program",
    }
}

fn said(panic: &(dyn std::any::Any + Send)) -> String {
    panic.downcast_ref::<String>().cloned().unwrap_or_default()
}
