//! Replies of a latency trial: which replies are still out, and what each reply that comes means. Pure.

use model::{
    Nanos, Protocol, TimeSummary,
    trial::{OneWay, Variation},
};
use stats::TimeHistogram;

use super::{
    message::Reply,
    recent::{Delays, Recent, State},
};

/// Messages that are remembered at least: copies and late replies are distinguished from each other among so many (the window that
/// RFC 5560 asks to be stated).
pub(super) const LEAST_WINDOW: usize = 1 << 16;

/// Keeps count of replies. Messages are numbered from 0 and sent in order, those of the warm-up first. Nothing is allocated
/// after [`ReplyTracker::new`].
pub(super) struct ReplyTracker<T> {
    warmup: u64,
    timeout: Nanos,
    recent: Recent,
    /// Whether a reply can be lost.
    loses: bool,
    /// Messages sent so far.
    sent: u64,
    /// Messages without a reply that are remembered.
    out: u64,
    /// Number of the latest message that has a reply.
    latest: Option<u64>,
    /// Messages that count and have a reply.
    answered: u64,
    tally: Tally,
    rtt: Sample,
    /// There and back; only where the far side stamps.
    one_way: Option<[Sample; 2]>,
    trace: T,
}

/// Counts of replies, those of the warm-up left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Tally {
    pub(super) lost: u64,
    pub(super) late: u64,
    pub(super) reordered: u64,
    pub(super) duplicated: u64,
}

/// Counts in the middle of a trial, those of the warm-up left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Interim {
    /// Messages sent.
    pub(super) sent: u64,
    /// Messages whose reply may still come.
    pub(super) out: u64,
    pub(super) tally: Tally,
}

/// Delays of one kind, and how they vary from one packet to the next.
struct Sample {
    delay: TimeHistogram,
    variation: TimeHistogram,
}

/// Results of a finished tracker.
pub(super) struct Closed<T> {
    pub(super) sent: u64,
    pub(super) tally: Tally,
    pub(super) rtt: TimeHistogram,
    pub(super) variation: Variation,
    pub(super) one_way: Option<OneWay>,
    pub(super) trace: T,
}

/// Sees the times of each reply that counts, as they were.
pub(super) trait Trace {
    /// A reply to a message that was to leave at `intended` was received.
    fn replied(&mut self, intended: Nanos, received: Nanos);
}

impl Trace for () {
    fn replied(&mut self, _intended: Nanos, _received: Nanos) {}
}

impl<T: Trace> ReplyTracker<T> {
    /// A tracker in which the first `warmup` messages do not count, and up to `window` messages are remembered, which must be
    /// more than leave within the timeout.
    pub(super) fn new(warmup: u64, timeout: Nanos, window: usize, one_way: bool, trace: T) -> Self {
        Self {
            warmup,
            timeout,
            recent: Recent::new(window.max(LEAST_WINDOW)),
            loses: true,
            sent: 0,
            out: 0,
            latest: None,
            answered: 0,
            tally: Tally::default(),
            rtt: Sample::new(),
            one_way: one_way.then(|| [Sample::new(), Sample::new()]),
            trace,
        }
    }

    /// Over TCP nothing is lost while the connection stands: what did not come is late.
    pub(super) fn over(self, protocol: Protocol) -> Self {
        Self { loses: protocol == Protocol::Udp, ..self }
    }

    /// Number of the message to send next, also the count of those sent.
    #[inline]
    pub(super) fn next(&self) -> u64 {
        self.sent
    }

    /// The next message was sent.
    #[inline]
    pub(super) fn sent(&mut self, intended: Nanos, departed: Nanos) {
        let (number, state) = self.recent.put(self.sent, State::Out { intended, departed });
        if let State::Out { .. } = state {
            self.give_up(number);
        }
        self.sent += 1;
        self.out += 1;
    }

    /// Remembered messages that have no reply yet.
    pub(super) fn outstanding(&self) -> u64 {
        self.out
    }

    /// Messages that count and have a reply.
    pub(super) fn answered(&self) -> u64 {
        self.answered
    }

    /// A reply came. Gives its number if it is the first to that message; copies and strangers have none.
    #[inline]
    pub(super) fn arrived(&mut self, reply: Reply, received: Nanos) -> Option<u64> {
        let number = self.number(reply.number)?;
        match self.recent.get(number)? {
            State::Out { intended, departed } => {
                self.answer(number, intended, delays(reply, intended, departed, received), received);
                Some(number)
            }
            State::Answered(_) => {
                self.tally.duplicated += u64::from(self.counts(number));
                None
            }
        }
    }

    fn answer(&mut self, number: u64, intended: Nanos, delays: Delays, received: Nanos) {
        self.recent.put(number, State::Answered(delays));
        self.out -= 1;
        let is_behind = self.latest.is_some_and(|latest| latest > number);
        if !is_behind {
            self.latest = Some(number);
        }
        if !self.counts(number) {
            return;
        }
        self.answered += 1;
        self.tally.reordered += u64::from(is_behind);
        self.record(delays);
        for neighbour in [number.checked_sub(1), number.checked_add(1)].into_iter().flatten() {
            self.compare(neighbour, delays);
        }
        self.trace.replied(intended, received);
    }

    fn record(&mut self, delays: Delays) {
        if delays.rtt <= self.timeout.0 {
            self.rtt.delay.record(delays.rtt);
        } else {
            self.tally.late += 1;
            self.rtt.delay.record_missing();
        }
        if let (Some(samples), Some(delays)) = (&mut self.one_way, delays.one_way) {
            samples.iter_mut().zip(delays).for_each(|(sample, delay)| sample.delay.record(delay));
        }
    }

    /// Compares delays with those of a packet sent just before or after, if that has a reply.
    fn compare(&mut self, neighbour: u64, delays: Delays) {
        if !self.counts(neighbour) {
            return;
        }
        let Some(State::Answered(others)) = self.recent.get(neighbour) else { return };
        self.rtt.variation.record(delays.rtt.abs_diff(others.rtt));
        if let (Some(samples), Some(these), Some(those)) = (&mut self.one_way, delays.one_way, others.one_way) {
            for (sample, (this, that)) in samples.iter_mut().zip(these.into_iter().zip(those)) {
                sample.variation.record(this.abs_diff(that));
            }
        }
    }

    /// The reply to this message is no longer expected: nobody knows which of its ways it was lost on.
    fn give_up(&mut self, number: u64) {
        self.out -= 1;
        if !self.counts(number) {
            return;
        }
        self.tally.lost += 1;
        self.rtt.delay.record_missing();
        self.one_way.iter_mut().flatten().for_each(|sample| sample.delay.record_missing());
    }

    fn counts(&self, number: u64) -> bool {
        number >= self.warmup
    }

    /// The latest number sent that ends in these 32 bits.
    fn number(&self, low: u32) -> Option<u64> {
        let last = self.sent.checked_sub(1)?;
        last.checked_sub((last as u32).wrapping_sub(low).into())
    }

    fn tally(&self) -> Tally {
        let Tally { lost, late, .. } = self.tally;
        if self.loses { self.tally } else { Tally { lost: 0, late: late + lost, ..self.tally } }
    }

    /// Hands over the round trips in the sample, in exchange for an empty one; all else stays.
    pub(super) fn hand_over(&mut self, empty: TimeHistogram) -> (TimeHistogram, Interim) {
        let sent = self.sent.saturating_sub(self.warmup);
        let interim = Interim { sent, out: sent - self.answered - self.tally.lost, tally: self.tally() };
        (std::mem::replace(&mut self.rtt.delay, empty), interim)
    }

    /// Nothing comes any more.
    pub(super) fn close(mut self) -> Closed<T> {
        let lost: Vec<u64> = self.recent.out().collect();
        lost.into_iter().for_each(|number| self.give_up(number));
        let delays = |[forward, reverse]: &[Sample; 2]| OneWay {
            forward_ns: forward.delay.summary(),
            reverse_ns: reverse.delay.summary(),
        };
        let variation = |way: usize| -> Option<TimeSummary> { Some(self.one_way.as_ref()?[way].variation.summary()) };
        Closed {
            sent: self.sent.saturating_sub(self.warmup),
            tally: self.tally(),
            variation: Variation {
                rtt_ns: self.rtt.variation.summary(),
                forward_ns: variation(0),
                reverse_ns: variation(1),
            },
            one_way: self.one_way.as_ref().map(delays),
            rtt: self.rtt.delay,
            trace: self.trace,
        }
    }
}

impl Sample {
    fn new() -> Self {
        Self { delay: TimeHistogram::new(), variation: TimeHistogram::new() }
    }
}

/// One-way delays count from when the message really left. They are none where the far side put no stamps in that can be.
fn delays(reply: Reply, intended: Nanos, departed: Nanos, received: Nanos) -> Delays {
    let one_way = reply.far.and_then(|(came, left)| {
        let forward = came.0.checked_sub(departed.0)?;
        Some([forward, received.0.checked_sub(left.0)?])
    });
    Delays { rtt: received.0 - intended.0, one_way }
}

#[cfg(test)]
mod tests;
