//! Runs or adapters side by side.

use super::{
    axis::Axis,
    rows::{Row, Rows, Shape},
};
use crate::{
    page::{Figure, LegendEntry},
    show::or_none,
    texts::Texts,
};

/// One configuration with a bar for each run.
pub(crate) struct Bars {
    pub(crate) name: String,
    /// In the unit of the axis, a value for each run; `None` where it has none.
    pub(crate) values: Vec<Option<f64>>,
}

/// Subject of the bars.
pub(crate) struct Sides {
    pub(crate) title: String,
    pub(crate) note: String,
    pub(crate) axis: String,
    /// Each run, in the order of the bars.
    pub(crate) runs: Vec<String>,
}

/// Bars from zero, each with its value. Nothing without any value.
pub(crate) fn side_by_side(sides: Sides, bars: &[Bars], t: &Texts) -> Vec<Figure> {
    let values = bars.iter().flat_map(|one| one.values.iter().flatten().copied());
    let Some(highest) = values.reduce(f64::max) else { return vec![] };
    let in_words = |one: &Bars| {
        let values = sides
            .runs
            .iter()
            .zip(&one.values)
            .map(|(run, value)| t.with("figure-bar", &[("run", run), ("value", &or_none(*value, label))]));
        format!("{}: {}", one.name, values.collect::<Vec<_>>().join(", "))
    };
    let rows = Rows {
        title: sides.title,
        note: sides.note,
        x: Axis::from_zero(sides.axis, highest),
        rows: bars.iter().flat_map(|one| rows(one, &in_words(one))).collect(),
        legend: sides.runs.into_iter().enumerate().map(|(style, name)| LegendEntry::solid(style, name)).collect(),
    };
    rows.figures()
}

/// The name stands above the first bar.
fn rows(bars: &Bars, description: &str) -> Vec<Row> {
    let bar = |(style, value): (usize, &Option<f64>)| {
        let of_first = |words: &str| if style == 0 { words.to_owned() } else { String::new() };
        let shapes = match *value {
            Some(to) => vec![
                Shape::Fill { style, from: 0.0, to },
                Shape::Dot { style, at: to },
                Shape::Label { at: to, words: label(to) },
            ],
            None => vec![Shape::Label { at: 0.0, words: crate::show::NO_FIGURE.to_owned() }],
        };
        Row { heading: of_first(&bars.name), name: String::new(), description: of_first(description), shapes }
    };
    bars.values.iter().enumerate().map(bar).collect()
}

/// Three digits that count.
fn label(value: f64) -> String {
    match value {
        100.0.. => format!("{value:.0}"),
        10.0.. => format!("{value:.1}"),
        1.0.. => format!("{value:.2}"),
        _ => format!("{value:.3}"),
    }
}
