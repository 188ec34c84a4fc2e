//! Alternating pairs: ours, theirs, ours, theirs…, so that a drift of the machine meets both.

use stats::{CONFIDENCE, median, median_interval};

/// Which ratio (ours to theirs) is wanted.
#[derive(Clone, Copy)]
pub(crate) enum Want {
    /// Lower is better.
    AtMost(f64),
    /// Higher is better.
    AtLeast(f64),
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

/// Measures `pairs` pairs.
pub(crate) fn compare(
    title: String,
    peer: &'static str,
    unit: &'static str,
    want: Want,
    pairs: usize,
    mut ours: impl FnMut() -> f64,
    mut theirs: impl FnMut() -> f64,
) -> Comparison {
    let (ours, theirs) = (0..pairs).map(|_| (ours(), theirs())).unzip();
    Comparison { title, peer, unit, want, ours, theirs }
}

impl Comparison {
    /// As a row of a Markdown table.
    pub(crate) fn line(&self) -> String {
        let ratios: Vec<f64> = self.ours.iter().zip(&self.theirs).map(|(ours, theirs)| ours / theirs).collect();
        let ratio = median(&ratios).unwrap();
        let interval = median_interval(&ratios, CONFIDENCE).unwrap();
        let (mark, met, sure) = match self.want {
            Want::AtMost(most) => (format!("≤ {most:.2}"), ratio <= most, interval.high <= most),
            Want::AtLeast(least) => (format!("≥ {least:.2}"), ratio >= least, interval.low >= least),
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
