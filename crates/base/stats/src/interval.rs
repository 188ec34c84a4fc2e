//! Medians over trials and how sure they are.

use model::Interval;

/// Confidence of every interval that is shown or judged by.
pub const CONFIDENCE: f64 = 0.95;

/// Trials that an interval for the median needs at that confidence: with five, even [smallest, largest] covers the
/// median with probability 1 - 2/2^5 = 0.94 only.
pub const MIN_TRIALS_FOR_INTERVAL: u32 = 6;

/// The middle value, or the mean of the two in the middle; `None` without values.
pub fn median(values: &[f64]) -> Option<f64> {
    let sorted = sorted(values);
    let upper = *sorted.get(values.len() / 2)?;
    if values.len() % 2 == 1 { Some(upper) } else { Some(f64::midpoint(sorted[values.len() / 2 - 1], upper)) }
}

/// The values below which a quarter, half and three quarters lie, between neighbours in proportion; `None` without values.
///
/// Source: Hyndman and Fan, Sample quantiles in statistical packages, The American Statistician 50 (1996), definition 7, which R
/// and spreadsheets use.
pub fn quartiles(values: &[f64]) -> Option<[f64; 3]> {
    let sorted = sorted(values);
    let last = sorted.len().checked_sub(1)?;
    Some([0.25, 0.5, 0.75].map(|share| {
        let place = share * last as f64;
        let below = place.floor() as usize;
        let above = (below + 1).min(last);
        sorted[below] + (place - below as f64) * (sorted[above] - sorted[below])
    }))
}

/// An interval that covers the true median with at least this confidence, whatever the distribution of the values, as
/// long as they are independent: between the k-th smallest and the k-th largest, with k as large as the confidence
/// allows. `None` when the values are too few.
///
/// Source: Conover, Practical Nonparametric Statistics, 3rd ed., section 3.2; Le Boudec, Performance Evaluation of
/// Computer and Communication Systems, theorem 2.1 and table A.1.
pub fn median_interval(values: &[f64], confidence: f64) -> Option<Interval> {
    let n = values.len();
    let (k, confidence) = ranks_from_ends(n).take_while(|(_, reached)| *reached >= confidence).last()?;
    let sorted = sorted(values);
    Some(Interval { low: sorted[k - 1], high: sorted[n - k], confidence })
}

/// For k = 1, 2, …: the confidence of the interval between the k-th value from either end of `n`. It misses the median
/// when fewer than k values fall on one side: 1 - 2 P(B < k), B binomial with n and 1/2.
fn ranks_from_ends(n: usize) -> impl Iterator<Item = (usize, f64)> {
    // Logarithms, because 2^-n underflows from n = 1075 on.
    let mut ln_probability = -(n as f64) * std::f64::consts::LN_2;
    let mut below = 0.0;
    (1..=n / 2).map(move |k| {
        below += ln_probability.exp();
        ln_probability += ((n - k + 1) as f64 / k as f64).ln();
        (k, 1.0 - 2.0 * below)
    })
}

pub(crate) fn sorted(values: &[f64]) -> Vec<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A small generator of numbers between 0 and 1, the same each time (SplitMix64, Steele et al. 2014).
    pub(crate) struct Noise(pub(crate) u64);

    impl Noise {
        fn next(&mut self) -> f64 {
            self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut z = self.0;
            z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
        }

        /// A value of the exponential distribution, whose median is ln 2.
        pub(crate) fn exponential(&mut self) -> f64 {
            -(1.0 - self.next()).ln()
        }
    }

    #[test]
    fn medians() {
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[3.0]), Some(3.0));
        assert_eq!(median(&[5.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[4.0, 1.0, 2.0, 9.0]), Some(3.0));
    }

    /// As R's quantile() gives them.
    #[test]
    fn quartiles_lie_between_neighbours() {
        assert_eq!(quartiles(&[4.0, 1.0, 3.0, 2.0]), Some([1.75, 2.5, 3.25]));
        assert_eq!(quartiles(&[1.0, 2.0, 3.0, 4.0, 10.0]), Some([2.0, 3.0, 4.0]));
        assert_eq!((quartiles(&[7.0]), quartiles(&[])), (Some([7.0; 3]), None));
    }

    #[test]
    fn six_are_enough_and_five_are_not() {
        let values = [6.0, 1.0, 5.0, 2.0, 4.0, 3.0];
        assert_eq!(values.len(), MIN_TRIALS_FOR_INTERVAL as usize);
        let interval = median_interval(&values, 0.95).unwrap();
        assert_eq!((interval.low, interval.high), (1.0, 6.0));
        assert!((interval.confidence - 0.96875).abs() < 1e-12);
        assert_eq!(median_interval(&values[..5], 0.95), None);
        assert_eq!(median_interval(&[], 0.95), None);
    }

    /// From the binomial distribution with 1/2, in exact fractions: for n = 8, 1 - 2/2^8; for n = 9, 1 - 2 (1 + 9)/2^9.
    #[test]
    fn ranks_are_those_of_the_binomial_tables() {
        for (n, k, confidence) in [(8, 1, 0.992), (9, 2, 0.961), (10, 2, 0.979), (20, 6, 0.959), (30, 10, 0.957)] {
            let values: Vec<f64> = (1..=n).map(f64::from).collect();
            let interval = median_interval(&values, 0.95).unwrap();
            assert_eq!((interval.low, interval.high), (f64::from(k), f64::from(n + 1 - k)), "n = {n}");
            assert!((interval.confidence - confidence).abs() < 5e-4, "n = {n}: {}", interval.confidence);
        }
        // Many values, beyond where 2^-n underflows: k ≈ n/2 - 0.98 √n.
        let values: Vec<f64> = (1..=5000).map(f64::from).collect();
        let interval = median_interval(&values, 0.95).unwrap();
        assert_eq!((interval.low, interval.high), (2431.0, 2570.0));
    }

    #[test]
    fn the_interval_covers_the_median_as_often_as_it_says() {
        const ROUNDS: u32 = 20_000;
        let mut noise = Noise(1);
        for n in [6, 10, 15] {
            let mut covered = 0;
            let mut stated = 0.0;
            for _ in 0..ROUNDS {
                let values: Vec<f64> = (0..n).map(|_| noise.exponential()).collect();
                let interval = median_interval(&values, 0.95).unwrap();
                covered += u32::from(interval.low <= std::f64::consts::LN_2 && std::f64::consts::LN_2 <= interval.high);
                stated = interval.confidence;
            }
            let share = f64::from(covered) / f64::from(ROUNDS);
            // Four standard errors of a share near 0.97.
            assert!((share - stated).abs() < 0.005, "n = {n}: covered {share}, stated {stated}");
        }
    }
}
