//! Stored runs: lists, and reports written again.

use model::{Run, RunId};
use store::{RunSummary, Store};

use super::print;
use crate::{cli::Common, exit::Exit, paths};

/// `wireproof runs`, for people.
pub(super) fn list(common: &Common) -> anyhow::Result<Exit> {
    let runs = open(common)?.runs()?;
    print(&listed(&runs))?;
    Ok(Exit::Done)
}

fn listed(runs: &[RunSummary]) -> String {
    if runs.is_empty() {
        return "Nothing has been measured yet; start with \"wireproof verify\".\n".to_owned();
    }
    let row = |run: &RunSummary| {
        let partial = if run.partial { " (partial)" } else { "" };
        let RunSummary { id, started, plan, bed, trials, .. } = run;
        format!("{:<21} {started:<20} {plan:<12} {bed:<12} {trials:>6}{partial}\n", id.0)
    };
    let head = format!("{:<21} {:<20} {:<12} {:<12} {:>6}\n", "run", "started", "plan", "bed", "trials");
    head + &runs.iter().map(row).collect::<String>()
}

/// A run by its name, the beginning of it, or "last".
pub(super) fn load(store: &Store, run: &RunId) -> anyhow::Result<Run> {
    Ok(if run.0 == "last" { store.last()? } else { store.load(run)? })
}

/// The store, which exists.
pub(super) fn open(common: &Common) -> anyhow::Result<Store> {
    Ok(Store::open_to_read(&paths::store(common.store.as_deref())?)?)
}
