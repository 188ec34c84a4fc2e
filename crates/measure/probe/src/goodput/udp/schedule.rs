//! When each burst of a paced flow is due: an absolute schedule, that does not shift when one burst is late.

use model::{BitRate, Nanos};

/// The largest burst: this much time at the rate.
const BURST: f64 = 50e-6;

/// Later bursts are given up, so that a sender that was descheduled does not flood the path afterwards. The sent rate shows
/// them beside the intended one.
const CATCH_UP: u64 = 10_000_000;

/// Datagrams in each burst of a flow: its share of [`BURST`], at least one, and at most what fits into a call.
pub(super) fn burst(rate: BitRate, streams: u16, size: usize, most: usize) -> usize {
    let each = rate.0 as f64 / f64::from(streams);
    ((each * BURST / (size as f64 * 8.0)) as usize).clamp(1, most)
}

/// When bursts of all flows are due. Each flow sends one a gap; the flows' bursts are spread evenly over it.
#[derive(Clone, Debug)]
pub(super) struct Schedule {
    began: Nanos,
    streams: u16,
    gap_ns: f64,
    given_up: u64,
}

impl Schedule {
    /// Bursts of `bytes` each, from `began` on.
    pub(super) fn new(began: Nanos, rate: BitRate, streams: u16, bytes: usize) -> Self {
        let gap_ns = bytes as f64 * 8e9 * f64::from(streams) / rate.0 as f64;
        Self { began, streams, gap_ns, given_up: 0 }
    }

    /// Time between two bursts of one flow.
    pub(super) fn gap_ns(&self) -> f64 {
        self.gap_ns
    }

    /// When this flow's burst of this turn is due.
    pub(super) fn due(&self, turn: u64, stream: usize) -> Nanos {
        let turns = turn as f64 + stream as f64 / f64::from(self.streams);
        Nanos(self.began.0 + self.given_up + (turns * self.gap_ns) as u64)
    }

    /// Records a burst that is sent now, and returns its lateness. Bursts too late to catch up are given up.
    pub(super) fn sent(&mut self, due: Nanos, now: Nanos) -> u64 {
        let behind = now.0.saturating_sub(due.0);
        self.given_up += behind.saturating_sub(CATCH_UP);
        behind
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GIGABIT: BitRate = BitRate(1_000_000_000);

    #[test]
    fn a_burst_is_a_short_time_of_the_rate() {
        assert_eq!(burst(GIGABIT, 1, 1250, 64), 5);
        assert_eq!(burst(GIGABIT, 5, 1250, 64), 1);
        assert_eq!(burst(BitRate(1), 1, 1250, 64), 1);
        assert_eq!(burst(BitRate(1_000_000_000_000), 1, 1250, 64), 64);
    }

    #[test]
    fn flows_take_even_turns_and_rounding_does_not_add_up() {
        let schedule = Schedule::new(Nanos(1_000), GIGABIT, 4, 1250);
        assert_eq!(schedule.due(0, 0), Nanos(1_000));
        assert_eq!(schedule.due(0, 1), Nanos(11_000));
        assert_eq!(schedule.due(1, 0), Nanos(41_000));
        assert_eq!(schedule.due(1_000_000, 3), Nanos(40_000_031_000));
    }

    #[test]
    fn a_late_burst_shifts_nothing_unless_it_is_too_late() {
        let mut schedule = Schedule::new(Nanos(0), GIGABIT, 1, 1250);
        assert_eq!(schedule.sent(Nanos(10_000), Nanos(9_000_000)), 8_990_000);
        assert_eq!(schedule.due(2, 0), Nanos(20_000));
        assert_eq!(schedule.sent(schedule.due(2, 0), Nanos(15_020_000)), 15_000_000);
        assert_eq!(schedule.due(3, 0), Nanos(5_030_000));
    }
}
