//! Tables and figures of goodput.

use model::{Direction, Metric, Protocol, Run};

use super::{
    cpu, datagrams,
    group::{FlowGroup, GoodputGroup, flow_groups, knows_sender},
    names, over_time, senders, stacks, tcp,
};
use crate::{
    columns::Columns,
    figure::{self, FigureSubject, Repeated},
    groups::{Ranges, Spread, slower_way},
    page::{Block, Figure, Text},
    schedule::{self, Schedule},
    show::{self, grouped, or_none},
    texts::Texts,
};

/// All of them.
pub(super) fn section(run: &Run, groups: &[GoodputGroup<'_>], t: &Texts) -> Block {
    let flows = flow_groups(groups);
    let is_tcp = flows.iter().any(|flow| flow.spec.protocol == Protocol::Tcp);
    let offload = (run.bed.simulated && is_tcp).then(|| Block::Paragraph(t.get("goodput-lab-note").into()));
    let schedules: Vec<_> = flows.iter().filter_map(|flow| schedule_of(flow, t)).collect();
    let mut blocks = vec![goodput_table(&flows, t)];
    blocks.push(Block::Note(most_note(&flows, t).into()));
    blocks.extend(slower_note(groups, t));
    blocks.extend(warmup_note(&flows, t));
    blocks.extend(stacks::section(&flows, t));
    blocks.extend(senders::section(run, groups, t));
    blocks.extend(offload);
    blocks.extend(over_time::figure(&flows, t).map(Block::Figure));
    blocks.extend(repeats(&flows, t).into_iter().map(Block::Figure));
    blocks.extend(datagrams::section(&flows, t));
    blocks.extend(schedule::section(&schedules, t));
    blocks.extend(tcp::section(&flows, t));
    blocks.extend(cpu::section(run, groups, t));
    Block::section(t.get("goodput-heading"), blocks)
}

/// How the mean differs from trial to trial.
fn repeats(flows: &[FlowGroup<'_>], t: &Texts) -> Vec<Figure> {
    let unit = Unit::of(flows);
    let values =
        |group: &FlowGroup<'_>| group.flows.iter().map(|(_, flow)| flow.received.mean_bps() / unit.size).collect();
    let repeated: Vec<_> = flows
        .iter()
        .map(|group| Repeated { group: group.name(t), name: String::new(), values: values(group) })
        .collect();
    let spoken =
        FigureSubject { title: t.get("figure-goodput-repeats"), axis: t.with("axis-goodput", &[("unit", &unit.name)]) };
    figure::repeats(spoken, &repeated, t)
}

/// The theoretical maximum of a flow.
fn most(flow: &FlowGroup<'_>) -> Option<f64> {
    flow.most(|link| link.goodput_bps)
}

/// How the theoretical maximum comes about, or that there is none to give.
fn most_note(flows: &[FlowGroup<'_>], t: &Texts) -> String {
    if flows.iter().any(|it| most(it).is_some()) { t.get("goodput-most-note") } else { t.get("goodput-most-unknown") }
}

/// The slower way of each trial, which is the figure of the first page and of limits; nothing where all go one way.
fn slower_note(groups: &[GoodputGroup<'_>], t: &Texts) -> Option<Block> {
    let both = groups.iter().filter(|group| group.spec.direction == Direction::Both);
    slower_way(both.map(|group| (names::configuration(group.spec, t), group)), Metric::GoodputMean, t)
}

/// Retransmits of the warm-up, which stand in no figure; nothing without any.
fn warmup_note(flows: &[FlowGroup<'_>], t: &Texts) -> Option<Block> {
    let each = flows.iter().flat_map(|group| &group.flows).filter_map(|(_, flow)| flow.sent.warmup_retransmits());
    let most = each.max().filter(|most| *most > 0)?;
    Some(Block::Note(t.with("goodput-warmup-retransmits", &[("count", &grouped(most))]).into()))
}

fn goodput_table(flows: &[FlowGroup<'_>], t: &Texts) -> Block {
    let any = |holds: fn(&FlowGroup<'_>) -> bool| flows.iter().any(holds);
    let unit = &Unit::of(flows);
    let ranges = Ranges::of(flows.iter().filter_map(FlowGroup::mean));
    let median = |spread: Option<Spread>| unit.show_or_none(spread.map(|it| it.median));
    let sent = |it: &FlowGroup<'_>| it.over(|flow| flow.sent.mean_bps());
    let (slowest, fastest) = (|(low, _): (f64, f64)| low, |(_, high): (f64, f64)| high);
    Columns::new()
        .long(t.get("col-traffic"), |it: &FlowGroup<'_>| names::traffic(it.spec, t))
        .words(t.get("col-direction"), |it| show::way(it.from, it.to))
        .figures("MTU", |it| or_none(it.flows.first(), |(result, _)| result.mtu.0.to_string()))
        .figures(t.get("col-trials"), |it| it.flows.len().to_string())
        .figures(t.get("col-mean"), |it| Text::strong(median(it.mean())))
        .figures(ranges.head("col-mean-spread", t), |it| {
            or_none(it.mean().and_then(|mean| mean.range()), |(low, high)| unit.range(low, high))
        })
        .figures(t.get("col-interval-mean"), |it| {
            or_none(it.mean().and_then(|mean| mean.interval), |it| unit.range(it.low, it.high))
        })
        .only_if(ranges == Ranges::Intervals)
        .figures(t.get("col-most"), |it| most(it).map_or_else(|| t.get("most-unknown"), |most| unit.show(most)))
        .only_if(any(|it| most(it).is_some()))
        .figures(t.get("col-fastest"), |it| unit.show_or_none(it.seconds().map(fastest)))
        .figures(t.get("col-slowest"), |it| unit.show_or_none(it.seconds().map(slowest)))
        .figures(t.get("col-sent"), |it| median(sent(it)))
        .figures(t.get("col-retransmits"), retransmits)
        .only_if(any(|it| it.spec.protocol == Protocol::Tcp))
        .figures(t.get("col-loss"), |it| or_none(it.loss(), show::percent))
        .only_if(any(|it| it.spec.protocol == Protocol::Udp))
        .table(t.with("goodput-caption", &[("unit", &unit.name)]), flows)
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

fn retransmits(group: &FlowGroup<'_>) -> String {
    let tcp = group.spec.protocol == Protocol::Tcp;
    let median = group.over(|flow| (tcp && knows_sender(flow)).then(|| flow.sent.counted_retransmits() as f64));
    or_none(median, |it| grouped(it.median.round() as u64))
}

fn schedule_of<'a>(group: &FlowGroup<'a>, t: &Texts) -> Option<Schedule<'a>> {
    let datagrams = group.flows.iter().filter_map(|(_, flow)| flow.sent.datagrams.as_ref());
    let paced: Vec<_> = datagrams.filter_map(|datagrams| datagrams.pacing.as_ref()).collect();
    let intended = group.over(|flow| flow.sent.datagrams.as_ref()?.intended_bps)?;
    let achieved = group.over(|flow| flow.sent.mean_bps());
    Some(Schedule {
        name: group.name(t),
        intended: show::rate(intended.median),
        achieved: or_none(achieved, |it| show::rate(it.median)),
        paced,
        arrived: Vec::new(),
    })
}
