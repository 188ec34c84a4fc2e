//! Many trials in one run, the most that there can be: memory and descriptors do not grow.

use std::{
    fs, thread,
    time::{Duration, Instant},
};

use super::number;
use crate::{
    machine::{agents, children},
    program::{Desk, MANY, text},
};

/// Growth of an agent's memory that is allowed after the first tenth of the time.
const GROWTH: f64 = 1.1;
/// Memory that the controller may keep of a trial for the report, in kB.
const OF_TRIAL: u64 = 16;

/// Memory in kB and number of open descriptors of a process.
fn held(pid: u32) -> Option<(u64, usize)> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let memory = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let open = fs::read_dir(format!("/proc/{pid}/fd")).ok()?.count();
    Some((memory.trim().trim_end_matches(" kB").parse().ok()?, open))
}

#[test]
#[ignore = "takes minutes: sudo ./x campaign soak"]
fn soak_holds_memory_and_descriptors() {
    let time = Duration::from_secs(60 * number("WIREPROOF_MINUTES").unwrap_or(10));
    let desk = Desk::new();
    let mut run = desk.start(&[
        "verify",
        text(&desk.plan(MANY)),
        "--repeats",
        "10000",
        "--quiet",
        "--out",
        text(&desk.path("out")),
    ]);
    let begun = Instant::now();
    thread::sleep(time / 10);
    let mut all = vec![run.id()];
    all.extend(agents());
    assert!(all.len() > 2 && children(run.id()).len() > 1, "the run goes on");
    let before: Vec<_> = all.iter().map(|pid| held(*pid).expect("it is there")).collect();
    while begun.elapsed() < time {
        assert!(run.try_wait().unwrap().is_none(), "the run goes on");
        thread::sleep(Duration::from_secs(1));
    }
    let after: Vec<_> = all.iter().map(|pid| held(*pid).expect("it is there")).collect();
    crate::other_host::signal(run.id(), "-INT");
    run.wait().unwrap();
    let trials = desk.runs()[0]["trials"].as_u64().unwrap();
    println!("{:?}, {trials} trials; kB and descriptors: {before:?}, then {after:?}", begun.elapsed());
    let (controller, agents) = ((before[0], after[0]), before.iter().zip(&after).skip(1));
    assert!(controller.1.0 <= controller.0.0 + OF_TRIAL * trials && controller.1.1 <= controller.0.1, "{controller:?}");
    for (before, after) in agents {
        assert!(after.0 as f64 <= GROWTH * before.0 as f64 && after.1 <= before.1, "{before:?}, then {after:?}");
    }
}
