//! Frame loss over the offered load.

use crate::{
    figure::{
        axis::Axis,
        chart::{Chart, Series},
    },
    page::{Figure, LegendEntry},
    show,
    texts::Texts,
};

/// One ladder of loads: its name, and for each rung the offered load in pps and the share that was lost.
pub(super) struct Losses {
    pub(super) name: String,
    pub(super) points: Vec<(f64, f64)>,
}

/// A line for each ladder; `None` without any.
pub(super) fn figure(ladders: &[Losses], t: &Texts) -> Option<Figure> {
    let all = || ladders.iter().flat_map(|ladder| ladder.points.iter().copied());
    let highest = all().map(|(offered, _)| offered).reduce(f64::max)?;
    let most = all().map(|(_, lost)| lost * 100.0).fold(0.01, f64::max);
    let (size, unit) = show::packet_rate_unit(highest);
    let drawn = |(style, ladder): (usize, &Losses)| {
        let mut points: Vec<(f64, f64)> =
            ladder.points.iter().map(|(offered, lost)| (offered / size, lost * 100.0)).collect();
        points.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        Series { style, marks: points.clone(), points, ..Series::default() }
    };
    let in_words = |ladder: &Losses| {
        let rungs =
            ladder.points.iter().map(|(at, lost)| format!("{} {}", show::packet_rate(*at), show::percent(*lost)));
        format!("{}: {}", ladder.name, rungs.collect::<Vec<_>>().join(", "))
    };
    let names = ladders.iter().enumerate();
    let chart = Chart {
        title: t.get("figure-loss"),
        note: t.get("figure-loss-note"),
        description: ladders.iter().map(in_words).collect::<Vec<_>>().join("; "),
        x: Axis::from_zero(t.with("axis-offered", &[("unit", &unit)]), highest / size),
        y: Axis::from_zero(t.get("axis-loss"), most),
        series: ladders.iter().enumerate().map(drawn).collect(),
        legend: names.map(|(style, ladder)| LegendEntry::solid(style, ladder.name.clone())).collect(),
    };
    Some(chart.figure())
}
