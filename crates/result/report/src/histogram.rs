//! Histograms of times, for a terminal.

use stats::TimeHistogram;
use unicode_width::UnicodeWidthStr;

use crate::{
    show::{grouped, micros},
    terminal::WIDTH,
    texts::Texts,
};

/// Characters that bars are drawn with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bars {
    /// Block elements of Unicode, which show an eighth of a column.
    Blocks,
    /// ASCII.
    Ascii,
}

/// All times of one configuration.
pub(crate) struct Times {
    /// The configuration.
    pub(crate) name: String,
    /// The quantity with its unit, microseconds.
    pub(crate) axis: String,
    pub(crate) sample: TimeHistogram,
}

/// Most rows of times, gaps among them; the slowest have one more.
const MOST_ROWS: usize = 19;

/// Bins of a time axis.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Grid {
    /// As wide as this, in nanoseconds.
    Linear(u64),
    /// So many a decade.
    Log(u32),
}

impl Grid {
    /// Lower bound of a bin, in nanoseconds.
    fn bound(self, bin: u64) -> u64 {
        match self {
            Self::Linear(step) => bin * step,
            Self::Log(parts) => {
                let (decade, part) = ((bin / u64::from(parts)) as u32, bin % u64::from(parts));
                // Three digits, as times have no more.
                let digits = (100.0 * 10f64.powf(part as f64 / f64::from(parts))).round() as u64;
                digits * 10u64.pow(decade) / 100
            }
        }
    }

    /// The bin that a time is in.
    fn bin(self, ns: u64) -> u64 {
        match self {
            Self::Linear(step) => ns / step,
            Self::Log(parts) => {
                let ns = ns.max(1);
                let mut bin = ((ns as f64).log10() * f64::from(parts)) as u64;
                while self.bound(bin) > ns {
                    bin -= 1;
                }
                while self.bound(bin + 1) <= ns {
                    bin += 1;
                }
                bin
            }
        }
    }

    fn width_at(self, ns: u64) -> u64 {
        let bin = self.bin(ns);
        self.bound(bin + 1) - self.bound(bin)
    }

    /// The grid that shows most about the middle of these times: of those that need no more rows than the sample carries and a
    /// screen has, the one with the narrowest bin there. Times far apart make it logarithmic.
    fn of(times: &[(u64, u64)]) -> Self {
        let n: u64 = times.iter().map(|(_, count)| count).sum();
        let middle = middle(times, n);
        // Rice's rule.
        let most = ((2.0 * (n as f64).cbrt()) as usize).clamp(5, MOST_ROWS);
        // Narrower bins would show the steps that the sample is stored in.
        let steps = (1..=10).flat_map(|decade| [1, 2, 5].map(|digit| digit * 10u64.pow(decade)));
        let linear = steps.filter(|step| step * 100 >= middle).map(Self::Linear);
        let fitting = linear
            .chain([96, 48, 24, 12, 6, 3, 1].map(Self::Log))
            .filter(|grid| rows(&counts(times, |ns| grid.bin(ns))) <= most);
        // The widest always fit.
        fitting.min_by_key(|grid| grid.width_at(middle)).unwrap_or(Self::Log(1))
    }
}

/// Bins that have times, with their counts, in order.
fn counts(times: &[(u64, u64)], bin: impl Fn(u64) -> u64) -> Vec<(u64, u64)> {
    let mut counts: Vec<(u64, u64)> = Vec::new();
    for &(ns, count) in times {
        let bin = bin(ns);
        match counts.last_mut() {
            Some((last, sum)) if *last == bin => *sum += count,
            _ => counts.push((bin, count)),
        }
    }
    counts
}

/// Lower median of the times that came.
fn middle(times: &[(u64, u64)], n: u64) -> u64 {
    let mut seen = 0;
    let is_half = |(_, count): &&(u64, u64)| {
        seen += count;
        2 * seen >= n
    };
    times.iter().find(is_half).map_or(0, |(ns, _)| *ns)
}

/// Rows of these bins: one for each, and one for each gap between them.
fn rows(counts: &[(u64, u64)]) -> usize {
    counts.len() + counts.windows(2).filter(|pair| is_gap(pair[0].0, pair[1].0)).count()
}

fn is_gap(bin: u64, next: u64) -> bool {
    next > bin + 1
}

impl Bars {
    /// A bar of this share of the width; a count that is not zero shows.
    fn draw(self, count: u64, of: u64, width: usize) -> String {
        let parts = |columns: usize| (count as f64 / of as f64 * columns as f64).ceil() as usize;
        match self {
            Self::Ascii => "#".repeat(parts(width)),
            Self::Blocks => {
                let eighths = parts(8 * width);
                let rest = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"][eighths % 8];
                "█".repeat(eighths / 8) + rest
            }
        }
    }

    fn gap(self) -> &'static str {
        if self == Self::Blocks { "⋮" } else { ":" }
    }
}

/// One row: what is counted, how many, and the percentiles in it. Without a count a gap.
struct Row {
    label: String,
    count: Option<u64>,
    marks: String,
}

impl Times {
    /// An empty line, the name, and a row for each bin that has times; nothing for an empty sample.
    pub(crate) fn histogram(&self, bars: Bars, t: &Texts) -> Vec<String> {
        if self.sample.is_empty() {
            return vec![];
        }
        let rows = self.rows(bars, t);
        let sum = format!("n = {}", grouped(self.sample.len()));
        let shown = |count: Option<u64>| count.map(grouped).unwrap_or_default();
        let labels = rows.iter().map(|row| row.label.width()).chain([self.axis.width()]).max().unwrap_or_default();
        let counts = rows.iter().map(|row| shown(row.count).len()).chain([sum.len()]).max().unwrap_or_default();
        let marks = rows.iter().map(|row| row.marks.len()).max().unwrap_or_default();
        let bar = WIDTH.saturating_sub(2 + labels + 2 + 2 + counts + 2 + marks);
        let longest = rows.iter().filter_map(|row| row.count).max().unwrap_or(1);
        let line = |label: &str, drawn: &str, count: &str, marks: &str| {
            let (before, behind) = (" ".repeat(labels - label.width()), " ".repeat(bar - drawn.width()));
            let line = format!("  {before}{label}  {drawn}{behind}  {count:>counts$}  {marks}");
            line.trim_end().to_owned()
        };
        let row = |row: &Row| match row.count {
            Some(count) => line(&row.label, &bars.draw(count, longest, bar), &grouped(count), &row.marks),
            None => line(&row.label, "", "", ""),
        };
        let head = [String::new(), format!("  {}", self.name), line(&self.axis, "", &sum, "")];
        head.into_iter().chain(rows.iter().map(row)).collect()
    }

    /// Bins of most of the times, and the last of them. The slowest percent, or tenth of a small sample, lies behind it or in it, so that
    /// outliers do not press the rest into one row.
    fn grid(&self) -> (Grid, u64) {
        let summary = self.sample.summary();
        let end = summary.p99.or(summary.p90).unwrap_or(u64::MAX);
        let most: Vec<(u64, u64)> = self.sample.times().take_while(|(ns, _)| *ns <= end).collect();
        let grid = Grid::of(&most);
        (grid, most.last().map_or(0, |(ns, _)| grid.bin(*ns)))
    }

    fn rows(&self, bars: Bars, t: &Texts) -> Vec<Row> {
        let times: Vec<(u64, u64)> = self.sample.times().collect();
        let missing = self.sample.missing();
        let summary = self.sample.summary();
        let (grid, last) = self.grid();
        let slow = last + 1;
        let slowest = times.last().map_or(0, |(ns, _)| *ns);
        let percentiles = [("p50", summary.p50), ("p90", summary.p90), ("p99", summary.p99), ("p99.9", summary.p999)];
        let marks = |bin: u64| {
            let here = percentiles.iter().filter(|(_, ns)| ns.is_some_and(|ns| grid.bin(ns).min(slow) == bin));
            here.map(|(name, _)| *name).collect::<Vec<_>>().join(" ")
        };
        let counts = counts(&times, |ns| grid.bin(ns).min(slow));
        let mut rows = Vec::new();
        for (at, &(bin, count)) in counts.iter().enumerate() {
            if at > 0 && is_gap(counts[at - 1].0, bin) {
                rows.push(Row { label: bars.gap().to_owned(), count: None, marks: String::new() });
            }
            let high = if bin == slow { slowest } else { grid.bound(bin + 1) };
            let [low, high] = [grid.bound(bin), high].map(|ns| micros(ns as f64));
            rows.push(Row { label: format!("{low} – {high}"), count: Some(count), marks: marks(bin) });
        }
        if missing > 0 {
            rows.push(Row { label: t.get("histogram-missing"), count: Some(missing), marks: String::new() });
        }
        rows
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::lang::Lang;

    fn times(values: impl IntoIterator<Item = (u64, u64)>, missing: u64) -> Times {
        let mut sample = TimeHistogram::new();
        values.into_iter().for_each(|(ns, count)| sample.record_many(ns, count));
        (0..missing).for_each(|_| sample.record_missing());
        Times { name: "UDP".to_owned(), axis: "RTT (µs)".to_owned(), sample }
    }

    #[test]
    fn each_bin_has_a_bar_a_count_and_its_percentiles() {
        let few = times([(1_000, 30), (1_020, 60), (1_040, 9), (1_500, 1)], 0);
        assert_eq!(few.grid(), (Grid::Linear(20), 51));
        let bar = |length| format!("{:47}", "#".repeat(length));
        let expected = [
            String::new(),
            "  UDP".to_owned(),
            format!("     RTT (µs)  {}  n = 100", bar(0)),
            format!("  1.00 – 1.02  {}       30", bar(24)),
            format!("  1.02 – 1.04  {}       60  p50 p90", bar(47)),
            format!("  1.04 – 1.50  {}       10", bar(8)),
        ];
        assert_eq!(few.histogram(Bars::Ascii, Texts::of(Lang::En)), expected);
        assert!(times([], 0).histogram(Bars::Ascii, Texts::of(Lang::En)).is_empty());
    }

    #[test]
    fn bars_are_as_long_as_their_counts_and_every_count_shows() {
        assert_eq!([Bars::Ascii.draw(1, 1_000_000, 40), Bars::Blocks.draw(1, 1_000_000, 40)], ["#", "▏"]);
        assert_eq!(Bars::Ascii.draw(5, 10, 40).len(), 20);
        assert_eq!(Bars::Blocks.draw(7, 10, 4), "██▉");
        assert_eq!(Bars::Blocks.draw(10, 10, 4), "████");
    }

    #[test]
    fn outliers_share_a_row_and_times_far_apart_make_bins_logarithmic() {
        let body = (0..50).map(|i| (4_000 + 20 * i, 200));
        let outliers = (1..40).map(|i| (25_000 * i, 1));
        let far = times(body.clone().chain(outliers), 0);
        assert!(matches!(far.grid(), (Grid::Linear(..=100), _)), "{:?}", far.grid());
        assert_eq!(far.grid(), times(body, 0).grid());
        let last = far.histogram(Bars::Ascii, Texts::of(Lang::En)).pop().expect("a row");
        assert!(last.contains(" – 975.00  #") && last.ends_with("39  p99.9"), "{last}");
        let apart = times((0..300).map(|i| ((1_000.0 * 1.03f64.powi(i)) as u64, 10)), 0);
        assert!(matches!(apart.grid(), (Grid::Log(_), _)), "{:?}", apart.grid());
        let sparse = times([(1_000, 50), (1_010, 50), (900_000, 50)], 0).histogram(Bars::Ascii, Texts::of(Lang::En));
        assert!(sparse.iter().any(|line| line.trim() == ":"), "{sparse:#?}");
    }

    #[test]
    fn what_never_came_has_a_row_of_its_own_in_either_language() {
        let late = times([(20_000, 100)], 7);
        for (lang, label) in [(Lang::En, "no answer in time"), (Lang::Ja, "期限内に応答なし")] {
            let lines = late.histogram(Bars::Blocks, Texts::of(lang));
            let last = lines.last().expect("a row");
            assert!(last.contains(label) && last.ends_with(" 7"), "{last}");
        }
        assert_eq!(times([], 3).histogram(Bars::Blocks, Texts::of(Lang::En)).len(), 4);
    }

    proptest! {
        #[test]
        fn every_sample_fits_a_screen_and_is_counted_whole(
            values in prop::collection::vec((0u64..=60_000_000_000, 1u64..50), 1..300), power in 0u32..9, missing in 0u64..3,
        ) {
            let all = times(values.iter().map(|(ns, count)| (ns / 10u64.pow(power), *count)), missing);
            for bars in [Bars::Blocks, Bars::Ascii] {
                let lines = all.histogram(bars, Texts::of(Lang::Ja));
                prop_assert!(lines.len() <= MOST_ROWS + 5 && lines.iter().all(|line| line.width() <= WIDTH), "{:#?}", lines);
            }
            let rows = all.rows(Bars::Ascii, Texts::of(Lang::En));
            prop_assert_eq!(rows.iter().filter_map(|row| row.count).sum::<u64>(), all.sample.len());
            let marked = rows.iter().flat_map(|row| row.marks.split_whitespace()).count();
            let summary = all.sample.summary();
            prop_assert_eq!(marked, [summary.p50, summary.p90, summary.p99, summary.p999].iter().flatten().count());
        }

        #[test]
        fn a_time_is_within_the_bounds_of_its_bin(ns in 1u64..=60_000_000_000) {
            for grid in [Grid::Linear(50), Grid::Log(96), Grid::Log(12), Grid::Log(1)] {
                let bin = grid.bin(ns);
                prop_assert!(grid.bound(bin) <= ns && ns < grid.bound(bin + 1), "{:?}", grid);
            }
        }
    }
}
