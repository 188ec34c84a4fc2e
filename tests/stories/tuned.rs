//! A tuning measured: before it, with it, and after its undoing, which is exact whatever ends the measurement.

use std::{fs, path::Path, process::Child, thread, time::Duration};

use serde_json::Value;

use crate::{
    machine::{Snapshot, agents, children},
    other_host::signal,
    ports::{BED, Machine},
    program::{Desk, MANY, done, text},
    schemas::Schemas,
    tuning::{profile, values},
    waiting::soon,
};

/// One that shows in each transfer, one that shows in none, and one that no veth takes.
const OFFLOADS: [(&str, &str); 3] = [
    ("offload tx-tcp-segmentation", "on"),
    ("sysctl net.ipv4.tcp_slow_start_after_idle", "0"),
    ("channels-combined", "7"),
];

const TRANSFERS: &str = r#"
    name = "transfers"
    repeats = 6
    [[goodput]]
    protocol = "tcp"
    duration = "1 s"
    warmup = "100 ms"
"#;

/// A setting of this story's network namespace, and its file.
const SETTING: &str = "sysctl net.ipv4.tcp_slow_start_after_idle";
const FILE: &str = "/proc/sys/net/ipv4/tcp_slow_start_after_idle";

/// Another one, which somebody else sets too.
const OTHER: &str = "sysctl net.ipv4.tcp_fin_timeout";
const OTHER_FILE: &str = "/proc/sys/net/ipv4/tcp_fin_timeout";

/// The option for a profile of these values.
fn tune(desk: &Desk, all: &[(&str, &str)]) -> String {
    format!("--tune={}", profile(desk, &values(all)))
}

fn outcome<'a>(effect: &'a Value, setting: &str) -> &'a str {
    let steps = effect["steps"].as_array().unwrap();
    steps.iter().find(|it| it["setting"] == setting).unwrap()["outcome"].as_str().unwrap()
}

#[test]
fn what_a_step_brings_is_told_from_what_brings_nothing() {
    Desk::tell_alone(|desk| {
        let machine = Machine::new(desk);
        machine.sh("ethtool -K port1 tso off");
        machine.sh("ethtool -K port2 tso off");
        let (before, whole) = (machine.settled(), Snapshot::take());
        let (plan, tune, out) = (desk.plan(TRANSFERS), tune(desk, &OFFLOADS), desk.path("out"));
        let words = ["verify", text(&plan), &tune, "--bed", BED, "--out", text(&out), "--format", "html,json,md"];
        let done = desk.undisturbed(|| machine.run(&[&words[..], &["--json"]].concat()));
        assert_eq!(done.status, 0, "{}", done.err);
        let effect = done.json();
        Schemas::of(desk).holds("tuning-effect", &effect);
        assert_eq!(outcome(&effect, "offload tx-tcp-segmentation"), "mattered", "{effect:#}");
        assert_ne!(outcome(&effect, "sysctl net.ipv4.tcp_slow_start_after_idle"), "mattered", "{effect:#}");
        let states = effect["states"].as_array().unwrap();
        assert_eq!(states.len(), 3, "each step alone, then both: {effect:#}");
        let figure = &states[2]["comparison"]["configurations"][0]["figures"][0];
        let drift = &effect["undone"]["configurations"][0]["figures"][0]["difference"];
        assert_eq!(figure["finding"], "better", "{effect:#}");
        assert!(figure["interval"]["low"].as_f64().unwrap() > drift.as_f64().unwrap().abs(), "{effect:#}");
        assert_eq!(effect["left_out"][0]["setting"], "channels-combined", "{effect:#}");
        assert_eq!((&effect["compared"], &effect["left"]), (&3.into(), &serde_json::json!([])), "{effect:#}");
        assert_eq!(machine.settled(), before);
        whole.assert_same();
        for (file, says) in [("tuning.html", "Bonferroni"), ("tuning.md", "figures changed by this step")] {
            assert!(fs::read_to_string(out.join(file)).unwrap().contains(says), "{file}");
        }
        assert_eq!(desk.runs().len(), 5, "each measurement is kept");
    });
}

#[test]
fn what_cannot_be_measured_with_a_tuning_is_refused_before_anything_is() {
    let desk = Desk::new();
    let fails = |words: &[&str], says: &[&str]| desk.run(&[&["verify"], words].concat()).fails(2, says);
    fails(&["--tune=fast"], &["--tune=fast", "latency, throughput, router, bypass"]);
    fails(&["--tune", "--dry-run"], &["--dry-run", "cannot be used with"]);
    fails(&["--tune", "--histogram"], &["--histogram", "cannot be used with"]);
    fails(&["--tune", "--format", "csv"], &["--format csv", "wireproof report"]);
    fails(&["--tune", "--title", "x"], &["the names of a document"]);
    fails(&["--tune", "rfc2544"], &["searches a rate"]);
    fs::write(desk.path("wrong.toml"), "[[value]]\nsetting = \"ring\"\n").unwrap();
    fails(&[&format!("--tune={}", text(&desk.path("wrong.toml")))], &["wrong.toml"]);
    desk.run(&["tune", "plan", "--goal", "fast"]).fails(2, &["latency", "throughput", "router", "bypass"]);

    // One stands.
    let applied = profile(&desk, &values(&[(SETTING, "0")]));
    assert_eq!(desk.run(&["tune", "apply", "--profile", &applied]).status, 0);
    desk.run(&["verify", "--tune=latency"]).fails(1, &["tuned already", "tune undo"]);
    assert_eq!(desk.run(&["tune", "undo"]).status, 0);
    assert!(desk.runs().is_empty(), "nothing was measured");
}

#[test]
fn a_machine_that_is_as_wanted_is_measured_once() {
    let desk = Desk::new();
    let plan = desk.plan("name = \"p\"\n[[latency]]\nprotocol = \"udp\"\nframe_sizes = [64]\ncount = 100\n");
    let tune = tune(&desk, &[(SETTING, "1")]);
    let out = desk.path("out");
    let done = desk.run(&["verify", text(&plan), &tune, "--out", text(&out)]);
    assert_eq!(done.status, 0, "{}", done.err);
    for words in ["nothing to change", "As wanted already", SETTING, "RTT"] {
        assert!(done.out.contains(words), "{words}: {}", done.out);
    }
    assert_eq!(desk.runs().len(), 1);
}

/// A measurement that has tuned this story's network namespace: both settings at once, as its repeats decide too little of each.
fn tuned(desk: &Desk) -> Child {
    let plan = desk.plan(MANY.replace("repeats = 40", "repeats = 4").replace("count = 1000", "count = 20000"));
    let (tune, out) = (tune(desk, &[(SETTING, "0"), (OTHER, "30")]), desk.path("out"));
    let run = desk.start(&["verify", text(&plan), &tune, "--out", text(&out)]);
    assert!(soon(|| value() == "0" && other() == "30"), "it is never tuned");
    run
}

fn value() -> String {
    fs::read_to_string(FILE).unwrap().trim().to_owned()
}

fn other() -> String {
    fs::read_to_string(OTHER_FILE).unwrap().trim().to_owned()
}

/// Somebody else sets the other value.
fn set_other(value: &str) {
    fs::write(OTHER_FILE, value).unwrap();
}

/// Stored runs, the newest first.
fn ids(desk: &Desk) -> Vec<String> {
    desk.runs().iter().map(|run| run["id"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_tuning_that_is_measured_keeps_others_off_and_is_undone_however_it_ends() {
    let desk = Desk::new();
    let machine = Snapshot::take();
    let run = tuned(&desk);
    desk.run(&["tune", "apply", "--profile", text(&desk.path("profile.toml"))]).fails(1, &["at the moment"]);
    desk.run(&["verify", "--tune=latency"]).fails(1, &["measures a tuning on this machine at the moment"]);
    assert_eq!(desk.run(&["clean"]).status, 0);
    assert_eq!(value(), "0", "a clean leaves it");
    set_other("45");
    signal(run.id(), "-INT");
    let first = ids(&desk).pop().unwrap();
    let left = "somebody else has changed it to 45";
    done(run.wait_with_output().unwrap()).fails(130, &[&format!("Runs so far: {first}"), "wireproof compare", left]);
    assert_eq!(value(), "1", "interrupted");
    set_other("60");
    desk.run(&["resume"]).fails(2, &["while the machine was tuned"]);

    let mut run = tuned(&desk);
    set_other("45");
    signal(run.id(), "-KILL");
    run.wait().unwrap();
    assert!(soon(|| value() == "1"), "its agent undoes it");
    assert!(soon(|| agents().is_empty()));
    // Nobody heard its agent, so the state of the tuning tells.
    let status = desk.run(&["tune", "status"]);
    assert!(status.out.contains("45") && !status.out.contains("slow_start"), "{}", status.out);
    assert_eq!(desk.run(&["tune", "undo", "--force"]).status, 0);

    let mut run = tuned(&desk);
    for process in children(run.id()).into_iter().chain([run.id()]) {
        signal(process, "-KILL");
    }
    run.wait().unwrap();
    assert_eq!(value(), "0", "nobody is left to undo it");
    assert!(soon(|| desk.run(&["clean"]).status == 0 && value() == "1"), "clean undoes it");
    thread::sleep(Duration::from_millis(100));
    machine.assert_same();
    assert!(Path::new(FILE).exists());
}

#[test]
fn a_tuning_whose_agent_dies_is_undone_as_after_a_crash_and_its_runs_are_named() {
    let desk = Desk::new();
    let machine = Snapshot::take();
    let run = tuned(&desk);
    let has_trials = |run: &Value| run["trials"].as_u64() > Some(0);
    assert!(soon(|| desk.runs().iter().filter(|run| has_trials(run)).count() == 2), "it is not measured");
    // The first of its processes tunes.
    signal(children(run.id())[0], "-KILL");
    let ended = done(run.wait_with_output().unwrap());
    let profile = desk.path("profile.toml");
    let [with, before] = ids(&desk).try_into().unwrap();
    let named = format!("Runs so far: {before}, {}: {with}", profile.display());
    ended.fails(1, &["machine agent", "undone: ", &named]);
    let place = |words: &str| ended.err.find(words).unwrap();
    assert!(place("machine agent") < place("undone: "), "{}", ended.err);
    assert_eq!(value(), "1");
    machine.assert_same();
}
