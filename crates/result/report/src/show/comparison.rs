//! Words for the comparison of a figure, in the report's language.

use std::iter;

use model::{
    Metric, Quantity,
    comparison::{ComparedRun, DifferenceInterval, DifferenceKind, FigureComparison, TrialFigures},
};

use super::{grouped, micros_or_none, or_none, packet_rate_unit, percent, rate_unit, transaction_rate_unit};
use crate::texts::Texts;

/// A run in one line: name, plan, bed.
pub(crate) fn compared_run(run: &ComparedRun, t: &Texts) -> String {
    let partial = run.partial.then(|| t.get("partial"));
    let place = [format!("{} {}", t.get("label-plan"), run.plan), format!("{} {}", t.get("label-bed"), run.bed)];
    let words: Vec<String> = iter::once(run.id.0.clone()).chain(place).chain(partial).collect();
    words.join(" · ")
}

/// Both medians without their unit, and the unit.
pub(crate) fn medians(figure: &FigureComparison) -> ([String; 2], &'static str) {
    let both = [&figure.reference, &figure.run].map(|figures: &TrialFigures| figures.median);
    match figure.figure.quantity() {
        Quantity::Time => (both.map(micros_or_none), "µs"),
        Quantity::Rate => in_unit(both, rate_unit),
        Quantity::PacketRate => in_unit(both, packet_rate_unit),
        Quantity::TransactionRate => in_unit(both, transaction_rate_unit),
        Quantity::FileRate => (both.map(|it| or_none(it, |files| format!("{files:.0}"))), "files/s"),
        Quantity::Size => (both.map(|it| or_none(it, |bytes| format!("{bytes:.0}"))), "B"),
        Quantity::Count => (both.map(|it| or_none(it, |count| format!("{count:.0}"))), ""),
        Quantity::Share => (both.map(|it| or_none(it, |share| percent(share).trim_end_matches(" %").to_owned())), "%"),
    }
}

/// Both in the unit that suits the higher.
fn in_unit(both: [Option<f64>; 2], unit: fn(f64) -> (f64, &'static str)) -> ([String; 2], &'static str) {
    let (size, unit) = unit(both.into_iter().flatten().fold(0.0, f64::max));
    (both.map(|it| or_none(it, |value| format!("{:.2}", value / size))), unit)
}

/// A difference with its unit.
pub(crate) fn difference(figure: &FigureComparison, t: &Texts) -> String {
    let shown = |it: f64| with_unit(figure.figure, &signed(figure.figure, it), t);
    let typical = or_none(figure.difference, shown);
    match of_medians(figure).filter(|it| figure.difference.is_some_and(|typical| typical * it < 0.0)).map(shown) {
        Some(medians) => t.with("compare-of-medians", &[("difference", &typical), ("medians", &medians)]),
        None => typical,
    }
}

/// The difference of the two medians, which may have another sign than the typical difference of two trials.
fn of_medians(figure: &FigureComparison) -> Option<f64> {
    let (theirs, ours) = (figure.reference.median?, figure.run.median?);
    match DifferenceKind::of(figure.figure) {
        DifferenceKind::Share => (theirs != 0.0).then(|| ours / theirs - 1.0),
        DifferenceKind::Points | DifferenceKind::Bytes | DifferenceKind::Count => Some(ours - theirs),
    }
}

/// Where the difference lies, in the same unit.
pub(crate) fn difference_interval(figure: &FigureComparison, t: &Texts) -> String {
    let end = |value: f64| signed(figure.figure, value);
    or_none(figure.interval, |DifferenceInterval { low, high, .. }| match (low, high) {
        (Some(low), Some(high)) => t.with("compare-interval", &[("low", &end(low)), ("high", &end(high))]),
        (Some(low), None) => t.with("compare-at-least", &[("low", &end(low))]),
        (None, Some(high)) => t.with("compare-at-most", &[("high", &end(high))]),
        (None, None) => super::NO_FIGURE.to_owned(),
    })
}

fn with_unit(figure: Metric, number: &str, t: &Texts) -> String {
    match DifferenceKind::of(figure) {
        DifferenceKind::Share => format!("{number} %"),
        DifferenceKind::Points => t.with("compare-points", &[("points", &number)]),
        DifferenceKind::Bytes => format!("{number} B"),
        DifferenceKind::Count => number.to_owned(),
    }
}

/// With its sign, in percent, percentage points or bytes; as fine as the figure is known.
fn signed(figure: Metric, difference: f64) -> String {
    let (size, decimals) = match DifferenceKind::of(figure) {
        DifferenceKind::Share if difference.abs() < 1.0 => (difference * 100.0, 1),
        DifferenceKind::Share => (difference * 100.0, 0),
        DifferenceKind::Points => (difference * 100.0, 2),
        DifferenceKind::Bytes | DifferenceKind::Count => (difference, 0),
    };
    let digits = format!("{:.decimals$}", size.abs());
    let digits = digits.parse().map_or(digits.clone(), |whole: u64| grouped(whole));
    // Values that round to nothing have no sign.
    let sign = match digits.bytes().all(|byte| matches!(byte, b'0' | b'.')) {
        true => "±",
        false if size < 0.0 => "−",
        false => "+",
    };
    format!("{sign}{digits}")
}

#[cfg(test)]
mod tests {
    use model::Finding;

    use super::*;
    use crate::lang::Lang;

    #[test]
    fn medians_that_differ_the_other_way_are_named() {
        let over = |median| TrialFigures { trials: 6, median: Some(median), interval: None };
        let figure = |difference| FigureComparison {
            figure: Metric::RttP50,
            reference: over(10_680.0),
            run: over(10_360.0),
            difference: Some(difference),
            interval: None,
            finding: Finding::NoDifference,
            beyond_tolerance: false,
            trials_needed: None,
        };
        let shown = |it: f64| difference(&figure(it), Texts::of(Lang::En));
        assert_eq!((shown(0.028).as_str(), shown(-0.028).as_str()), ("+2.8 % (medians −3.0 %)", "−2.8 %"));
    }

    #[test]
    fn differences_carry_their_sign_and_as_many_digits_as_mean_something() {
        let rtt = |difference| signed(Metric::RttP50, difference);
        assert_eq!(rtt(0.0213), "+2.1");
        assert_eq!(rtt(-0.1), "−10.0");
        assert_eq!(rtt(0.0001), "±0.0");
        assert_eq!(rtt(99_999.0), "+9,999,900");
        assert_eq!(signed(Metric::Loss, 0.0215), "+2.15");
        assert_eq!(signed(Metric::PathMtu, -7500.0), "−7,500");
    }
}
