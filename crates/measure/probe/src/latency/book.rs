//! The book of a ping-pong: which replies are still out, and what each reply that comes means. Pure.

use stats::RttHistogram;

/// Keeps count of replies. Messages are numbered from 0 and sent in order.
pub(super) struct Book {
    sample: RttHistogram,
    /// Numbers whose reply did not come in time; small, since each costs a timeout.
    missing: Vec<u32>,
    late: u64,
    reordered: u64,
    /// Number of the latest reply so far.
    latest: Option<u32>,
}

/// What a reply was.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Arrival {
    /// The one that is waited for.
    Awaited,
    /// One given up before, or a copy of one that came.
    Other,
}

impl Book {
    pub(super) fn new() -> Self {
        Self { sample: RttHistogram::new(), missing: Vec::new(), late: 0, reordered: 0, latest: None }
    }

    /// A reply to message `number` came while `awaited` is the one waited for.
    pub(super) fn arrived(&mut self, number: u32, awaited: u32) -> Arrival {
        if number == awaited {
            self.latest = Some(number);
            return Arrival::Awaited;
        }
        if let Some(at) = self.missing.iter().position(|missing| *missing == number) {
            self.missing.swap_remove(at);
            self.late += 1;
            if self.latest.is_some_and(|latest| latest > number) {
                self.reordered += 1;
            }
        }
        Arrival::Other
    }

    /// The awaited reply came after this many nanoseconds.
    pub(super) fn record(&mut self, rtt: u64) {
        self.sample.record(rtt);
    }

    /// The awaited reply came, but after the timeout.
    pub(super) fn record_late(&mut self) {
        self.late += 1;
        self.sample.record_missing();
    }

    /// The reply to this message is given up.
    pub(super) fn gave_up(&mut self, number: u32) {
        self.missing.push(number);
        self.sample.record_missing();
    }

    /// Sample, lost, late, reordered.
    pub(super) fn close(self) -> (RttHistogram, u64, u64, u64) {
        (self.sample, self.missing.len() as u64, self.late, self.reordered)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_late_reply_is_no_longer_lost_and_stays_over_the_timeout() {
        let mut book = Book::new();
        book.gave_up(0);
        assert_eq!(book.arrived(0, 1), Arrival::Other);
        assert_eq!(book.arrived(1, 1), Arrival::Awaited);
        book.record(5_000);
        let (sample, lost, late, reordered) = book.close();
        assert_eq!((sample.len(), lost, late, reordered), (2, 0, 1, 0));
        assert_eq!(sample.summary().max, None);
    }

    #[test]
    fn a_reply_behind_a_later_one_is_reordered() {
        let mut book = Book::new();
        book.gave_up(0);
        book.arrived(1, 1);
        book.record(5_000);
        book.arrived(0, 2);
        let (_, lost, late, reordered) = book.close();
        assert_eq!((lost, late, reordered), (0, 1, 1));
    }

    #[test]
    fn a_copy_counts_for_nothing() {
        let mut book = Book::new();
        book.arrived(0, 0);
        book.record(5_000);
        assert_eq!(book.arrived(0, 1), Arrival::Other);
        let (sample, lost, late, reordered) = book.close();
        assert_eq!((sample.len(), lost, late, reordered), (1, 0, 0, 0));
    }
}
