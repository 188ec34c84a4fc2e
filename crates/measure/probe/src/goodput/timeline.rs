//! The counted time, cut into seconds.

use std::{
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    thread,
    time::Duration,
};

use kernel::clock;
use model::{GoodputReceived, Nanos};

use super::setting::Setting;
use crate::{Control, ProbeError};

const SECOND: u64 = 1_000_000_000;

/// Bytes of the counted time.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Counted {
    /// Bytes.
    pub(super) bytes: u64,
    /// Real length of the counted time.
    pub(super) seconds: f64,
    /// Rate of each whole second, in bit/s.
    pub(super) intervals_bps: Vec<f64>,
    /// Real length of the warm-up.
    pub(super) warmup: f64,
}

impl Counted {
    /// The counts of a receiver with these counters of its streams.
    pub(super) fn received(self, counters: &[AtomicU64], ended_early: bool) -> GoodputReceived {
        GoodputReceived {
            counted_bytes: self.bytes,
            total_bytes: sum(counters),
            counted_s: self.seconds,
            intervals_bps: self.intervals_bps,
            warmup_s: self.warmup,
            ended_early,
            ..GoodputReceived::default()
        }
    }
}

/// Sums up the streams' counters.
pub(super) fn sum(counters: &[AtomicU64]) -> u64 {
    counters.iter().map(|counter| counter.load(Relaxed)).sum()
}

/// Receiver of the events of the timeline.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Passed {
    /// The warm-up.
    WarmUp,
    /// A whole second of the counted time, with its rate in bit/s.
    Second(f64),
}

/// Follows the counters through warm-up and counted time, both from `began` on, and tells what has passed.
pub(super) fn follow(
    setting: Setting<'_>,
    began: Nanos,
    counters: &[AtomicU64],
    mut tell: impl FnMut(Passed) -> Result<(), ProbeError>,
) -> Result<Counted, ProbeError> {
    let Setting { spec, control, window, .. } = setting;
    control.expect(spec.warmup.0 + spec.duration.0);
    let reading = |until: Nanos| -> Result<(u64, u64), ProbeError> {
        wait_until(until, began, control)?;
        Ok((clock::now().0, sum(counters)))
    };
    let (opened, first) = reading(Nanos(began.0 + spec.warmup.0))?;
    window.opened();
    tell(Passed::WarmUp)?;
    let mut intervals_bps = Vec::new();
    let (mut then, mut before) = (opened, first);
    for second in 1..=spec.duration.0 / SECOND {
        let (now, total) = reading(Nanos(opened + second * SECOND))?;
        let bps = rate(total - before, now - then);
        tell(Passed::Second(bps))?;
        intervals_bps.push(bps);
        (then, before) = (now, total);
    }
    let (closed, last) = reading(Nanos(opened + spec.duration.0))?;
    window.closed();
    Ok(Counted {
        bytes: last - first,
        seconds: Nanos(closed - opened).as_secs_f64(),
        intervals_bps,
        warmup: Nanos(opened - began.0).as_secs_f64(),
    })
}

/// Bytes in a time as bit/s.
fn rate(bytes: u64, nanos: u64) -> f64 {
    bytes as f64 * 8.0 * 1e9 / nanos as f64
}

/// Sleeps in short pieces, so that a wish to stop is seen.
fn wait_until(until: Nanos, began: Nanos, control: &Control) -> Result<(), ProbeError> {
    const PIECE: u64 = 100_000_000;
    loop {
        if control.stopped() {
            return Err(ProbeError::Cancelled);
        }
        let now = clock::now();
        control.reached(now.0.saturating_sub(began.0));
        if now >= until {
            return Ok(());
        }
        thread::sleep(Duration::from_nanos((until.0 - now.0).min(PIECE)));
    }
}
