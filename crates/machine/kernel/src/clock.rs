//! CLOCK_MONOTONIC: the clock of all our timestamps, because BPF programs can read no other.

use std::num::NonZeroU64;

use model::Nanos;
use rustix::{
    thread::{clock_nanosleep_absolute, set_current_timer_slack},
    time::{ClockId, Timespec, clock_gettime},
};

use crate::error::{On, Result};

const SECOND: u64 = 1_000_000_000;

/// The time now. Read through the vDSO: no system call on common machines.
#[inline]
pub fn now() -> Nanos {
    read(ClockId::Monotonic)
}

/// The time of day, which the kernel's timestamps use. It can be set, so it is not comparable with [`now`].
#[inline]
pub fn of_day() -> Nanos {
    read(ClockId::Realtime)
}

#[inline]
fn read(clock: ClockId) -> Nanos {
    let time = clock_gettime(clock);
    Nanos(time.tv_sec as u64 * SECOND + time.tv_nsec as u64)
}

/// CPU time of this process on all cores.
pub fn own_cpu_time() -> Nanos {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Nanos(time.tv_sec as u64 * SECOND + time.tv_nsec as u64)
}

/// Cost of a reading in nanoseconds: the median over batches, to exclude interrupts.
pub fn cost() -> f64 {
    const BATCHES: usize = 101;
    const READINGS: u32 = 1_000;
    let mut costs: [f64; BATCHES] = std::array::from_fn(|_| {
        let start = now();
        for _ in 0..READINGS {
            std::hint::black_box(now());
        }
        (now().0 - start.0) as f64 / f64::from(READINGS)
    });
    costs.sort_by(f64::total_cmp);
    costs[BATCHES / 2]
}

/// Makes timers end this thread's sleep on time (`PR_SET_TIMERSLACK`).
///
/// By default the kernel delays them by up to 50 µs, to combine wake-ups.
pub fn wake_on_time() -> Result<()> {
    const LEAST: NonZeroU64 = NonZeroU64::MIN;
    set_current_timer_slack(Some(LEAST)).on("prctl(PR_SET_TIMERSLACK)", "this thread")
}

/// Sleeps until the clock shows this time; returns at once if it has passed.
pub fn sleep_until(time: Nanos) {
    let time = Timespec { tv_sec: (time.0 / SECOND) as i64, tv_nsec: (time.0 % SECOND) as _ };
    // Only a signal ends it early; the time is absolute, so it can be repeated.
    while clock_nanosleep_absolute(ClockId::Monotonic, &time).is_err() {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sleeping_ends_no_earlier_than_asked() {
        let until = Nanos(now().0 + 5_000_000);
        sleep_until(until);
        assert!(now() >= until);
        sleep_until(Nanos(1));
    }

    #[test]
    fn a_reading_has_a_cost() {
        let cost = cost();
        assert!(cost > 0.0 && cost < 100_000.0, "{cost} ns");
    }
}
