//! A cheap clock for intervals between checks.

use std::time::{Duration, Instant};

/// Ticks per time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ticks {
    per_us: u64,
}

impl Ticks {
    /// Measures its rate against the kernel's clock; takes 100 µs, or longer if the thread loses the core.
    pub(crate) fn measure() -> Self {
        const LONG: Duration = Duration::from_micros(100);
        let (begun, first) = (Instant::now(), now());
        while begun.elapsed() < LONG {}
        let (ticks, ns) = (now().wrapping_sub(first), begun.elapsed().as_nanos() as u64);
        Self { per_us: (ticks * 1_000 / ns).max(1) }
    }

    /// Ticks in `us` microseconds.
    pub(crate) fn of_us(self, us: u64) -> u64 {
        us * self.per_us
    }
}

/// The current time in ticks.
#[cfg(target_arch = "x86_64")]
#[inline]
pub(crate) fn now() -> u64 {
    // SAFETY: every x86-64 processor has it, and it changes nothing.
    unsafe { std::arch::x86_64::_rdtsc() }
}

/// The current time in ticks, which are nanoseconds of the kernel's clock.
#[cfg(not(target_arch = "x86_64"))]
#[inline]
pub(crate) fn now() -> u64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_goes_as_the_kernels_clock_does() {
        let ticks = Ticks::measure();
        let (begun, first) = (Instant::now(), now());
        std::thread::sleep(Duration::from_millis(20));
        let (took, passed) = (begun.elapsed().as_micros() as u64, now() - first);
        assert!((ticks.of_us(took / 2)..ticks.of_us(took * 2)).contains(&passed), "{passed} ticks in {took} µs");
    }
}
