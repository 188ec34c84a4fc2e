//! Alternating pairs: ours, theirs, ours, theirs…, so that a drift of the machine meets both.

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
const PAIRS: usize = 10;

/// Measures all pairs.
pub(crate) fn compare(
    title: String,
    peer: &'static str,
    unit: &'static str,
    want: Want,
    mut ours: impl FnMut() -> f64,
    mut theirs: impl FnMut() -> f64,
) -> Comparison {
    let (ours, theirs) = (0..PAIRS).map(|_| (ours(), theirs())).unzip();
    Comparison { title, peer, unit, want, ours, theirs }
}

impl Comparison {
    /// As a row of a Markdown table.
    pub(crate) fn line(&self) -> String {
        let ratios: Vec<f64> = self.ours.iter().zip(&self.theirs).map(|(ours, theirs)| ours / theirs).collect();
        let ratio = median(&ratios).unwrap();
        let interval = median_interval(&ratios, CONFIDENCE).unwrap();
        let Want { ratio: wanted, or_more } = self.want;
        let (mark, met, sure) = if or_more {
            (format!("≥ {wanted:.2}"), ratio >= wanted, interval.low >= wanted)
        } else {
            (format!("≤ {wanted:.2}"), ratio <= wanted, interval.high <= wanted)
        };
        let word = match (met, sure) {
            (true, true) => "met",
            (true, false) => "met by the median, the interval straddles",
            (false, _) => "missed",
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
