//! Forwarding rate and frame loss over the offered load.

use model::Engine;

use crate::{
    figure::{
        axis::Axis,
        chart::{Chart, Series},
    },
    page::{Figure, LegendEntry},
    show,
    texts::Texts,
};

/// One ladder of loads, with its name.
pub(super) struct Curve {
    pub(super) name: String,
    pub(super) rungs: Vec<Rung>,
}

/// Medians at one load.
#[derive(Clone, Copy)]
pub(super) struct Rung {
    pub(super) engine: Engine,
    pub(super) offered_pps: f64,
    pub(super) forwarded_pps: f64,
    /// Share that was lost, from 0 to 1.
    pub(super) lost: f64,
}

/// A line for each ladder in each figure, which breaks where another engine sent; nothing without any.
pub(super) fn figures(curves: &[Curve], t: &Texts) -> Vec<Figure> {
    let all = || curves.iter().flat_map(|curve| curve.rungs.iter().copied());
    let Some(highest) = all().map(|rung| rung.offered_pps).reduce(f64::max) else { return vec![] };
    let (size, unit) = show::packet_rate_unit(highest);
    let rate = |pps: f64| pps / size;
    let most_forwarded = all().map(|rung| rate(rung.forwarded_pps)).fold(f64::MIN_POSITIVE, f64::max);
    let most_lost = all().map(|rung| 100.0 * rung.lost).fold(0.01, f64::max);
    let is_broken = curves.iter().any(|curve| curve.rungs.iter().any(|rung| rung.engine != curve.rungs[0].engine));
    let note = |key: &str| {
        let note = t.get(key);
        if is_broken { t.with("sentences", &[("a", &note), ("b", &t.get("figure-engines-note"))]) } else { note }
    };
    let x = || Axis::from_zero(t.with("axis-offered", &[("unit", &unit)]), rate(highest));
    let forwarding = Chart {
        title: t.get("figure-forwarding"),
        note: note("figure-forwarding-note"),
        description: in_words(curves, |rung| show::packet_rate(rung.forwarded_pps)),
        x: x(),
        y: Axis::from_zero(t.with("axis-packet-rate", &[("unit", &unit)]), most_forwarded),
        series: series(curves, |rung| (rate(rung.offered_pps), rate(rung.forwarded_pps))),
        legend: legend(curves),
    };
    let loss = Chart {
        title: t.get("figure-loss"),
        note: note("figure-loss-note"),
        description: in_words(curves, |rung| show::percent(rung.lost)),
        x: x(),
        y: Axis::from_zero(t.get("axis-loss"), most_lost),
        series: series(curves, |rung| (rate(rung.offered_pps), 100.0 * rung.lost)),
        legend: legend(curves),
    };
    vec![forwarding.figure(), loss.figure()]
}

fn series(curves: &[Curve], point: impl Fn(&Rung) -> (f64, f64)) -> Vec<Series> {
    let drawn = |(style, curve): (usize, &Curve)| {
        let mut rungs = curve.rungs.clone();
        rungs.sort_by(|a, b| a.offered_pps.total_cmp(&b.offered_pps));
        let of_one_engine = |rungs: &[Rung]| {
            let points: Vec<(f64, f64)> = rungs.iter().map(&point).collect();
            Series { style, marks: points.clone(), points, ..Series::default() }
        };
        rungs.chunk_by(|a, b| a.engine == b.engine).map(of_one_engine).collect::<Vec<_>>()
    };
    curves.iter().enumerate().flat_map(drawn).collect()
}

fn legend(curves: &[Curve]) -> Vec<LegendEntry> {
    curves.iter().enumerate().map(|(style, curve)| LegendEntry::solid(style, curve.name.clone())).collect()
}

fn in_words(curves: &[Curve], figure: impl Fn(&Rung) -> String) -> String {
    let of_curve = |curve: &Curve| {
        let rungs = curve.rungs.iter().map(|rung| format!("{} {}", show::packet_rate(rung.offered_pps), figure(rung)));
        format!("{}: {}", curve.name, rungs.collect::<Vec<_>>().join(", "))
    };
    curves.iter().map(of_curve).collect::<Vec<_>>().join("; ")
}
