//! Interim results, so that a trial that is cut off keeps its data.
//!
//! Every few seconds the loop that measures exchanges its sample for an empty one, which costs it less than a message does.
//! The watching thread sums these samples, and makes figures of them.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use model::{LatencyResult, Nanos, SoFar};
use stats::TimeHistogram;

use super::book::{Book, Standing, Trace};
use crate::control::Summary;

/// How often the loop hands over.
const EVERY: Nanos = Nanos::from_secs(2);

/// The exchange between the loop and the clerk.
#[derive(Default)]
struct Exchange {
    empty: Option<TimeHistogram>,
    part: Option<Part>,
}

/// Data handed over by the loop.
struct Part {
    /// Round trips since the part before.
    sample: TimeHistogram,
    /// Sample of the whole counted time.
    standing: Standing,
    overflowed: u64,
    /// How long the counted time has lasted.
    seconds: f64,
}

/// The loop's end of the exchange.
pub(super) struct Teller {
    exchange: Arc<Mutex<Exchange>>,
    opened: Nanos,
    due: Nanos,
}

impl Teller {
    /// The counted time begins.
    pub(super) fn open(&mut self, now: Nanos) {
        (self.opened, self.due) = (now, Nanos(now.0 + EVERY.0));
    }

    #[inline]
    pub(super) fn is_due(&self, now: Nanos) -> bool {
        now >= self.due
    }

    /// Hands the data over if the clerk has taken the part before. Never waits.
    #[cold]
    pub(super) fn tell<T: Trace>(&mut self, book: &mut Book<T>, overflowed: u64, now: Nanos) {
        self.due = Nanos(now.0 + EVERY.0);
        if let Ok(mut exchange) = self.exchange.try_lock()
            && let Some(empty) = exchange.empty.take()
        {
            let (sample, standing) = book.hand_over(empty);
            let seconds = Nanos(now.0 - self.opened.0).as_secs_f64();
            exchange.part = Some(Part { sample, standing, overflowed, seconds });
        }
    }
}

/// Adds up what the loop hands over.
pub(super) struct Clerk {
    exchange: Arc<Mutex<Exchange>>,
    /// Facts known before the first message.
    known: LatencyResult,
    /// All that was handed over.
    sample: TimeHistogram,
}

impl Clerk {
    /// A clerk for the thread that watches, and the teller for the loop.
    pub(super) fn hire(known: LatencyResult) -> (Arc<Mutex<Self>>, Teller) {
        let exchange = Arc::new(Mutex::new(Exchange { empty: Some(TimeHistogram::new()), part: None }));
        let clerk = Self { exchange: Arc::clone(&exchange), known, sample: TimeHistogram::new() };
        (Arc::new(Mutex::new(clerk)), Teller { exchange, opened: Nanos(0), due: Nanos(u64::MAX) })
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
        let part = self.exchange().part.take()?;
        self.sample.merge(&part.sample);
        // Made here, because it takes the kernel a while to find the memory.
        let empty = TimeHistogram::new();
        self.exchange().empty = Some(empty);
        Some(part)
    }

    fn exchange(&self) -> MutexGuard<'_, Exchange> {
        self.exchange.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Messages whose reply was still out take their place at the upper end of the sample: how long they took is not known.
    fn result(&self, part: &Part) -> LatencyResult {
        let Standing { sent, out, tally } = part.standing;
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

impl Summary for Clerk {
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

    fn exchange(book: &mut Book<()>, from: u64, to: u64, answered: u64) {
        for number in from..to {
            book.sent(Nanos(number * 1_000_000), Nanos(number * 1_000_000));
        }
        for number in from..answered {
            book.arrived(Reply { number: number as u32, far: None }, Nanos(number * 1_000_000 + RTT));
        }
    }

    fn told(clerk: &Mutex<Clerk>) -> Option<LatencyResult> {
        match clerk.lock().expect("not poisoned").so_far()? {
            SoFar::Latency { result, .. } => Some(*result),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn what_was_handed_over_is_all_there_in_the_middle_and_at_the_end() {
        let (clerk, mut teller) = Clerk::hire(LatencyResult::default());
        let mut book = Book::new(10, Nanos::from_secs(1), 0, false, ());
        assert!(!teller.is_due(Nanos(u64::MAX - 1)), "nothing is told of the warm-up");
        teller.open(Nanos(10_000_000));
        assert!(teller.is_due(Nanos(10_000_000 + EVERY.0)) && !teller.is_due(Nanos(EVERY.0)));

        exchange(&mut book, 0, 110, 110);
        assert_eq!(told(&clerk), None);
        teller.tell(&mut book, 3, Nanos(1_010_000_000));
        let first = told(&clerk).expect("handed over");
        assert_eq!((first.sent, first.lost, first.rtt_ns.n, first.rtt_ns.max), (100, Some(0), 100, Some(RTT)));
        assert_eq!((first.overflowed, first.achieved_pps), (3, 100.0));
        assert_eq!(told(&clerk), None, "nothing new");

        // Two replies are out: it is not known whether they are lost.
        exchange(&mut book, 110, 210, 208);
        teller.tell(&mut book, 3, Nanos(2_010_000_000));
        let second = told(&clerk).expect("handed over");
        assert_eq!((second.sent, second.lost, second.rtt_ns.n, second.rtt_ns.max), (200, None, 200, None));
        assert_eq!(TimeHistogram::decode(&second.histogram).expect("encoded").len(), 200);

        // A clerk that is behind holds nothing up, and loses nothing.
        exchange(&mut book, 210, 310, 310);
        teller.tell(&mut book, 3, Nanos(3_010_000_000));
        exchange(&mut book, 310, 410, 410);
        teller.tell(&mut book, 3, Nanos(4_010_000_000));
        let mut closed = book.close();
        closed.rtt.merge(clerk.lock().expect("not poisoned").all_handed_over());
        assert_eq!((closed.sent, closed.rtt.len(), closed.tally.lost), (400, 400, 2));
    }
}
