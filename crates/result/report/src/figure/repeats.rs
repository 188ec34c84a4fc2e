//! How trials of one configuration differ from repeat to repeat.

use super::{
    axis::Axis,
    rows::{Row, Rows, Shape},
};
use crate::{page::Figure, show, texts::Texts};

/// A figure of one configuration in each of its trials.
pub(crate) struct Repeated {
    /// Configurations of one group stand in a row.
    pub(crate) group: String,
    /// Name within the group; empty where the group has this one alone.
    pub(crate) name: String,
    pub(crate) values: Vec<f64>,
}

/// Subject of a figure over repeats.
pub(crate) struct FigureSubject {
    pub(crate) title: String,
    pub(crate) axis: String,
}

/// Fewer trials stand in the tables, each of them: the lowest, the median and the highest.
const LEAST: usize = 4;
/// Fewer have no quartiles worth a box.
const BOX: usize = 5;
/// More would print over each other.
const DOTS: usize = 20;

/// A box plot for each configuration. Nothing where all have too few trials.
pub(crate) fn repeats(spoken: FigureSubject, repeated: &[Repeated], t: &Texts) -> Vec<Figure> {
    let shown: Vec<_> = repeated.iter().filter(|one| one.values.len() >= LEAST).collect();
    let all = || shown.iter().flat_map(|one| one.values.iter().copied());
    let (Some(lowest), Some(highest)) = (all().reduce(f64::min), all().reduce(f64::max)) else { return vec![] };
    let rows = Rows {
        title: spoken.title,
        note: t.with("figure-repeats-note", &[("box", &BOX), ("dots", &DOTS)]),
        x: Axis::of_spread(spoken.axis, lowest, highest),
        rows: shown.chunk_by(|a, b| a.group == b.group).flat_map(|group| rows(group, t)).collect(),
        legend: vec![],
    };
    rows.figures()
}

/// The heading stands above the first.
fn rows(group: &[&Repeated], t: &Texts) -> Vec<Row> {
    let mut rows: Vec<Row> = group.iter().filter_map(|one| row(one, t)).collect();
    rows.iter_mut().skip(1).for_each(|row| row.heading.clear());
    rows
}

fn row(one: &Repeated, t: &Texts) -> Option<Row> {
    let [low, median, high] = stats::quartiles(&one.values)?;
    let (least, most) = ends(&one.values)?;
    let n = one.values.len();
    let mut shapes = vec![Shape::Whisker { low: least, high: most }];
    shapes.extend((n >= BOX).then_some(Shape::Range { low, high }));
    shapes.extend(
        (n <= DOTS).then(|| one.values.iter().map(|at| Shape::Dot { style: 0, at: *at })).into_iter().flatten(),
    );
    shapes.push(Shape::Middle(median));
    let (low, high) = (format!("{least:.2}"), format!("{most:.2}"));
    let names = [one.group.clone(), one.name.clone()].into_iter().filter(|name| !name.is_empty());
    let description = t.with("figure-range", &[("name", &show::joined(names, t)), ("low", &low), ("high", &high)]);
    let name = if one.name.is_empty() { format!("n = {n}") } else { format!("{} (n = {n})", one.name) };
    Some(Row { heading: one.group.clone(), name, description, shapes })
}

fn ends(values: &[f64]) -> Option<(f64, f64)> {
    Some((values.iter().copied().reduce(f64::min)?, values.iter().copied().reduce(f64::max)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lang::Lang;

    fn shapes(n: u32) -> Vec<Shape> {
        row(
            &Repeated { group: String::new(), name: String::new(), values: (0..n).map(f64::from).collect() },
            Texts::of(Lang::En),
        )
        .unwrap()
        .shapes
    }

    #[test]
    fn few_trials_are_dots_and_many_a_box() {
        let is_box = |shape: &Shape| matches!(shape, Shape::Range { .. });
        let is_dot = |shape: &Shape| matches!(shape, Shape::Dot { .. });
        let has = |n| (shapes(n).iter().any(is_box), shapes(n).iter().any(is_dot));
        assert_eq!([has(3), has(6), has(21)], [(false, true), (true, true), (true, false)]);
    }
}
