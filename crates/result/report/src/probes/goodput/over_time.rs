//! Goodput over time.

use super::group::FlowGroup;
use crate::{
    figure::{
        axis::Axis,
        chart::{Chart, Series},
    },
    page::{Figure, LegendEntry, Line},
    show,
    texts::Texts,
};

/// A line for each trial, a colour for each direction of each configuration. `None` without figures.
pub(super) fn figure(flows: &[FlowGroup<'_>], t: &Texts) -> Option<Figure> {
    let seconds = flows.iter().filter_map(FlowGroup::seconds);
    let highest = seconds.map(|(_, fastest)| fastest).reduce(f64::max)?;
    let all = flows.iter().flat_map(|group| &group.flows);
    let longest = all.map(|(_, flow)| flow.received.intervals_bps.len()).max()?;
    let (size, unit) = show::rate_unit(highest);
    let mut note = t.get("figure-goodput-note");
    if flows.iter().any(|group| !group.events.is_empty()) {
        note = format!("{note} {}", t.get("figure-goodput-events"));
    }
    let chart = Chart {
        title: t.get("figure-goodput"),
        note,
        description: flows.iter().filter_map(|group| range(group, t)).collect::<Vec<_>>().join("; "),
        x: Axis::counted(t.get("axis-seconds"), longest),
        y: Axis::from_zero(t.with("axis-goodput", &[("unit", &unit)]), highest / size),
        series: flows.iter().enumerate().flat_map(|(style, group)| drawn(style, group, size, flows.len())).collect(),
        legend: flows.iter().enumerate().map(|(style, group)| entry(style, group, t)).collect(),
    };
    Some(chart.figure())
}

/// More configurations than this have no room for the lines of their fastest and slowest seconds.
const EXTREMES: usize = 2;

/// Each trial, and lines across for the mean and, where there is room for it, for the fastest and the slowest second.
fn drawn(style: usize, group: &FlowGroup<'_>, size: f64, groups: usize) -> Vec<Series> {
    let level = |line: Line, bps: f64| Series { style, line, levels: vec![bps / size], ..Series::default() };
    let bars = group.events.iter().map(|at_s| (*at_s, 0.0, group.seconds().map_or(0.0, |(_, fastest)| fastest / size)));
    let events = Series { style, bars: bars.collect(), ..Series::default() };
    let events = (!group.events.is_empty()).then_some(events);
    let mean = group.mean().map(|mean| level(Line::Dashed, mean.median));
    let seconds = group.seconds().filter(|_| groups <= EXTREMES);
    let extremes = seconds.into_iter().flat_map(|(slowest, fastest)| [slowest, fastest]);
    lines(style, group, size)
        .into_iter()
        .chain(events)
        .chain(mean)
        .chain(extremes.map(|bps| level(Line::Solid, bps)))
        .collect()
}

/// Each trial's seconds, each drawn at its end.
fn lines(style: usize, group: &FlowGroup<'_>, size: f64) -> Vec<Series> {
    let line = |intervals: &[f64]| {
        let points: Vec<_> = (1..).map(f64::from).zip(intervals.iter().map(|bps| bps / size)).collect();
        // A long trial has too many seconds to mark each.
        let marks = if points.len() <= 30 { points.clone() } else { vec![] };
        Series { style, points, marks, ..Series::default() }
    };
    group.flows.iter().map(|(_, flow)| line(&flow.received.intervals_bps)).collect()
}

fn entry(style: usize, group: &FlowGroup<'_>, t: &Texts) -> LegendEntry {
    let name = group.name(t);
    let (Some(mean), Some((slowest, fastest))) = (group.mean(), group.seconds()) else {
        return LegendEntry::solid(style, name);
    };
    let (size, unit) = show::rate_unit(fastest);
    let in_unit = |bps: f64| format!("{:.2}", bps / size);
    let (mean, fastest, slowest) = (in_unit(mean.median), in_unit(fastest), in_unit(slowest));
    let seconds: usize = group.flows.iter().map(|(_, flow)| flow.received.intervals_bps.len()).sum();
    let name = t.with(
        "legend-goodput",
        &[("name", &name), ("mean", &mean), ("max", &fastest), ("min", &slowest), ("unit", &unit), ("n", &seconds)],
    );
    LegendEntry::solid(style, name)
}

fn range(group: &FlowGroup<'_>, t: &Texts) -> Option<String> {
    let name = group.name(t);
    let (low, high) = group.seconds()?;
    Some(t.with("figure-range", &[("name", &name), ("low", &show::rate(low)), ("high", &show::rate(high))]))
}
