//! Counts of a thread of the client. Pure; sums over all threads are tallies too.

use model::{
    Failed, FailureKind, Nanos,
    trial::{Pacing, TransactionsResult},
};
use stats::TimeHistogram;

const SECOND: u64 = 1_000_000_000;

/// Kinds of failures.
const KINDS: usize = FailureKind::ALL.len();

/// The counted time.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Span {
    pub(super) opened: Nanos,
    pub(super) closed: Nanos,
}

impl Span {
    fn holds(self, time: Nanos) -> bool {
        (self.opened..self.closed).contains(&time)
    }
}

/// The counts.
pub(super) struct Tally {
    pub(super) span: Span,
    completed: u64,
    completed_in_all: u64,
    connected: u64,
    failed: [u64; KINDS],
    seconds: Vec<u64>,
    response: TimeHistogram,
    connect: TimeHistogram,
    gaps: TimeHistogram,
    behind: TimeHistogram,
    /// When the one before left.
    left: Option<Nanos>,
}

impl Tally {
    pub(super) fn new(span: Span) -> Self {
        let seconds = (span.closed.0 - span.opened.0) / SECOND;
        Self {
            span,
            completed: 0,
            completed_in_all: 0,
            connected: 0,
            failed: [0; KINDS],
            seconds: vec![0; seconds as usize],
            response: TimeHistogram::new(),
            connect: TimeHistogram::new(),
            gaps: TimeHistogram::new(),
            behind: TimeHistogram::new(),
            left: None,
        }
    }

    /// A transaction ended well.
    #[inline]
    pub(super) fn completed(&mut self, begun: Nanos, ended: Nanos) {
        self.completed_in_all += 1;
        if self.span.holds(ended) {
            self.completed += 1;
            if let Some(second) = self.seconds.get_mut(((ended.0 - self.span.opened.0) / SECOND) as usize) {
                *second += 1;
            }
        }
        if self.span.holds(begun) {
            self.response.record(ended.0.saturating_sub(begun.0));
        }
    }

    /// A transaction failed; also one from the warm-up counts that fails within the counted time or after it.
    #[cold]
    pub(super) fn failed(&mut self, begun: Nanos, kind: FailureKind, now: Nanos) {
        if begun < self.span.closed && now >= self.span.opened {
            self.failed[index(kind)] += 1;
            self.response.record_missing();
        }
    }

    /// A connection was established.
    #[inline]
    pub(super) fn connected(&mut self, begun: Nanos, established: Nanos) {
        if self.span.holds(established) {
            self.connected += 1;
            self.connect.record(established.0.saturating_sub(begun.0));
        }
    }

    /// A transaction of a schedule began. It was due once a connection was free for it.
    #[inline]
    pub(super) fn departed(&mut self, intended: Nanos, due: Nanos, departed: Nanos) {
        if self.span.holds(intended) {
            self.behind.record(departed.0.saturating_sub(due.0));
            if let Some(before) = self.left {
                self.gaps.record(departed.0.saturating_sub(before.0));
            }
            self.left = Some(departed);
        }
    }

    /// Hands over all that was counted, and goes on from nothing in `empty`.
    pub(super) fn hand_over(&mut self, mut empty: Self) -> Self {
        (empty.span, empty.left) = (self.span, self.left);
        std::mem::replace(self, empty)
    }

    /// Takes all of another one into this one.
    pub(super) fn merge(&mut self, other: &Self) {
        self.completed += other.completed;
        self.completed_in_all += other.completed_in_all;
        self.connected += other.connected;
        self.failed.iter_mut().zip(other.failed).for_each(|(one, other)| *one += other);
        self.seconds.iter_mut().zip(&other.seconds).for_each(|(one, other)| *one += other);
        self.response.merge(&other.response);
        self.connect.merge(&other.connect);
        self.gaps.merge(&other.gaps);
        self.behind.merge(&other.behind);
    }

    /// The result, with what is `known` beside it; the counted time has lasted until `now` at the most.
    pub(super) fn result(&self, known: &TransactionsResult, now: Nanos) -> TransactionsResult {
        let counted = Nanos(now.clamp(self.span.opened, self.span.closed).0 - self.span.opened.0);
        let failed = FailureKind::ALL.iter().zip(self.failed).filter(|(_, count)| *count > 0);
        let whole = (counted.0 / SECOND) as usize;
        TransactionsResult {
            counted_s: counted.as_secs_f64(),
            completed: self.completed,
            connected: self.connected,
            failed: failed.map(|(kind, count)| Failed { kind: *kind, count }).collect(),
            completed_in_all: self.completed_in_all,
            seconds: self.seconds.iter().take(whole).copied().collect(),
            response_ns: self.response.summary(),
            connect_ns: self.connect.summary(),
            pacing: known.intended_per_s.map(|rate| Pacing {
                intended_gap_ns: SECOND as f64 / rate * known.threads as f64,
                gap_ns: self.gaps.summary(),
                behind_ns: self.behind.summary(),
            }),
            histogram: self.response.encode(),
            ..known.clone()
        }
    }
}

fn index(kind: FailureKind) -> usize {
    FailureKind::ALL.iter().position(|of| *of == kind).unwrap_or(KINDS - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_counted_time_has_what_began_and_what_ended_in_it() {
        let mut tally = Tally::new(Span { opened: Nanos(SECOND), closed: Nanos(3 * SECOND) });
        tally.completed(Nanos(SECOND - 5), Nanos(SECOND + 5));
        tally.completed(Nanos(SECOND + 5), Nanos(SECOND + 10));
        tally.completed(Nanos(3 * SECOND - 5), Nanos(3 * SECOND + 5));
        tally.failed(Nanos(SECOND), FailureKind::Timeout, Nanos(2 * SECOND));
        tally.failed(Nanos(3 * SECOND), FailureKind::Timeout, Nanos(4 * SECOND));
        tally.failed(Nanos(SECOND - 9), FailureKind::Timeout, Nanos(SECOND - 1));
        let mut sum = Tally::new(tally.span);
        sum.merge(&tally.hand_over(Tally::new(Span::default())));
        tally.failed(Nanos(2 * SECOND), FailureKind::Refused, Nanos(2 * SECOND));
        // One of the warm-up, and no answer until the counted time is over.
        tally.failed(Nanos(SECOND - 9), FailureKind::Timeout, Nanos(4 * SECOND));
        sum.merge(&tally);
        let result = sum.result(&TransactionsResult::default(), Nanos(9 * SECOND));
        assert_eq!((result.completed, result.completed_in_all, result.response_ns.n), (2, 3, 5));
        assert_eq!((result.counted_s, result.seconds.as_slice(), result.failures()), (2.0, [2, 0].as_slice(), 3));
        assert_eq!(sum.result(&TransactionsResult::default(), Nanos(SECOND * 5 / 2)).seconds, [2]);
    }
}
