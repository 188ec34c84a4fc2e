//! What several senders brought to one receiver together, and each one's share of it.

use model::{GoodputResult, Run, trial::AllSenders};

use crate::{
    groups::{GoodputGroup, PacketGroup, Spread},
    page::{Block, Column, Text},
    show::{self, grouped, or_none},
    texts::Texts,
    together::{TogetherGroup, together_groups},
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

/// The same of packets, with what was lost of them.
pub(super) fn packets(run: &Run, groups: &[PacketGroup<'_>], t: &Texts) -> Option<Block> {
    let groups = groups.iter().flat_map(|group| together_groups(run, group));
    let rows: Vec<Vec<Text>> = groups.map(|group| packet_row(&group, t)).collect();
    if rows.is_empty() {
        return None;
    }
    let columns = vec![
        Column::long(t.get("col-configuration")),
        Column::words(t.get("col-direction")),
        Column::figures(t.get("col-trials")),
        Column::figures(t.get("col-offered-load")),
        Column::figures(t.get("col-forwarding-rate")),
        Column::figures(t.get("col-datagrams-lost")),
    ];
    let table = Block::table(t.get("senders-packets-caption"), columns, rows);
    Some(Block::section(t.get("senders-heading"), vec![table]))
}

fn packet_row(group: &TogetherGroup<'_>, t: &Texts) -> Vec<Text> {
    let (from, to) = group.way();
    let rate = |figure: fn(&AllSenders) -> f64| or_none(group.over(figure), |it| show::packet_rate(it.median));
    vec![
        show::packets_traffic(group.spec, t).into(),
        show::way(&from, to).into(),
        group.trials.len().to_string().into(),
        rate(|together| together.offered_pps).into(),
        Text::strong(rate(|together| together.forwarding_pps)),
        grouped(group.lost()).into(),
    ]
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
    let range = |(low, high): (f64, f64)| format!("{} – {}", show::rate(low), show::rate(high));
    Some(vec![
        show::goodput_configuration(group.spec, t).into(),
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

/// Each other end with what it sent to this one, or was sent by it, in bit/s.
fn rates<'a>(result: &'a GoodputResult, far: &str, to_it: bool) -> impl Iterator<Item = (&'a str, f64)> {
    let flows = result.flows.iter().filter(move |flow| (flow.to == far) == to_it);
    flows.map(move |flow| (if to_it { flow.from.as_str() } else { flow.to.as_str() }, flow.received.mean_bps()))
}
