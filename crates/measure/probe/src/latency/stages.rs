//! The parts of a round trip between the kernel's stamps. Pure.

use kernel::stamp::Stamps;
use model::{
    Nanos,
    trial::{Stage, StageName},
};
use stats::TimeHistogram;

/// The program's readings and the stamps of one round trip, all but the card's in the time of day.
#[derive(Clone, Copy, Debug)]
pub(super) struct RoundTripStamps {
    /// The program was about to send.
    pub(super) sent: Nanos,
    /// The message left.
    pub(super) left: Stamps,
    /// The reply came.
    pub(super) came: Stamps,
    /// The program had it.
    pub(super) received: Nanos,
    /// From the first reading to the last, by a clock that nobody can set.
    pub(super) took: Nanos,
}

/// All parts of all round trips.
pub(super) struct Stages {
    near_send: TimeHistogram,
    wire_and_far: TimeHistogram,
    /// The same by the card's own clock, which is subtracted from itself alone.
    wire_and_far_by_card: TimeHistogram,
    near_receive: TimeHistogram,
}

impl Stages {
    pub(super) fn new() -> Self {
        Self {
            near_send: TimeHistogram::new(),
            wire_and_far: TimeHistogram::new(),
            wire_and_far_by_card: TimeHistogram::new(),
            near_receive: TimeHistogram::new(),
        }
    }

    /// Takes in the parts of one round trip as far as it has stamps. A part that is negative, or longer than the whole, means that
    /// somebody set the clock in the middle of it, so it says nothing and is left out.
    pub(super) fn record(&mut self, passage: &RoundTripStamps) {
        let RoundTripStamps { sent, left, came, received, took } = *passage;
        record(&mut self.near_send, Some(sent), left.software, took);
        record(&mut self.wire_and_far, left.software, came.software, took);
        record(&mut self.wire_and_far_by_card, left.hardware, came.hardware, took);
        record(&mut self.near_receive, came.software, Some(received), took);
    }

    /// Whether the card stamped as reliably as the kernel, both ways.
    pub(super) fn by_card(&self) -> bool {
        !self.wire_and_far_by_card.is_empty() && self.wire_and_far_by_card.len() >= self.wire_and_far.len()
    }

    /// In the order in which a message passes them.
    pub(super) fn figures(&self) -> Vec<Stage> {
        let wire = if self.by_card() { &self.wire_and_far_by_card } else { &self.wire_and_far };
        [
            (StageName::NearSend, &self.near_send),
            (StageName::WireAndFar, wire),
            (StageName::NearReceive, &self.near_receive),
        ]
        .map(|(stage, sample)| Stage { stage, time_ns: sample.summary() })
        .into()
    }
}

fn record(sample: &mut TimeHistogram, from: Option<Nanos>, to: Option<Nanos>, took: Nanos) {
    if let (Some(from), Some(to)) = (from, to)
        && let Some(time) = to.0.checked_sub(from.0)
        && time <= took.0
    {
        sample.record(time);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stamps(software: u64, hardware: Option<u64>) -> Stamps {
        Stamps { software: Some(Nanos(software)), hardware: hardware.map(Nanos) }
    }

    fn passage(left: Stamps, came: Stamps) -> RoundTripStamps {
        RoundTripStamps { sent: Nanos(1000), left, came, received: Nanos(9000), took: Nanos(8200) }
    }

    fn times(stages: &Stages) -> Vec<(u64, Option<u64>)> {
        stages.figures().iter().map(|stage| (stage.time_ns.n, stage.time_ns.max)).collect()
    }

    #[test]
    fn the_parts_make_up_the_whole() {
        let mut stages = Stages::new();
        stages.record(&passage(stamps(2500, None), stamps(8000, None)));
        assert_eq!(times(&stages), [(1, Some(1500)), (1, Some(5500)), (1, Some(1000))]);
        assert!(!stages.by_card());
    }

    #[test]
    fn what_has_no_stamp_or_runs_backwards_is_left_out() {
        let mut stages = Stages::new();
        stages.record(&passage(Stamps::default(), stamps(8000, None)));
        stages.record(&passage(stamps(2500, None), stamps(2400, None)));
        assert_eq!(times(&stages), [(1, Some(1500)), (0, None), (2, Some(6600))]);
    }

    #[test]
    fn a_part_longer_than_its_round_trip_is_left_out() {
        // The time of day was set an hour ahead after the message had left.
        const HOUR: u64 = 3_600_000_000_000;
        let mut stages = Stages::new();
        let set =
            RoundTripStamps { received: Nanos(HOUR + 9000), ..passage(stamps(2500, None), stamps(HOUR + 8000, None)) };
        stages.record(&set);
        assert_eq!(times(&stages), [(1, Some(1500)), (0, None), (1, Some(1000))]);
    }

    #[test]
    fn the_card_s_clock_counts_only_where_it_stamped_both_ways_each_time() {
        let mut stages = Stages::new();
        stages.record(&passage(stamps(2500, Some(50)), stamps(8000, Some(4050))));
        assert!(stages.by_card());
        assert_eq!(times(&stages)[1], (1, Some(4000)));
        stages.record(&passage(stamps(2500, Some(60)), stamps(8000, None)));
        assert!(!stages.by_card());
        assert_eq!(times(&stages)[1], (2, Some(5500)));
    }
}
