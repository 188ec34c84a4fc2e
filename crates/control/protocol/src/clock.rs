//! Offset of an agent's clock, from requests and answers over its stream (Cristian 1989, as in NTP).

use std::time::{Duration, Instant};

use model::Nanos;

/// A reading of an agent's `CLOCK_MONOTONIC`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockReading {
    /// Value.
    shown: Nanos,
    /// Time of the reading by our clock: the middle between request and answer.
    at: Instant,
    /// Largest error: half of the time between request and answer.
    pub error: Duration,
}

impl ClockReading {
    /// From the times of request and answer.
    pub(crate) fn new(shown: Nanos, asked: Instant, answered: Instant) -> Self {
        let error = answered.saturating_duration_since(asked) / 2;
        Self { shown, at: asked + error, error }
    }

    /// The reading with the smaller error.
    pub(crate) fn better(best: Option<Self>, new: Self) -> Option<Self> {
        Some(best.filter(|best| best.error <= new.error).unwrap_or(new))
    }

    /// The agent's clock at this moment of ours, without drift: to be read again every few minutes.
    pub fn at(&self, moment: Instant) -> Nanos {
        let after = moment.saturating_duration_since(self.at).as_nanos() as u64;
        let before = self.at.saturating_duration_since(moment).as_nanos() as u64;
        Nanos(self.shown.0.saturating_add(after).saturating_sub(before))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_quickest_answer_places_the_other_clock() {
        let start = Instant::now();
        let ms = |ms: u64| start + Duration::from_millis(ms);
        let slow = ClockReading::new(Nanos(5_000_000_000), ms(0), ms(40));
        let quick = ClockReading::new(Nanos(5_050_000_000), ms(50), ms(52));
        let best = ClockReading::better(ClockReading::better(None, slow), quick).expect("one of them");
        assert_eq!((best, best.error), (quick, Duration::from_millis(1)));
        assert_eq!(best.at(ms(151)), Nanos(5_150_000_000));
        assert_eq!(best.at(ms(41)), Nanos(5_040_000_000));
        assert_eq!(ClockReading::better(Some(quick), slow), Some(quick));
    }

    #[test]
    fn an_agent_may_show_any_time() {
        let start = Instant::now();
        let latest = ClockReading::new(Nanos(u64::MAX), start, start);
        assert_eq!(latest.at(start + Duration::from_secs(1)), Nanos(u64::MAX));
    }
}
