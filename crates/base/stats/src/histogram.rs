//! A sample of times, and the percentiles it supports.

use std::sync::LazyLock;

use base64::{Engine, prelude::BASE64_STANDARD};
use hdrhistogram::{
    Histogram,
    serialization::{Deserializer, Serializer, V2Serializer},
};
use model::{TimeSummary, trial::NEEDED_ABOVE};

/// The longest time that is distinguished from longer ones: 60 s, in nanoseconds.
const LONGEST: u64 = 60_000_000_000;

/// Time at which missing replies are counted, in nanoseconds: over every timeout a plan may ask for. So they take their
/// place at the upper end of the sample, stay with it when it is stored, and any reader of HDR histograms sees them there.
const MISSING: u64 = 64_000_000_000;

/// Relative error of a stored time is below 10^-3 with three significant digits.
const SIGNIFICANT_DIGITS: u8 = 3;

/// All times of one kind in a trial (round trips, delays, gaps), in nanoseconds, and how many replies are missing.
///
/// Times are kept to three significant digits (HDR histogram, from 1 ns to 60 s, longer ones count as 60 s); the
/// smallest, the largest and the sum exactly.
#[derive(Clone, Debug)]
pub struct TimeHistogram {
    sample: Histogram<u64>,
    min: u64,
    max: u64,
    sum: u128,
}

/// A stored histogram that cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum DecodeError {
    /// Not base64.
    #[error("it is not base64 ({0})")]
    Base64(#[from] base64::DecodeError),
    /// Not an HDR histogram of the kind that is stored here.
    #[error("it is not an HDR histogram (V2) of 1 ns to 64 s with three digits")]
    Foreign,
    /// The head is right, the counts are not.
    #[error("its counts are damaged: {0}")]
    Counts(String),
}

impl Default for TimeHistogram {
    fn default() -> Self {
        Self::new()
    }
}

impl TimeHistogram {
    /// An empty sample. All memory it will ever need, about 220 KiB, is taken here.
    pub fn new() -> Self {
        let mut sample = Histogram::new_with_bounds(1, MISSING, SIGNIFICANT_DIGITS).expect("the bounds are constants");
        // Writing to all of it has the kernel give the memory now, not in the measuring loop.
        sample.reset();
        Self { sample, min: u64::MAX, max: 0, sum: 0 }
    }

    /// Takes one time into the sample. Neither allocates nor fails: made for the measuring loop.
    pub fn record(&mut self, nanos: u64) {
        let nanos = nanos.min(LONGEST);
        self.sample.saturating_record(nanos);
        self.min = self.min.min(nanos);
        self.max = self.max.max(nanos);
        self.sum += u128::from(nanos);
    }

    /// Takes a time that was counted so often into the sample.
    pub fn record_many(&mut self, nanos: u64, count: u64) {
        let nanos = nanos.min(LONGEST);
        if count > 0 {
            self.sample.saturating_record_n(nanos, count);
            self.min = self.min.min(nanos);
            self.max = self.max.max(nanos);
            self.sum += u128::from(nanos) * u128::from(count);
        }
    }

    /// Takes a lost or late reply into the sample: its time is unknown but over the timeout.
    pub fn record_missing(&mut self) {
        self.sample.saturating_record(MISSING);
    }

    /// Takes all of another sample into this one.
    pub fn merge(&mut self, other: &Self) {
        self.sample.add(&other.sample).expect("all samples have the same bounds");
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
        self.sum += other.sum;
    }

    /// Size of the sample, missing replies included.
    pub fn len(&self) -> u64 {
        self.sample.len()
    }

    /// Whether nothing was taken into the sample yet.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The figures that the sample supports. Mean and maximum are unknown as soon as a reply is missing; so is a
    /// percentile whose rank is that of a missing reply.
    pub fn summary(&self) -> TimeSummary {
        let n = self.len();
        let received = n - self.missing();
        let complete = received == n && n > 0;
        let ranks = self.ranks();
        let percentile = |per_mille: u64| ranks.value(rank(n, 1000 - per_mille, 1000)?);
        TimeSummary {
            n,
            min: (received > 0).then_some(self.min),
            mean: complete.then(|| self.sum as f64 / n as f64),
            p50: percentile(500),
            p90: percentile(900),
            p99: percentile(990),
            p999: percentile(999),
            max: complete.then_some(self.max),
        }
    }

    /// Points for a plot of the distribution: percentile (0 to 100) and nanoseconds, as far as the sample supports them.
    /// The percentiles are round, and ten times as dense with each nine: 0, 5, … 85, 90, 90.5, … 98.5, 99, 99.05, …
    pub fn distribution(&self) -> Vec<(f64, u64)> {
        let n = self.len();
        let ranks = self.ranks();
        // The share of the sample above each point, as a fraction: 20/20, 19/20, … 3/20, then 20/200 and so on.
        (0..17)
            .map(|nines| 20 * 10u64.pow(nines))
            .flat_map(|of| (3..=20).rev().map(move |parts| (parts, of)))
            .map_while(|(parts, of)| {
                let value = ranks.value(rank(n, parts, of)?)?;
                Some((100.0 - 100.0 * parts as f64 / of as f64, value))
            })
            .collect()
    }

    /// Each distinct time among the replies that came, to three significant digits, with its count, in order.
    pub fn times(&self) -> impl Iterator<Item = (u64, u64)> {
        let max = self.max;
        // A bucket's upper end may lie beyond the largest time in it.
        received(&self.sample).map(move |(value, count)| (value.min(max), count))
    }

    /// Lost and late replies in the sample.
    pub fn missing(&self) -> u64 {
        self.sample.count_at(MISSING)
    }

    /// The sample as text: HDR histogram, V2 encoding, base64. Missing replies are in it, counted at 64 s.
    pub fn encode(&self) -> String {
        BASE64_STANDARD.encode(v2(&self.sample))
    }

    /// Reads what [`encode`](Self::encode) wrote. Smallest, largest and mean are then known to three digits only.
    pub fn decode(text: &str) -> Result<Self, DecodeError> {
        let bytes = BASE64_STANDARD.decode(text)?;
        if !has_our_head(&bytes) {
            return Err(DecodeError::Foreign);
        }
        let sample: Histogram<u64> =
            Deserializer::new().deserialize(&mut bytes.as_slice()).map_err(|e| DecodeError::Counts(e.to_string()))?;
        let mut read = Self { sample, min: u64::MAX, max: 0, sum: 0 };
        for (value, count) in received(&read.sample) {
            read.min = read.min.min(read.sample.lowest_equivalent(value));
            read.max = value;
            read.sum += u128::from(read.sample.median_equivalent(value)) * u128::from(count);
        }
        Ok(read)
    }

    fn ranks(&self) -> Ranks {
        let mut rank = 0u64;
        let last_ranks = self.times().map(|(value, count)| {
            rank = rank.saturating_add(count);
            (rank, value)
        });
        Ranks(last_ranks.collect())
    }
}

/// Rank, from 1, of the percentile that leaves `parts / of` of the sample above it; `None` if the sample does not
/// support it. In whole numbers, because 10 000 × (1 − 0.999) is not quite 10 in floating point.
fn rank(n: u64, parts: u64, of: u64) -> Option<u64> {
    let above = u128::from(n) * u128::from(parts) / u128::from(of);
    let above = u64::try_from(above).ok()?;
    (above >= NEEDED_ABOVE).then(|| (n - above).max(1))
}

/// Each distinct time among the replies that came, with the rank of its last occurrence.
struct Ranks(Vec<(u64, u64)>);

impl Ranks {
    /// The time at this rank, counted from 1; `None` where only missing replies are.
    fn value(&self, rank: u64) -> Option<u64> {
        let at = self.0.partition_point(|(last, _)| *last < rank);
        self.0.get(at).map(|(_, value)| *value)
    }
}

/// Each distinct time (the upper end of its bucket) among the replies that came, with its count, in order.
fn received(sample: &Histogram<u64>) -> impl Iterator<Item = (u64, u64)> {
    sample
        .iter_recorded()
        .map(|step| (step.value_iterated_to(), step.count_at_value()))
        .take_while(|(value, _)| *value < MISSING)
}

fn v2(sample: &Histogram<u64>) -> Vec<u8> {
    let mut bytes = Vec::new();
    V2Serializer::new().serialize(sample, &mut bytes).expect("a vector takes all, and counts are far below 2^63");
    bytes
}

/// Whether these bytes begin as those of our own histograms do: cookie, length of the rest, digits and bounds. The
/// deserializer would believe any length and any bounds, and allocate for them.
fn has_our_head(bytes: &[u8]) -> bool {
    const LENGTH: std::ops::Range<usize> = 4..8;
    const HEAD: usize = 40;
    // Each stored trial is read: an empty sample is 220 KiB.
    static OWN: LazyLock<Vec<u8>> = LazyLock::new(|| v2(&TimeHistogram::new().sample));
    let own = &*OWN;
    let counts = u32::try_from(bytes.len().saturating_sub(HEAD)).unwrap_or(u32::MAX).to_be_bytes();
    bytes.len() >= HEAD
        && bytes[..LENGTH.start] == own[..LENGTH.start]
        && bytes[LENGTH] == counts
        && bytes[LENGTH.end..HEAD] == own[LENGTH.end..HEAD]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(values: impl IntoIterator<Item = u64>) -> TimeHistogram {
        let mut histogram = TimeHistogram::new();
        values.into_iter().for_each(|value| histogram.record(value));
        histogram
    }

    fn with_missing(mut histogram: TimeHistogram, missing: u64) -> TimeHistogram {
        (0..missing).for_each(|_| histogram.record_missing());
        histogram
    }

    #[test]
    fn small_samples_show_only_what_they_support() {
        let nineteen = of(1..=19).summary();
        assert_eq!((nineteen.min, nineteen.p50, nineteen.max), (Some(1), None, Some(19)));
        let twenty = of(1..=20).summary();
        assert_eq!((twenty.p50, twenty.p90), (Some(10), None));
        assert_eq!(of(1..=100).summary().p90, Some(90));
        let thousand = of(1..=1000).summary();
        assert_eq!((thousand.p99, thousand.p999, thousand.mean), (Some(990), None, Some(500.5)));
        assert_eq!(of((1..=10_000).map(|i| i / 10)).summary().p999, Some(999));
        assert!(rank(10_000, 1, 1000).is_some() && rank(9_999, 1, 1000).is_none());
    }

    #[test]
    fn nothing_recorded_is_no_figure() {
        let empty = TimeHistogram::new();
        assert_eq!(empty.summary(), TimeSummary::default());
        assert!(empty.is_empty() && empty.distribution().is_empty());
    }

    #[test]
    fn missing_replies_hide_what_they_make_unknown() {
        let one = with_missing(of(1..=999), 1).summary();
        assert_eq!((one.n, one.min, one.p50, one.p99), (1000, Some(1), Some(500), Some(990)));
        assert_eq!((one.mean, one.max), (None, None));
        // 11 of 1000: the 990th lies among the missing.
        let more = with_missing(of(1..=989), 11).summary();
        assert_eq!((more.p90, more.p99), (Some(900), None));
        let all = with_missing(TimeHistogram::new(), 100).summary();
        assert_eq!(all, TimeSummary { n: 100, ..TimeSummary::default() });
    }

    #[test]
    fn every_time_is_counted_and_each_percentile_is_one_of_them() {
        let sample = with_missing(of((1..=999).chain([70_001])), 3);
        let times: Vec<(u64, u64)> = sample.times().collect();
        assert_eq!(times.iter().map(|(_, count)| count).sum::<u64>() + sample.missing(), sample.len());
        assert_eq!((times.last(), sample.missing()), (Some(&(70_001, 1)), 3));
        let p90 = sample.summary().p90.unwrap();
        assert!(times.iter().any(|(time, _)| *time == p90));
    }

    #[test]
    fn times_beyond_the_bounds_are_kept_at_them() {
        let wide = of([0, u64::MAX, u64::MAX]);
        assert_eq!((wide.summary().min, wide.summary().max, wide.len()), (Some(0), Some(LONGEST), 3));
        assert_eq!(TimeHistogram::decode(&wide.encode()).unwrap().missing(), 0);
    }

    #[test]
    fn the_distribution_ends_where_the_support_does() {
        let percentiles =
            |n: u64| of(1..=n).distribution().into_iter().map(|(percentile, _)| percentile).collect::<Vec<_>>();
        assert_eq!(percentiles(20), [0.0, 5.0, 10.0, 15.0, 20.0, 25.0, 30.0, 35.0, 40.0, 45.0, 50.0]);
        assert_eq!(percentiles(1000).last(), Some(&99.0));
        let points = of(1..=1000).distribution();
        assert!(points.contains(&(50.0, 500)) && points.contains(&(90.0, 900)) && points.contains(&(90.5, 905)));
        assert_eq!(with_missing(of(1..=500), 500).distribution().last(), Some(&(50.0, 500)));
    }

    #[test]
    fn foreign_text_is_refused() {
        let refused = |text: &str| TimeHistogram::decode(text).unwrap_err();
        assert!(matches!(refused("no base64!"), DecodeError::Base64(_)));
        assert!(matches!(refused(""), DecodeError::Foreign));
        let other = Histogram::<u64>::new_with_bounds(1, 1000, 2).unwrap();
        assert!(matches!(refused(&BASE64_STANDARD.encode(v2(&other))), DecodeError::Foreign));
        let mut cut = v2(&of([5, 70_000]).sample);
        cut.pop();
        assert!(matches!(refused(&BASE64_STANDARD.encode(&cut)), DecodeError::Foreign));
        let last = cut.len() - 1;
        cut[LENGTH_LOW_BYTE] -= 1;
        cut[last] = 0xff;
        assert!(matches!(refused(&BASE64_STANDARD.encode(cut)), DecodeError::Counts(_)));
    }

    /// Lowest byte of the length in the head.
    const LENGTH_LOW_BYTE: usize = 7;

    fn close(is: u64, wanted: u64) -> bool {
        is.abs_diff(wanted) as f64 <= wanted as f64 * 1e-3
    }

    proptest! {
        #[test]
        fn percentiles_agree_with_the_sorted_sample(
            times in prop::collection::vec(1u64..=LONGEST, 1..3000), missing in 0u64..50,
        ) {
            let mut sorted = times.clone();
            sorted.sort_unstable();
            let n = times.len() as u64 + missing;
            let summary = with_missing(of(times), missing).summary();
            let figures = [(500, summary.p50), (900, summary.p90), (990, summary.p99), (999, summary.p999)];
            for (per_mille, figure) in figures {
                let rank = (n * per_mille).div_ceil(1000) as usize;
                let wanted = sorted.get(rank - 1).filter(|_| n * (1000 - per_mille) >= 10_000);
                prop_assert_eq!(figure.is_some(), wanted.is_some());
                if let (Some(figure), Some(wanted)) = (figure, wanted) {
                    prop_assert!(close(figure, *wanted), "p{}: {} for {}", per_mille, figure, wanted);
                }
            }
        }

        #[test]
        fn what_is_stored_is_read_back(times in prop::collection::vec(0u64..=LONGEST, 1..500), missing in 0u64..50) {
            let sample = with_missing(of(times), missing);
            let read = TimeHistogram::decode(&sample.encode()).unwrap();
            prop_assert_eq!(&read.sample, &sample.sample);
            prop_assert!(close(read.min, sample.min) && close(read.max, sample.max));
            let mean = |one: &TimeHistogram| one.sum as u64 / one.len();
            prop_assert!(close(mean(&read), mean(&sample)) || mean(&sample) < 1000);
        }

        #[test]
        fn merging_is_recording_both(a in prop::collection::vec(0u64..=LONGEST, 0..200),
                                     b in prop::collection::vec(0u64..=LONGEST, 0..200), missing in 0u64..50) {
            let mut merged = of(a.clone());
            merged.merge(&with_missing(of(b.clone()), missing));
            let both = with_missing(of(a.into_iter().chain(b)), missing);
            prop_assert_eq!(merged.summary(), both.summary());
            prop_assert_eq!(merged.sample, both.sample);
        }

        #[test]
        fn damaged_counts_never_panic(counts in prop::collection::vec(any::<u8>(), 0..200)) {
            let mut bytes = v2(&TimeHistogram::new().sample);
            bytes.truncate(40);
            bytes[4..8].copy_from_slice(&(counts.len() as u32).to_be_bytes());
            bytes.extend(counts);
            if let Ok(read) = TimeHistogram::decode(&BASE64_STANDARD.encode(bytes)) {
                read.summary();
                read.distribution();
            }
        }
    }
}
