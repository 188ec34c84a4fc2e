//! A line chart: two axes, several series, a legend, and its words.

use maud::{Markup, html};

use super::{axis::Axis, marks::one};
use crate::page::{Drawing, Figure, LegendEntry, Line};

/// Drawing area, in SVG units; the page scales it.
const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 340.0;
/// Room around the plot for tick labels and axis names.
const LEFT: f64 = 80.0;
const RIGHT: f64 = 22.0;
const TOP: f64 = 34.0;
const BOTTOM: f64 = 52.0;

pub(crate) struct Chart {
    pub(crate) title: String,
    pub(crate) note: String,
    /// Description for readers who cannot see it.
    pub(crate) description: String,
    pub(crate) x: Axis,
    pub(crate) y: Axis,
    pub(crate) series: Vec<Series>,
    pub(crate) legend: Vec<LegendEntry>,
}

#[derive(Default)]
pub(crate) struct Series {
    /// Which colour and marker.
    pub(crate) style: usize,
    pub(crate) line: Line,
    pub(crate) points: Vec<(f64, f64)>,
    /// Points that carry the style's mark.
    pub(crate) marks: Vec<(f64, f64)>,
    /// Vertical bars: x, low, high.
    pub(crate) bars: Vec<(f64, f64, f64)>,
    /// Heights that a line across the whole chart shows.
    pub(crate) levels: Vec<f64>,
}

impl Chart {
    pub(crate) fn figure(self) -> Figure {
        let content = html! {
            (self.axes())
            @for series in &self.series { (self.series(series)) }
        };
        Figure {
            number: 0,
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
            g class=(series.line.classes(series.style)) {
                polyline points=(path.join(" ")) {}
                @for level in &series.levels {
                    line.level x1=(LEFT) x2=(WIDTH - RIGHT) y1=(one(self.y_at(*level))) y2=(one(self.y_at(*level))) {}
                }
                @for (x, low, high) in &series.bars {
                    path.bar d=(bar(self.x_at(*x), self.y_at(*low), self.y_at(*high))) {}
                }
                @for (x, y) in &series.marks { (series.line.mark(series.style, self.x_at(*x), self.y_at(*y))) }
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

/// A vertical bar with short ends.
fn bar(x: f64, low: f64, high: f64) -> String {
    let (left, right) = (x - 4.0, x + 4.0);
    format!("M{x:.1},{low:.1}V{high:.1}M{left:.1},{low:.1}H{right:.1}M{left:.1},{high:.1}H{right:.1}")
}
