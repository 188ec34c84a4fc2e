//! A line chart: two axes, several series, a legend, and its words. Many lines are drawn as panels along the same axes.

use maud::{Markup, html};

use super::{axis::Axis, marks::one};
use crate::page::{Drawing, Figure, LegendEntry, Line, Number, Panel};

/// More lines than this in one drawing cannot be followed.
const FEW: usize = 6;

/// Drawing area and the room around the plot for tick labels and axis names, in SVG units; the page scales it.
struct Area {
    width: f64,
    height: f64,
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
}

const WHOLE: Area = Area { width: 640.0, height: 280.0, left: 80.0, right: 22.0, top: 30.0, bottom: 48.0 };
const PANEL: Area = Area { width: 270.0, height: 160.0, left: 46.0, right: 12.0, top: 26.0, bottom: 38.0 };

pub(crate) struct Chart {
    pub(crate) title: String,
    pub(crate) note: String,
    /// Description for readers who cannot see it.
    pub(crate) description: String,
    pub(crate) x: Axis,
    pub(crate) y: Axis,
    pub(crate) series: Vec<Series>,
    /// Styles that no series of points but dotted ones share with others.
    pub(crate) legend: Vec<LegendEntry>,
}

#[derive(Default)]
pub(crate) struct Series {
    /// Index of its colour and marker.
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
        let is_dotted = |entry: &&LegendEntry| entry.line == Line::Dotted;
        let (dotted, own): (Vec<&LegendEntry>, Vec<_>) = self.legend.iter().partition(is_dotted);
        let lines = self.series.iter().filter(|series| !series.points.is_empty()).count();
        let (drawing, legend) = if lines > FEW && own.len() > 1 {
            let panels = own.into_iter().map(|entry| self.panel(entry)).collect();
            (Drawing::Panels(panels), dotted.into_iter().cloned().collect())
        } else {
            let content = self.drawn(&WHOLE, |_| true);
            let (width, height) = (WHOLE.width as u32, WHOLE.height as u32);
            (Drawing::Svg { width, height, content }, self.legend.clone())
        };
        let Self { title: caption, note, description, .. } = self;
        Figure { number: Number::default(), caption, note, description, drawing, legend, floats: true }
    }

    /// The series of one style, and those of others' figures.
    fn panel(&self, entry: &LegendEntry) -> Panel {
        let content = self.drawn(&PANEL, |series| series.style == entry.style || series.line == Line::Dotted);
        Panel { title: entry.clone(), width: PANEL.width as u32, height: PANEL.height as u32, content }
    }

    fn drawn(&self, area: &Area, shown: impl Fn(&Series) -> bool) -> String {
        let content = html! {
            (self.axes(area))
            @for series in self.series.iter().filter(|series| shown(series)) { (self.series(series, area)) }
        };
        content.into_string()
    }

    fn axes(&self, area: &Area) -> Markup {
        let (bottom, right) = (area.height - area.bottom, area.width - area.right);
        let (x_at, y_at) = (|value: f64| self.x_at(value, area), |value: f64| self.y_at(value, area));
        html! {
            g.grid {
                @for (value, _) in &self.y.ticks {
                    line x1=(area.left) x2=(right) y1=(one(y_at(*value))) y2=(one(y_at(*value))) {}
                }
            }
            g.axis {
                line x1=(area.left) x2=(right) y1=(bottom) y2=(bottom) {}
                @for (value, _) in &self.x.ticks {
                    line x1=(one(x_at(*value))) x2=(one(x_at(*value))) y1=(bottom) y2=(bottom + 5.0) {}
                }
            }
            g.labels {
                @for (at, label) in self.y.upright_labels(y_at) {
                    text x=(area.left - 8.0) y=(one(at + 4.5)) text-anchor="end" { (label) }
                }
                @for (at, label) in self.x.labels(x_at) {
                    text x=(one(at)) y=(bottom + 18.0) text-anchor="middle" { (label) }
                }
                text.name x="2" y="14" { (self.y.name) }
                text.name x=(right) y=(area.height - 4.0) text-anchor="end" { (self.x.name) }
            }
        }
    }

    fn series(&self, series: &Series, area: &Area) -> Markup {
        let (x_at, y_at) = (|value: f64| self.x_at(value, area), |value: f64| self.y_at(value, area));
        let place = |(x, y): &(f64, f64)| format!("{},{}", one(x_at(*x)), one(y_at(*y)));
        let path: Vec<String> = series.points.iter().map(place).collect();
        html! {
            g class=(series.line.classes(series.style)) {
                polyline points=(path.join(" ")) {}
                @for level in &series.levels {
                    line.level x1=(area.left) x2=(area.width - area.right) y1=(one(y_at(*level))) y2=(one(y_at(*level))) {}
                }
                @for (x, low, high) in &series.bars {
                    path.bar d=(bar(x_at(*x), y_at(*low), y_at(*high))) {}
                }
                @for (x, y) in &series.marks {
                    g { title { (self.point(*x, *y)) } (series.line.mark(series.style, x_at(*x), y_at(*y))) }
                }
            }
        }
    }

    /// A point in words.
    fn point(&self, x: f64, y: f64) -> String {
        format!("{}: {}; {}: {}", self.x.name, self.x.words(x), self.y.name, self.y.words(y))
    }

    fn x_at(&self, value: f64, area: &Area) -> f64 {
        area.left + self.x.share(value) * (area.width - area.left - area.right)
    }

    fn y_at(&self, value: f64, area: &Area) -> f64 {
        area.height - area.bottom - self.y.share(value) * (area.height - area.top - area.bottom)
    }
}

/// A vertical bar with short ends.
fn bar(x: f64, low: f64, high: f64) -> String {
    let (left, right) = (x - 4.0, x + 4.0);
    format!("M{x:.1},{low:.1}V{high:.1}M{left:.1},{low:.1}H{right:.1}M{left:.1},{high:.1}H{right:.1}")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A chart of this many styles with this many lines each.
    fn drawn(styles: usize, lines: usize) -> Figure {
        let line = |style| Series {
            style,
            points: vec![(0.0, 1.0), (1.0, 2.0)],
            marks: vec![(1.0, 2.0)],
            ..Series::default()
        };
        let dotted = Series { style: styles, line: Line::Dotted, ..line(styles) };
        let entry = |style| LegendEntry::solid(style, format!("style {style}"));
        let published = LegendEntry { style: styles, line: Line::Dotted, name: "published".to_owned() };
        let chart = Chart {
            title: String::new(),
            note: String::new(),
            description: String::new(),
            x: Axis::from_zero("x (s)".to_owned(), 1.0),
            y: Axis::from_zero("y (µs)".to_owned(), 2.0),
            series: (0..styles).flat_map(|style| (0..lines).map(move |_| line(style))).chain([dotted]).collect(),
            legend: (0..styles).map(entry).chain([published]).collect(),
        };
        chart.figure()
    }

    #[test]
    fn many_lines_are_panels_along_the_same_axes() {
        let few = drawn(5, 1);
        assert!(matches!(few.drawing, Drawing::Svg { .. }) && few.legend.len() == 6);
        let Figure { drawing: Drawing::Panels(panels), legend, .. } = drawn(4, 6) else { panic!("24 lines") };
        assert_eq!((panels.len(), legend.len()), (4, 1), "what was published stands in each");
        let lines = |panel: &Panel| panel.content.matches("<polyline").count();
        assert!(panels.iter().all(|panel| lines(panel) == 7));
        assert_eq!(panels[2].title.name, "style 2");
        assert!(matches!(drawn(1, 9).drawing, Drawing::Svg { .. }), "there is nothing to part");
    }

    #[test]
    fn a_point_says_where_it_is() {
        let Drawing::Svg { content, .. } = drawn(1, 1).drawing else { panic!("one line") };
        assert!(content.contains("<title>x (s): 1.0; y (µs): 2.0</title>"), "{content}");
    }
}
