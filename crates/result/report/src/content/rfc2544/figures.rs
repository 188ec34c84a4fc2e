//! Figures of tests of RFC 2544.

use model::rfc2544::{TestedLatency, TestedSize};

use super::with_unit;
use crate::{
    figure::{
        FigureSubject, Repeated,
        axis::Axis,
        chart::{Chart, Series},
        repeats,
    },
    page::{Figure, LegendEntry, Line},
    show::{self, packet_rate, percent},
    texts::Texts,
};

/// Throughput against the frame size, below the most that the link carries. Mixes of sizes and modified tests have no place in it. `None` with
/// fewer than two sizes.
pub(super) fn by_size(sizes: &[TestedSize], t: &Texts) -> Option<Figure> {
    let points = |of: &dyn Fn(&TestedSize) -> Option<f64>| -> Vec<(f64, f64)> {
        let of_one_size = sizes.iter().filter(|size| size.mix.is_none() && size.modifier.is_none());
        of_one_size.filter_map(|size| Some((f64::from(size.sent_size?.0), of(size)?))).collect()
    };
    let reached = points(&|size| Some(size.throughput.as_ref()?.load_pps));
    let most = points(&|size| size.line_pps);
    if reached.len() < 2 {
        return None;
    }
    let highest = reached.iter().chain(&most).map(|(_, pps)| *pps).fold(0.0, f64::max);
    let (unit_size, unit) = show::packet_rate_unit(highest);
    let scaled = |points: &[(f64, f64)]| points.iter().map(|(size, pps)| (*size, pps / unit_size)).collect::<Vec<_>>();
    let (reached_name, most_name) = (t.get("rfc2544-col-throughput"), t.get("rfc2544-line"));
    let in_words = reached.iter().map(|(size, pps)| format!("{size} B: {}", packet_rate(*pps)));
    let mut series = vec![Series { points: scaled(&reached), marks: scaled(&reached), ..Series::default() }];
    let mut legend = vec![LegendEntry::solid(0, reached_name)];
    if !most.is_empty() {
        series.push(Series {
            style: 1,
            line: Line::Dashed,
            points: scaled(&most),
            marks: scaled(&most),
            ..Series::default()
        });
        legend.push(LegendEntry { style: 1, line: Line::Dashed, name: most_name });
    }
    let largest = reached.iter().map(|(size, _)| *size).fold(0.0, f64::max);
    let chart = Chart {
        title: t.get("rfc2544-figure-throughput"),
        note: t.get("rfc2544-figure-throughput-note"),
        description: in_words.collect::<Vec<_>>().join("; "),
        x: Axis::from_zero(t.get("axis-frame"), largest),
        y: Axis::from_zero(t.with("axis-packet-rate", &[("unit", &unit)]), highest / unit_size),
        series,
        legend,
    };
    Some(chart.figure())
}

/// Medians of the trials at the throughput, a row for each frame size and direction.
pub(super) fn spread(sizes: &[TestedSize], t: &Texts) -> Vec<Figure> {
    let of_size = |size: &TestedSize| -> Vec<Repeated> {
        let one = |latency: &TestedLatency| Repeated {
            group: with_unit(size, t),
            name: show::way(&latency.from, &latency.to),
            values: latency.medians_ns.iter().map(|ns| ns / 1e3).collect(),
        };
        size.latency.iter().map(one).collect()
    };
    let spoken = FigureSubject { title: t.get("rfc2544-figure-latency"), axis: t.get("rfc2544-axis-latency") };
    repeats(spoken, &sizes.iter().flat_map(of_size).collect::<Vec<_>>(), t)
}

/// Loss over the share of the highest load, a line for each frame size. `None` where no size has three loads.
pub(super) fn loss_curve(sizes: &[TestedSize], t: &Texts) -> Option<Figure> {
    let curves: Vec<&TestedSize> = sizes.iter().filter(|size| size.loss.len() > 2).collect();
    let most = curves.iter().flat_map(|size| &size.loss).map(|loss| loss.loss_ratio * 100.0).reduce(f64::max)?;
    let points = |size: &TestedSize| -> Vec<(f64, f64)> {
        let points = size.loss.iter().map(|loss| (loss.share * 100.0, loss.loss_ratio * 100.0));
        points.rev().collect()
    };
    let series = |(style, size): (usize, &&TestedSize)| Series {
        style,
        points: points(size),
        marks: points(size),
        ..Series::default()
    };
    let in_words = |size: &&TestedSize| {
        let rungs = size.loss.iter().map(|it| format!("{:.0} % {}", it.share * 100.0, percent(it.loss_ratio)));
        format!("{}: {}", with_unit(size, t), rungs.collect::<Vec<_>>().join(", "))
    };
    let entry = |(style, size): (usize, &&TestedSize)| LegendEntry::solid(style, with_unit(size, t));
    let chart = Chart {
        title: t.get("rfc2544-figure-loss"),
        note: t.get("rfc2544-figure-loss-note"),
        description: curves.iter().map(in_words).collect::<Vec<_>>().join("; "),
        x: Axis::from_zero(t.get("rfc2544-axis-share"), 100.0),
        y: Axis::from_zero(t.get("axis-loss"), most.max(0.01)),
        series: curves.iter().enumerate().map(series).collect(),
        legend: curves.iter().enumerate().map(entry).collect(),
    };
    Some(chart.figure())
}
