//! Interim results, so that a trial that is cut off keeps its data: each thread hands its tally over at intervals.

use std::sync::{Mutex, MutexGuard, PoisonError};

use model::{Nanos, SoFar, trial::TransactionsResult};

use super::tally::{Span, Tally};
use crate::control::InterimSource;

/// Interval at which a thread hands over.
const EVERY: Nanos = Nanos::from_secs(2);

/// Data that a thread hands to the watching one.
#[derive(Default)]
pub(super) struct Exchange(Mutex<Between>);

#[derive(Default)]
struct Between {
    empty: Option<Tally>,
    /// A tally, and the time until which it counts.
    part: Option<(Tally, Nanos)>,
}

/// A thread's end of the handover.
pub(super) struct InterimFeed<'a> {
    exchange: &'a Exchange,
    due: Nanos,
}

impl Exchange {
    fn lock(&self) -> MutexGuard<'_, Between> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The feed of a thread whose counted time is this.
    pub(super) fn feed(&self, span: Span) -> InterimFeed<'_> {
        InterimFeed { exchange: self, due: Nanos(span.opened.0 + EVERY.0) }
    }
}

impl InterimFeed<'_> {
    /// Hands the tally over if it is due and the tally before has been taken. Never waits.
    #[inline]
    pub(super) fn tell(&mut self, tally: &mut Tally, now: Nanos) {
        if now >= self.due {
            self.hand_over(tally, now);
        }
    }

    #[cold]
    fn hand_over(&mut self, tally: &mut Tally, now: Nanos) {
        self.due = Nanos(now.0 + EVERY.0);
        if let Ok(mut between) = self.exchange.0.try_lock()
            && let Some(empty) = between.empty.take()
        {
            between.part = Some((tally.hand_over(empty), now));
        }
    }
}

/// Sums the tallies of the threads.
pub(super) struct InterimSums {
    exchanges: std::sync::Arc<Vec<Exchange>>,
    known: TransactionsResult,
    sum: Tally,
    /// Until when the sum counts, for each thread.
    until: Vec<Nanos>,
}

impl InterimSums {
    pub(super) fn new(exchanges: std::sync::Arc<Vec<Exchange>>, known: TransactionsResult, span: Span) -> Self {
        for exchange in exchanges.iter() {
            exchange.lock().empty = Some(Tally::new(span));
        }
        let until = vec![span.opened; exchanges.len()];
        Self { exchanges, known, sum: Tally::new(span), until }
    }

    /// Takes the tallies that threads have handed over; whether there was any.
    fn take(&mut self) -> bool {
        let mut is_new = false;
        for (exchange, until) in self.exchanges.iter().zip(&mut self.until) {
            let part = exchange.lock().part.take();
            if let Some((part, time)) = part {
                self.sum.merge(&part);
                *until = time;
                // Made here, because it takes the kernel a while to find the memory.
                let empty = Tally::new(self.sum.span);
                exchange.lock().empty = Some(empty);
                is_new = true;
            }
        }
        is_new
    }

    /// The result at the end, with the rest that each thread still has.
    pub(super) fn close(&mut self, rest: &[Tally], time_wait: Option<u64>) -> TransactionsResult {
        self.take();
        rest.iter().for_each(|tally| self.sum.merge(tally));
        TransactionsResult { time_wait, ..self.sum.result(&self.known, self.sum.span.closed) }
    }
}

impl InterimSource for InterimSums {
    fn so_far(&mut self) -> Option<SoFar> {
        let is_new = self.take();
        let until = self.until.iter().min().copied().unwrap_or(self.sum.span.opened);
        is_new.then(|| SoFar::Transactions(Box::new(self.sum.result(&self.known, until))))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn interim_results_count_until_they_were_handed_over() {
        const SECOND: u64 = 1_000_000_000;
        let span = Span { opened: Nanos(SECOND), closed: Nanos(11 * SECOND) };
        let exchanges = Arc::new(vec![Exchange::default()]);
        let mut sums = InterimSums::new(exchanges.clone(), TransactionsResult::default(), span);
        let (mut tally, mut feed) = (Tally::new(span), exchanges[0].feed(span));
        tally.completed(Nanos(SECOND), Nanos(2 * SECOND));
        feed.tell(&mut tally, Nanos(3 * SECOND));
        let Some(SoFar::Transactions(result)) = sums.so_far() else { panic!("one was handed over") };
        assert_eq!((result.counted_s, result.completed, result.seconds), (2.0, 1, vec![0, 1]));
        assert!(sums.so_far().is_none(), "nothing new");
    }
}
