//! The history of runs for programs: verdicts and figures of each run.

use anyhow::Context;
use model::plain::plain;
use report::{HistoryEntry, RunsDocument, runs_csv};
use store::RunSummary;

use super::{
    concluded::{self, Concluded},
    print_json, runs,
};
use crate::{cli::Common, exit::Exit, output::print_as_it_is, references};

/// `wireproof runs --json`, or `--csv`.
pub(super) fn export(common: &Common) -> anyhow::Result<Exit> {
    let runs = concluded::all(&mut runs::open(common)?, &references::read(common)?)?;
    let history = RunsDocument::of(runs.into_iter().map(entry).collect());
    if common.json {
        print_json(&history)?;
    } else {
        let csv = runs_csv(&history).context("cannot write the history as CSV")?;
        print_as_it_is(&csv.split("\r\n").map(plain).collect::<Vec<_>>().join("\r\n"))?;
    }
    Ok(Exit::Done)
}

/// A run that cannot be read says why.
fn entry((run, read): Concluded) -> HistoryEntry {
    let RunSummary { id, started, finished, plan, bed, trials, partial } = run;
    let (read, unreadable) = match read {
        Ok(read) => (Some(read), None),
        Err(error) => (None, Some(error.to_string())),
    };
    HistoryEntry { id, started, finished, plan, bed, trials, partial, read, unreadable }
}
