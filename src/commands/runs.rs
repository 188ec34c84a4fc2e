//! What was measured: lists, and reports written again.

use model::{Run, RunId};
use store::Store;

use super::{print, print_json};
use crate::{cli::Common, exit::Exit, paths};

/// `wireproof runs`
pub(super) fn list(common: &Common) -> anyhow::Result<Exit> {
    let runs = open(common)?.runs()?;
    if common.json {
        print_json(&runs)?;
        return Ok(Exit::Done);
    }
    if runs.is_empty() {
        print("Nothing has been measured yet; start with \"wireproof verify\".\n")?;
        return Ok(Exit::Done);
    }
    print(&format!("{:<21} {:<20} {:<12} {:<12} {:>6}\n", "run", "started", "plan", "bed", "trials"))?;
    for run in runs {
        let partial = if run.partial { " (partial)" } else { "" };
        print(&format!(
            "{:<21} {:<20} {:<12} {:<12} {:>6}{partial}\n",
            run.id.0, run.started, run.plan, run.bed, run.trials
        ))?;
    }
    Ok(Exit::Done)
}

/// A run by its name, the beginning of it, or "last".
pub(super) fn load(store: &Store, run: &RunId) -> anyhow::Result<Run> {
    Ok(if run.0 == "last" { store.last()? } else { store.load(run)? })
}

/// The store, which exists.
pub(super) fn open(common: &Common) -> anyhow::Result<Store> {
    Ok(Store::open_to_read(&paths::store(common.store.as_deref())?)?)
}
