//! Long trials, scaled down: the first half minute shows the properties of an hour's soak test.

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
    waiting::soon,
};

/// CPU time of a process so far, and its memory in kB.
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

#[test]
fn a_long_trial_that_is_killed_keeps_its_seconds() {
    let desk = Desk::new();
    let before = Snapshot::take();
    let mut run = soak(&desk, 600);
    let begun = Instant::now();
    thread::sleep(Duration::from_secs(25));
    let passed = begun.elapsed().as_secs() as usize;
    assert!(Command::new("kill").args(["-KILL", &run.id().to_string()]).status().unwrap().success());
    run.wait().unwrap();
    let kept = desk.run(&["report", "last", "--json", "--out", desk.path("kept").to_str().unwrap()]).json();
    let trial = &kept["trials"][0];
    // Bed and warm-up take some seconds, and the last few may not be stored yet.
    assert!(trial["intervals"].as_array().unwrap().len() >= passed - 10, "{passed} s: {trial}");
    assert!(trial["goodput_bps"]["mean"].as_f64().unwrap() > 1e8, "{trial}");
    assert!(trial["doubts"].to_string().contains("unfinished"), "{trial}");
    assert_eq!(kept["run"]["partial"], true);
    // The machine agent notices, undoes its changes and ends by itself.
    before.assert_same();
}

#[test]
fn an_interrupt_keeps_the_seconds_of_the_trial_under_way() {
    let desk = Desk::new();
    let before = Snapshot::take();
    let run = soak(&desk, 600);
    wait_until_kept(&desk);
    assert!(Command::new("kill").args(["-INT", &run.id().to_string()]).status().unwrap().success());
    let ended = crate::program::done(run.wait_with_output().unwrap());
    assert_eq!(ended.status, 130, "{}", ended.err);
    let trial = &ended.json()["trials"][0];
    assert!(trial["intervals"].as_array().unwrap().len() >= 2, "{trial}");
    assert!(trial["doubts"].to_string().contains("unfinished"), "{trial}");
    before.assert_same();
}

/// The only stored trial of a run.
fn only_trial(desk: &Desk) -> Value {
    let done = desk.run(&["report", "last", "--json", "--out", desk.path("now").to_str().unwrap()]);
    if done.status == 0 { done.json()["trials"][0].clone() } else { Value::Null }
}

/// Round trips for half a minute.
const ROUND_TRIPS: [&str; 8] = ["latency", "--frame-sizes", "64", "--duration", "30 s", "--repeats", "1", "--json"];

/// Waits until a part of the running trial is stored.
fn wait_until_kept(desk: &Desk) {
    assert!(soon(|| !only_trial(desk).is_null()), "nothing is kept");
}

fn send_signal(signal: &str, pid: u32) {
    assert!(Command::new("kill").args([signal, &pid.to_string()]).status().unwrap().success());
}

/// Stored part of round trips that ended after a few seconds.
fn assert_kept(trial: &Value) {
    let (sent, n) = (trial["sent"].as_u64().unwrap(), trial["rtt_ns"]["n"].as_u64().unwrap());
    assert!(sent > 500 && n == sent, "{trial}");
    assert!(trial["rtt_ns"]["p90"].as_u64().unwrap() > 500 && trial["achieved_pps"].as_f64().unwrap() > 100.0);
    // Outstanding replies may have arrived later: the losses are unknown.
    assert!(trial["lost"].is_null() || trial["lost"] == 0, "{trial}");
    assert!(trial["duration_s"].as_f64().unwrap() >= 2.0, "{trial}");
    assert!(trial["doubts"].to_string().contains("unfinished"), "{trial}");
}

#[test]
fn round_trips_that_are_killed_keep_what_they_have() {
    let desk = Desk::new();
    let before = Snapshot::take();
    // Victims: the controller, the near end's agent, the far end's.
    for (victim, rate) in [(0, None), (2, Some("10 kpps")), (3, Some("10 kpps"))] {
        let rate: Vec<&str> = rate.iter().flat_map(|rate| ["--rate", rate]).collect();
        fs::remove_file(desk.path("runs.db")).unwrap_or_default();
        let mut run = desk.start(&[ROUND_TRIPS.as_slice(), &rate].concat());
        wait_until_kept(&desk);
        let all = [vec![run.id()], children(run.id())].concat();
        assert_eq!(all.len(), 4, "a controller and three agents");
        send_signal("-KILL", all[victim]);
        run.wait().unwrap();
        assert_kept(&only_trial(&desk));
        before.assert_same();
    }
}

#[test]
fn round_trips_that_are_interrupted_keep_what_they_have() {
    let desk = Desk::new();
    let run = desk.start(&ROUND_TRIPS);
    wait_until_kept(&desk);
    send_signal("-INT", run.id());
    let ended = crate::program::done(run.wait_with_output().unwrap());
    assert_eq!(ended.status, 130, "{}", ended.err);
    assert_kept(&ended.json()["trials"][0]);
    assert_kept(&only_trial(&desk));
}

#[test]
fn datagrams_that_are_killed_keep_their_counts() {
    let desk = Desk::new();
    let words = ["goodput", "--protocol", "udp", "--rate", "200 Mbit/s", "--duration", "30 s", "--repeats", "1"];
    let mut run = desk.start(&words);
    wait_until_kept(&desk);
    send_signal("-KILL", run.id());
    run.wait().unwrap();
    let trial = only_trial(&desk);
    let flow = &trial["flows"][0];
    assert!(flow["datagrams_received"].as_u64().unwrap() > 10_000, "{trial}");
    assert_eq!((&flow["duplicated"], &flow["corrupt"]), (&0.into(), &0.into()), "{trial}");
    // Only the sender knows the number sent.
    assert!(flow["lost"].is_null() && flow["datagrams_sent"].is_null(), "{trial}");
    assert!(trial["doubts"].to_string().contains("unfinished"), "{trial}");
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
        assert!(*after < before + 256, "{before} kB have become {after} kB in 20 s");
    }
}
