//! Samples of times.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::plausible::{Checked, NANOS, Within, at_most, count, in_order, refuse, within_trial};

/// Samples that must lie above a percentile.
pub const NEEDED_ABOVE: u64 = 10;

/// Whether a sample of `n` supports this percentile, given in thousandths (p99 is 990). In whole numbers, because 10 000 ×
/// (1 − 0.999) is not quite 10 in floating point.
pub(super) fn supports(n: u64, per_mille: u64) -> bool {
    u128::from(n) * u128::from(1000 - per_mille) >= u128::from(NEEDED_ABOVE) * 1000
}

/// Figures that a sample of times supports. A percentile p is there only if n(1-p) ≥ 10; mean and maximum only if no reply is
/// missing, because they are unknown otherwise.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TimeSummary {
    /// Size of the sample, lost and late replies included.
    pub n: u64,
    /// Smallest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min: Option<u64>,
    /// Arithmetic mean.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mean: Option<f64>,
    /// Median.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p50: Option<u64>,
    /// 90th percentile.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p90: Option<u64>,
    /// 99th percentile.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p99: Option<u64>,
    /// 99.9th percentile.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p999: Option<u64>,
    /// Largest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max: Option<u64>,
}

/// The whole sample of a trial beside the figures that summarise it.
#[derive(Clone, Copy, Debug)]
pub struct Sample<'a> {
    /// Name of the summary in the result.
    pub name: &'static str,
    /// The summary.
    pub summary: &'a TimeSummary,
    /// The sample: HDR histogram in nanoseconds, V2 encoding, base64. Empty where it was not kept.
    pub histogram: &'a str,
}

/// Departures of a paced load: measured, not supposed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Pacing {
    /// Time between two sends that the schedule asks for, in nanoseconds.
    pub intended_gap_ns: f64,
    /// Time between two sends as it was, in nanoseconds (inter-departure time).
    pub gap_ns: TimeSummary,
    /// Delay of each send behind its time, in nanoseconds.
    pub behind_ns: TimeSummary,
}

/// Whether a summary is possible.
pub(super) fn times(field: &str, times: &TimeSummary) -> Checked {
    let known = [
        ("min", times.min),
        ("p50", times.p50),
        ("p90", times.p90),
        ("p99", times.p99),
        ("p999", times.p999),
        ("max", times.max),
    ];
    let known: Vec<(&str, u64)> = known.into_iter().filter_map(|(name, value)| Some((name, value?))).collect();
    count("n", times.n).within(field)?;
    in_order(&known).within(field)?;
    let Some(mean) = times.mean else { return Ok(()) };
    at_most("mean", mean, NANOS as f64).within(field)?;
    let beyond = |least: u64, most: f64| least as f64 > 1.0 + most * (1.0 + 1.0 / 64.0);
    if times.min.is_some_and(|min| beyond(min, mean)) || times.max.is_some_and(|max| mean > max as f64 * 1.02 + 1.0) {
        return refuse("mean", format!("{mean} is not between smallest and largest")).within(field);
    }
    Ok(())
}

/// Whether times fit into a trial that lasted so many seconds with its waits.
pub(super) fn fit(field: &str, times: &TimeSummary, lasted: f64) -> Checked {
    let known = [times.min, times.p50, times.p90, times.p99, times.p999, times.max];
    let largest = known.into_iter().flatten().max().unwrap_or_default();
    within_trial(field, largest as f64 / 1e9, lasted)
}

/// Whether the times of a pacing fit into a trial that lasted so many seconds with its waits.
pub(super) fn pacing_fits(pacing: &Pacing, lasted: f64) -> Checked {
    fit("gap_ns", &pacing.gap_ns, lasted)?;
    fit("behind_ns", &pacing.behind_ns, lasted)
}

/// Whether a pacing is possible.
pub(super) fn pacing(pacing: &Pacing) -> Checked {
    at_most("intended_gap_ns", pacing.intended_gap_ns, NANOS as f64)?;
    times("gap_ns", &pacing.gap_ns)?;
    times("behind_ns", &pacing.behind_ns)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentile_needs_ten_samples_above_it() {
        assert!(supports(10_000, 999) && !supports(9_999, 999));
        assert!(supports(20, 500) && !supports(19, 500));
    }

    #[test]
    fn times_do_not_decrease_and_rounding_is_no_decrease() {
        let summary = |p50, max| TimeSummary { n: 100, p50: Some(p50), max: Some(max), ..TimeSummary::default() };
        assert_eq!(times("rtt_ns", &summary(1_007, 1_000)), Ok(()));
        assert_eq!(times("rtt_ns", &summary(2_000, 1_000)).unwrap_err().field, "rtt_ns.max");
        let mean = TimeSummary { n: 1, min: Some(10), mean: Some(1e6), max: Some(20), ..TimeSummary::default() };
        assert_eq!(times("rtt_ns", &mean).unwrap_err().field, "rtt_ns.mean");
        assert_eq!(times("rtt_ns", &TimeSummary::default()), Ok(()));
    }

    #[test]
    fn no_known_time_is_longer_than_the_trial() {
        let second = |seconds: u64| Some(seconds * 1_000_000_000);
        let times = TimeSummary { n: 100, p50: second(1), p90: second(30), ..TimeSummary::default() };
        assert_eq!(fit("rtt_ns", &times, 20.0), Ok(()));
        assert_eq!(fit("rtt_ns", &times, 10.0).unwrap_err().field, "rtt_ns");
        assert_eq!(fit("rtt_ns", &TimeSummary::default(), 0.0), Ok(()));
        let late = Pacing { behind_ns: times, ..Pacing::default() };
        assert_eq!(pacing_fits(&late, 10.0).unwrap_err().field, "behind_ns");
    }
}
