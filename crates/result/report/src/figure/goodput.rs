//! Goodput over time.

use maud::Markup;

use super::chart::{Axis, Chart, LegendEntry, Series};
use crate::{groups::GoodputGroup, show, texts::Texts};

/// A line for each trial, a colour for each configuration. `None` without figures.
pub(crate) fn goodput_over_time(groups: &[GoodputGroup<'_>], t: &Texts) -> Option<Markup> {
    let seconds = groups.iter().filter_map(GoodputGroup::seconds);
    let highest = seconds.map(|(_, fastest)| fastest).reduce(f64::max)?;
    let longest = groups.iter().flat_map(|group| &group.trials).map(|(_, it)| it.intervals_bps.len()).max()?;
    let (size, unit) = show::rate_unit(highest);
    let chart = Chart {
        id: "goodput-over-time",
        title: t.get("figure-goodput"),
        note: t.get("figure-goodput-note"),
        description: groups.iter().filter_map(|group| range(group, t)).collect::<Vec<_>>().join("; "),
        x: Axis::seconds(t.get("axis-seconds"), longest),
        y: Axis::from_zero(t.with("axis-goodput", &[("unit", &unit)]), highest / size),
        series: groups.iter().enumerate().flat_map(|(style, group)| lines(style, group, size)).collect(),
        legend: groups.iter().enumerate().map(|(style, group)| entry(style, group, t)).collect(),
    };
    Some(chart.figure())
}

/// Each trial's seconds, each drawn at its end.
fn lines(style: usize, group: &GoodputGroup<'_>, size: f64) -> Vec<Series> {
    let line = |intervals: &[f64]| {
        let points: Vec<_> = (1..).map(f64::from).zip(intervals.iter().map(|bps| bps / size)).collect();
        // A long trial has too many seconds to mark each.
        let marks = if points.len() <= 30 { points.clone() } else { vec![] };
        Series { style, dashed: false, points, marks, bars: vec![] }
    };
    group.trials.iter().map(|(_, result)| line(&result.intervals_bps)).collect()
}

fn entry(style: usize, group: &GoodputGroup<'_>, t: &Texts) -> LegendEntry {
    LegendEntry { style, name: show::goodput_traffic(group.spec, t) }
}

fn range(group: &GoodputGroup<'_>, t: &Texts) -> Option<String> {
    let name = show::goodput_traffic(group.spec, t);
    let (low, high) = group.seconds()?;
    Some(t.with("figure-range", &[("name", &name), ("low", &show::rate(low)), ("high", &show::rate(high))]))
}
