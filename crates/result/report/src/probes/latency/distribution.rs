//! Distribution of RTT by percentile.

use stats::TimeHistogram;

use super::group::{LatencyGroup, by_traffic};
use crate::{
    figure::{
        axis::{Axis, Scale},
        chart::{Chart, Series},
    },
    page::{Figure, LegendEntry},
    show,
    texts::Texts,
};

/// All trials of each kind of traffic at its smallest frame size. `None` without samples.
pub(super) fn figure(groups: &[LatencyGroup<'_>], t: &Texts) -> Option<Figure> {
    let mut series = Vec::new();
    let mut legend = Vec::new();
    let mut words = Vec::new();
    for (style, traffic) in by_traffic(groups).iter().enumerate() {
        let smallest = traffic[0];
        let Some(merged) = merged(smallest) else { continue };
        let points = by_nines(&merged);
        let (Some((_, low)), Some((_, high))) = (points.first(), points.last()) else { continue };
        let name = smallest.name(t);
        let name = format!("{name} (n = {})", show::grouped(merged.len()));
        let (low, high) = (format!("{low:.2} µs"), format!("{high:.2} µs"));
        words.push(t.with("figure-range", &[("name", &name), ("low", &low), ("high", &high)]));
        legend.push(LegendEntry::solid(style, name));
        let marks = marks(&points);
        series.push(Series { style, marks, points, ..Series::default() });
    }
    let all = || series.iter().flat_map(|one| one.points.iter());
    let rarest = all().map(|(x, _)| *x).reduce(f64::max)?;
    let lowest = all().map(|(_, y)| *y).reduce(f64::min)?;
    let highest = all().map(|(_, y)| *y).reduce(f64::max)?;
    let chart = Chart {
        title: t.get("figure-distribution"),
        note: t.get("figure-distribution-note"),
        description: words.join("; "),
        x: nines_axis(t.get("axis-percentile"), rarest),
        y: Axis::logarithmic(t.get("axis-rtt"), lowest, highest),
        series,
        legend,
    };
    Some(chart.figure())
}

/// Points of a sample: how many nines the percentile has (90 % has one, 99 % two), and RTT in µs.
fn by_nines(sample: &TimeHistogram) -> Vec<(f64, f64)> {
    let nines = |percentile: f64| -(1.0 - percentile / 100.0).log10();
    sample.distribution().into_iter().map(|(percentile, ns)| (nines(percentile), ns as f64 / 1e3)).collect()
}

/// The median and each whole number of nines, so that the lines can be told apart without their colour.
fn marks(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let rarest = points.last().map_or(0.0, |(nines, _)| *nines);
    let wanted = [2f64.log10(), 1.0, 2.0, 3.0, 4.0, 5.0].into_iter().filter(|nines| *nines <= rarest);
    wanted.filter_map(|nines| points.iter().copied().find(|(x, _)| *x >= nines - 1e-9)).collect()
}

/// The samples of all trials as one; `None` when a stored sample cannot be read.
fn merged(group: &LatencyGroup<'_>) -> Option<TimeHistogram> {
    let mut samples = group.trials.iter().map(|(_, result)| TimeHistogram::decode(&result.histogram));
    let mut all = samples.next()?.ok()?;
    for sample in samples {
        all.merge(&sample.ok()?);
    }
    Some(all)
}

/// 50 %, 90 %, 99 %, 99.9 %, … as far as the rarest point.
fn nines_axis(name: String, rarest: f64) -> Axis {
    let whole = 1..=(rarest.floor().max(1.0) as u32);
    let mut ticks = vec![(2f64.log10(), "50 %".to_owned())];
    ticks.extend(whole.map(|nines| (f64::from(nines), nines_label(nines))));
    Axis { name, scale: Scale::Linear, low: 0.0, high: rarest.max(1.0), ticks }
}

fn nines_label(nines: u32) -> String {
    let decimals = nines.saturating_sub(2) as usize;
    format!("{:.decimals$} %", 100.0 * (1.0 - 10f64.powi(-(nines as i32))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_nine_is_a_step() {
        let axis = nines_axis(String::new(), 4.4);
        let labels: Vec<_> = axis.ticks.iter().map(|(_, label)| label.as_str()).collect();
        assert_eq!(labels, ["50 %", "90 %", "99 %", "99.9 %", "99.99 %"]);
    }
}
