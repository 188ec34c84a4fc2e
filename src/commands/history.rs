//! The history of runs for programs: verdicts and figures of each run.

use anyhow::Context;
use model::{Run, plain::plain};
use report::{HistoryEntry, ReadEntry, RunsDocument, runs_csv};
use store::{RunSummary, Store};

use super::{print_json, runs};
use crate::{
    cli::Common,
    exit::Exit,
    output::print_as_it_is,
    references::{self, References},
};

/// `wireproof runs --json`, or `--csv`.
pub(super) fn export(common: &Common) -> anyhow::Result<Exit> {
    let history = history(&runs::open(common)?, &references::read(common)?)?;
    if common.json {
        print_json(&history)?;
    } else {
        let csv = runs_csv(&history).context("cannot write the history as CSV")?;
        print_as_it_is(&csv.split("\r\n").map(plain).collect::<Vec<_>>().join("\r\n"))?;
    }
    Ok(Exit::Done)
}

/// A run that cannot be read says why.
fn history(store: &Store, references: &References) -> anyhow::Result<RunsDocument> {
    let entry = |RunSummary { id, started, finished, plan, bed, trials, partial }| {
        let (read, unreadable) = match store.load(&id) {
            Ok(run) => (Some(read(&run, references)), None),
            Err(error) => (None, Some(error.to_string())),
        };
        HistoryEntry { id, started, finished, plan, bed, trials, partial, read, unreadable }
    };
    Ok(RunsDocument::of(store.runs()?.into_iter().map(entry).collect()))
}

fn read(run: &Run, references: &References) -> ReadEntry {
    ReadEntry {
        simulated: run.bed.simulated,
        verdict: runs::verdict(run, references),
        wireproof: run.wireproof.clone(),
        configurations: verdict::figures(run),
    }
}
