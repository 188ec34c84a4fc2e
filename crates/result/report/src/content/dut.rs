//! Counters of the device under test.

use model::{CoreUse, DUT, EndCounters, Run, Source, Total, Trial, drop_counters::LINK_DROPPED};

use crate::{
    columns::Columns,
    page::Block,
    probes,
    show::{grouped, or_none},
    texts::Texts,
};

/// Nothing where it was not read.
pub(super) fn dut(run: &Run, t: &Texts) -> Option<Block> {
    let rows: Vec<Row<'_>> = run.trials.iter().filter_map(|trial| Some((trial, trial.dut.as_ref()?))).collect();
    if rows.is_empty() {
        return None;
    }
    let busiest = |(_, counters): &Row<'_>, figure: fn(&CoreUse) -> String| {
        or_none(counters.cpu.iter().max_by(|a, b| a.busy.total_cmp(&b.busy)), figure)
    };
    let machine = run.bed.dut.as_ref().map_or(DUT, |dut| dut.machine.as_str());
    let table = Columns::new()
        .figures(t.get("col-trial"), |(trial, _): &Row<'_>| trial.number.to_string())
        .long(t.get("col-configuration"), |(trial, _)| probes::configuration(&trial.measured.spec(), t))
        .words(t.get("dut-col-core"), |it| busiest(it, |core| core.cpu.to_string()))
        .figures(t.get("col-busy"), |it| busiest(it, |core| format!("{:.1}", core.busy)))
        .figures(t.get("col-softirq"), |it| busiest(it, |core| format!("{:.1}", core.softirq)))
        .figures(t.get("dut-col-received"), |(_, counters)| grouped(counters.sum(Source::Link, "rx_packets")))
        .figures(t.get("dut-col-sent"), |(_, counters)| grouped(counters.sum(Source::Link, "tx_packets")))
        .figures(t.get("dut-col-dropped"), |(_, counters)| grouped(dropped(counters)))
        .table(t.with("dut-caption", &[("machine", &machine)]), &rows);
    Some(Block::section(t.get("dut-heading"), vec![table]))
}

/// A trial with the device's counters over it.
type Row<'r> = (&'r Trial, &'r EndCounters);

/// By its interfaces, its queueing disciplines and its cores.
fn dropped(counters: &EndCounters) -> u64 {
    let link = LINK_DROPPED.map(|name| (Source::Link, name));
    let names = link.into_iter().chain([(Source::Qdisc, "drops"), (Source::Softnet, "dropped")]);
    names.map(|(source, name)| counters.sum(source, name)).total()
}
