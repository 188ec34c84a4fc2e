//! Counters of the device under test.

use std::collections::BTreeSet;

use model::{
    CoreUse, DUT, EndCounters, ProbeSpec, Run, Source, Total, alike::grouped as grouped_by, drop_counters::LINK_DROPPED,
};

use crate::{
    columns::Columns,
    groups::Spread,
    page::Block,
    probes,
    show::{NO_FIGURE, grouped, or_none},
    texts::Texts,
};

/// A row for each configuration; nothing where the device was not read.
pub(super) fn dut(run: &Run, t: &Texts) -> Option<Block> {
    let read = run.trials.iter().filter_map(|trial| Some((trial.measured.spec(), trial.dut.as_ref()?)));
    let rows: Vec<Row<'_>> = grouped_by(read, |(a, _), (b, _)| a == b).into_iter().map(Row::of).collect();
    if rows.is_empty() {
        return None;
    }
    let machine = run.bed.dut.as_ref().map_or(DUT, |dut| dut.machine.as_str());
    let percent = |value: f64| format!("{value:.1}");
    let table = Columns::new()
        .long(t.get("col-configuration"), |it: &Row<'_>| probes::configuration(&it.spec, t))
        .figures(t.get("col-trials"), |it| it.trials.len().to_string())
        .words(t.get("dut-col-core"), Row::busiest_cores)
        .figures(t.get("col-busy"), |it| or_none(it.median(|core| core.busy), percent))
        .figures(t.get("col-softirq"), |it| or_none(it.median(|core| core.softirq), percent))
        .figures(t.get("dut-col-received"), |it| it.sum(|counters| counters.sum(Source::Link, "rx_packets")))
        .figures(t.get("dut-col-sent"), |it| it.sum(|counters| counters.sum(Source::Link, "tx_packets")))
        .figures(t.get("dut-col-dropped"), |it| it.sum(dropped))
        .table(t.with("dut-caption", &[("machine", &machine)]), &rows);
    Some(Block::section(t.get("dut-heading"), vec![table]))
}

/// A configuration with the device's counters over each of its trials.
struct Row<'r> {
    spec: ProbeSpec,
    trials: Vec<&'r EndCounters>,
}

impl<'r> Row<'r> {
    /// `read` is never empty.
    fn of(read: Vec<(ProbeSpec, &'r EndCounters)>) -> Self {
        Self { spec: read[0].0.clone(), trials: read.into_iter().map(|(_, counters)| counters).collect() }
    }

    /// The busiest core of each trial.
    fn busiest(&self) -> impl Iterator<Item = &'r CoreUse> {
        self.trials.iter().filter_map(|counters| counters.cpu.iter().max_by(|a, b| a.busy.total_cmp(&b.busy)))
    }

    fn busiest_cores(&self) -> String {
        let cores: BTreeSet<usize> = self.busiest().map(|core| core.cpu).collect();
        let cores: Vec<String> = cores.iter().map(ToString::to_string).collect();
        if cores.is_empty() { NO_FIGURE.to_owned() } else { cores.join(", ") }
    }

    fn median(&self, figure: fn(&CoreUse) -> f64) -> Option<f64> {
        Spread::of(&self.busiest().map(figure).collect::<Vec<_>>()).map(|it| it.median)
    }

    fn sum(&self, count: fn(&EndCounters) -> u64) -> String {
        grouped(self.trials.iter().map(|counters| count(counters)).total())
    }
}

/// By its interfaces, its queueing disciplines and its cores.
fn dropped(counters: &EndCounters) -> u64 {
    let link = LINK_DROPPED.map(|name| (Source::Link, name));
    let names = link.into_iter().chain([(Source::Qdisc, "drops"), (Source::Softnet, "dropped")]);
    names.map(|(source, name)| counters.sum(source, name)).total()
}
