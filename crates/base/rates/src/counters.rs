//! Increments of counters between two readings.

use crate::reading::DirectionCounts;

/// Traffic between two readings, received and sent; `None` where the counters began anew meanwhile, so that
/// nothing is known.
///
/// A counter that went back either wrapped or was reset. Some drivers count in 32 bits: one that wrapped was in the last
/// quarter of them and is in the first now, which takes less than 3 s at 10 Gbit/s. A reset puts all back at once, and hardly
/// ever finds each of them there.
pub(crate) fn passed(before: &[DirectionCounts; 2], after: &[DirectionCounts; 2]) -> Option<[DirectionCounts; 2]> {
    let [received, sent] = [0, 1].map(|way| way_passed(&before[way], &after[way]));
    Some([received?, sent?])
}

fn way_passed(before: &DirectionCounts, after: &DirectionCounts) -> Option<DirectionCounts> {
    Some(DirectionCounts {
        bytes: grown(before.bytes, after.bytes)?,
        packets: grown(before.packets, after.packets)?,
        dropped: grown(before.dropped, after.dropped)?,
        errors: grown(before.errors, after.errors)?,
    })
}

/// By how much one counter grew, also over 2³²; `None` where it was reset.
pub(crate) fn grown(before: u64, after: u64) -> Option<u64> {
    const WRAP: u64 = 1 << 32;
    const QUARTER: u64 = WRAP / 4;
    let wrapped = (3 * QUARTER..WRAP).contains(&before) && after < QUARTER;
    after.checked_sub(before).or_else(|| wrapped.then(|| after + WRAP - before))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn way(bytes: u64, packets: u64) -> DirectionCounts {
        DirectionCounts { bytes, packets, ..DirectionCounts::default() }
    }

    #[test]
    fn a_counter_of_32_bits_wraps_and_one_that_was_reset_says_nothing() {
        let top = u64::from(u32::MAX);
        assert_eq!(grown(top - 99, 900), Some(1000));
        assert_eq!(grown(500, 700), Some(200));
        assert_eq!(grown(1 << 40, 0), None, "a counter of 64 bits never wraps");
        assert_eq!(grown(5_000_000, 3), None);
    }

    #[test]
    fn one_counter_that_was_reset_makes_all_of_them_unknown() {
        // By its bytes alone this would be a wrap, at a rate that never was.
        let before = [way(4_000_000_000, 3_000_000), way(0, 0)];
        assert_eq!(passed(&before, &[way(120, 2), way(0, 0)]), None);
        let wrapped = passed(&before, &[way(5_032_704, 3_200_000), way(60, 1)]).unwrap();
        assert_eq!(wrapped, [way(300_000_000, 200_000), way(60, 1)]);
    }

    proptest! {
        #[test]
        fn what_passed_is_what_was_added_whether_it_is_counted_in_32_bits_or_64(
            from: u64, added in 0_u64..(1 << 30)
        ) {
            let from = from >> 1;
            prop_assert_eq!(grown(from, from + added), Some(added));
            let short = |value: u64| value & u64::from(u32::MAX);
            prop_assert_eq!(grown(short(from), short(from + added)), Some(added));
        }
    }
}
