//! Streams on one core: their numbers, schedules and figures, and the order of sending.

use frame::{Compiled, Tag};
use model::{
    Nanos,
    stream::{Load, Rate},
};

use crate::{
    EngineError, Job,
    job::{Pacing, SentStream},
    schedule::Schedule,
};

/// All streams on one core.
pub(crate) struct Lanes<'a>(Vec<Lane<'a>>);

/// One stream on one core.
struct Lane<'a> {
    stream: &'a Compiled,
    number: u16,
    token: u32,
    /// Number of the next frame.
    next: u64,
    /// Frames that it has at the most.
    most: u64,
    /// `None` is flat out.
    schedule: Option<Schedule>,
    /// When the last frame was sent, and when it was due.
    before: Option<(Nanos, Nanos)>,
    sent: SentStream,
}

impl<'a> Lanes<'a> {
    /// Streams of the core at this index of the job's.
    pub(crate) fn new(job: &'a Job, core: usize, began: Nanos) -> Result<Self, EngineError> {
        let cores = job.cpus.len();
        let lane = |(index, (stream, rate)): (usize, (&'a Compiled, Option<f64>))| {
            let schedule = schedule(stream, job.loads[index], rate, began, (core, cores));
            let pacing = schedule.as_ref().map(|schedule| Pacing::new(schedule.gap_ns()));
            let sent = SentStream { pacing, ..SentStream::default() };
            let most = rate.map_or(u64::MAX, |rate| job.frames(index, core, rate));
            Lane {
                stream,
                number: job.number(index, core),
                token: job.token,
                next: 0,
                most,
                schedule,
                before: None,
                sent,
            }
        };
        Ok(Self(job.streams.iter().zip(job.rates()?).enumerate().map(lane).collect()))
    }

    /// The next stream and its time. Overdue streams come first, longest overdue first.
    ///
    /// Without any, the stream among those flat out that has sent least; without those, the stream that is due first.
    #[inline]
    pub(crate) fn next(&self, now: Nanos) -> (usize, Nanos) {
        if let [lane] = self.0.as_slice() {
            return (0, lane.schedule.as_ref().map_or(now, Schedule::due));
        }
        let paced = self.0.iter().enumerate().filter_map(|(index, lane)| Some((index, lane.schedule.as_ref()?.due())));
        let paced = paced.min_by_key(|(_, due)| due.0);
        let flat_out = self.0.iter().enumerate().filter(|(_, lane)| lane.schedule.is_none());
        let flat_out = flat_out.min_by_key(|(_, lane)| lane.next).map(|(index, _)| (index, now));
        match paced {
            Some((index, due)) if due <= now || flat_out.is_none() => (index, due),
            _ => flat_out.unwrap_or((0, now)),
        }
    }

    /// Writes the next frame of a stream, sent now; returns its length.
    #[inline]
    pub(crate) fn write(&mut self, index: usize, now: Nanos, buffer: &mut [u8]) -> usize {
        let lane = &mut self.0[index];
        let tag = Tag::of(lane.token, lane.number, lane.next, now.0);
        let length = lane.stream.write(buffer, lane.next, tag);
        lane.next += 1;
        lane.keep_pace(now);
        length
    }

    /// Counts a frame that the kernel accepted, in order of writing.
    #[inline]
    pub(crate) fn count(&mut self, index: usize, left: bool, now: Nanos) {
        let lane = &mut self.0[index];
        let sent = &mut lane.sent;
        if !left {
            sent.refused += 1;
            return;
        }
        sent.bytes += u64::from(lane.stream.size(sent.frames + sent.refused).frame.0);
        sent.frames += 1;
        sent.span = Some((sent.span.map_or(now, |(first, _)| first), now));
    }

    /// Final report. Frames written but never accepted have used their numbers too.
    ///
    /// Frames overdue at the end count as given up.
    pub(crate) fn sent(self, over: Nanos) -> Vec<SentStream> {
        let given_up = |schedule: Schedule| Nanos(schedule.given_up().0 + over.0.saturating_sub(schedule.due().0));
        let sent = |lane: Lane<'_>| SentStream {
            given_up: lane.schedule.map_or(Nanos(0), given_up),
            numbered: vec![(lane.number, lane.next)],
            ..lane.sent
        };
        self.0.into_iter().map(sent).collect()
    }
}

/// Schedule of a stream's frames on one of the cores; `None` is flat out. Frames of a capture are sent in order, so
/// only by the first core.
fn schedule(
    stream: &Compiled,
    load: Load,
    rate: Option<f64>,
    began: Nanos,
    (core, cores): (usize, usize),
) -> Option<Schedule> {
    match &stream.replay {
        None => Some(Schedule::new(began, rate?, load, core, cores)),
        Some(_) if core > 0 => Some(Schedule::never()),
        Some(replay) if load.rate == Rate::Captured => Some(Schedule::captured(began, rate?, replay)),
        Some(_) => Some(Schedule::new(began, rate?, load, 0, 1)),
    }
}

impl Lane<'_> {
    /// Records the accuracy of a frame that is sent now.
    #[inline]
    fn keep_pace(&mut self, now: Nanos) {
        let (Some(schedule), Some(pacing)) = (&mut self.schedule, &mut self.sent.pacing) else { return };
        let due = schedule.due();
        pacing.behind.record(schedule.leave(now));
        if self.next >= self.most {
            *schedule = Schedule::never();
        }
        if let Some((now_before, due_before)) = self.before.replace((now, due)) {
            let (gap, intended) = (now.0 - now_before.0, due.0 - due_before.0);
            pacing.gaps.record(gap);
            pacing.errors.record(gap.abs_diff(intended));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

    #[test]
    fn what_is_due_goes_first_and_flat_out_fills_the_rest() {
        let job = fixture::job(&["1 kpps", "flat out", "flat out"]);
        let mut lanes = Lanes::new(&job, 0, Nanos(0)).expect("rates");
        let mut buffer = [0; 2048];
        let mut order = Vec::new();
        for now in [0, 10, 20, 30, 1_000_000, 1_000_001] {
            let (index, due) = lanes.next(Nanos(now));
            assert!(due <= Nanos(now));
            lanes.write(index, Nanos(now), &mut buffer);
            order.push(index);
        }
        assert_eq!(order, [0, 1, 2, 1, 0, 2]);
    }

    #[test]
    fn the_one_that_is_due_first_is_waited_for() {
        let job = fixture::job(&["1 kpps", "2 kpps"]);
        let mut lanes = Lanes::new(&job, 0, Nanos(0)).expect("rates");
        let order: Vec<(usize, u64)> = std::iter::repeat_with(|| {
            let (index, due) = lanes.next(Nanos(0));
            lanes.write(index, due, &mut [0; 2048]);
            (index, due.0)
        })
        .take(5)
        .collect();
        assert_eq!(order, [(0, 0), (1, 0), (1, 500_000), (0, 1_000_000), (1, 1_000_000)]);
    }

    #[test]
    fn a_stream_ends_at_its_time_and_the_other_one_goes_on() {
        let job = fixture::job(&["2 kpps", "2 kpps for 1 ms"]);
        let mut lanes = Lanes::new(&job, 0, Nanos(0)).expect("rates");
        let order: Vec<usize> = std::iter::repeat_with(|| {
            let (index, due) = lanes.next(Nanos(0));
            lanes.write(index, due, &mut [0; 2048]);
            index
        })
        .take(6)
        .collect();
        assert_eq!(order, [0, 1, 0, 1, 0, 0]);
        assert_eq!(lanes.sent(Nanos(3_000_000)).remove(1).given_up, Nanos(0));
    }

    #[test]
    fn figures_tell_what_left_what_was_refused_and_how_the_pace_was_kept() {
        let job = fixture::job(&["1 Mpps"]);
        let mut lanes = Lanes::new(&job, 0, Nanos(0)).expect("rates");
        for (now, left) in [(0, true), (1_100, true), (2_000, false), (3_000, true)] {
            lanes.write(0, Nanos(now), &mut [0; 2048]);
            lanes.count(0, left, Nanos(now));
        }
        let sent = lanes.sent(Nanos(9_000)).pop().expect("one stream");
        assert_eq!(sent.given_up, Nanos(5_000));
        assert_eq!((sent.frames, sent.bytes, sent.refused, sent.numbered), (3, 192, 1, vec![(0, 4)]));
        assert_eq!(sent.span, Some((Nanos(0), Nanos(3_000))));
        let pacing = sent.pacing.expect("paced");
        assert_eq!((pacing.errors.summary().max, pacing.gaps.len()), (Some(100), 3));
        assert_eq!((pacing.behind.summary().max, pacing.intended_gap_ns), (Some(100), 1000.0));
    }
}
