//! Reports: how long one of a run as large as the plan `certify` makes takes, as HTML and as PDF.
//!
//! The trials are measured, shorter than the plan says, and lengthened to as many seconds and round trips as it asks for: the
//! report is as large, and nobody waits for six hours. Writes its part of `docs/benchmarks.md`. Run it with `./x bench reports`.

#![allow(clippy::unwrap_used, reason = "a benchmark that cannot be made shall stop")]

#[path = "bench/footprint.rs"]
mod footprint;
#[path = "bench/page.rs"]
mod page;
#[path = "bench/peers.rs"]
mod peers;

use std::{fs, path::Path};

use footprint::{Footprint, command, is_done, median_of, seconds};
use model::{Flow, Measured, Plan, ProbeSpec, Run, RunId};
use run::Archive;
use store::Store;

const CERTIFY: &str = include_str!("../plans/certify.toml");
const FULL: &str = "certify-in-full";

fn main() {
    // `cargo test --benches` and the like start benchmarks to see whether they start.
    if !std::env::args().any(|arg| arg == "--bench") {
        return;
    }
    let folder = std::env::temp_dir().join(format!("wireproof-reports-{}", std::process::id()));
    measure(&folder);
    let trials = lengthen(&folder);
    let html = timed(&folder, "html");
    let size = fs::metadata(folder.join("html/report.html")).unwrap().len() as f64 / 1e6;
    let rows = [
        Footprint::new("`wireproof report --format html`", html, "s", 2.0),
        Footprint::new("… its size", size, "MB", 2.0),
        Footprint::new("`wireproof report --format pdf`", timed(&folder, "pdf"), "s", 5.0),
    ];
    let _ = fs::remove_dir_all(&folder);
    rows.iter().for_each(|row| println!("{}", row.line()));
    write(&rows, trials);
}

/// The plan's trials, each for a moment.
fn measure(folder: &Path) {
    let short = ["latency.count=1000", "latency.warmup=100", "goodput.duration=1 s", "goodput.warmup=100 ms"];
    let sets = short.iter().flat_map(|set| ["--set", set]);
    let words: Vec<&str> = ["verify", "certify", "--quiet"].into_iter().chain(sets).collect();
    assert!(is_done(command(&words, folder).status().unwrap()), "{words:?}");
}

/// Stores the same run as if each transfer had taken its time. Gives the number of trials.
fn lengthen(folder: &Path) -> usize {
    let mut store = Store::open(&folder.join("runs.db")).unwrap();
    let plan = Plan::parse(CERTIFY, &[]).unwrap();
    let mut run = Run { id: RunId(FULL.to_owned()), plan, ..store.last().unwrap() };
    let steps = procedure::steps(&run.plan, 1);
    assert_eq!(run.trials.len(), steps.len());
    for (trial, step) in run.trials.iter_mut().zip(&steps) {
        match (&mut trial.measured, &step.spec) {
            (Measured::Latency { spec, .. }, ProbeSpec::Latency(full)) => spec.clone_from(full),
            (Measured::Goodput { spec, result }, ProbeSpec::Goodput(full)) => {
                spec.clone_from(full);
                let seconds = full.duration.as_secs_f64() as usize;
                result.flows.iter_mut().for_each(|flow| repeat_seconds(flow, seconds));
            }
            (Measured::Path { .. }, ProbeSpec::Path(_)) => {}
            other => panic!("another step: {other:?}"),
        }
    }
    store.begin(&run).unwrap();
    run.trials.iter().for_each(|trial| store.keep_trial(&run.id, trial).unwrap());
    store.finish(&run).unwrap();
    run.trials.len()
}

/// Each second is a little off the one that was measured, as seconds are.
fn repeat_seconds(flow: &mut Flow, seconds: usize) {
    let measured = flow.received.intervals_bps[0];
    flow.received.intervals_bps = (0..seconds).map(|second| measured * (1.0 + (second % 7) as f64 / 100.0)).collect();
    for connection in &mut flow.sent.tcp {
        let of = &mut connection.seconds;
        of.retransmits = vec![of.retransmits[0]; seconds];
        of.rtt_us = vec![of.rtt_us[0]; seconds];
        of.cwnd_segments = vec![of.cwnd_segments[0]; seconds];
    }
}

/// Seconds that this form takes, the median of five.
fn timed(folder: &Path, form: &str) -> f64 {
    let out = folder.join(form);
    let words = ["report", FULL, "--quiet", "--lang", "ja", "--format", form, "--out", out.to_str().unwrap()];
    median_of(5, || seconds(&words, folder))
}

fn write(rows: &[Footprint], trials: usize) {
    let mut text =
        format!("A run as large as the plan `certify` makes ({trials} trials), in Japanese; the median of five:\n\n");
    text += "| what | | unit | mark | |\n|---|---|---|---|---|\n";
    for row in rows {
        text += &(row.line() + "\n");
    }
    page::write("reports", &[], &text);
}
