//! Distance of one sample above another.

use model::Interval;

use crate::interval::{median, sorted};

/// Trials of each of two runs that are always enough for an interval of their difference at [`CONFIDENCE`](crate::CONFIDENCE):
/// of the 70 ways to mix four values with four others, two set them wholly apart, and 1 - 2/70 = 0.97; with three each it is
/// 1 - 2/20 = 0.90 only.
pub const MIN_TRIALS_FOR_SHIFT: u32 = 4;

/// The same at any confidence below 1: the fewest trials of each of two runs of which those set wholly apart are rare enough.
pub fn min_trials_for_shift(confidence: f64) -> u32 {
    // Ways to mix n values with n others: binomial(2n, n).
    let mut ways = 1.0;
    for n in 1..MOST_TRIALS {
        ways *= f64::from(2 * (2 * n - 1)) / f64::from(n);
        if 1.0 - 2.0 / ways >= confidence {
            return n;
        }
    }
    MOST_TRIALS
}

/// Enough for any confidence that is told from 1.
const MOST_TRIALS: u32 = 30;

/// By how much `other` lies above `reference`: the median of the differences between each value of one and each of the other
/// (Hodges–Lehmann). `None` when one of them is empty.
///
/// Source: Hodges and Lehmann, Estimates of location based on rank tests, Ann. Math. Stat. 34 (1963); Hollander, Wolfe and
/// Chicken, Nonparametric Statistical Methods, 3rd ed., section 4.2.
pub fn shift(reference: &[f64], other: &[f64]) -> Option<f64> {
    median(&differences(reference, other))
}

/// An interval that covers the true shift with at least this confidence, whatever the distribution, as long as values are
/// independent and both samples differ in their place alone: between the k-th smallest and the k-th largest of the differences
/// between each value of one and each of the other, by the distribution of the Mann–Whitney statistic. Ties make it wider than it
/// need be, never narrower. `None` when the values are too few.
///
/// Source: Hollander, Wolfe and Chicken, Nonparametric Statistical Methods, 3rd ed., section 4.3 (Moses); Conover, Practical
/// Nonparametric Statistics, 3rd ed., section 5.1.
pub fn shift_interval(reference: &[f64], other: &[f64], confidence: f64) -> Option<Interval> {
    let (k, confidence) = rank_from_ends(reference.len(), other.len(), confidence)?;
    let sorted = sorted(&differences(reference, other));
    Some(Interval { low: sorted[k - 1], high: sorted[sorted.len() - k], confidence })
}

fn differences(reference: &[f64], other: &[f64]) -> Vec<f64> {
    // Two that are infinite are alike; their difference is no number.
    let difference = |from: f64, to: f64| if from == to { 0.0 } else { to - from };
    reference.iter().flat_map(|from| other.iter().map(move |to| difference(*from, *to))).collect()
}

/// The largest k for which the interval between the k-th difference from either end reaches the confidence, and what it reaches.
fn rank_from_ends(m: usize, n: usize, confidence: f64) -> Option<(usize, f64)> {
    if m * n <= MOST_EXACT_PAIRS {
        let mut below = 0.0;
        let reached = probabilities(m, n).into_iter().map(|probability| {
            below += probability;
            1.0 - 2.0 * below
        });
        // The k-th from the ends misses the shift when the statistic is below k.
        (1..).zip(reached).take_while(|(_, reached)| *reached >= confidence).last()
    } else {
        Some((normal_rank(m, n, confidence), confidence))
    }
}

/// Above this many pairs the normal approximation takes over: the exact distribution costs the square of them.
const MOST_EXACT_PAIRS: usize = 2500;

/// Probability of each value of the Mann–Whitney statistic of `m` and `n` values of one distribution, up to the middle.
///
/// By the recurrence of Mann and Whitney, On a test of whether one of two random variables is stochastically larger than the
/// other, Ann. Math. Stat. 18 (1947): the largest of all values is one of the n with probability n/(m+n), and then stands above m.
fn probabilities(m: usize, n: usize) -> Vec<f64> {
    let most = m * n / 2;
    let certain = || {
        let mut row = vec![0.0; most + 1];
        row[0] = 1.0;
        row
    };
    // Ways to choose as many values of one kind as the index says, and as many of the other kind as there were rounds.
    let mut rows: Vec<Vec<f64>> = (0..=m).map(|_| certain()).collect();
    for b in 1..=n {
        rows[0] = certain();
        for a in 1..=m {
            let (of_a, of_b) = (a as f64 / (a + b) as f64, b as f64 / (a + b) as f64);
            // `rows[a]` is still that of one round before, `rows[a - 1]` of this one.
            let next = (0..=most).map(|u| {
                let above = if u >= a { rows[a][u - a] } else { 0.0 };
                of_a * rows[a - 1][u] + of_b * above
            });
            rows[a] = next.collect();
        }
    }
    rows.swap_remove(m)
}

/// As tables give it beyond their end (Conover, table A7): half the pairs, less 1.96 standard deviations of the statistic where the
/// confidence is 0.95.
fn normal_rank(m: usize, n: usize, confidence: f64) -> usize {
    let (m, n) = (m as f64, n as f64);
    let rank = m * n / 2.0 - normal_quantile((1.0 - confidence) / 2.0) * (m * n * (m + n + 1.0) / 12.0).sqrt();
    (rank.floor() as usize).max(1)
}

/// Value that a standard normal variable exceeds with this probability below one half, to 0.00045.
///
/// Source: Abramowitz and Stegun, Handbook of Mathematical Functions, formula 26.2.23.
fn normal_quantile(tail: f64) -> f64 {
    let t = (-2.0 * tail.ln()).sqrt();
    t - (2.515_517 + t * (0.802_853 + t * 0.010_328)) / (1.0 + t * (1.432_788 + t * (0.189_269 + t * 0.001_308)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CONFIDENCE, interval::tests::Noise};

    #[test]
    fn four_each_are_enough_and_three_are_not() {
        let interval = shift_interval(&[1.0, 2.0, 3.0, 4.0], &[11.0, 12.0, 13.0, 14.0], CONFIDENCE).unwrap();
        assert_eq!((interval.low, interval.high), (7.0, 13.0));
        assert!((interval.confidence - (1.0 - 2.0 / 70.0)).abs() < 1e-12);
        assert_eq!(shift_interval(&[1.0, 2.0, 3.0], &[11.0, 12.0, 13.0], CONFIDENCE), None);
        assert_eq!(shift_interval(&[], &[1.0; 50], CONFIDENCE), None);
        assert_eq!((shift(&[1.0, 2.0, 4.0], &[11.0]), shift(&[], &[1.0])), (Some(9.0), None));
    }

    #[test]
    fn as_many_trials_as_are_said_to_be_needed_give_an_interval_and_one_less_gives_none() {
        assert_eq!(min_trials_for_shift(CONFIDENCE), MIN_TRIALS_FOR_SHIFT);
        for comparisons in [1, 2, 20, 400] {
            let confidence = 1.0 - (1.0 - CONFIDENCE) / f64::from(comparisons);
            let needed = min_trials_for_shift(confidence) as usize;
            let values = |count: usize| -> Vec<f64> { (0..count).map(|value| value as f64).collect() };
            let has_interval = |count| shift_interval(&values(count), &values(count), confidence).is_some();
            assert!(has_interval(needed) && !has_interval(needed - 1), "{comparisons}: {needed}");
        }
    }

    /// The two-sided critical values at 0.05 of the usual table of the Mann–Whitney statistic: the interval takes the next rank.
    #[test]
    fn ranks_are_those_of_the_tables() {
        let tables = [
            (4, 4, 0),
            (3, 5, 0),
            (2, 8, 0),
            (5, 5, 2),
            (6, 6, 5),
            (8, 8, 13),
            (5, 10, 8),
            (10, 10, 23),
            (20, 20, 127),
        ];
        for (m, n, critical) in tables {
            for (m, n) in [(m, n), (n, m)] {
                assert_eq!(rank_from_ends(m, n, CONFIDENCE).unwrap().0, critical + 1, "{m} and {n}");
            }
        }
    }

    /// Permeability of the human chorioamnion, Hollander and Wolfe, table 4.1, with the estimate and interval they derive.
    #[test]
    fn a_known_example_comes_out() {
        let term = [0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46];
        let early = [1.15, 0.88, 0.90, 0.74, 1.21];
        assert!((shift(&term, &early).unwrap() + 0.305).abs() < 1e-9);
        let interval = shift_interval(&term, &early, CONFIDENCE).unwrap();
        assert!((interval.low + 0.76).abs() < 1e-9 && (interval.high - 0.15).abs() < 1e-9, "{interval:?}");
    }

    #[test]
    fn the_approximation_meets_the_exact_distribution_where_it_takes_over() {
        let exact = rank_from_ends(50, 50, CONFIDENCE).unwrap().0;
        assert!(normal_rank(50, 50, CONFIDENCE).abs_diff(exact) <= 1, "{exact}");
        let exact = rank_from_ends(50, 50, 0.999).unwrap().0;
        assert!(normal_rank(50, 50, 0.999).abs_diff(exact) <= 12, "{exact}");
        for (tail, quantile) in [(0.025, 1.959_964), (0.005, 2.575_829), (0.0005, 3.290_527)] {
            assert!((normal_quantile(tail) - quantile).abs() < 4.5e-4, "{tail}");
        }
        let total: f64 = probabilities(7, 6).iter().sum();
        // Half of the distribution and the value in the middle: 42 pairs.
        assert!((0.5..0.56).contains(&total), "{total}");
    }

    #[test]
    fn what_is_infinite_leaves_its_end_open() {
        let reference = [1.0, 2.0, 3.0, 4.0];
        let interval = shift_interval(&reference, &[f64::INFINITY; 4], CONFIDENCE).unwrap();
        assert_eq!((interval.low, interval.high), (f64::INFINITY, f64::INFINITY));
        let alike = shift_interval(&[f64::NEG_INFINITY; 4], &[f64::NEG_INFINITY; 4], CONFIDENCE).unwrap();
        assert_eq!((alike.low, alike.high), (0.0, 0.0));
    }

    #[test]
    fn the_interval_covers_the_shift_as_often_as_it_says() {
        const ROUNDS: u32 = 10_000;
        const SHIFT: f64 = 0.7;
        let mut noise = Noise(3);
        for (m, n) in [(4, 4), (6, 6), (3, 10)] {
            let (mut covered, mut stated) = (0, 0.0);
            for _ in 0..ROUNDS {
                let reference: Vec<f64> = (0..m).map(|_| noise.exponential()).collect();
                let other: Vec<f64> = (0..n).map(|_| noise.exponential() + SHIFT).collect();
                let interval = shift_interval(&reference, &other, CONFIDENCE).unwrap();
                covered += u32::from(interval.low <= SHIFT && SHIFT <= interval.high);
                stated = interval.confidence;
            }
            let share = f64::from(covered) / f64::from(ROUNDS);
            // Four standard errors of a share near 0.96.
            assert!((share - stated).abs() < 0.008, "{m} and {n}: covered {share}, stated {stated}");
        }
    }
}
