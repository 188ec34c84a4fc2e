//! One interface while it is watched.

use model::Nanos;

use crate::{
    counters::passed,
    driver::DriverRates,
    history::History,
    line::wire_bits,
    reading::{DirectionCounts, Incarnation, LinkReading, LinkState},
};

/// Received, and sent.
pub type Both<T> = [T; 2];

/// Rates of one way.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DirectionRates {
    /// bit/s of frames, without FCS.
    pub bps: f64,
    /// packets/s.
    pub pps: f64,
    /// Packets dropped in a second.
    pub dropped: f64,
    /// Bad packets in a second.
    pub errors: f64,
    /// Share of the line, with preamble and gaps (layer 1), in percent; `None` where the line is not known.
    pub line_percent: Option<f64>,
}

/// The highest rates of one way, each of any interval.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Peak {
    /// bit/s.
    pub bps: f64,
    /// packets/s.
    pub pps: f64,
    /// Percent of the line.
    pub line_percent: Option<f64>,
}

/// Knowledge of one interface since it is watched.
#[derive(Clone, Debug)]
pub struct Link {
    state: LinkState,
    incarnation: Incarnation,
    /// When it was last looked for, and when last found.
    looked: Nanos,
    found: Nanos,
    before: Both<DirectionCounts>,
    now: Option<Both<DirectionRates>>,
    /// Traffic in the time that is known.
    totals: Both<DirectionCounts>,
    known: Nanos,
    peaks: Both<Peak>,
    history: History,
    driver: DriverRates,
}

impl Link {
    /// As it is first seen. Rates begin with the next reading.
    pub(crate) fn new(reading: LinkReading) -> Self {
        let mut driver = DriverRates::default();
        driver.take(&reading.driver, None);
        Self {
            state: reading.state,
            incarnation: reading.incarnation,
            looked: reading.at,
            found: reading.at,
            before: reading.ways,
            now: None,
            totals: Both::default(),
            known: Nanos(0),
            peaks: Both::default(),
            history: History::default(),
            driver,
        }
    }

    /// Takes a later reading.
    pub(crate) fn take(&mut self, reading: LinkReading) {
        let time = Nanos(reading.at.0.saturating_sub(self.looked.0));
        let known = !self.is_gone() && self.incarnation == reading.incarnation && time.0 > 0;
        let passed = known.then(|| passed(&self.before, &reading.ways)).flatten();
        self.state = reading.state;
        self.driver.take(&reading.driver, passed.map(|_| time.as_secs_f64()));
        (self.incarnation, self.before) = (reading.incarnation, reading.ways);
        (self.looked, self.found) = (reading.at, reading.at);
        self.count(time, passed);
    }

    /// It is not there any more, or cannot be read.
    pub(crate) fn miss(&mut self, at: Nanos) {
        let time = Nanos(at.0.saturating_sub(self.looked.0));
        self.looked = Nanos(at.0.max(self.looked.0));
        self.count(time, None);
    }

    fn count(&mut self, time: Nanos, passed: Option<Both<DirectionCounts>>) {
        let line = self.state.line_bps;
        self.now = passed.map(|ways| ways.map(|way| rates(&way, time, line)));
        self.history.add(time, passed.map(|ways| ways.map(|way| [8.0 * way.bytes as f64, way.packets as f64])));
        let Some(passed) = passed else { return };
        self.known.0 += time.0;
        for (total, way) in self.totals.iter_mut().zip(&passed) {
            total.bytes += way.bytes;
            total.packets += way.packets;
            total.dropped += way.dropped;
            total.errors += way.errors;
        }
        for (peak, now) in self.peaks.iter_mut().zip(self.now.iter().flatten()) {
            peak.bps = peak.bps.max(now.bps);
            peak.pps = peak.pps.max(now.pps);
            peak.line_percent = [peak.line_percent, now.line_percent].into_iter().flatten().reduce(f64::max);
        }
    }

    /// Kind and its state when it was last seen.
    pub fn state(&self) -> &LinkState {
        &self.state
    }

    /// Whether it was not there the last time.
    pub fn is_gone(&self) -> bool {
        self.found < self.looked
    }

    /// For how long it has not been there.
    pub fn gone_for(&self) -> Nanos {
        Nanos(self.looked.0 - self.found.0)
    }

    /// Rates of the last interval; `None` where they are not known: at first, when it is gone, when its counters were reset.
    pub fn now(&self) -> Option<&Both<DirectionRates>> {
        self.now.as_ref()
    }

    /// Mean rates over all the time that is known; `None` before there is any.
    pub fn mean(&self) -> Option<Both<DirectionRates>> {
        let known = (self.known.0 > 0).then_some(self.known)?;
        Some(self.totals.map(|way| rates(&way, known, self.state.line_bps)))
    }

    /// The highest rates of one interval.
    pub fn peaks(&self) -> &Both<Peak> {
        &self.peaks
    }

    /// Traffic since it is watched, in the time that is known.
    pub fn totals(&self) -> &Both<DirectionCounts> {
        &self.totals
    }

    /// The time over which totals and means are counted.
    pub fn known(&self) -> Nanos {
        self.known
    }

    /// The last minute.
    pub fn history(&self) -> &History {
        &self.history
    }

    /// Driver's own counters.
    pub fn driver(&self) -> &DriverRates {
        &self.driver
    }
}

fn rates(way: &DirectionCounts, time: Nanos, line_bps: Option<u64>) -> DirectionRates {
    let seconds = time.as_secs_f64();
    let a_second = |count: u64| count as f64 / seconds;
    DirectionRates {
        bps: 8.0 * a_second(way.bytes),
        pps: a_second(way.packets),
        dropped: a_second(way.dropped),
        errors: a_second(way.errors),
        line_percent: line_bps.map(|line| 100.0 * a_second(wire_bits(way)) / line as f64),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SECOND: u64 = 1_000_000_000;

    fn reading(at: u64, bytes: u64, packets: u64) -> LinkReading {
        let sent = DirectionCounts { bytes, packets, ..DirectionCounts::default() };
        LinkReading {
            at: Nanos(at),
            namespace: String::new(),
            name: "eth1".to_owned(),
            incarnation: Incarnation { namespace: 1, index: 2 },
            state: LinkState { up: true, line_bps: Some(1_000_000_000), ..LinkState::default() },
            ways: [DirectionCounts::default(), sent],
            driver: Default::default(),
        }
    }

    #[test]
    fn the_time_between_readings_divides_and_not_the_interval_that_was_asked_for() {
        let mut link = Link::new(reading(SECOND, 1000, 10));
        assert!(link.now().is_none() && link.mean().is_none());
        // Two and a half seconds later, though one was asked for.
        link.take(reading(3_500_000_000, 1000 + 312_500, 10 + 250));
        let sent = link.now().unwrap()[1];
        assert_eq!((sent.bps, sent.pps), (1_000_000.0, 100.0));
        assert!((sent.line_percent.unwrap() - (312_500.0 + 250.0 * 24.0) * 8.0 / 2.5 / 1e7).abs() < 1e-9);
        assert_eq!(link.known(), Nanos(2_500_000_000));
    }

    #[test]
    fn one_that_went_and_came_back_counts_on_without_the_time_between() {
        let mut link = Link::new(reading(0, 0, 0));
        link.take(reading(SECOND, 125_000, 100));
        link.miss(Nanos(2 * SECOND));
        link.miss(Nanos(3 * SECOND));
        assert!(link.is_gone() && link.now().is_none());
        assert_eq!(link.gone_for(), Nanos(2 * SECOND));
        let mut back = reading(4 * SECOND, 900_000, 800);
        back.incarnation.index = 9;
        link.take(back.clone());
        assert!(!link.is_gone() && link.now().is_none(), "what it counted before it was seen again is not known");
        (back.at, back.ways[1].bytes, back.ways[1].packets) = (Nanos(5 * SECOND), 1_025_000, 900);
        link.take(back);
        assert_eq!(link.totals()[1].bytes, 250_000);
        assert_eq!(link.mean().unwrap()[1].bps, 1_000_000.0);
        let known = link.history().columns().filter(|column| column.rates.is_some()).count();
        assert_eq!((known, link.history().columns().len()), (2, 5));
    }

    #[test]
    fn another_interface_of_the_same_name_is_not_compared_with_the_old_one() {
        let mut link = Link::new(reading(0, 5_000, 50));
        let mut other = reading(SECOND, 9_000_000, 9_000);
        other.incarnation.namespace = 2;
        link.take(other);
        assert!(link.now().is_none());
        assert_eq!(link.totals()[1], DirectionCounts::default());
    }

    #[test]
    fn counters_that_were_reset_make_no_rate_and_no_peak() {
        let mut link = Link::new(reading(0, 5_000_000, 5_000));
        link.take(reading(SECOND, 100, 1));
        assert!(link.now().is_none() && link.peaks()[1] == Peak::default());
        link.take(reading(2 * SECOND, 1100, 2));
        assert_eq!(link.now().unwrap()[1].bps, 8_000.0);
    }

    proptest! {
        #[test]
        fn totals_are_the_sum_of_what_passed_and_no_mean_is_above_the_peak(
            steps in prop::collection::vec((1_u64..10 * SECOND, 0_u64..2_000_000_000, 0_u64..1_000_000), 1..80)
        ) {
            let (mut at, mut bytes, mut packets) = (SECOND, 7, 3);
            let mut link = Link::new(reading(at, bytes, packets));
            for (time, more_bytes, more_packets) in &steps {
                (at, bytes, packets) = (at + time, bytes + more_bytes, packets + more_packets);
                link.take(reading(at, bytes, packets));
                let now = link.now().unwrap()[1];
                prop_assert!((now.bps * *time as f64 / 1e9 - 8.0 * *more_bytes as f64).abs() <= 1e-6 * now.bps.max(1.0));
            }
            prop_assert_eq!(link.totals()[1].bytes, bytes - 7);
            prop_assert_eq!(link.totals()[1].packets, packets - 3);
            prop_assert_eq!(link.known(), Nanos(at - SECOND));
            let mean = link.mean().unwrap()[1];
            prop_assert!(mean.bps <= link.peaks()[1].bps * (1.0 + 1e-9));
            prop_assert!(mean.pps <= link.peaks()[1].pps * (1.0 + 1e-9));
        }
    }
}
