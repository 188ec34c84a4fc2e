//! A line chart: two axes, several series, a legend, and its words.

use maud::{Markup, html};

use super::{
    axis::Axis,
    marks::{STYLES, cross, marker, one},
};
use crate::page::{Drawing, Figure, LegendEntry};

/// Drawing area, in SVG units; the page scales it.
const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 340.0;
/// Room around the plot for tick labels and axis names.
const LEFT: f64 = 80.0;
const RIGHT: f64 = 22.0;
const TOP: f64 = 34.0;
const BOTTOM: f64 = 52.0;

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

#[derive(Default)]
pub(super) struct Series {
    /// Which colour and marker.
    pub(super) style: usize,
    pub(super) line: Line,
    pub(super) points: Vec<(f64, f64)>,
    /// Points that carry the style's mark.
    pub(super) marks: Vec<(f64, f64)>,
    /// Vertical bars: x, low, high.
    pub(super) bars: Vec<(f64, f64, f64)>,
    /// Heights that a line across the whole chart shows.
    pub(super) levels: Vec<f64>,
}

/// How a series is drawn, so that its kind is seen without colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Line {
    #[default]
    Solid,
    /// Dashed, with hollow marks.
    Dashed,
    /// Dotted, with crosses: what others measured.
    Dotted,
}

impl Line {
    /// Classes of a series.
    pub(super) fn classes(self, style: usize) -> String {
        let kind = match self {
            Self::Solid => "",
            Self::Dashed => " dashed",
            Self::Dotted => " dotted",
        };
        format!("series s{}{kind}", style % STYLES)
    }

    pub(super) fn mark(self, style: usize, x: f64, y: f64) -> Markup {
        if self == Self::Dotted { cross(style, x, y) } else { marker(style, x, y) }
    }
}

impl Chart {
    pub(super) fn figure(self) -> Figure {
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
