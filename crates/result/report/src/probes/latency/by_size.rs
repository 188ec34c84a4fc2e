//! RTT against frame size.

use super::{
    curve::Curve,
    group::{LatencyGroup, by_traffic},
    names,
};
use crate::{
    figure::{
        axis::{Axis, Scale},
        chart::{Chart, Series},
    },
    groups::Spread,
    page::{Figure, LegendEntry, Line},
    show,
    texts::Texts,
};

/// RTT p50 with its spread and p99 against frame size, a colour for each kind of traffic, and what others measured. `None`
/// where no traffic has two sizes.
pub(super) fn figure(groups: &[LatencyGroup<'_>], curves: &[Curve], t: &Texts) -> Option<Figure> {
    let traffics: Vec<_> = by_traffic(groups).into_iter().filter(|traffic| traffic.len() > 1).collect();
    let mut series = Vec::new();
    let mut legend = Vec::new();
    let mut words = Vec::new();
    for (style, traffic) in traffics.iter().enumerate() {
        let p50 = points(traffic, |group| group.rtt(|rtt| rtt.p50));
        let p99 = points(traffic, |group| group.rtt(|rtt| rtt.p99));
        let name = names::traffic(traffic[0].spec, t);
        words.extend(traffic.iter().filter_map(|group| point_in_words(group, t)));
        legend.push(LegendEntry::solid(style, name));
        series.push(dashed(style, &p99));
        series.push(solid(style, &p50));
    }
    for (style, curve) in (traffics.len()..).zip(curves) {
        words.push(curve_in_words(curve));
        legend.push(LegendEntry { style, line: Line::Dotted, name: curve.name.clone() });
        series.push(theirs(style, curve));
    }
    let (lowest, highest) = range(&series).filter(|_| !traffics.is_empty())?;
    let sizes: Vec<f64> = series.iter().flat_map(|one| one.points.iter().map(|(x, _)| *x)).collect();
    let chart = Chart {
        title: t.get("figure-sizes"),
        note: note(curves, t),
        description: words.join("; "),
        x: size_axis(t.get("axis-frame"), sizes),
        y: rtt_axis(t.get("axis-rtt"), lowest, highest),
        series,
        legend,
    };
    Some(chart.figure())
}

fn note(curves: &[Curve], t: &Texts) -> String {
    let theirs = (!curves.is_empty()).then(|| t.get("figure-sizes-note-theirs"));
    [Some(t.get("figure-sizes-note")), theirs].into_iter().flatten().collect::<Vec<_>>().join(" ")
}

fn point_in_words(group: &LatencyGroup<'_>, t: &Texts) -> Option<String> {
    let p50 = group.rtt(|rtt| rtt.p50)?;
    Some(format!("{}: p50 {} µs", group.name(t), show::micros(p50.median)))
}

fn curve_in_words(curve: &Curve) -> String {
    let point = |(size, ns): &(f64, f64)| format!("{size} B: {} µs", show::micros(*ns));
    format!("{}: {}", curve.name, curve.points.iter().map(point).collect::<Vec<_>>().join(", "))
}

fn theirs(style: usize, curve: &Curve) -> Series {
    let points: Vec<_> = curve.points.iter().map(|(size, ns)| (*size, ns / 1e3)).collect();
    Series { style, line: Line::Dotted, marks: points.clone(), points, ..Series::default() }
}

fn points(traffic: &[&LatencyGroup<'_>], figure: impl Fn(&LatencyGroup<'_>) -> Option<Spread>) -> Vec<(f64, Spread)> {
    traffic.iter().filter_map(|group| Some((f64::from(group.first().frame_size.0), figure(group)?))).collect()
}

fn solid(style: usize, p50: &[(f64, Spread)]) -> Series {
    let points: Vec<_> = p50.iter().map(|(size, it)| (*size, it.median / 1e3)).collect();
    Series {
        style,
        marks: points.clone(),
        points,
        bars: p50.iter().map(|(size, it)| (*size, it.low / 1e3, it.high / 1e3)).collect(),
        ..Series::default()
    }
}

fn dashed(style: usize, p99: &[(f64, Spread)]) -> Series {
    let points: Vec<_> = p99.iter().map(|(size, it)| (*size, it.median / 1e3)).collect();
    Series { style, line: Line::Dashed, marks: points.clone(), points, ..Series::default() }
}

/// Smallest and largest value that is drawn.
fn range(series: &[Series]) -> Option<(f64, f64)> {
    let points = series.iter().flat_map(|one| one.points.iter().map(|(_, y)| *y));
    let bars = series.iter().flat_map(|one| one.bars.iter().flat_map(|(_, low, high)| [*low, *high]));
    let values: Vec<f64> = points.chain(bars).collect();
    Some((values.iter().copied().reduce(f64::min)?, values.iter().copied().reduce(f64::max)?))
}

/// From zero, so that heights compare; logarithmic where a zero-based axis would press most of the figure flat.
fn rtt_axis(name: String, lowest: f64, highest: f64) -> Axis {
    const FLAT: f64 = 5.0;
    if highest > FLAT * lowest && lowest > 0.0 {
        Axis::logarithmic(name, lowest, highest)
    } else {
        Axis::from_zero(name, highest)
    }
}

/// Logarithmic, labelled at the sizes that were measured, with a little room at both ends.
fn size_axis(name: String, mut sizes: Vec<f64>) -> Axis {
    sizes.sort_by(f64::total_cmp);
    sizes.dedup();
    let (low, high) = (sizes.first().copied().unwrap_or(64.0), sizes.last().copied().unwrap_or(1518.0));
    let mut ticks: Vec<(f64, String)> = Vec::new();
    for size in sizes {
        // Neighbours closer than this would print over each other.
        if ticks.last().is_none_or(|(last, _)| size / last > 1.25) {
            ticks.push((size, size.to_string()));
        }
    }
    Axis { name, scale: Scale::Log, low: low / 1.2, high: high * 1.2, ticks }
}
