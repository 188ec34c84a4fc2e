//! Rows below each other along one axis: areas, boxes and dots instead of lines. A heading stands above rows that belong together, and the
//! name of each row to its left.

use maud::{Markup, html};
use unicode_width::UnicodeWidthStr;

use super::{
    axis::Axis,
    marks::{STYLES, marker, one},
};
use crate::page::{Drawing, Figure, LegendEntry, Number};

/// In SVG units; the page scales them.
const WIDTH: f64 = 640.0;
const LEFT: f64 = 22.0;
const RIGHT: f64 = 30.0;
const TOP: f64 = 6.0;
const BOTTOM: f64 = 56.0;
/// A line of a heading, a row, and the gap below it.
const LINE: f64 = 22.0;
const ROW: f64 = 18.0;
const GAP: f64 = 4.0;

/// Columns of a heading at the width of a phone, where letters are as large as 20 units.
const HEADING_COLUMNS: usize = 56;
/// Width of a column there.
const COLUMN: f64 = 11.0;

/// Higher than this, a drawing does not fit a sheet of paper.
const HIGHEST: f64 = 1000.0;

pub(super) struct Rows {
    pub(super) title: String,
    pub(super) note: String,
    pub(super) x: Axis,
    pub(super) rows: Vec<Row>,
    pub(super) legend: Vec<LegendEntry>,
}

pub(super) struct Row {
    /// Empty for a row that goes with the one before.
    pub(super) heading: String,
    /// In a few letters; empty where the heading says it all.
    pub(super) name: String,
    /// Description for readers who cannot see it; empty for a row that belongs to the one before.
    pub(super) description: String,
    /// From back to front.
    pub(super) shapes: Vec<Shape>,
}

/// Shapes in a row. All places are values of the axis.
pub(super) enum Shape {
    /// An area in a style.
    Fill { style: usize, from: f64, to: f64 },
    /// A thin line with short ends.
    Whisker { low: f64, high: f64 },
    /// A box.
    Range { low: f64, high: f64 },
    /// A line across the row.
    Middle(f64),
    /// A style's mark.
    Dot { style: usize, at: f64 },
    /// Words beside a value.
    Label { at: f64, words: String },
}

impl Rows {
    /// As many figures as it takes for each to fit a sheet of paper; none without rows.
    pub(super) fn figures(self) -> Vec<Figure> {
        let mut sheets: Vec<&[Row]> = Vec::new();
        let mut begin = 0;
        for end in 1..=self.rows.len() {
            let is_end = self.rows.get(end).is_none_or(|next| !next.heading.is_empty());
            let group = self.rows[end..].iter().take_while(|row| row.heading.is_empty()).count();
            let next = &self.rows[begin..(end + 1 + group).min(self.rows.len())];
            if is_end && (end == self.rows.len() || height(next) > HIGHEST) {
                sheets.push(&self.rows[begin..end]);
                begin = end;
            }
        }
        sheets.into_iter().map(|rows| self.figure(rows)).collect()
    }

    fn figure(&self, rows: &[Row]) -> Figure {
        let bottom = height(rows);
        let mut top = TOP;
        let drawn = rows.iter().map(|row| {
            let at = top;
            top += row.height();
            self.row(row, at)
        });
        let drawn: Vec<Markup> = drawn.collect();
        let content = html! { (self.axis(bottom)) @for row in &drawn { (row) } };
        let descriptions = rows.iter().map(|row| row.description.as_str()).filter(|words| !words.is_empty());
        Figure {
            number: Number::default(),
            caption: self.title.clone(),
            note: self.note.clone(),
            description: descriptions.collect::<Vec<_>>().join("; "),
            drawing: Drawing::Svg {
                width: WIDTH as u32,
                height: (bottom + BOTTOM).ceil() as u32,
                content: content.into_string(),
            },
            legend: self.legend.clone(),
            floats: true,
        }
    }

    fn row(&self, row: &Row, top: f64) -> Markup {
        let heading = lines(&row.heading);
        let below = top + LINE * heading.len() as f64;
        html! {
            g.labels {
                @for (index, line) in (0..).map(f64::from).zip(&heading) {
                    text x="2" y=(one(top + LINE * index + 16.0)) { (line) }
                }
                @if !row.name.is_empty() {
                    text.name x=(one(self.left() - 12.0)) y=(one(below + ROW / 2.0 + 5.0)) text-anchor="end" { (row.name) }
                }
            }
            g {
                @if !row.description.is_empty() { title { (row.description) } }
                @for shape in &row.shapes { (self.shape(shape, below)) }
            }
        }
    }

    fn axis(&self, bottom: f64) -> Markup {
        html! {
            g.grid {
                @for (value, _) in &self.x.ticks {
                    line x1=(one(self.at(*value))) x2=(one(self.at(*value))) y1=(TOP) y2=(one(bottom)) {}
                }
            }
            g.axis { line x1=(one(self.left())) x2=(WIDTH - RIGHT) y1=(one(bottom)) y2=(one(bottom)) {} }
            g.labels {
                @for (at, label) in self.x.labels(|value| self.at(value)) {
                    text x=(one(at)) y=(one(bottom + 20.0)) text-anchor="middle" { (label) }
                }
                text.name x=(WIDTH - RIGHT) y=(one(bottom + 46.0)) text-anchor="end" { (self.x.name) }
            }
        }
    }

    fn shape(&self, shape: &Shape, top: f64) -> Markup {
        let middle = top + ROW / 2.0;
        match shape {
            Shape::Fill { style, from, to } => {
                let (left, width) = (self.at(*from), (self.at(*to) - self.at(*from)).max(0.5));
                html! {
                    g class=(format!("series s{}", style % STYLES)) {
                        rect.fill x=(one(left)) y=(one(top)) width=(one(width)) height=(ROW) {}
                    }
                }
            }
            Shape::Whisker { low, high } => {
                let (left, right) = (self.at(*low), self.at(*high));
                let (upper, lower) = (middle - 5.0, middle + 5.0);
                let line = format!(
                    "M{left:.1},{middle:.1}H{right:.1}M{left:.1},{upper:.1}V{lower:.1}M{right:.1},{upper:.1}V{lower:.1}"
                );
                html! { g.series.s0 { path.whisker d=(line) {} } }
            }
            Shape::Range { low, high } => {
                let (left, width) = (self.at(*low), (self.at(*high) - self.at(*low)).max(0.5));
                html! { g.series.s0 { rect.fill x=(one(left)) y=(one(top + 2.0)) width=(one(width)) height=(ROW - 4.0) {} } }
            }
            Shape::Middle(value) => {
                let x = self.at(*value);
                html! { g.series.s0 { line.middle x1=(one(x)) x2=(one(x)) y1=(one(top)) y2=(one(top + ROW)) {} } }
            }
            Shape::Dot { style, at } => {
                html! { g class=(format!("series s{}", style % STYLES)) { (marker(*style, self.at(*at), middle)) } }
            }
            Shape::Label { at, words } => self.label(self.at(*at), words, middle + 5.0),
        }
    }

    /// Behind the value, or before it where there is no room left.
    fn label(&self, x: f64, words: &str, y: f64) -> Markup {
        let fits = x + 12.0 + COLUMN * words.width() as f64 <= WIDTH;
        let (x, anchor) = if fits { (x + 12.0, "start") } else { (x - 12.0, "end") };
        html! { g.labels { text x=(one(x)) y=(one(y)) text-anchor=(anchor) { (words) } } }
    }

    fn at(&self, value: f64) -> f64 {
        self.left() + self.x.share(value) * (WIDTH - self.left() - RIGHT)
    }

    /// Beside the longest name.
    fn left(&self) -> f64 {
        let longest = self.rows.iter().map(|row| row.name.width()).max().unwrap_or(0);
        LEFT + COLUMN * longest as f64
    }
}

impl Row {
    fn height(&self) -> f64 {
        LINE * lines(&self.heading).len() as f64 + ROW + GAP
    }
}

/// Where the axis stands below these rows.
fn height(rows: &[Row]) -> f64 {
    TOP + rows.iter().map(Row::height).sum::<f64>()
}

/// A name in lines that fit a phone, broken between words; Japanese names break behind the dots that part them.
fn lines(name: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in name.split_inclusive([' ', '・']) {
        match lines.last_mut() {
            Some(line) if line.width() + word.trim_end().width() <= HEADING_COLUMNS => line.push_str(word),
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_that_do_not_fit_a_sheet_go_on_in_the_next_figure_and_pairs_stay_together() {
        let row = |index: usize| {
            let heading = if index.is_multiple_of(2) { "n".to_owned() } else { String::new() };
            Row { description: format!("row {index}"), heading, name: String::new(), shapes: vec![] }
        };
        let figures = |count: usize| {
            let x = Axis::from_zero(String::new(), 1.0);
            let rows = (0..count).map(row).collect();
            Rows { title: String::new(), note: String::new(), x, rows, legend: vec![] }.figures()
        };
        assert_eq!((figures(0).len(), figures(2).len()), (0, 1));
        let sheets = figures(50);
        assert_eq!(sheets.len(), 2);
        let height = |figure: &Figure| match figure.drawing {
            Drawing::Svg { height, .. } => f64::from(height),
            _ => panic!("a drawing"),
        };
        assert!(sheets.iter().all(|sheet| height(sheet) <= HIGHEST + BOTTOM + 1.0));
        assert!(sheets.iter().all(|sheet| sheet.description.matches("row").count().is_multiple_of(2)));
    }

    #[test]
    fn long_names_take_several_lines() {
        assert_eq!(lines("UDP IPv4, 1 stream"), ["UDP IPv4, 1 stream"]);
        assert!(lines("").is_empty());
        let long = "TCP IPv4, 4 streams, zero copy, truncated, window of 4 MiB, MTU 9000, a → b (core 0, sender)";
        let broken = lines(long);
        assert!(
            broken.len() == 2 && broken.iter().all(|line| line.trim_end().width() <= HEADING_COLUMNS),
            "{broken:?}"
        );
        assert_eq!(broken.concat(), long);
        assert_eq!(lines("実効スループット・4ストリーム・ゼロコピー送信・受信側で切り捨て・MTU 9000").len(), 2);
    }
}
