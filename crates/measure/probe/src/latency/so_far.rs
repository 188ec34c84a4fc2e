//! Interim results, so that a trial that is cut off keeps its data.
//!
//! Every few seconds the loop that measures exchanges its sample for an empty one, which costs it less than a message does.
//! The watching thread sums these samples, and makes figures of them.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use model::{LatencyResult, Nanos, SoFar};
use stats::TimeHistogram;

use super::reply_tracker::{Interim, ReplyTracker, Trace};
use crate::control::InterimSource;

/// Interval at which the loop hands over.
const EVERY: Nanos = Nanos::from_secs(2);

/// Data that the loop hands to the watching thread.
#[derive(Default)]
struct Handover {
    empty: Option<TimeHistogram>,
    part: Option<Part>,
}

/// Data handed over by the loop.
struct Part {
    /// Round trips since the part before.
    sample: TimeHistogram,
    /// Sample of the whole counted time.
    interim: Interim,
    overflowed: u64,
    /// Counted time so far.
    seconds: f64,
}

/// The loop's end of the handover.
pub(super) struct InterimFeed {
    handover: Arc<Mutex<Handover>>,
    opened: Nanos,
    due: Nanos,
}

impl InterimFeed {
    /// The counted time begins.
    pub(super) fn open(&mut self, now: Nanos) {
        (self.opened, self.due) = (now, Nanos(now.0 + EVERY.0));
    }

    #[inline]
    pub(super) fn is_due(&self, now: Nanos) -> bool {
        now >= self.due
    }

    /// Hands the data over if the part before has been taken. Never waits.
    #[cold]
    pub(super) fn tell<T: Trace>(&mut self, tracker: &mut ReplyTracker<T>, overflowed: u64, now: Nanos) {
        self.due = Nanos(now.0 + EVERY.0);
        if let Ok(mut handover) = self.handover.try_lock()
            && let Some(empty) = handover.empty.take()
        {
            let (sample, interim) = tracker.hand_over(empty);
            let seconds = Nanos(now.0 - self.opened.0).as_secs_f64();
            handover.part = Some(Part { sample, interim, overflowed, seconds });
        }
    }
}

/// Adds up what the loop hands over.
pub(super) struct InterimSums {
    handover: Arc<Mutex<Handover>>,
    /// Facts known before the first message.
    known: LatencyResult,
    /// All that was handed over.
    sample: TimeHistogram,
}

impl InterimSums {
    /// The sums for the thread that watches, and the feed for the loop.
    pub(super) fn new(known: LatencyResult) -> (Arc<Mutex<Self>>, InterimFeed) {
        let handover = Arc::new(Mutex::new(Handover { empty: Some(TimeHistogram::new()), part: None }));
        let sums = Self { handover: Arc::clone(&handover), known, sample: TimeHistogram::new() };
        (Arc::new(Mutex::new(sums)), InterimFeed { handover, opened: Nanos(0), due: Nanos(u64::MAX) })
    }

    pub(super) fn known(&self) -> &LatencyResult {
        &self.known
    }

    /// Each round trip that the loop does not have any more.
    pub(super) fn all_handed_over(&mut self) -> &TimeHistogram {
        self.take();
        &self.sample
    }

    fn take(&mut self) -> Option<Part> {
        let part = self.handover().part.take()?;
        self.sample.merge(&part.sample);
        // Made here, because it takes the kernel a while to find the memory.
        let empty = TimeHistogram::new();
        self.handover().empty = Some(empty);
        Some(part)
    }

    fn handover(&self) -> MutexGuard<'_, Handover> {
        self.handover.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Messages whose reply was still out take their place at the upper end of the sample: how long they took is not known.
    fn result(&self, part: &Part) -> LatencyResult {
        let Interim { sent, out, tally } = part.interim;
        let mut sample = self.sample.clone();
        (0..out).for_each(|_| sample.record_missing());
        let messages = if self.known.intended_pps.is_some() { sent } else { sent - out - tally.lost };
        LatencyResult {
            sent,
            lost: (out == 0).then_some(tally.lost),
            late: tally.late,
            reordered: tally.reordered,
            duplicated: tally.duplicated,
            overflowed: part.overflowed,
            rtt_ns: sample.summary(),
            achieved_pps: messages as f64 / part.seconds,
            histogram: sample.encode(),
            ..self.known.clone()
        }
    }
}

impl InterimSource for InterimSums {
    fn so_far(&mut self) -> Option<SoFar> {
        let part = self.take()?;
        Some(SoFar::Latency { seconds: part.seconds, result: Box::new(self.result(&part)) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::latency::message::Reply;

    const RTT: u64 = 20_000;

    fn handover(tracker: &mut ReplyTracker<()>, from: u64, to: u64, answered: u64) {
        for number in from..to {
            tracker.sent(Nanos(number * 1_000_000), Nanos(number * 1_000_000));
        }
        for number in from..answered {
            tracker.arrived(Reply { number: number as u32, far: None }, Nanos(number * 1_000_000 + RTT));
        }
    }

    fn told(sums: &Mutex<InterimSums>) -> Option<LatencyResult> {
        match sums.lock().expect("not poisoned").so_far()? {
            SoFar::Latency { result, .. } => Some(*result),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn what_was_handed_over_is_all_there_in_the_middle_and_at_the_end() {
        let (sums, mut feed) = InterimSums::new(LatencyResult::default());
        let mut tracker = ReplyTracker::new(10, Nanos::from_secs(1), 0, false, ());
        assert!(!feed.is_due(Nanos(u64::MAX - 1)), "nothing is told of the warm-up");
        feed.open(Nanos(10_000_000));
        assert!(feed.is_due(Nanos(10_000_000 + EVERY.0)) && !feed.is_due(Nanos(EVERY.0)));

        handover(&mut tracker, 0, 110, 110);
        assert_eq!(told(&sums), None);
        feed.tell(&mut tracker, 3, Nanos(1_010_000_000));
        let first = told(&sums).expect("handed over");
        assert_eq!((first.sent, first.lost, first.rtt_ns.n, first.rtt_ns.max), (100, Some(0), 100, Some(RTT)));
        assert_eq!((first.overflowed, first.achieved_pps), (3, 100.0));
        assert_eq!(told(&sums), None, "nothing new");

        // Two replies are out: it is not known whether they are lost.
        handover(&mut tracker, 110, 210, 208);
        feed.tell(&mut tracker, 3, Nanos(2_010_000_000));
        let second = told(&sums).expect("handed over");
        assert_eq!((second.sent, second.lost, second.rtt_ns.n, second.rtt_ns.max), (200, None, 200, None));
        assert_eq!(TimeHistogram::decode(&second.histogram).expect("encoded").len(), 200);

        // A watching thread that is behind holds nothing up, and loses nothing.
        handover(&mut tracker, 210, 310, 310);
        feed.tell(&mut tracker, 3, Nanos(3_010_000_000));
        handover(&mut tracker, 310, 410, 410);
        feed.tell(&mut tracker, 3, Nanos(4_010_000_000));
        let mut closed = tracker.close();
        closed.rtt.merge(sums.lock().expect("not poisoned").all_handed_over());
        assert_eq!((closed.sent, closed.rtt.len(), closed.tally.lost), (400, 400, 2));
    }
}
