//! How long a probe takes, roughly: for progress and for `--dry-run`. Pure.

use model::{Amount, LatencySpec, ProbeSpec, WaitMode};

/// Preparing, starting and collecting one trial, in seconds.
const OVERHEAD: f64 = 0.15;

/// A clean path; one with a black hole takes longer.
const PATH: f64 = 0.5;

/// Seconds that one trial of this probe takes, roughly.
pub fn estimate(spec: &ProbeSpec) -> f64 {
    OVERHEAD
        + match spec {
            ProbeSpec::Latency(spec) => latency(spec),
            ProbeSpec::Goodput(spec) => (spec.duration.0 + spec.warmup.0) as f64 / 1e9 + 0.1,
            ProbeSpec::Path(_) => PATH,
            ProbeSpec::Packets(spec) => spec.duration.as_secs_f64() + 0.3,
        }
}

fn latency(spec: &LatencySpec) -> f64 {
    let message = match (spec.rate, spec.mode) {
        (Some(rate), _) => 1.0 / rate.0 as f64,
        (None, WaitMode::Spin) => 12e-6,
        (None, WaitMode::Block | WaitMode::BusyPoll) => 60e-6,
    };
    let counted = match spec.amount {
        Amount::Count(count) => count as f64 * message,
        Amount::Duration(duration) => duration.as_secs_f64(),
    };
    spec.warmup as f64 * message + counted
}
