//! What the device under test counted.

use model::{CoreUse, DUT, EndCounters, Run, Source, Trial};

use crate::{
    page::{Block, Column, Text},
    show::{self, grouped, or_none},
    texts::Texts,
};

/// Nothing where it was not read.
pub(super) fn dut(run: &Run, t: &Texts) -> Option<Block> {
    let rows: Vec<Vec<Text>> = run.trials.iter().filter_map(|trial| row(trial, t)).collect();
    if rows.is_empty() {
        return None;
    }
    let columns = vec![
        Column::figures(t.get("col-trial")),
        Column::long(t.get("col-configuration")),
        Column::words(t.get("dut-col-core")),
        Column::figures(t.get("col-busy")),
        Column::figures(t.get("col-softirq")),
        Column::figures(t.get("dut-col-received")),
        Column::figures(t.get("dut-col-sent")),
        Column::figures(t.get("dut-col-dropped")),
    ];
    let machine = run.bed.dut.as_ref().map_or(DUT, |dut| dut.machine.as_str());
    let table = Block::table(t.with("dut-caption", &[("machine", &machine)]), columns, rows);
    Some(Block::section(t.get("dut-heading"), vec![table]))
}

fn row(trial: &Trial, t: &Texts) -> Option<Vec<Text>> {
    let counters = trial.dut.as_ref()?;
    let busiest = counters.cpu.iter().max_by(|a, b| a.busy.total_cmp(&b.busy));
    let percent = |figure: fn(&CoreUse) -> f64| or_none(busiest, |core| format!("{:.1}", figure(core)));
    Some(vec![
        trial.number.to_string().into(),
        show::configuration(&trial.measured.spec(), t).into(),
        or_none(busiest, |core| core.cpu.to_string()).into(),
        percent(|core| core.busy).into(),
        percent(|core| core.softirq).into(),
        grouped(counters.sum(Source::Link, "rx_packets")).into(),
        grouped(counters.sum(Source::Link, "tx_packets")).into(),
        grouped(dropped(counters)).into(),
    ])
}

/// By its interfaces, its queueing disciplines and its cores.
fn dropped(counters: &EndCounters) -> u64 {
    let names = [
        (Source::Link, "rx_dropped"),
        (Source::Link, "tx_dropped"),
        (Source::Link, "rx_missed_errors"),
        (Source::Qdisc, "drops"),
        (Source::Softnet, "dropped"),
    ];
    names.into_iter().map(|(source, name)| counters.sum(source, name)).sum()
}
