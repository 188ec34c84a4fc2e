//! Alternating pairs: ours, theirs, theirs, ours…, so that a drift of the machine, and who comes second, meet both.

use stats::{CONFIDENCE, median, median_interval};

/// The ratio (ours to theirs) that is wanted.
#[derive(Clone, Copy)]
pub(crate) struct Want {
    /// The ratio.
    pub(crate) ratio: f64,
    /// Whether a higher one is better.
    pub(crate) or_more: bool,
}

/// One row.
pub(crate) struct Comparison {
    title: String,
    peer: &'static str,
    unit: &'static str,
    want: Want,
    ours: Vec<f64>,
    theirs: Vec<f64>,
}

/// Alternating pairs for each row.
#[allow(dead_code, reason = "as below")]
const PAIRS: usize = 10;

/// Measures all pairs.
#[allow(dead_code, reason = "a benchmark may say how often")]
pub(crate) fn compare(
    title: String,
    peer: &'static str,
    unit: &'static str,
    want: Want,
    ours: impl FnMut() -> f64,
    theirs: impl FnMut() -> f64,
) -> Comparison {
    compare_often(PAIRS, title, peer, unit, want, ours, theirs)
}

/// Measures so many pairs, where the difference that is looked for is small.
pub(crate) fn compare_often(
    pairs: usize,
    title: String,
    peer: &'static str,
    unit: &'static str,
    want: Want,
    mut ours: impl FnMut() -> f64,
    mut theirs: impl FnMut() -> f64,
) -> Comparison {
    let mut pair = |number: usize| {
        if number.is_multiple_of(2) {
            (ours(), theirs())
        } else {
            let theirs = theirs();
            (ours(), theirs)
        }
    };
    let (ours, theirs) = (0..pairs).map(&mut pair).unzip();
    Comparison { title, peer, unit, want, ours, theirs }
}

impl Comparison {
    /// Row of a Markdown table.
    pub(crate) fn line(&self) -> String {
        let ratios: Vec<f64> = self.ours.iter().zip(&self.theirs).map(|(ours, theirs)| ours / theirs).collect();
        let ratio = median(&ratios).unwrap();
        let interval = median_interval(&ratios, CONFIDENCE).unwrap();
        let Want { ratio: wanted, or_more } = self.want;
        let meets = |value: f64| if or_more { value >= wanted } else { value <= wanted };
        let mark = format!("{} {wanted:.2}", if or_more { "≥" } else { "≤" });
        // A limit is passed by the whole interval, here as in a report.
        let word = match (meets(interval.low), meets(interval.high), meets(ratio)) {
            (true, true, _) => "met",
            (false, false, _) => "missed",
            (.., true) => "inconclusive, the median meets it",
            (.., false) => "inconclusive, the median misses it",
        };
        format!(
            "| {} | {:.2} | {} {:.2} | {} | {ratio:.3} | {:.3} to {:.3} | {mark} | {word} |",
            self.title,
            median(&self.ours).unwrap(),
            self.peer,
            median(&self.theirs).unwrap(),
            self.unit,
            interval.low,
            interval.high,
        )
    }
}
