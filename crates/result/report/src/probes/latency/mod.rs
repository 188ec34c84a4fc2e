//! Round-trip times.

mod by_size;
mod curve;
mod document;
mod group;
mod names;
mod stacks;
mod tables;

use std::fmt::Display;

use model::{FrameSize, LatencyResult, LatencySpec, Stack, TimeSummary, WaitMode, alike::grouped};

pub use self::document::LatencyFigures;
use self::group::{LatencyGroup, by_traffic};
use super::{MainFigure, Probe, Spec};
use crate::{
    groups::{Spread, groups},
    histogram::Times,
    material::Material,
    method,
    page::Block,
    show::{self, micros, micros_or_none, or_none},
    terminal::{self, Row},
    texts::Texts,
};

/// The probe.
pub(super) struct Latency;

impl Probe for Latency {
    fn method(&self, material: &Material<'_>, t: &Texts) -> Option<Block> {
        let asked = asked(material);
        if asked.is_empty() {
            return None;
        }
        let mut blocks = method::paragraphs(&method_texts(material, &asked), t);
        blocks.extend(clock_cost(material, t).map(|words| Block::Paragraph(words.into())));
        blocks.push(method::list(asked.iter().map(|(spec, sizes)| method_item(spec, sizes, t))));
        Some(Block::section(t.get("method-latency-heading"), blocks))
    }

    fn results(&self, material: &Material<'_>, t: &Texts) -> Option<Block> {
        let groups = groups::<LatencySpec>(material);
        (!groups.is_empty()).then(|| tables::section(material, &groups, t))
    }

    /// Each traffic's smallest frame.
    fn headlines(&self, material: &Material<'_>, t: &Texts) -> Vec<String> {
        let groups = groups::<LatencySpec>(material);
        by_traffic(&groups).into_iter().filter_map(|traffic| headline(traffic[0], t)).collect()
    }

    fn stack_headlines(&self, material: &Material<'_>, t: &Texts) -> Vec<String> {
        stacks::headlines(&groups::<LatencySpec>(material), t)
    }

    fn main_figures(&self, material: &Material<'_>, t: &Texts) -> Vec<MainFigure> {
        let figure = |group: &LatencyGroup<'_>| MainFigure {
            spec: group.spec.clone().into(),
            name: group.spec.configuration(t),
            value: or_none(group.rtt(|rtt| rtt.p50), |p50| format!("p50 {} µs", micros(p50.median))),
        };
        groups::<LatencySpec>(material).iter().map(figure).collect()
    }

    fn terminal_table(&self, material: &Material<'_>, t: &Texts) -> Vec<String> {
        let (p50, p99) = ("p50 (µs)".to_owned(), "p99 (µs)".to_owned());
        let head = [t.get("latency-heading"), t.get("col-trials"), p50, t.get("col-spread"), p99];
        let row = |group: &LatencyGroup<'_>| {
            let limits = material.limits(&group.spec.clone().into(), group.way, t);
            Row(terminal_row(group, t), limits)
        };
        terminal::table(head, groups::<LatencySpec>(material).iter().map(row).collect())
    }

    fn times(&self, material: &Material<'_>, t: &Texts) -> Vec<Times> {
        let times = |group: &LatencyGroup<'_>| {
            Some(Times { name: group.name(t), axis: t.get("axis-rtt"), sample: group.sample()? })
        };
        groups::<LatencySpec>(material).iter().filter_map(times).collect()
    }

    fn terms(&self, material: &Material<'_>) -> Vec<&'static str> {
        let groups = groups::<LatencySpec>(material);
        if groups.is_empty() {
            return vec![];
        }
        let is_paced = groups.iter().any(|group| group.spec.rate.is_some());
        let one_way = groups.iter().flat_map(|group| &group.trials).any(|(_, result)| result.one_way.is_some());
        let always = ["term-rtt", "term-percentile", "term-half", "term-variation", "term-frame", "term-mode"];
        let paced = ["term-load", "term-gap"].into_iter().filter(|_| is_paced);
        always.into_iter().chain(paced).chain(one_way.then_some("term-one-way")).collect()
    }
}

impl Spec for LatencySpec {
    fn configuration(&self, t: &Texts) -> String {
        super::told_apart(self, names::configuration(self, t), t)
    }

    fn rate(&self, per_second: f64) -> String {
        show::packet_rate(per_second)
    }

    fn load_unit(&self, per_second: f64) -> (f64, &'static str) {
        show::packet_rate_unit(per_second)
    }
}

/// The load that a self-test made, and p99 of its RTT.
pub(super) fn made_alone(result: &LatencyResult) -> [String; 2] {
    [show::packet_rate(result.achieved_pps), micros_or_none(result.rtt_ns.p99.map(|ns| ns as f64))]
}

/// Configurations that differ in frame size alone, with their sizes.
fn asked(material: &Material<'_>) -> Vec<(LatencySpec, Vec<FrameSize>)> {
    let same = |a: &LatencySpec, b: &LatencySpec| LatencySpec { frame_size: a.frame_size, ..b.clone() } == *a;
    let sizes = |specs: &Vec<LatencySpec>| specs.iter().map(|spec| spec.frame_size).collect();
    let asked = grouped(super::asked::<LatencySpec>(material.run), same);
    asked.iter().map(|specs| (specs[0].clone(), sizes(specs))).collect()
}

fn method_texts(material: &Material<'_>, asked: &[(LatencySpec, Vec<FrameSize>)]) -> Vec<&'static str> {
    let any = |holds: fn(&LatencySpec) -> bool| asked.iter().any(|(spec, _)| holds(spec));
    let groups = groups::<LatencySpec>(material);
    let results = || groups.iter().flat_map(|group| &group.trials).map(|(_, result)| result);
    method::that_hold(&[
        ("method-latency", any(|spec| spec.rate.is_none())),
        ("method-load", any(|spec| spec.rate.is_some())),
        ("method-tcp-load", any(|spec| spec.tcp_load.is_some())),
        ("method-latency-sample", true),
        ("method-busy-poll", any(|spec| spec.mode == WaitMode::BusyPoll)),
        ("method-bypass", any(|spec| spec.stack == Stack::Bypass)),
        ("method-zero-copy", results().any(|result| result.zero_copy == Some(true))),
        ("method-copy", results().any(|result| result.zero_copy == Some(false))),
        ("method-one-way", results().any(|result| result.one_way.is_some())),
        ("method-stages", any(|spec| spec.stamps)),
    ])
}

/// The cost of a clock reading; `None` where nothing was timed.
fn clock_cost(material: &Material<'_>, t: &Texts) -> Option<String> {
    let groups = groups::<LatencySpec>(material);
    let costs: Vec<f64> =
        groups.iter().flat_map(|group| &group.trials).map(|(_, result)| result.clock_cost_ns).collect();
    Spread::of(&costs).map(|cost| t.with("method-clock", &[("cost", &format!("{:.0}", cost.median))]))
}

fn method_item(spec: &LatencySpec, sizes: &[FrameSize], t: &Texts) -> String {
    let sizes: Vec<String> = sizes.iter().map(|size| size.0.to_string()).collect();
    t.with(
        "method-latency-item",
        &[
            ("traffic", &names::traffic(spec, t)),
            ("frames", &sizes.join(", ")),
            ("amount", &show::counted(spec.amount, t)),
            ("warmup", &show::grouped(spec.warmup)),
            ("timeout", &spec.timeout),
        ],
    )
}

fn headline(group: &LatencyGroup<'_>, t: &Texts) -> Option<String> {
    let us = |ns: f64| format!("{} µs", micros(ns));
    let p50 = group.rtt(|rtt| rtt.p50)?;
    let traffic = group.traffic(t);
    let (frame, median, spread) = (group.first().frame_size.0, us(p50.median), p50.words(us, t));
    let p99 = group.rtt(|rtt| rtt.p99).map(|p99| us(p99.median));
    let mut values: Vec<(&str, &dyn Display)> =
        vec![("traffic", &traffic), ("frame", &frame), ("p50", &median), ("spread", &spread)];
    let Some(p99) = &p99 else { return Some(t.with("headline-latency", &values)) };
    values.push(("p99", p99));
    Some(t.with("headline-latency-tail", &values))
}

fn terminal_row(group: &LatencyGroup<'_>, t: &Texts) -> [String; 5] {
    let median = |figure: fn(&TimeSummary) -> Option<u64>| micros_or_none(group.rtt(figure).map(|it| it.median));
    let range = |(low, high): (f64, f64)| format!("{} – {}", micros(low), micros(high));
    [
        group.name(t),
        group.trials.len().to_string(),
        median(|rtt| rtt.p50),
        or_none(group.rtt(|rtt| rtt.p50).and_then(|p50| p50.range()), range),
        median(|rtt| rtt.p99),
    ]
}
