//! Long trials, scaled down: what a soak of an hour has to hold holds for its first half minute.

use std::{
    fs,
    process::Command,
    thread,
    time::{Duration, Instant},
};

use serde_json::Value;

use crate::{
    machine::{Snapshot, children},
    program::Desk,
};

/// Time that a process has used so far, and its memory in kB.
fn usage(pid: u32) -> (Duration, u64) {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let fields: Vec<&str> = stat[stat.rfind(')').unwrap()..].split(' ').collect();
    // proc_pid_stat(5): utime and stime are the 14th and 15th field, in ticks of 10 ms; the 2nd ends here with ")".
    let ticks: u64 = [fields[12], fields[13]].iter().map(|ticks| ticks.parse::<u64>().unwrap()).sum();
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let memory = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    (Duration::from_millis(10 * ticks), memory.trim().trim_end_matches(" kB").parse().unwrap())
}

fn soak(desk: &Desk, seconds: u32) -> std::process::Child {
    desk.start(&["goodput", "--repeats", "1", "--duration", &format!("{seconds} s"), "--json"])
}

/// Whole seconds of the only trial that is stored so far.
fn stored_seconds(desk: &Desk) -> usize {
    let document: Value = match desk.run(&["report", "last", "--json", "--out", desk.path("now").to_str().unwrap()]) {
        done if done.status == 0 => done.json(),
        _ => return 0,
    };
    document["trials"][0]["intervals"].as_array().map_or(0, Vec::len)
}

#[test]
fn a_long_trial_that_is_killed_keeps_its_seconds() {
    let desk = Desk::new();
    let before = Snapshot::take();
    let mut run = soak(&desk, 600);
    let until = Instant::now() + Duration::from_secs(40);
    while stored_seconds(&desk) < 10 {
        assert!(Instant::now() < until, "no seconds are kept");
        thread::sleep(Duration::from_millis(300));
    }
    assert!(Command::new("kill").args(["-KILL", &run.id().to_string()]).status().unwrap().success());
    run.wait().unwrap();
    let kept = desk.run(&["report", "last", "--json", "--out", desk.path("kept").to_str().unwrap()]).json();
    let trial = &kept["trials"][0];
    assert!(trial["intervals"].as_array().unwrap().len() >= 10, "{trial}");
    assert!(trial["goodput_bps"]["mean"].as_f64().unwrap() > 1e8, "{trial}");
    assert!(trial["doubts"].to_string().contains("unfinished"), "{trial}");
    assert_eq!(kept["run"]["partial"], true);
    // The machine agent notices, undoes and goes by itself.
    before.assert_same();
}

#[test]
fn an_interrupt_keeps_the_seconds_of_the_trial_under_way() {
    let desk = Desk::new();
    let before = Snapshot::take();
    let run = soak(&desk, 600);
    thread::sleep(Duration::from_secs(5));
    assert!(Command::new("kill").args(["-INT", &run.id().to_string()]).status().unwrap().success());
    let ended = crate::program::done(run.wait_with_output().unwrap());
    assert_eq!(ended.status, 130, "{}", ended.err);
    let trial = &ended.json()["trials"][0];
    assert!(trial["intervals"].as_array().unwrap().len() >= 2, "{trial}");
    assert!(trial["doubts"].to_string().contains("unfinished"), "{trial}");
    before.assert_same();
}

#[test]
fn the_controller_of_a_long_trial_takes_next_to_nothing() {
    let desk = Desk::new();
    let run = soak(&desk, 30);
    thread::sleep(Duration::from_secs(8));
    let all = || [vec![run.id()], children(run.id())].concat();
    let (begun, first) = (Instant::now(), all().into_iter().map(usage).collect::<Vec<_>>());
    thread::sleep(Duration::from_secs(20));
    let (passed, last) = (begun.elapsed(), all().into_iter().map(usage).collect::<Vec<_>>());
    let ended = crate::program::done(run.wait_with_output().unwrap());
    assert_eq!(ended.status, 0, "{}", ended.err);
    assert_eq!((first.len(), last.len()), (4, 4), "a controller and three agents");
    let controller = (last[0].0 - first[0].0).as_secs_f64() / passed.as_secs_f64();
    assert!(controller < 0.01, "{:.2} % of a core", 100.0 * controller);
    for ((_, before), (_, after)) in first.iter().zip(&last) {
        assert!(*after < before + 1024, "{before} kB have become {after} kB in 20 s");
    }
}
