//! `./x faults`: plants one fault after another in a lab, and compares the named causes with the planted one; then
//! measures without a fault, and counts the causes that are blamed all the same. The result is docs/faults.md.

mod fault;
mod faults;

use std::{
    fmt::Write as _,
    panic::{AssertUnwindSafe, catch_unwind},
    path::Path,
};

use serde_json::Value;

use self::fault::{Fault, Found, names};
use crate::program::{Desk, Done};

/// Runs without a fault, if `WIREPROOF_CLEAN_RUNS` does not say how many.
const CLEAN_RUNS: usize = 50;
const PROBES: [&[&str]; 7] =
    [fault::TCP, fault::UDP, fault::PACKETS, fault::LATENCY, fault::PACED_LATENCY, fault::TRANSACTIONS, fault::PATH];
/// Names that a run without a fault may give: the tester's own limits, and doubts about a virtual, simulated machine.
const INNOCENT: [&str; 14] = [
    "limited by intended load",
    "limited by sender CPU",
    "limited by receiver CPU",
    "limited by softirq core",
    "limited by number of connections",
    "limited by not known",
    "doubt steal",
    "doubt sender-paused",
    "doubt behind-schedule",
    "doubt few-trials",
    "doubt no-self-test",
    "doubt shared-core",
    "doubt small-buffer",
    "doubt not-numbered",
];

#[test]
#[ignore = "takes half an hour: sudo ./x faults"]
fn each_planted_fault_is_named_and_no_other() {
    let all = faults::all();
    let only = std::env::var("WIREPROOF_FAULTS").unwrap_or_default();
    let is_chosen = |fault: &&Fault| only.split('|').any(|part| fault.name.contains(part));
    let chosen: Vec<&Fault> = all.iter().filter(is_chosen).collect();
    let rows: Vec<(&Fault, Found)> = chosen.into_iter().map(|fault| (fault, told(fault))).collect();
    let clean = if only.is_empty() { without_faults() } else { Vec::new() };
    let table = table(&rows, &clean);
    println!("{table}");
    std::fs::write(Path::new(env!("CARGO_TARGET_TMPDIR")).join("faults.md"), &table).unwrap();
    let wrong: Vec<&str> = rows.iter().filter(|(_, found)| !found.right).map(|(fault, _)| fault.name).collect();
    assert!(wrong.len() * 20 <= rows.len() && !clean.iter().any(|run| run.is_blamed()), "wrong: {wrong:#?}");
}

/// Measures with this fault, in a lab of its own.
fn told(fault: &Fault) -> Found {
    let desk = Desk::alone();
    // A row that cannot be planted is a wrong one, and no reason to lose the others.
    let found = catch_unwind(AssertUnwindSafe(|| fault.tell(&desk)));
    let found = found.unwrap_or_else(|_| Found { names: vec!["not planted".to_owned()], right: false });
    eprintln!("{}: {} ({})", fault.name, if found.right { "right" } else { "wrong" }, found.names.join("; "));
    found
}

/// A run without a fault, and the names it gave that blame something.
struct Clean {
    probe: &'static [&'static str],
    blamed: Vec<String>,
}

impl Clean {
    fn is_blamed(&self) -> bool {
        !self.blamed.is_empty()
    }
}

fn without_faults() -> Vec<Clean> {
    let runs = std::env::var("WIREPROOF_CLEAN_RUNS").ok().and_then(|runs| runs.parse().ok()).unwrap_or(CLEAN_RUNS);
    let desk = Desk::alone();
    let probes = PROBES.iter().cycle().take(runs);
    probes
        .map(|probe| {
            let blamed = |done: &Done| {
                let mut names = names(done);
                names.retain(|name| !INNOCENT.iter().any(|innocent| name.starts_with(innocent)));
                names
            };
            let done =
                desk.undisturbed(|| desk.run(&[*probe, &["--repeats", "1", "--cpus", "0,1", "--json"]].concat()));
            Clean { probe, blamed: blamed(&done) }
        })
        .collect()
}

fn table(rows: &[(&Fault, Found)], clean: &[Clean]) -> String {
    let right = rows.iter().filter(|(_, found)| found.right).count();
    let blamed = clean.iter().filter(|run| run.is_blamed()).count();
    let mut text = String::from(
        "# Planted faults\n\n\
         `sudo ./x faults` plants each fault in a lab, measures, and compares the named causes with the planted one. A row is\n\
         right if all expected names are given and none of those that would be wrong. Then it measures without a fault.\n\n",
    );
    writeln!(
        text,
        "{right} of {} faults are named right. {blamed} of {} runs without a fault blame something.\n",
        rows.len(),
        clean.len()
    )
    .unwrap();
    text += "| fault | expected | named | right? |\n|---|---|---|---|\n";
    for (fault, found) in rows {
        let right = if found.right { "yes" } else { "**no**" };
        writeln!(text, "| {} | {} | {} | {right} |", fault.name, fault.expected(), found.names.join("; ")).unwrap();
    }
    let blames: Vec<&Clean> = clean.iter().filter(|run| run.is_blamed()).collect();
    if !blames.is_empty() {
        text += "\n## Blamed without a fault\n\n| measured | named |\n|---|---|\n";
        for run in blames {
            writeln!(text, "| `{}` | {} |", run.probe.join(" "), run.blamed.join("; ")).unwrap();
        }
    }
    text
}

/// The trial that a fault is looked for in: the last.
fn last_trial(done: &Done) -> Option<Value> {
    let document: Value = serde_json::from_str(&done.out).ok()?;
    document["trials"].as_array()?.last().cloned()
}
