//! What a hurried reader sees: what it is, the verdict, the main figures, and reasons for care.

use std::fmt::Display;

use maud::{Markup, html};
use model::{BedKind, Interval, LimitOutcome, Run, Verdict};

use super::table::{figures, table, words};
use crate::{
    doubts::{advice, gather, ranges},
    groups::{
        FlowGroup, LatencyGroup, PathGroup, Spread, by_traffic, flow_groups, goodput_groups, latency_groups,
        path_groups,
    },
    show,
    texts::Texts,
};

/// Title, what identifies the run, and whether it is simulated.
pub(super) fn head(run: &Run, t: &Texts) -> Markup {
    let finished = run.finished.as_deref().map_or_else(|| t.get("not-finished"), show::time);
    let bed = match run.bed.kind {
        BedKind::Lab => t.get("bed-lab"),
    };
    html! {
        header {
            h1 { (t.get("title")) }
            dl.meta {
                dt { (t.get("label-run")) } dd { code { (run.id) } }
                dt { (t.get("label-started")) } dd { (show::time(&run.started)) }
                dt { (t.get("label-finished")) } dd { (finished) }
                dt { (t.get("label-plan")) } dd { (run.plan.name) }
                dt { (t.get("label-bed")) } dd { (bed) }
                dt { (t.get("label-program")) } dd { (run.wireproof) }
            }
            @if run.bed.simulated {
                p.simulated { strong { (t.get("simulated")) } " " (t.get("simulated-meaning")) }
            }
        }
    }
}

pub(super) fn verdict(run: &Run, outcomes: &[LimitOutcome], t: &Texts) -> Markup {
    let (word, meaning) = show::overall(outcomes, t);
    let class = verdict::overall(outcomes).map_or("none", verdict_class);
    html! {
        section class=(format!("verdict {class}")) aria-label=(t.get("verdict-heading")) {
            p.word { (word) }
            p { (meaning) }
            @if run.partial { p.partial { strong { (show::partial(run, t)) } } }
        }
    }
}

fn verdict_class(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Pass => "pass",
        Verdict::Fail => "fail",
        Verdict::Inconclusive | Verdict::NotRun => "open",
    }
}

/// The main figures in words: each traffic's smallest frame, each goodput, and what passes each way.
pub(super) fn summary(run: &Run, t: &Texts) -> Markup {
    let groups = latency_groups(run);
    let latency = by_traffic(&groups).into_iter().filter_map(|traffic| latency_headline(traffic[0], t));
    let flows = flow_groups(&goodput_groups(run));
    let goodput = flows.iter().filter_map(|flow| goodput_headline(flow, t));
    let paths = path_groups(run);
    let path = paths.iter().map(|group| path_headline(group, t));
    let lines: Vec<String> = latency.chain(goodput).chain(path).collect();
    html! {
        section {
            h2 { (t.get("summary-heading")) }
            @if lines.is_empty() { p { (t.get("headline-none")) } }
            ul.headlines { @for line in &lines { li { (line) } } }
        }
    }
}

fn latency_headline(group: &LatencyGroup<'_>, t: &Texts) -> Option<String> {
    let us = |ns: f64| format!("{} µs", show::micros(ns));
    let p50 = group.rtt(|rtt| rtt.p50)?;
    let traffic = show::latency_traffic(group.spec, t);
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
    let traffic = show::flow(group.spec, group.from, group.to, t);
    let (median, spread) = (show::rate(mean.median), spread(mean, show::rate, t));
    let mut values: Vec<(&str, &dyn Display)> = vec![("traffic", &traffic), ("median", &median), ("spread", &spread)];
    let loss = group.loss().map(show::percent);
    let Some(loss) = &loss else { return Some(t.with("headline-goodput", &values)) };
    values.push(("loss", loss));
    Some(t.with("headline-goodput-loss", &values))
}

fn path_headline(group: &PathGroup<'_>, t: &Texts) -> String {
    let (forward, reverse) = (show::leg_mtu(group, |it| &it.forward), show::leg_mtu(group, |it| &it.reverse));
    let name = show::path_configuration(group.spec, t);
    t.with("headline-path", &[("name", &name), ("forward", &forward), ("reverse", &reverse)])
}

fn spread(figure: Spread, show: impl Fn(f64) -> String, t: &Texts) -> String {
    match figure.range() {
        Some((low, high)) => t.with("headline-spread", &[("low", &show(low)), ("high", &show(high))]),
        None => t.get("headline-one-trial"),
    }
}

/// Each doubt once, with its advice and where it arose.
pub(super) fn doubts(run: &Run, t: &Texts) -> Markup {
    let doubts = gather(run);
    html! {
        section {
            h2 { (t.get("doubts-heading")) }
            @if doubts.is_empty() { p { (t.get("doubts-none")) } }
            ul.doubts {
                @for gathered in &doubts {
                    li {
                        (advice(&gathered.doubt, t.lang))
                        span.note {
                            @if gathered.trials.is_empty() { (t.get("doubts-run")) }
                            @else { (t.with("doubts-trials", &[("trials", &ranges(&gathered.trials))])) }
                        }
                    }
                }
            }
        }
    }
}

/// Each limit with its verdict; nothing when the plan has none.
pub(super) fn limits(run: &Run, outcomes: &[LimitOutcome], t: &Texts) -> Markup {
    if outcomes.is_empty() {
        return html! {};
    }
    let head = html! {
        (words(&t.get("col-configuration")))
        (words(&t.get("col-figure")))
        (words(&t.get("col-limit")))
        (figures(&t.get("col-trials")))
        (figures(&t.get("col-median")))
        (figures(&t.get("col-interval")))
        (words(&t.get("col-verdict")))
    };
    let rows = html! { @for outcome in outcomes { (limit_row(run, outcome, t)) } };
    html! {
        section {
            h2 { (t.get("limits-heading")) }
            (table(&t.get("limits-caption"), &head, &rows))
        }
    }
}

fn limit_row(run: &Run, outcome: &LimitOutcome, t: &Texts) -> Markup {
    let metric = outcome.limit.metric;
    let value = |value: f64| show::metric_value(metric, value);
    let interval =
        |it: Interval| format!("{} ({:.1} %)", show::metric_range(metric, it.low, it.high), it.confidence * 100.0);
    html! {
        tr {
            th scope="row" { (show::outcome_name(run, outcome, t)) }
            td { (show::metric(metric, t)) }
            td { (show::limit(&outcome.limit, t)) }
            td.n { (outcome.trials) }
            td.n { (outcome.median.map_or(show::NO_FIGURE.to_owned(), value)) }
            td.n { (outcome.interval.map_or(show::NO_FIGURE.to_owned(), interval)) }
            td { span class=(format!("mark {}", verdict_class(outcome.verdict))) { (show::verdict(outcome.verdict, t)) } }
        }
    }
}
