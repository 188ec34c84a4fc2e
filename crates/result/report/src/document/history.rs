//! The history of runs as JSON and as CSV.

use csv::{Terminator, WriterBuilder};
use model::{ReadEntry, RunId, comparison::TrialFigures};
use schemars::JsonSchema;
use serde::Serialize;

use crate::{
    cells::without_formula,
    shape::{document, schema},
};

document! {
    /// JSON document of `runs`.
    RunsDocument of (runs: Vec<HistoryEntry>) {
        /// Name and version of this shape.
        schema: RunsSchemaName = RunsSchemaName::V1,
        /// Each run, the one that was begun last first.
        runs: Vec<HistoryEntry> = runs,
    }
}

schema!("wireproof-runs/1": RunsSchemaName, runs_schema of RunsDocument);

/// A run in the history.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct HistoryEntry {
    /// Its name.
    pub id: RunId,
    /// When it began (RFC 3339).
    pub started: String,
    /// When it ended; null while it runs, or when it was killed.
    pub finished: Option<String>,
    /// Name of the plan.
    pub plan: String,
    /// Name of the bed.
    pub bed: String,
    /// Trials that are stored.
    pub trials: u32,
    /// Whether trials of the plan are missing.
    pub partial: bool,
    /// Facts beyond the list; null where the run cannot be read.
    pub read: Option<ReadEntry>,
    /// Why the run cannot be read; null where it can.
    pub unreadable: Option<String>,
}

/// The columns of the CSV, in order.
const COLUMNS: [&str; 18] = [
    "run",
    "started",
    "finished",
    "plan",
    "bed",
    "simulated",
    "trials",
    "partial",
    "verdict",
    "wireproof",
    "configuration",
    "figure",
    "unit",
    "figure_trials",
    "median",
    "interval_low",
    "interval_high",
    "interval_confidence",
];

/// The history as CSV (RFC 4180): a row for each figure of each configuration of each run. A run without figures has one row.
pub fn runs_csv(runs: &RunsDocument) -> Result<String, csv::Error> {
    let mut bytes = Vec::new();
    let mut writer = WriterBuilder::new().terminator(Terminator::CRLF).from_writer(&mut bytes);
    writer.write_record(COLUMNS)?;
    for row in runs.runs.iter().flat_map(rows) {
        writer.write_record(row.iter().map(|cell| without_formula(cell)))?;
    }
    writer.flush()?;
    drop(writer);
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn rows(run: &HistoryEntry) -> Vec<[String; COLUMNS.len()]> {
    let read = run.read.as_ref();
    let text = |value: Option<&dyn std::fmt::Display>| value.map(ToString::to_string).unwrap_or_default();
    let head = [
        run.id.to_string(),
        run.started.clone(),
        run.finished.clone().unwrap_or_default(),
        run.plan.clone(),
        run.bed.clone(),
        text(read.map(|read| &read.simulated as _)),
        run.trials.to_string(),
        run.partial.to_string(),
        text(read.and_then(|read| read.verdict.as_ref()).map(|verdict| verdict as _)),
        read.map(|read| read.wireproof.clone()).unwrap_or_default(),
    ];
    let row = |tail: [String; 8]| {
        let mut cells = head.iter().cloned().chain(tail);
        std::array::from_fn(|_| cells.next().unwrap_or_default())
    };
    let configurations = read.into_iter().flat_map(|read| &read.configurations);
    let rows: Vec<_> = configurations
        .flat_map(|it| it.figures.iter().map(|figure| (it.configuration.as_str(), figure)))
        .map(|(configuration, figure)| {
            let TrialFigures { trials, median, interval } = &figure.over_trials;
            let number = |value: Option<f64>| value.map(|value| value.to_string()).unwrap_or_default();
            row([
                configuration.to_owned(),
                figure.figure.to_string(),
                figure.unit.clone(),
                trials.to_string(),
                number(*median),
                number(interval.map(|it| it.low)),
                number(interval.map(|it| it.high)),
                number(interval.map(|it| it.confidence)),
            ])
        })
        .collect();
    if rows.is_empty() { vec![row(Default::default())] } else { rows }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_that_cannot_be_read_has_a_row_of_its_own_and_commas_are_quoted() {
        let run = HistoryEntry {
            id: RunId("20261121-101500-3fa9".to_owned()),
            started: "2026-11-21T10:15:00Z".to_owned(),
            finished: None,
            plan: "quick".to_owned(),
            bed: "ports:eth1,eth2".to_owned(),
            trials: 3,
            partial: true,
            read: None,
            unreadable: Some("it was changed by hand".to_owned()),
        };
        let csv = runs_csv(&RunsDocument::of(vec![run])).unwrap();
        let lines: Vec<&str> = csv.split("\r\n").collect();
        assert_eq!(lines[0].split(',').count(), COLUMNS.len());
        assert_eq!(lines[1], "20261121-101500-3fa9,2026-11-21T10:15:00Z,,quick,\"ports:eth1,eth2\",,3,true,,,,,,,,,,");
        assert_eq!(lines[2..], [""]);
    }

    #[test]
    fn no_name_is_a_formula() {
        let run = HistoryEntry {
            id: RunId("20261121-101500-3fa9".to_owned()),
            started: "2026-11-21T10:15:00Z".to_owned(),
            finished: None,
            plan: "=1+1".to_owned(),
            bed: "@x".to_owned(),
            trials: 0,
            partial: false,
            read: None,
            unreadable: None,
        };
        let csv = runs_csv(&RunsDocument::of(vec![run])).unwrap();
        assert!(csv.contains(",'=1+1,'@x,"), "{csv}");
    }
}
