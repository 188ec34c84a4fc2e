//! Cost of wireproof itself: time to start, to verify, to report, and memory of controller and agents together.

#![allow(dead_code, reason = "each benchmark takes a part of it")]

use std::{
    collections::BTreeMap,
    fs,
    path::Path,
    process::{Command, ExitStatus, Stdio},
    thread,
    time::{Duration, Instant},
};

use crate::peers::WIREPROOF;

/// One figure with its mark.
pub(crate) struct Footprint {
    what: &'static str,
    value: f64,
    unit: &'static str,
    most: f64,
}

impl Footprint {
    /// A figure that has to be less than `most`.
    pub(crate) fn new(what: &'static str, value: f64, unit: &'static str, most: f64) -> Self {
        Self { what, value, unit, most }
    }

    /// Row of a Markdown table.
    pub(crate) fn line(&self) -> String {
        let met = if self.value < self.most { "met" } else { "missed" };
        format!("| {} | {:.3} | {} | < {} | {met} |", self.what, self.value, self.unit, self.most)
    }
}

/// Runs the plan `quick` once, and looks at what that costs.
pub(crate) fn footprint() -> Vec<Footprint> {
    let folder = std::env::temp_dir().join(format!("wireproof-footprint-{}", std::process::id()));
    let (verify, memory) = watch(&["verify", "--quiet"], &folder);
    let rows = vec![
        Footprint::new("`wireproof --version`", median_of(21, || seconds(&["--version"], &folder)), "s", 0.05),
        Footprint::new("`wireproof verify` on `quick`", verify, "s", 60.0),
        Footprint::new(
            "`wireproof report last`",
            median_of(5, || seconds(&["report", "last", "--quiet"], &folder)),
            "s",
            2.0,
        ),
        Footprint::new("largest resident memory, controller and agents (PSS)", memory, "MiB", 64.0),
    ];
    let _ = fs::remove_dir_all(&folder);
    rows
}

/// Whether it did what it was to do. That limits could not be judged, as on a lab, is no fault of the program.
pub(crate) fn is_done(status: ExitStatus) -> bool {
    matches!(status.code(), Some(0 | 4))
}

/// Runs a command to its end. Gives the seconds that it took, and the largest memory of the controller and its agents in MiB.
pub(crate) fn watch(args: &[&str], folder: &Path) -> (f64, f64) {
    let begun = Instant::now();
    let mut run = command(args, folder).spawn().unwrap();
    let mut most = 0.0_f64;
    while run.try_wait().unwrap().is_none() {
        most = most.max(memory_mib(run.id()));
        thread::sleep(Duration::from_millis(200));
    }
    (begun.elapsed().as_secs_f64(), most)
}

pub(crate) fn seconds(args: &[&str], folder: &Path) -> f64 {
    let begun = Instant::now();
    assert!(is_done(command(args, folder).status().unwrap()), "{args:?}");
    begun.elapsed().as_secs_f64()
}

pub(crate) fn median_of(times: usize, mut measure: impl FnMut() -> f64) -> f64 {
    let values: Vec<f64> = (0..times).map(|_| measure()).collect();
    stats::median(&values).unwrap()
}

pub(crate) fn command(args: &[&str], folder: &Path) -> Command {
    let mut command = Command::new(WIREPROOF);
    command.arg("--store").arg(folder.join("runs.db")).args(args).stdout(Stdio::null());
    command
}

/// Proportional set size of a process and its children: pages that several share are counted once between them.
fn memory_mib(root: u32) -> f64 {
    let parents: BTreeMap<u32, u32> = fs::read_dir("/proc")
        .unwrap()
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter_map(|pid| Some((pid, number_after(&format!("/proc/{pid}/status"), "PPid:")? as u32)))
        .collect();
    let family = parents.iter().filter(|(pid, parent)| **pid == root || **parent == root).map(|(pid, _)| *pid);
    let kib: u64 = family.filter_map(|pid| number_after(&format!("/proc/{pid}/smaps_rollup"), "Pss:")).sum();
    kib as f64 / 1024.0
}

fn number_after(path: &str, label: &str) -> Option<u64> {
    let text = fs::read_to_string(path).ok()?;
    text.lines().find_map(|line| line.strip_prefix(label))?.split_whitespace().next()?.parse().ok()
}
