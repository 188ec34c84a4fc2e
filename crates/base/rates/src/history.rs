//! The last minute.

use std::collections::VecDeque;

use model::Nanos;

/// Reach into the past.
const SPAN: u64 = 60_000_000_000;
/// A column is at least so long: a second, less what timers are late.
const COLUMN: u64 = 950_000_000;

/// One piece of the last minute.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Column {
    /// Length, in nanoseconds.
    pub length: Nanos,
    /// bit/s and packets/s of each way over that time; `None` where they are not known.
    pub rates: Option<[[f64; 2]; 2]>,
}

/// The last minute in columns of about a second, or of an interval where that is longer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct History {
    columns: VecDeque<Column>,
    /// The column under way: how long it is, for how long of that the counts are known, and bits and packets of each way.
    length: u64,
    known: u64,
    sums: [[f64; 2]; 2],
}

impl History {
    /// The columns, oldest first.
    pub fn columns(&self) -> impl DoubleEndedIterator<Item = &Column> + ExactSizeIterator {
        self.columns.iter()
    }

    /// The highest rates of one column, whichever way: bit/s and packets/s.
    pub fn highest(&self) -> [f64; 2] {
        let both = self.columns.iter().filter_map(|column| column.rates).flatten();
        both.fold([0.0; 2], |high, way| [high[0].max(way[0]), high[1].max(way[1])])
    }

    /// Adds so much time, with what passed in it: bits and packets of each way.
    pub(crate) fn add(&mut self, time: Nanos, passed: Option<[[f64; 2]; 2]>) {
        self.length += time.0;
        if let Some(passed) = passed {
            self.known += time.0;
            for (sums, passed) in self.sums.iter_mut().zip(passed) {
                *sums = [sums[0] + passed[0], sums[1] + passed[1]];
            }
        }
        if self.length >= COLUMN {
            self.close();
        }
    }

    fn close(&mut self) {
        let seconds = Nanos(self.known).as_secs_f64();
        let rates = (self.known > 0).then(|| self.sums.map(|way| way.map(|sum| sum / seconds)));
        self.columns.push_back(Column { length: Nanos(self.length), rates });
        (self.length, self.known, self.sums) = (0, 0, [[0.0; 2]; 2]);
        let mut all: u64 = self.columns.iter().map(|column| column.length.0).sum();
        while let Some(oldest) = self.columns.front().filter(|oldest| all - oldest.length.0 >= SPAN) {
            all -= oldest.length.0;
            self.columns.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(ticks: u64, millis: u64) -> History {
        let mut history = History::default();
        for tick in 1..=ticks {
            history.add(Nanos::from_millis(millis), Some([[tick as f64, 0.0], [0.0, 2.0]]));
        }
        history
    }

    #[test]
    fn a_minute_has_a_column_for_each_second_whatever_the_interval() {
        assert_eq!(after(200, 1000).columns().len(), 60);
        assert_eq!(after(900, 100).columns().len(), 60);
        assert_eq!(after(90, 10_000).columns().len(), 6);
        assert_eq!(after(3, 200_000).columns().len(), 1, "one that is longer than a minute stays");
    }

    #[test]
    fn short_intervals_are_one_column_with_their_mean() {
        let history = after(10, 100);
        let only: Vec<_> = history.columns().collect();
        assert_eq!(only, [&Column { length: Nanos::from_secs(1), rates: Some([[55.0, 0.0], [0.0, 20.0]]) }]);
        assert_eq!(history.highest(), [55.0, 20.0]);
    }

    #[test]
    fn time_in_which_nothing_is_known_is_a_gap_and_lowers_no_rate() {
        let mut history = History::default();
        history.add(Nanos::from_millis(500), None);
        history.add(Nanos::from_millis(500), Some([[100.0, 1.0]; 2]));
        history.add(Nanos::from_secs(1), None);
        let rates: Vec<_> = history.columns().map(|column| column.rates).collect();
        assert_eq!(rates, [Some([[200.0, 2.0]; 2]), None]);
    }
}
