//! A line chart: two axes, several series, a legend, and its words.

use maud::{Markup, html};

use crate::page::{Drawing, Figure, LegendEntry};

/// Drawing area, in SVG units; the page scales it.
const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 340.0;
/// Room around the plot for tick labels and axis names.
const LEFT: f64 = 80.0;
const RIGHT: f64 = 22.0;
const TOP: f64 = 34.0;
const BOTTOM: f64 = 52.0;

/// Colours and markers there are; a further series starts over.
const STYLES: usize = 6;

pub(super) struct Chart {
    pub(super) title: String,
    pub(super) note: String,
    /// What the figure shows, for those who cannot see it.
    pub(super) description: String,
    pub(super) x: Axis,
    pub(super) y: Axis,
    pub(super) series: Vec<Series>,
    pub(super) legend: Vec<LegendEntry>,
}

pub(super) struct Axis {
    pub(super) name: String,
    pub(super) scale: Scale,
    pub(super) low: f64,
    pub(super) high: f64,
    /// Where a label stands, and what it says.
    pub(super) ticks: Vec<(f64, String)>,
}

#[derive(Clone, Copy, PartialEq)]
pub(super) enum Scale {
    Linear,
    Log,
}

pub(super) struct Series {
    /// Which colour and marker.
    pub(super) style: usize,
    pub(super) dashed: bool,
    pub(super) points: Vec<(f64, f64)>,
    /// Points that carry the style's mark.
    pub(super) marks: Vec<(f64, f64)>,
    /// Vertical bars: x, low, high.
    pub(super) bars: Vec<(f64, f64, f64)>,
}

impl Axis {
    /// From 0 to a round number at or above `highest`, with about five round steps.
    pub(super) fn from_zero(name: String, highest: f64) -> Self {
        // Nothing but zeros is drawn on a scale all the same.
        let step = round_step(if highest > 0.0 { highest } else { 1.0 } / 4.0);
        let steps = (highest / step).ceil().max(1.0) as u32;
        let decimals = if step < 1.0 { (-step.log10()).ceil() as usize } else { 0 };
        let ticks: Vec<_> = (0..=steps)
            .map(|index| f64::from(index) * step)
            .map(|value| (value, format!("{value:.decimals$}")))
            .collect();
        Self { name, scale: Scale::Linear, low: 0.0, high: f64::from(steps) * step, ticks }
    }

    /// Whole seconds from 0 to the last.
    pub(super) fn seconds(name: String, last: usize) -> Self {
        let step = round_step(last as f64 / 6.0).max(1.0) as usize;
        let ticks = (0..=last).step_by(step).map(|second| (second as f64, second.to_string())).collect();
        Self { name, scale: Scale::Linear, low: 0.0, high: last as f64, ticks }
    }

    /// Logarithmic, over whole steps of 1, 2, 5, 10, … around the values.
    pub(super) fn logarithmic(name: String, lowest: f64, highest: f64) -> Self {
        let (first, last) = (lowest.log10().floor() as i32, highest.log10().ceil() as i32);
        let steps: Vec<f64> =
            (first..=last).flat_map(|decade| [1.0, 2.0, 5.0].map(|digit| digit * 10f64.powi(decade))).collect();
        let low = steps.iter().copied().rfind(|step| *step <= lowest).unwrap_or(lowest);
        let high = steps.iter().copied().find(|step| *step >= highest && *step > low).unwrap_or(highest);
        let inside = steps.into_iter().filter(|step| (low..=high).contains(step));
        Self { name, scale: Scale::Log, low, high, ticks: inside.map(|step| (step, step.to_string())).collect() }
    }

    /// Share of the axis below a value.
    fn share(&self, value: f64) -> f64 {
        let place = |value: f64| if self.scale == Scale::Log { value.log10() } else { value };
        (place(value) - place(self.low)) / (place(self.high) - place(self.low))
    }
}

/// The smallest of 1, 2, 5 × 10ⁿ that is not below.
fn round_step(least: f64) -> f64 {
    let decade = 10f64.powf(least.log10().floor());
    [1.0, 2.0, 5.0, 10.0].map(|digit| digit * decade).into_iter().find(|step| *step >= least * 0.999).unwrap_or(least)
}

impl Chart {
    pub(super) fn figure(self) -> Figure {
        let content = html! {
            (self.axes())
            @for series in &self.series { (self.series(series)) }
        };
        Figure {
            caption: self.title,
            note: self.note,
            description: self.description,
            drawing: Drawing::Svg { width: WIDTH as u32, height: HEIGHT as u32, content: content.into_string() },
            legend: self.legend,
        }
    }

    fn axes(&self) -> Markup {
        let (bottom, right) = (HEIGHT - BOTTOM, WIDTH - RIGHT);
        html! {
            g.grid {
                @for (value, _) in &self.y.ticks {
                    line x1=(LEFT) x2=(right) y1=(one(self.y_at(*value))) y2=(one(self.y_at(*value))) {}
                }
            }
            g.axis {
                line x1=(LEFT) x2=(right) y1=(bottom) y2=(bottom) {}
                @for (value, _) in &self.x.ticks {
                    line x1=(one(self.x_at(*value))) x2=(one(self.x_at(*value))) y1=(bottom) y2=(bottom + 5.0) {}
                }
            }
            g.labels {
                @for (value, label) in &self.y.ticks {
                    text x=(LEFT - 8.0) y=(one(self.y_at(*value) + 4.5)) text-anchor="end" { (label) }
                }
                @for (value, label) in &self.x.ticks {
                    text x=(one(self.x_at(*value))) y=(bottom + 20.0) text-anchor="middle" { (label) }
                }
                text.name x="2" y="16" { (self.y.name) }
                text.name x=(right) y=(HEIGHT - 8.0) text-anchor="end" { (self.x.name) }
            }
        }
    }

    fn series(&self, series: &Series) -> Markup {
        let place = |(x, y): &(f64, f64)| format!("{},{}", one(self.x_at(*x)), one(self.y_at(*y)));
        let path: Vec<String> = series.points.iter().map(place).collect();
        html! {
            g class=(format!("series s{}{}", series.style % STYLES, if series.dashed { " dashed" } else { "" })) {
                polyline points=(path.join(" ")) {}
                @for (x, low, high) in &series.bars {
                    path.bar d=(bar(self.x_at(*x), self.y_at(*low), self.y_at(*high))) {}
                }
                @for (x, y) in &series.marks { (marker(series.style, self.x_at(*x), self.y_at(*y))) }
            }
        }
    }

    fn x_at(&self, value: f64) -> f64 {
        LEFT + self.x.share(value) * (WIDTH - LEFT - RIGHT)
    }

    fn y_at(&self, value: f64) -> f64 {
        HEIGHT - BOTTOM - self.y.share(value) * (HEIGHT - TOP - BOTTOM)
    }
}

/// One decimal is finer than any screen shows.
fn one(coordinate: f64) -> String {
    format!("{coordinate:.1}")
}

/// A vertical bar with short ends.
fn bar(x: f64, low: f64, high: f64) -> String {
    let (left, right) = (x - 4.0, x + 4.0);
    format!("M{x:.1},{low:.1}V{high:.1}M{left:.1},{low:.1}H{right:.1}M{left:.1},{high:.1}H{right:.1}")
}

/// The style's mark, so that no reader depends on colour.
fn marker(style: usize, x: f64, y: f64) -> Markup {
    let shape = match style % STYLES {
        0 => "m-4.5,0a4.5,4.5 0 1,0 9,0a4.5,4.5 0 1,0 -9,0z",
        1 => "m-4,-4h8v8h-8z",
        2 => "m0,-5.5l5.5,5.5l-5.5,5.5l-5.5,-5.5z",
        3 => "m0,-5.5l5.5,9.5h-11z",
        4 => "m0,5.5l5.5,-9.5h-11z",
        _ => "m-5,-1.8h3.2v-3.2h3.6v3.2h3.2v3.6h-3.2v3.2h-3.6v-3.2h-3.2z",
    };
    html! { path.mark d=(format!("M{x:.1},{y:.1}{shape}")) {} }
}

/// A style's line and mark, as they stand beside its name in a legend.
pub(crate) fn swatch(style: usize) -> Drawing {
    let content = html! {
        g class=(format!("series s{}", style % STYLES)) {
            polyline points="1,7 29,7" {}
            (marker(style, 15.0, 7.0))
        }
    };
    Drawing::Svg { width: 30, height: 14, content: content.into_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(axis: &Axis) -> Vec<&str> {
        axis.ticks.iter().map(|(_, label)| label.as_str()).collect()
    }

    #[test]
    fn axes_end_at_round_numbers_beyond_the_values() {
        assert_eq!(labels(&Axis::from_zero(String::new(), 17.3)), ["0", "5", "10", "15", "20"]);
        assert_eq!(labels(&Axis::from_zero(String::new(), 0.9)), ["0.0", "0.5", "1.0"]);
        assert_eq!(labels(&Axis::from_zero(String::new(), 40.0)), ["0", "10", "20", "30", "40"]);
        assert_eq!(labels(&Axis::from_zero(String::new(), 0.0)).len(), 2);
        assert_eq!(labels(&Axis::logarithmic(String::new(), 8.0, 130.0)), ["5", "10", "20", "50", "100", "200"]);
        assert_eq!(labels(&Axis::logarithmic(String::new(), 10.0, 10.0)), ["10", "20"]);
    }
}
