//! Goodput of several senders to one receiver together, and each one's share of it.

use model::{GoodputResult, Metric, Run};

use super::group::GoodputGroup;
use crate::{
    groups::Spread,
    page::{Block, Column, Text},
    probes::Spec,
    show::{self, or_none},
    texts::Texts,
};

/// Nothing where one end sent.
pub(super) fn section(run: &Run, groups: &[GoodputGroup<'_>], t: &Texts) -> Option<Block> {
    let far = run.bed.receiver().filter(|_| run.bed.senders().len() > 1)?.name.as_str();
    let columns = vec![
        Column::long(t.get("col-traffic")),
        Column::words(t.get("col-direction")),
        Column::figures(t.get("col-trials")),
        Column::figures(t.get("col-together")),
        Column::figures(t.get("col-mean-spread")),
        Column::long(t.get("col-shares")),
    ];
    let rows: Vec<Vec<Text>> =
        groups.iter().flat_map(|group| [true, false].map(|to| row(group, (far, to), t))).flatten().collect();
    let table = Block::table(t.get("senders-caption"), columns, rows);
    Some(Block::section(t.get("senders-heading"), vec![table]))
}

/// One way of a configuration: to the end that all send to, or from it. Nothing where no data went that way.
fn row(group: &GoodputGroup<'_>, (far, to_it): (&str, bool), t: &Texts) -> Option<Vec<Text>> {
    let others = names(group.trials.first()?.1, far, to_it).join(", ");
    if others.is_empty() {
        return None;
    }
    let sums: Vec<f64> =
        group.trials.iter().map(|(_, result)| rates(result, far, to_it).map(|(_, bps)| bps).sum()).collect();
    let together = Spread::of(&sums);
    let range = |(low, high): (f64, f64)| show::metric_range(Metric::GoodputMean, low, high);
    Some(vec![
        group.spec.configuration(t).into(),
        if to_it { show::way(&others, far) } else { show::way(far, &others) }.into(),
        group.trials.len().to_string().into(),
        Text::strong(or_none(together, |it| show::rate(it.median))),
        or_none(together.and_then(|it| it.range()), range).into(),
        shares(group, far, to_it).join(", ").into(),
    ])
}

/// The median share of each end over the trials, like `a1 34 %`.
fn shares(group: &GoodputGroup<'_>, far: &str, to_it: bool) -> Vec<String> {
    let share = |result: &GoodputResult, name: &str| {
        let all: f64 = rates(result, far, to_it).map(|(_, bps)| bps).sum();
        let own = rates(result, far, to_it).find(|(other, _)| *other == name)?.1;
        (all > 0.0).then(|| 100.0 * own / all)
    };
    let median = |name: &str| {
        let values: Vec<f64> = group.trials.iter().filter_map(|(_, result)| share(result, name)).collect();
        Spread::of(&values).map(|it| format!("{name} {:.1} %", it.median))
    };
    group
        .trials
        .first()
        .map(|(_, result)| names(result, far, to_it))
        .unwrap_or_default()
        .into_iter()
        .filter_map(median)
        .collect()
}

fn names<'a>(result: &'a GoodputResult, far: &str, to_it: bool) -> Vec<&'a str> {
    rates(result, far, to_it).map(|(name, _)| name).collect()
}

/// Each other end with the rate that it sent to this one, or received from it, in bit/s.
fn rates<'a>(result: &'a GoodputResult, far: &str, to_it: bool) -> impl Iterator<Item = (&'a str, f64)> {
    let flows = result.flows.iter().filter(move |flow| (flow.to == far) == to_it);
    flows.map(move |flow| (if to_it { flow.from.as_str() } else { flow.to.as_str() }, flow.received.mean_bps()))
}
