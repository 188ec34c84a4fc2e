//! Goodput: the main table and the figure.

use maud::{Markup, html};
use model::{Protocol, Run, Trial};

use super::{
    cpu, datagrams,
    schedule::{self, Schedule},
    table::{figures, table, words},
    tcp,
};
use crate::{
    figure,
    groups::{FlowGroup, Spread, flow_groups, goodput_groups, knows_sender},
    show::{self, grouped, or_none},
    texts::Texts,
};

/// Nothing when no goodput was measured.
pub(super) fn goodput(run: &Run, t: &Texts) -> Markup {
    let groups = goodput_groups(run);
    if groups.is_empty() {
        return html! {};
    }
    let flows = flow_groups(&groups);
    let is_tcp = flows.iter().any(|flow| flow.spec.protocol == Protocol::Tcp);
    html! {
        h3 { (t.get("goodput-heading")) }
        (goodput_table(&flows, t))
        @if run.bed.simulated && is_tcp { p { (t.get("goodput-lab-note")) } }
        div.charts {
            @if let Some(figure) = figure::goodput_over_time(&flows, t) { (figure) }
        }
        (datagrams::table(&flows, t))
        (schedule::table(&flows.iter().filter_map(|flow| schedule_of(flow, t)).collect::<Vec<_>>(), t))
        (tcp::table(&flows, t))
        (cpu::table(run, &groups, t))
    }
}

/// Which columns the table needs.
struct Columns {
    intervals: bool,
    retransmits: bool,
    loss: bool,
}

fn goodput_table(flows: &[FlowGroup<'_>], t: &Texts) -> Markup {
    let any = |protocol: Protocol| flows.iter().any(|flow| flow.spec.protocol == protocol);
    let columns = Columns {
        intervals: flows.iter().any(|flow| flow.mean().is_some_and(|mean| mean.interval.is_some())),
        retransmits: any(Protocol::Tcp),
        loss: any(Protocol::Udp),
    };
    let head = html! {
        (words(&t.get("col-traffic")))
        (words(&t.get("col-direction")))
        (figures("MTU"))
        (figures(&t.get("col-trials")))
        (figures(&t.get("col-mean")))
        (figures(&t.get("col-mean-spread")))
        @if columns.intervals { (figures(&t.get("col-interval-mean"))) }
        (figures(&t.get("col-fastest")))
        (figures(&t.get("col-slowest")))
        (figures(&t.get("col-sent")))
        @if columns.retransmits { (figures(&t.get("col-retransmits"))) }
        @if columns.loss { (figures(&t.get("col-loss"))) }
    };
    let unit = Unit::of(flows);
    let rows = html! { @for flow in flows { (row(flow, &columns, &unit, t)) } };
    table(&t.with("goodput-caption", &[("unit", &unit.name)]), &head, &rows)
}

/// One unit for all rates of the table.
struct Unit {
    size: f64,
    name: &'static str,
}

impl Unit {
    fn of(flows: &[FlowGroup<'_>]) -> Self {
        let fastest = flows.iter().filter_map(FlowGroup::seconds).map(|(_, fastest)| fastest);
        let (size, name) = show::rate_unit(fastest.fold(0.0, f64::max));
        Self { size, name }
    }

    /// Two decimals, and more for a rate that they would press to nothing.
    fn show(&self, bps: f64) -> String {
        let value = bps / self.size;
        if value < 0.1 { format!("{value:.4}") } else { format!("{value:.2}") }
    }

    fn show_or_none(&self, bps: Option<f64>) -> String {
        or_none(bps, |bps| self.show(bps))
    }

    fn range(&self, low: f64, high: f64) -> String {
        format!("{} – {}", self.show(low), self.show(high))
    }
}

fn row(flow: &FlowGroup<'_>, columns: &Columns, unit: &Unit, t: &Texts) -> Markup {
    let mean = flow.mean();
    let (slowest, fastest) = flow.seconds().unzip();
    let median_rate = |spread: Option<Spread>| unit.show_or_none(spread.map(|it| it.median));
    let sent = flow.over(|flow| knows_sender(flow).then(|| flow.sent.mean_bps()));
    html! {
        tr {
            th.long scope="row" { (show::goodput_traffic(flow.spec, t)) }
            td { (show::way(flow.from, flow.to)) }
            td.n { (or_none(flow.flows.first(), |(result, _)| result.mtu.0.to_string())) }
            td.n { (flow.flows.len()) }
            td.n { strong { (median_rate(mean)) } }
            td.n { (or_none(mean.and_then(|mean| mean.range()), |(low, high)| unit.range(low, high))) }
            @if columns.intervals {
                td.n { (or_none(mean.and_then(|mean| mean.interval), |it| unit.range(it.low, it.high))) }
            }
            td.n { (unit.show_or_none(fastest)) }
            td.n { (unit.show_or_none(slowest)) }
            td.n { (median_rate(sent)) }
            @if columns.retransmits { td.n { (retransmits(flow)) } }
            @if columns.loss { td.n { (or_none(flow.loss(), show::percent)) } }
        }
    }
}

fn retransmits(group: &FlowGroup<'_>) -> String {
    let tcp = group.spec.protocol == Protocol::Tcp;
    let median = group.over(|flow| (tcp && knows_sender(flow)).then(|| flow.sent.retransmits() as f64));
    or_none(median, |it| grouped(it.median.round() as u64))
}

fn schedule_of<'a>(group: &FlowGroup<'a>, t: &Texts) -> Option<Schedule<'a>> {
    let datagrams = group.flows.iter().filter_map(|(_, flow)| flow.sent.datagrams.as_ref());
    let paced: Vec<_> = datagrams.filter_map(|datagrams| datagrams.pacing.as_ref()).collect();
    let intended = group.over(|flow| flow.sent.datagrams.as_ref()?.intended_bps)?;
    let achieved = group.over(|flow| knows_sender(flow).then(|| flow.sent.mean_bps()));
    Some(Schedule {
        name: show::flow(group.spec, group.from, group.to, t),
        intended: show::rate(intended.median),
        achieved: or_none(achieved, |it| show::rate(it.median)),
        paced,
    })
}

/// Whether a trial saw loss or sent something again, so that counters are worth a look.
pub(super) fn saw_loss(trial: &Trial) -> bool {
    match &trial.measured {
        model::Measured::Latency { result, .. } => result.lost + result.late + result.overflowed > 0,
        model::Measured::Goodput { result, .. } => result.flows.iter().any(|flow| {
            let overflowed = flow.received.datagrams.as_ref().map_or(0, |datagrams| datagrams.overflowed);
            flow.lost().unwrap_or(0) + flow.sent.retransmits() + overflowed > 0
        }),
        model::Measured::Path { .. } => false,
    }
}
