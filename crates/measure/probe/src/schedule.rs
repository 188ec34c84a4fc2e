//! When messages are to leave under load, and how well that was kept. Pure.

use model::{Nanos, PacketRate, trial::Pacing};
use stats::TimeHistogram;

const SECOND: u128 = 1_000_000_000;

/// An absolute schedule: each time is reckoned from the one start, so that nothing adds up.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Schedule {
    start: Nanos,
    rate: PacketRate,
}

impl Schedule {
    /// Messages at this rate, which is at least 1, the first at `start`.
    pub(crate) fn new(start: Nanos, rate: PacketRate) -> Self {
        Self { start, rate }
    }

    /// When message `index`, counted from 0, is to leave. Exact to the nanosecond, rounded down.
    pub(crate) fn intended(&self, index: u64) -> Nanos {
        Nanos(self.start.0 + (u128::from(index) * SECOND / u128::from(self.rate.0)) as u64)
    }
}

/// Messages whose time to leave lies within `duration` from the start.
pub(crate) fn messages_within(duration: Nanos, rate: PacketRate) -> u64 {
    (u128::from(duration.0) * u128::from(rate.0)).div_ceil(SECOND) as u64
}

/// Departures of messages.
pub(crate) struct SendTimes {
    rate: PacketRate,
    first: Option<Nanos>,
    last: Nanos,
    gaps: TimeHistogram,
    behind: TimeHistogram,
}

impl SendTimes {
    pub(crate) fn new(rate: PacketRate) -> Self {
        Self { rate, first: None, last: Nanos(0), gaps: TimeHistogram::new(), behind: TimeHistogram::new() }
    }

    /// A message left, no earlier than intended.
    pub(crate) fn record(&mut self, intended: Nanos, departed: Nanos) {
        self.behind.record(departed.0 - intended.0);
        match self.first {
            None => self.first = Some(departed),
            Some(_) => self.gaps.record(departed.0 - self.last.0),
        }
        self.last = departed;
    }

    /// Messages a second from the first departure to the last, with the gap that belongs to one of them.
    pub(crate) fn achieved_pps(&self) -> f64 {
        let span = self.first.map_or(0.0, |first| (self.last.0 - first.0) as f64);
        self.behind.len() as f64 * SECOND as f64 / (span + self.intended_gap_ns())
    }

    pub(crate) fn pacing(&self) -> Pacing {
        Pacing {
            intended_gap_ns: self.intended_gap_ns(),
            gap_ns: self.gaps.summary(),
            behind_ns: self.behind.summary(),
        }
    }

    fn intended_gap_ns(&self) -> f64 {
        SECOND as f64 / self.rate.0 as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gap_that_is_no_whole_number_does_not_add_up() {
        let thirds = Schedule::new(Nanos(7), PacketRate(3));
        let times: Vec<u64> = (0..5).map(|index| thirds.intended(index).0).collect();
        assert_eq!(times, [7, 333_333_340, 666_666_673, 1_000_000_007, 1_333_333_340]);
        for rate in [3, 7_919, 999_983, 14_880_952] {
            let schedule = Schedule::new(Nanos(1), PacketRate(rate));
            let (day, messages) = (86_400 * SECOND as u64, 86_400 * rate);
            assert_eq!(schedule.intended(messages), Nanos(day + 1));
            assert_eq!(messages_within(Nanos(day), PacketRate(rate)), messages);
        }
    }

    #[test]
    fn messages_within_a_time_leave_before_its_end() {
        let rate = PacketRate(3);
        for (millis, messages) in [(0, 0), (1, 1), (333, 1), (334, 2), (1000, 3), (1001, 4)] {
            assert_eq!(messages_within(Nanos::from_millis(millis), rate), messages, "{millis} ms");
        }
    }

    #[test]
    fn departures_are_as_they_were() {
        let mut departures = SendTimes::new(PacketRate(1_000_000));
        // The third is held up by 5 µs, and the fourth leaves with it.
        for (intended, departed) in [(0, 0), (1000, 1000), (2000, 7000), (3000, 7000), (8000, 8000)] {
            departures.record(Nanos(intended), Nanos(departed));
        }
        let pacing = departures.pacing();
        assert_eq!((pacing.intended_gap_ns, pacing.gap_ns.n, pacing.behind_ns.n), (1000.0, 4, 5));
        assert_eq!((pacing.gap_ns.min, pacing.gap_ns.max), (Some(0), Some(6000)));
        assert_eq!((pacing.behind_ns.min, pacing.behind_ns.max), (Some(0), Some(5000)));
        assert_eq!(departures.achieved_pps(), 5.0 / 9e-6);
    }
}
