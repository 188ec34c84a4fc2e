//! How long a probe takes, roughly: for progress and for `--dry-run`. Pure.

use model::{ProbeSpec, WaitMode};

/// Preparing, starting and collecting one trial, in seconds.
const OVERHEAD: f64 = 0.15;

/// Seconds that one trial of this probe takes, roughly.
pub fn estimate(spec: &ProbeSpec) -> f64 {
    OVERHEAD
        + match spec {
            ProbeSpec::Latency(spec) => {
                let round_trip = match spec.mode {
                    WaitMode::Spin => 12e-6,
                    WaitMode::Block => 60e-6,
                };
                (spec.count + spec.warmup) as f64 * round_trip
            }
            ProbeSpec::Goodput(spec) => (spec.duration.0 + spec.warmup.0) as f64 / 1e9 + 0.1,
        }
}
