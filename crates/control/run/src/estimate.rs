//! Rough duration of a probe: for progress and for `--dry-run`. Pure.

use model::ProbeSpec;

/// Preparing, starting and collecting one trial, in seconds.
const OVERHEAD: f64 = 0.15;

/// Seconds that one trial of this probe takes, roughly.
pub fn estimate(spec: &ProbeSpec) -> f64 {
    OVERHEAD + spec.profile().expected_s
}
