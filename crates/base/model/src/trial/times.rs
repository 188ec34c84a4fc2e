//! Samples of times.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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

/// How a paced load really left: measured, not supposed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Pacing {
    /// Time between two sends that the schedule asks for, in nanoseconds.
    pub intended_gap_ns: f64,
    /// Time between two sends as it was, in nanoseconds (inter-departure time).
    pub gap_ns: TimeSummary,
    /// How long after its time each send was made, in nanoseconds.
    pub behind_ns: TimeSummary,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentile_needs_ten_samples_above_it() {
        assert!(supports(10_000, 999) && !supports(9_999, 999));
        assert!(supports(20, 500) && !supports(19, 500));
    }
}
