//! Goodput: the main table and the figure.

use model::{Protocol, Run, Trial};
use verdict::link_most;

use super::{
    cpu, datagrams,
    schedule::{self, Schedule},
    senders, stacks, tcp,
};
use crate::{
    figure::{self, Repeated, Spoken},
    groups::{FlowGroup, Spread, flow_groups, goodput_groups, knows_sender},
    page::{Block, Column, Figure, Text},
    show::{self, grouped, or_none},
    texts::Texts,
};

/// Nothing when no goodput was measured.
pub(super) fn goodput(run: &Run, t: &Texts) -> Vec<Block> {
    let groups = goodput_groups(run);
    if groups.is_empty() {
        return vec![];
    }
    let flows = flow_groups(&groups);
    let is_tcp = flows.iter().any(|flow| flow.spec.protocol == Protocol::Tcp);
    let offload = (run.bed.simulated && is_tcp).then(|| Block::Paragraph(t.get("goodput-lab-note").into()));
    let schedules: Vec<_> = flows.iter().filter_map(|flow| schedule_of(flow, t)).collect();
    let most = |flow: &FlowGroup<'_>| flow.over(|one| Some(link_most(run, flow.spec, one)?.goodput_bps));
    let most: Vec<_> = flows.iter().map(|flow| most(flow).map(|it| it.median)).collect();
    let mut blocks = vec![goodput_table(&flows, &most, t)];
    blocks.push(Block::Note(most_note(&most, t).into()));
    blocks.extend(stacks::goodput(&flows, t));
    blocks.extend(senders::section(run, &groups, t));
    blocks.extend(offload);
    blocks.extend(figure::goodput_over_time(&flows, t).map(Block::Figure));
    blocks.extend(repeats(&flows, t).into_iter().map(Block::Figure));
    blocks.extend(datagrams::section(run, &flows, t));
    blocks.extend(schedule::section(&schedules, t));
    blocks.extend(tcp::section(&flows, t));
    blocks.extend(cpu::section(run, &groups, t));
    vec![Block::section(t.get("goodput-heading"), blocks)]
}

/// How the mean differs from trial to trial.
fn repeats(flows: &[FlowGroup<'_>], t: &Texts) -> Vec<Figure> {
    let unit = Unit::of(flows);
    let values =
        |group: &FlowGroup<'_>| group.flows.iter().map(|(_, flow)| flow.received.mean_bps() / unit.size).collect();
    let repeated: Vec<_> = flows.iter().map(|group| Repeated { name: group.name(t), values: values(group) }).collect();
    let spoken =
        Spoken { title: t.get("figure-goodput-repeats"), axis: t.with("axis-goodput", &[("unit", &unit.name)]) };
    figure::repeats(spoken, &repeated, t)
}

/// Which columns the table needs.
struct Columns {
    intervals: bool,
    retransmits: bool,
    loss: bool,
    most: bool,
}

/// How the theoretical maximum comes about, or that there is none to give.
fn most_note(most: &[Option<f64>], t: &Texts) -> String {
    if most.iter().any(Option::is_some) { t.get("goodput-most-note") } else { t.get("goodput-most-unknown") }
}

/// `most` is the theoretical maximum of each.
fn goodput_table(flows: &[FlowGroup<'_>], most: &[Option<f64>], t: &Texts) -> Block {
    let any = |protocol: Protocol| flows.iter().any(|flow| flow.spec.protocol == protocol);
    let columns = Columns {
        intervals: flows.iter().any(|flow| flow.mean().is_some_and(|mean| mean.interval.is_some())),
        retransmits: any(Protocol::Tcp),
        loss: any(Protocol::Udp),
        most: most.iter().any(Option::is_some),
    };
    let head = [
        Some(Column::long(t.get("col-traffic"))),
        Some(Column::words(t.get("col-direction"))),
        Some(Column::figures("MTU")),
        Some(Column::figures(t.get("col-trials"))),
        Some(Column::figures(t.get("col-mean"))),
        Some(Column::figures(t.get("col-mean-spread"))),
        columns.intervals.then(|| Column::figures(t.get("col-interval-mean"))),
        columns.most.then(|| Column::figures(t.get("col-most"))),
        Some(Column::figures(t.get("col-fastest"))),
        Some(Column::figures(t.get("col-slowest"))),
        Some(Column::figures(t.get("col-sent"))),
        columns.retransmits.then(|| Column::figures(t.get("col-retransmits"))),
        columns.loss.then(|| Column::figures(t.get("col-loss"))),
    ];
    let unit = Unit::of(flows);
    let rows = flows.iter().zip(most).map(|(flow, most)| row(flow, *most, &columns, &unit, t)).collect();
    let caption = t.with("goodput-caption", &[("unit", &unit.name)]);
    Block::table(caption, head.into_iter().flatten().collect(), rows)
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

fn row(flow: &FlowGroup<'_>, most: Option<f64>, columns: &Columns, unit: &Unit, t: &Texts) -> Vec<Text> {
    let mean = flow.mean();
    let (slowest, fastest) = flow.seconds().unzip();
    let median_rate = |spread: Option<Spread>| unit.show_or_none(spread.map(|it| it.median));
    let sent = flow.over(|flow| knows_sender(flow).then(|| flow.sent.mean_bps()));
    let interval = || or_none(mean.and_then(|mean| mean.interval), |it| unit.range(it.low, it.high)).into();
    let cells = [
        Some(show::goodput_traffic(flow.spec, t).into()),
        Some(show::way(flow.from, flow.to).into()),
        Some(or_none(flow.flows.first(), |(result, _)| result.mtu.0.to_string()).into()),
        Some(flow.flows.len().to_string().into()),
        Some(Text::strong(median_rate(mean))),
        Some(or_none(mean.and_then(|mean| mean.range()), |(low, high)| unit.range(low, high)).into()),
        columns.intervals.then(interval),
        columns.most.then(|| most.map_or_else(|| t.get("most-unknown"), |most| unit.show(most)).into()),
        Some(unit.show_or_none(fastest).into()),
        Some(unit.show_or_none(slowest).into()),
        Some(median_rate(sent).into()),
        columns.retransmits.then(|| retransmits(flow).into()),
        columns.loss.then(|| or_none(flow.loss(), show::percent).into()),
    ];
    cells.into_iter().flatten().collect()
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
        name: group.name(t),
        intended: show::rate(intended.median),
        achieved: or_none(achieved, |it| show::rate(it.median)),
        paced,
        arrived: Vec::new(),
    })
}

/// Whether a trial saw loss or sent something again, so that counters are worth a look.
pub(super) fn saw_loss(trial: &Trial) -> bool {
    match &trial.measured {
        model::Measured::Latency { result, .. } => result.missing() + result.overflowed > 0,
        model::Measured::Goodput { result, .. } => result.flows.iter().any(|flow| {
            let overflowed = flow.received.datagrams.as_ref().map_or(0, |datagrams| datagrams.overflowed);
            flow.lost().unwrap_or(0) + flow.sent.retransmits() + overflowed > 0
        }),
        model::Measured::Packets { result, .. } => result.streams.iter().any(|stream| stream.lost() > 0),
        model::Measured::Path { .. } => false,
    }
}
