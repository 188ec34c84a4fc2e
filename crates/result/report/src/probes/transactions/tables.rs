//! Tables and figures of transactions.

use model::{Failed, FailureKind, Metric, TimeSummary, Total, TransactionsResult};

use super::{TransactionsGroup, cost::Cost};
use crate::{
    columns::Columns,
    figure::{self, FigureSubject, Repeated},
    groups::Spread,
    page::{Block, Figure, Text},
    schedule::{self, Schedule},
    show::{self, grouped, micros, micros_or_none, or_none, packet_rate, transaction_rate},
    texts::Texts,
};

/// All of them.
pub(super) fn section(groups: &[TransactionsGroup<'_>], t: &Texts) -> Block {
    let schedules: Vec<_> = groups.iter().filter_map(|group| schedule_of(group, t)).collect();
    let mut blocks = vec![rate_table(groups, t)];
    blocks.extend(distribution(groups, t).map(Block::Figure));
    blocks.extend(repeats(groups, t).into_iter().map(Block::Figure));
    blocks.extend(failure_table(groups, t));
    blocks.push(cost_table(groups, t));
    blocks.extend(schedule::section(&schedules, t));
    Block::section(t.get("transactions-heading"), blocks)
}

/// Rates and response times.
fn rate_table(groups: &[TransactionsGroup<'_>], t: &Texts) -> Block {
    type Group<'a> = TransactionsGroup<'a>;
    let time = |it: &Group<'_>, figure: fn(&TimeSummary) -> Option<u64>| {
        micros_or_none(it.response(figure).map(|time| time.median))
    };
    let rate = |it: &Group<'_>| it.over(TransactionsResult::per_second);
    let range = |(low, high)| show::metric_range(Metric::TransactionRate, low, high);
    let connects = |it: &Group<'_>| it.spec.exchange.connects_each_time();
    let connection_rate = |it: &Group<'_>| {
        let rate = it.over(TransactionsResult::connections_per_second).filter(|_| connects(it));
        or_none(rate, |rate| grouped(rate.median.round() as u64))
    };
    Columns::new()
        .long(t.get("col-configuration"), |it: &Group<'_>| it.name(t))
        .words(t.get("col-server"), |it| it.trials[0].1.server.clone())
        .figures(t.get("col-trials"), |it| it.trials.len().to_string())
        .figures(t.get("col-transactions"), |it| Text::strong(or_none(rate(it), |rate| transaction_rate(rate.median))))
        .figures(t.get("col-transactions-range"), |it| or_none(rate(it).and_then(|rate| rate.range()), range))
        .figures(t.get("col-connections"), connection_rate)
        .only_if(groups.iter().any(connects))
        .figures("p50", |it| time(it, |time| time.p50))
        .figures("p90", |it| time(it, |time| time.p90))
        .figures("p99", |it| time(it, |time| time.p99))
        .figures("p99.9", |it| time(it, |time| time.p999))
        .figures(t.get("col-max"), |it| micros_or_none(it.response(|time| time.max).map(|max| max.high)))
        .figures(t.get("col-failed"), |it| grouped(it.sum(TransactionsResult::failures)))
        .table(t.get("transactions-caption"), groups)
}

/// All trials of each configuration, as percentiles.
fn distribution(groups: &[TransactionsGroup<'_>], t: &Texts) -> Option<Figure> {
    let sample = |group: &TransactionsGroup<'_>| Some((group.name(t), group.sample()?));
    let spoken = FigureSubject { title: t.get("figure-responses"), axis: t.get("axis-response") };
    let words = [t.get("figure-responses-note"), t.get("axis-response-percentile")];
    figure::distribution(spoken, words, groups.iter().filter_map(sample), t)
}

/// How the rate differs from trial to trial.
fn repeats(groups: &[TransactionsGroup<'_>], t: &Texts) -> Vec<Figure> {
    let values = |group: &TransactionsGroup<'_>| {
        group.trials.iter().filter_map(|(_, result)| Some(result.per_second()? / 1e3)).collect()
    };
    let repeated: Vec<_> = groups
        .iter()
        .map(|group| Repeated { group: group.name(t), name: String::new(), values: values(group) })
        .collect();
    let spoken = FigureSubject { title: t.get("figure-transactions-repeats"), axis: t.get("axis-transactions") };
    figure::repeats(spoken, &repeated, t)
}

/// Each kind of failure with its count; nothing where none failed.
fn failure_table(groups: &[TransactionsGroup<'_>], t: &Texts) -> Option<Block> {
    type Row<'g, 'a> = (&'g TransactionsGroup<'a>, FailureKind, u64);
    let count = |result: &TransactionsResult, kind| {
        result.failed.iter().filter(|failed| failed.kind == kind).map(|Failed { count, .. }| *count).total()
    };
    let of = |group| FailureKind::ALL.map(|kind| (group, kind, TransactionsGroup::sum(group, |it| count(it, kind))));
    let rows: Vec<Row<'_, '_>> = groups.iter().flat_map(of).filter(|(.., count)| *count > 0).collect();
    let share = |(group, _, count): &Row<'_, '_>| {
        let ended = group.sum(|result| result.completed + result.failures());
        show::percent(*count as f64 / ended.max(1) as f64)
    };
    let table = Columns::new()
        .long(t.get("col-configuration"), |(group, ..): &Row<'_, '_>| group.name(t))
        .words(t.get("col-failure"), |(_, kind, _)| t.of_value("failed", kind))
        .figures(t.get("col-count"), |(.., count)| grouped(*count))
        .figures(t.get("col-share"), share)
        .table(t.get("failures-caption"), &rows);
    (!rows.is_empty()).then_some(table)
}

/// Packets on the wire and time of the cores.
fn cost_table(groups: &[TransactionsGroup<'_>], t: &Texts) -> Block {
    type Group<'a> = TransactionsGroup<'a>;
    let over = |group: &Group<'_>, end: usize, figure: fn(&Cost) -> Option<f64>| {
        let costs = group.trials.iter().map(|(trial, result)| figure(&Cost::of(trial, end, result)));
        Spread::of(&costs.collect::<Option<Vec<_>>>()?).map(|it| it.median)
    };
    let per_transaction = |group: &Group<'_>| {
        let one = |figure| or_none(over(group, 0, figure), |packets| format!("{packets:.2}"));
        format!("{} / {}", one(|cost| cost.sent_packets), one(|cost| cost.received_packets))
    };
    Columns::new()
        .long(t.get("col-configuration"), |it: &Group<'_>| it.name(t))
        .figures(t.get("col-packets-sent"), |it| or_none(over(it, 0, |cost| cost.sent_pps), packet_rate))
        .figures(t.get("col-packets-received"), |it| or_none(over(it, 0, |cost| cost.received_pps), packet_rate))
        .figures(t.get("col-packets-each"), per_transaction)
        .figures(t.get("col-client-cpu"), |it| or_none(over(it, 0, |cost| cost.cpu_ns), micros))
        .figures(t.get("col-server-cpu"), |it| or_none(over(it, 1, |cost| cost.cpu_ns), micros))
        .table(t.get("cost-caption"), groups)
}

fn schedule_of<'a>(group: &TransactionsGroup<'a>, t: &Texts) -> Option<Schedule<'a>> {
    Some(Schedule {
        name: group.name(t),
        intended: transaction_rate(group.over(|result| result.intended_per_s)?.median),
        achieved: or_none(group.over(TransactionsResult::per_second), |it| transaction_rate(it.median)),
        paced: group.trials.iter().filter_map(|(_, result)| result.pacing.as_ref()).collect(),
        arrived: Vec::new(),
    })
}
