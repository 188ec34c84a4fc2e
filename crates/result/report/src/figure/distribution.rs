//! Distribution of times by percentile.

use stats::TimeHistogram;

use super::{
    FigureSubject,
    axis::{Axis, Scale},
    chart::{Chart, Series},
};
use crate::{
    page::{Figure, LegendEntry},
    show,
    texts::Texts,
};

/// The distribution of each of these samples, by name, with a note and the name of the axis of percentiles. `None` without samples.
pub(crate) fn distribution(
    spoken: FigureSubject,
    [note, percentiles]: [String; 2],
    samples: impl IntoIterator<Item = (String, TimeHistogram)>,
    t: &Texts,
) -> Option<Figure> {
    let mut series = Vec::new();
    let mut legend = Vec::new();
    let mut words = Vec::new();
    for (style, (name, sample)) in samples.into_iter().enumerate() {
        let points = by_nines(&sample);
        let (Some((_, low)), Some((_, high))) = (points.first(), points.last()) else { continue };
        let name = format!("{name} (n = {})", show::grouped(sample.len()));
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
        title: spoken.title,
        note,
        description: words.join("; "),
        x: nines_axis(percentiles, rarest),
        y: Axis::logarithmic(spoken.axis, lowest, highest),
        series,
        legend,
    };
    Some(chart.figure())
}

/// Several stored samples as one; `None` when one cannot be read.
pub(crate) fn merged<'h>(histograms: impl IntoIterator<Item = &'h str>) -> Option<TimeHistogram> {
    let mut samples = histograms.into_iter().map(TimeHistogram::decode);
    let mut all = samples.next()?.ok()?;
    for sample in samples {
        all.merge(&sample.ok()?);
    }
    Some(all)
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

/// 50 %, 90 %, 99 %, 99.9 %, … as far as the rarest point.
fn nines_axis(name: String, rarest: f64) -> Axis {
    let whole = 1..=(rarest.floor().max(1.0) as u32);
    let mut ticks = vec![(2f64.log10(), "50 %".to_owned())];
    ticks.extend(whole.map(|nines| (f64::from(nines), nines_label(nines))));
    Axis { name, scale: Scale::Nines, low: 0.0, high: rarest.max(1.0), ticks }
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
