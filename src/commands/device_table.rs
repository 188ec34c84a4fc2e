//! Throughputs of devices under test of stored runs in one table.

use anyhow::Context;
use model::Run;
use report::DeviceTableDocument;
use verdict::Chosen;

use super::{
    language, print, print_json,
    runs::{load, open},
};
use crate::{
    cli::{Common, TableFormat, TableOptions},
    exit::{Exit, Words},
    output::print_as_it_is,
};

/// `wireproof rfc2544 table RUN…`
pub(super) fn table(options: &TableOptions, common: &Common) -> anyhow::Result<Exit> {
    let store = open(common)?;
    let runs: Vec<Run> = options.runs.iter().map(|run| load(&store, run)).collect::<anyhow::Result<_>>()?;
    show(&runs, options.format, common)?;
    Ok(Exit::Done)
}

/// Prints the table of these runs.
pub(super) fn show(runs: &[Run], format: Option<TableFormat>, common: &Common) -> anyhow::Result<()> {
    let assessed: Vec<_> = runs.iter().map(|run| verdict::assess(run, &[], &Chosen::None)).collect();
    let pairs: Vec<_> = runs.iter().zip(&assessed).collect();
    if let Some((run, _)) = pairs.iter().find(|(_, assessed)| assessed.rfc2544.is_empty()) {
        let why = "has no results of RFC 2544; make some with \"wireproof rfc2544\"";
        return Err(Words(format!("run {} {why}", run.id)).into());
    }
    let (table, lang) = (verdict::device_table(&pairs), language(common));
    match format {
        _ if common.json => print_json(&DeviceTableDocument::of(&table)),
        Some(TableFormat::Csv) => {
            print_as_it_is(&report::device_table_csv(&table).context("cannot write the table as CSV")?)
        }
        Some(TableFormat::Md) => print(&report::device_table_markdown(&table, lang)),
        None => print(&report::device_table(&table, lang)),
    }
}
