//! A tuning measured: before it, with it, and after its undoing, which is exact whatever ends the measurement.

use std::{fs, path::Path, process::Child, thread, time::Duration};

use serde_json::Value;

use crate::{
    machine::{Snapshot, agents, children},
    other_host::signal,
    ports::{BED, Machine},
    program::{Desk, MANY, text},
    schemas::Schemas,
    waiting::{soon, within},
};

const PATIENCE: Duration = Duration::from_secs(20);

/// One that shows in each transfer, one that shows in none, and one that no veth takes.
const OFFLOADS: &str = r#"
    [[value]]
    setting = "offload tx-tcp-segmentation"
    value = "on"
    why = "segmentation"
    source = "somebody"

    [[value]]
    setting = "sysctl net.ipv4.tcp_slow_start_after_idle"
    value = "0"
    why = "slow-start"
    source = "RFC 5681"

    [[value]]
    setting = "channels-combined"
    value = "7"
    why = "a reason"
    source = "somebody"
"#;

const TRANSFERS: &str = r#"
    name = "transfers"
    repeats = 6
    [[goodput]]
    protocol = "tcp"
    duration = "1 s"
    warmup = "100 ms"
"#;

/// A setting of this story's network namespace, and the word for it in `/proc/sys`.
const SETTING: &str = "net.ipv4.tcp_slow_start_after_idle";
const FILE: &str = "/proc/sys/net/ipv4/tcp_slow_start_after_idle";

fn profile(desk: &Desk, values: &str) -> String {
    let path = desk.path("profile.toml");
    fs::write(&path, values).unwrap();
    format!("--tune={}", text(&path))
}

fn one(setting: &str, value: &str) -> String {
    format!("[[value]]\nsetting = \"{setting}\"\nvalue = \"{value}\"\nwhy = \"a\"\nsource = \"b\"\n")
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
        let (plan, tune, out) = (desk.plan(TRANSFERS), profile(desk, OFFLOADS), desk.path("out"));
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
    let applied = one(&format!("sysctl {SETTING}"), "0");
    profile(&desk, &applied);
    assert_eq!(desk.run(&["tune", "apply", "--profile", text(&desk.path("profile.toml"))]).status, 0);
    desk.run(&["verify", "--tune=latency"]).fails(1, &["tuned already", "tune undo"]);
    assert_eq!(desk.run(&["tune", "undo"]).status, 0);
    assert!(desk.runs().is_empty(), "nothing was measured");
}

#[test]
fn a_machine_that_is_as_wanted_is_measured_once() {
    let desk = Desk::new();
    let plan = desk.plan("name = \"p\"\n[[latency]]\nprotocol = \"udp\"\nframe_sizes = [64]\ncount = 100\n");
    let tune = profile(&desk, &one(&format!("sysctl {SETTING}"), "1"));
    let out = desk.path("out");
    let done = desk.run(&["verify", text(&plan), &tune, "--out", text(&out)]);
    assert_eq!(done.status, 0, "{}", done.err);
    for words in ["nothing to change", "As wanted already", SETTING, "RTT"] {
        assert!(done.out.contains(words), "{words}: {}", done.out);
    }
    assert_eq!(desk.runs().len(), 1);
}

/// A measurement that has tuned this story's network namespace.
fn tuned(desk: &Desk) -> Child {
    let (plan, out) = (desk.plan(MANY), desk.path("out"));
    let tune = profile(desk, &(one(&format!("sysctl {SETTING}"), "0") + &one("sysctl net.ipv4.tcp_sack", "0")));
    let run = desk.start(&["verify", text(&plan), &tune, "--out", text(&out)]);
    assert!(within(Duration::from_secs(60), || value() == "0"), "it is never tuned");
    run
}

fn value() -> String {
    fs::read_to_string(FILE).unwrap().trim().to_owned()
}

#[test]
fn a_tuning_that_is_measured_keeps_others_off_and_is_undone_however_it_ends() {
    let desk = Desk::new();
    let machine = Snapshot::take();
    let mut run = tuned(&desk);
    desk.run(&["tune", "apply", "--profile", text(&desk.path("profile.toml"))]).fails(1, &["at the moment"]);
    desk.run(&["verify", "--tune=latency"]).fails(1, &["measures a tuning on this machine at the moment"]);
    assert_eq!(desk.run(&["clean"]).status, 0);
    assert_eq!(value(), "0", "a clean leaves it");
    signal(run.id(), "-INT");
    assert_eq!(run.wait().unwrap().code(), Some(130));
    assert_eq!(value(), "1", "interrupted");
    desk.run(&["resume"]).fails(2, &["while the machine was tuned"]);

    let mut run = tuned(&desk);
    signal(run.id(), "-KILL");
    run.wait().unwrap();
    assert!(soon(|| value() == "1"), "its agent undoes it");
    assert!(within(PATIENCE, || agents().is_empty()));

    let mut run = tuned(&desk);
    for process in children(run.id()).into_iter().chain([run.id()]) {
        signal(process, "-KILL");
    }
    run.wait().unwrap();
    assert_eq!(value(), "0", "nobody is left to undo it");
    assert!(within(PATIENCE, || desk.run(&["clean"]).status == 0 && value() == "1"), "clean undoes it");
    thread::sleep(Duration::from_millis(100));
    machine.assert_same();
    assert!(Path::new(FILE).exists());
}
