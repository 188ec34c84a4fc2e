//! Published figures as lines in our charts.

use model::{
    Compared, FrameSize, Match, Protocol, Quantity, ReferenceComparison, alike::grouped, reference::Statistic,
};

use crate::texts::Texts;

/// Round-trip times of one reference against frame size.
pub(super) struct Curve {
    /// Whose, of what traffic, and which statistic.
    pub(super) name: String,
    /// Frame size in bytes and RTT in nanoseconds, by frame size.
    pub(super) points: Vec<(f64, f64)>,
}

/// A line for each kind of round-trip figure that ours are compared with.
pub(super) fn curves(comparisons: &[ReferenceComparison], t: &Texts) -> Vec<Curve> {
    comparisons.iter().flat_map(|comparison| curves_of(comparison, t)).collect()
}

fn curves_of(comparison: &ReferenceComparison, t: &Texts) -> Vec<Curve> {
    let kind = |row: &Compared| (row.theirs.conditions.protocol, row.theirs.statistic);
    let times = comparison.rows.iter().filter(|row| row.metric.quantity() == Quantity::Time);
    let kinds = grouped(times, |a, b| kind(a) == kind(b));
    kinds.iter().map(|rows| curve(comparison, kind(rows[0]), rows, t)).collect()
}

fn curve(
    comparison: &ReferenceComparison,
    (protocol, statistic): (Option<Protocol>, Statistic),
    rows: &[&Compared],
    t: &Texts,
) -> Curve {
    let point = |row: &&Compared| {
        let FrameSize(size) = row.theirs.conditions.frame_size.or(row.frame_size)?;
        Some((f64::from(size), row.theirs.value.amount() * row.theirs.per_ours()))
    };
    let mut points: Vec<(f64, f64)> = rows.iter().filter_map(point).collect();
    points.sort_by(|(a, _), (b, _)| a.total_cmp(b));
    points.dedup();
    let protocol = protocol.map_or("", Protocol::name);
    let statistic = t.of_value("statistic", &statistic);
    let values: [(&str, &dyn std::fmt::Display); 3] =
        [("reference", &comparison.reference.id), ("protocol", &protocol), ("statistic", &statistic)];
    let differs = rows.iter().any(|row| row.matches != Match::Comparable);
    let name = if differs { t.with("curve-other-conditions", &values) } else { t.with("curve", &values) };
    Curve { name, points }
}
