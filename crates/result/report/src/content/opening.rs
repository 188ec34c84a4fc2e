//! What a hurried reader sees: what it is, the verdict, the main figures, and reasons for care.

use std::{collections::BTreeMap, fmt::Display};

use model::{Interval, LimitOutcome, Match, PacketStream, Run, reference::Difference};

use crate::{
    doubts::{Gathered, gather, ranges},
    groups::{
        FlowGroup, LatencyGroup, PathGroup, Spread, StreamGroup, by_traffic, flow_groups, goodput_groups,
        latency_groups, packet_groups, path_groups, stream_groups,
    },
    page::{Block, Column, Item, Span, Text},
    show,
    stacks::headlines,
    texts::Texts,
};

/// Nothing for real hardware.
pub(super) fn simulated(run: &Run, t: &Texts) -> Vec<Block> {
    let notice = || Block::Notice { word: t.get("simulated"), text: t.get("simulated-meaning").into() };
    run.bed.simulated.then(notice).into_iter().collect()
}

pub(super) fn verdict(run: &Run, outcomes: &[LimitOutcome], t: &Texts) -> Block {
    let (word, meaning) = show::overall(run, outcomes, t);
    let partial = run.partial.then(|| Text::strong(show::partial(run, t)));
    let differing = references_that_differ(outcomes, t).into_iter().map(Text::from);
    let meaning = [Text::from(meaning)].into_iter().chain(partial).chain(differing).collect();
    Block::Verdict { verdict: verdict::overall(outcomes, run.identity.as_ref()), word, meaning }
}

/// A line for each reference that a verdict goes by though its conditions were others.
fn references_that_differ(outcomes: &[LimitOutcome], t: &Texts) -> Vec<String> {
    let mut by_reference: BTreeMap<&str, Vec<&Difference>> = BTreeMap::new();
    for against in outcomes.iter().filter_map(|outcome| outcome.against.as_ref()) {
        if let Match::Differs { conditions } = &against.matches {
            by_reference.entry(&against.reference).or_default().extend(conditions);
        }
    }
    let line = |(reference, differences): (&str, Vec<&Difference>)| {
        t.with("verdict-differs", &[("reference", &reference), ("conditions", &show::in_short(&differences, t))])
    };
    by_reference.into_iter().map(line).collect()
}

/// The main figures in words: each traffic's smallest frame, each goodput, and what passes each way.
pub(super) fn summary(run: &Run, t: &Texts) -> Block {
    let groups = latency_groups(run);
    let latency = by_traffic(&groups).into_iter().filter_map(|traffic| latency_headline(traffic[0], t));
    let flows = flow_groups(&goodput_groups(run));
    let goodput = flows.iter().filter_map(|flow| goodput_headline(flow, t));
    let streams = stream_groups(&packet_groups(run));
    let packets = streams.iter().filter_map(|group| packets_headline(run, group, t));
    let paths = path_groups(run);
    let path = paths.iter().map(|group| path_headline(group, t));
    let stacks = headlines(&groups, &flows, t);
    let lines: Vec<String> = latency.chain(goodput).chain(stacks).chain(packets).chain(path).collect();
    let block = if lines.is_empty() {
        Block::Paragraph(t.get("headline-none").into())
    } else {
        Block::List(lines.into_iter().map(Item::from).collect())
    };
    Block::section(t.get("summary-heading"), vec![block])
}

fn latency_headline(group: &LatencyGroup<'_>, t: &Texts) -> Option<String> {
    let us = |ns: f64| format!("{} µs", show::micros(ns));
    let p50 = group.rtt(|rtt| rtt.p50)?;
    let traffic = group.traffic(t);
    let (frame, median, spread) = (group.first().frame_size.0, us(p50.median), spread(p50, us, t));
    let p99 = group.rtt(|rtt| rtt.p99).map(|p99| us(p99.median));
    let mut values: Vec<(&str, &dyn Display)> =
        vec![("traffic", &traffic), ("frame", &frame), ("p50", &median), ("spread", &spread)];
    let Some(p99) = &p99 else { return Some(t.with("headline-latency", &values)) };
    values.push(("p99", p99));
    Some(t.with("headline-latency-tail", &values))
}

fn goodput_headline(group: &FlowGroup<'_>, t: &Texts) -> Option<String> {
    let mean = group.mean()?;
    let traffic = group.name(t);
    let (median, spread) = (show::rate(mean.median), spread(mean, show::rate, t));
    let mut values: Vec<(&str, &dyn Display)> = vec![("traffic", &traffic), ("median", &median), ("spread", &spread)];
    let loss = group.loss().map(show::percent);
    let Some(loss) = &loss else { return Some(t.with("headline-goodput", &values)) };
    values.push(("loss", loss));
    Some(t.with("headline-goodput-loss", &values))
}

fn packets_headline(run: &Run, group: &StreamGroup<'_>, t: &Texts) -> Option<String> {
    let (offered, forwarded) = (group.over(PacketStream::offered_pps)?, group.over(PacketStream::forwarding_pps)?);
    let values: [(&str, &dyn Display); 5] = [
        ("traffic", &group.title(t)),
        ("median", &show::packet_rate(forwarded.median)),
        ("offered", &show::packet_rate(offered.median)),
        ("spread", &spread(forwarded, show::packet_rate, t)),
        ("loss", &show::stream_loss(run, group, t)),
    ];
    Some(t.with("headline-packets", &values))
}

fn path_headline(group: &PathGroup<'_>, t: &Texts) -> String {
    let (forward, reverse) = (show::leg_mtu(group, |it| &it.forward), show::leg_mtu(group, |it| &it.reverse));
    let name = group.name(t);
    t.with("headline-path", &[("name", &name), ("forward", &forward), ("reverse", &reverse)])
}

fn spread(figure: Spread, show: impl Fn(f64) -> String, t: &Texts) -> String {
    match figure.range() {
        Some((low, high)) => t.with("headline-spread", &[("low", &show(low)), ("high", &show(high))]),
        None => t.get("headline-one-trial"),
    }
}

/// Each doubt once, with its advice and where it arose.
pub(super) fn doubts(run: &Run, t: &Texts) -> Block {
    let doubts = gather(run);
    let block = if doubts.is_empty() {
        Block::Paragraph(t.get("doubts-none").into())
    } else {
        Block::List(doubts.iter().map(|gathered| doubt(gathered, t)).collect())
    };
    Block::section(t.get("doubts-heading"), vec![block])
}

fn doubt(gathered: &Gathered, t: &Texts) -> Item {
    let place = match gathered.trials.as_slice() {
        [] => t.get("doubts-run"),
        trials => t.with("doubts-trials", &[("trials", &ranges(trials))]),
    };
    Item { text: gathered.advice(t.lang).into(), note: Some(place.into()) }
}

/// Each limit with its verdict; nothing when the plan has none.
pub(super) fn limits(run: &Run, outcomes: &[LimitOutcome], t: &Texts) -> Option<Block> {
    if outcomes.is_empty() {
        return None;
    }
    let columns = vec![
        Column::words(t.get("col-configuration")),
        Column::words(t.get("col-figure")),
        Column::long(t.get("col-limit")),
        Column::figures(t.get("col-trials")),
        Column::figures(t.get("col-median")),
        Column::figures(t.get("col-interval")),
        Column::words(t.get("col-verdict")),
    ];
    let rows = outcomes.iter().map(|outcome| limit_row(run, outcome, t)).collect();
    let table = Block::table(t.get("limits-caption"), columns, rows);
    let notes = outcomes.iter().filter_map(|outcome| limit_note(run, outcome, t));
    Some(Block::section(t.get("limits-heading"), [table].into_iter().chain(notes).collect()))
}

/// Under which other conditions the reference was measured that a limit goes by.
fn limit_note(run: &Run, outcome: &LimitOutcome, t: &Texts) -> Option<Block> {
    let against = outcome.against.as_ref()?;
    let (name, conditions) = (show::outcome_name(run, outcome, t), show::differences(&against.matches, t)?);
    let values: [(&str, &dyn Display); 3] =
        [("reference", &against.reference), ("name", &name), ("conditions", &conditions)];
    Some(Block::Note(t.with("limit-differs", &values).into()))
}

fn limit_row(run: &Run, outcome: &LimitOutcome, t: &Texts) -> Vec<Text> {
    let metric = outcome.limit.metric;
    let interval =
        |it: Interval| format!("{} ({:.1} %)", show::metric_range(metric, it.low, it.high), it.confidence * 100.0);
    vec![
        show::outcome_name(run, outcome, t).into(),
        show::metric(metric, t).into(),
        show::limit(outcome, t).into(),
        outcome.trials.to_string().into(),
        show::or_none(outcome.median, |value| show::metric_value(metric, value)).into(),
        show::or_none(outcome.interval, interval).into(),
        Span::Verdict(outcome.verdict, show::verdict(outcome.verdict, t)).into(),
    ]
}
