//! Whether a rate had settled.

use crate::median;

/// Intervals there have to be after one before it can be judged: fewer have no median to speak of, and no noise.
const REST: usize = 4;

/// A rate this close to the later ones is settled, however little they vary.
const CLOSE: f64 = 0.05;

/// Times the noise that one interval may be away. 3 σ would do if σ were known; it is estimated from a few intervals.
const NOISE: f64 = 4.0;

/// The median of |x - y| of two values of one normal distribution, in its σ: 0.6745 √2.
const SIGMAS: f64 = 0.954;

/// From which interval on a rate is settled: 0 if it was from the beginning. `None` where the intervals (fewer than 5) are
/// too few to tell.
///
/// Interval after interval is held against all that came after it: settled is the first that lies within 5 % of their
/// median, or within 4 σ of it where they are noisier. σ comes from the median difference between neighbours, so that
/// neither a slow rise nor a single bad interval passes for noise. Later dips do not count: that is how the path is, not
/// how it began. A rise that goes on until the end is found as far as it stands out from the noise, and at most until the
/// last four intervals.
pub fn settled_after(intervals: &[f64]) -> Option<usize> {
    let judged = intervals.len().checked_sub(REST).filter(|judged| *judged > 0)?;
    Some((0..judged).find(|at| is_settled(intervals[*at], &intervals[at + 1..])).unwrap_or(judged))
}

fn is_settled(rate: f64, rest: &[f64]) -> bool {
    let steps: Vec<f64> = rest.windows(2).map(|pair| (pair[1] - pair[0]).abs()).collect();
    match (median(rest), median(&steps)) {
        (Some(middle), Some(step)) => (rate - middle).abs() <= (CLOSE * middle).max(NOISE * step / SIGMAS),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ramp_is_left_out_and_what_follows_is_not() {
        assert_eq!(settled_after(&[2.0, 5.0, 8.0, 9.4, 9.3, 9.4, 9.5, 9.4, 9.4, 9.3]), Some(3));
        // The same from above: a burst that a buffer takes before the shaper behind it does its work.
        assert_eq!(settled_after(&[9.0, 1.0, 1.0, 1.01, 0.99, 1.0]), Some(1));
    }

    #[test]
    fn a_ramp_that_goes_on_until_the_end_never_settles_early() {
        let rising: Vec<f64> = (1..=20).map(f64::from).collect();
        assert!(settled_after(&rising) >= Some(10), "{:?}", settled_after(&rising));
    }

    #[test]
    fn a_steady_rate_is_settled_from_the_beginning() {
        assert_eq!(settled_after(&[9.41; 10]), Some(0));
        assert_eq!(settled_after(&[0.0; 10]), Some(0));
        // Goodput of TCP between two namespaces of a virtual machine with two cores, Gbit/s.
        assert_eq!(settled_after(&[8.4, 9.9, 9.1, 8.0, 9.6, 8.8, 9.9, 8.3, 9.2, 9.0]), Some(0));
    }

    #[test]
    fn what_happens_later_is_no_unsettled_beginning() {
        assert_eq!(settled_after(&[9.4, 9.4, 9.3, 9.4, 9.4, 9.4, 9.4, 5.0, 2.0, 0.1]), Some(0));
        assert_eq!(settled_after(&[9.4, 9.3, 0.1, 9.4, 9.4, 9.3, 9.4, 9.4, 9.4, 9.4]), Some(0));
    }

    #[test]
    fn too_few_intervals_say_nothing() {
        assert_eq!(settled_after(&[]), None);
        assert_eq!(settled_after(&[1.0, 9.0, 9.0, 9.0]), None);
        assert_eq!(settled_after(&[1.0, 9.0, 9.0, 9.0, 9.0]), Some(1));
    }

    /// Noise of a fifth of the rate, evenly spread, the same each time (the generator of Park and Miller 1988).
    #[test]
    fn noise_alone_seldom_looks_unsettled() {
        const ROUNDS: u32 = 10_000;
        let mut state = 1_u64;
        let mut noisy = || {
            state = state * 48_271 % 2_147_483_647;
            10.0 + 2.0 * state as f64 / 2_147_483_647.0
        };
        let mut unsettled = 0;
        for _ in 0..ROUNDS {
            let rates: Vec<f64> = (0..10).map(|_| noisy()).collect();
            unsettled += u32::from(settled_after(&rates) != Some(0));
        }
        assert!(unsettled < ROUNDS / 50, "{unsettled} of {ROUNDS}");
    }
}
