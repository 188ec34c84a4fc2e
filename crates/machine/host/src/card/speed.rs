//! Speeds of link modes.

use std::ops::RangeInclusive;

use kernel::nic::LinkSettings;

/// Bits of `ETHTOOL_LINK_MODE_*` (linux/ethtool.h) by speed in Mbit/s.
const MODES: [(RangeInclusive<u32>, u32); 26] = [
    (0..=1, 10),
    (2..=3, 100),
    (4..=5, 1_000),
    (12..=12, 10_000),
    (15..=15, 2_500),
    (17..=17, 1_000),
    (18..=20, 10_000),
    (21..=22, 20_000),
    (23..=26, 40_000),
    (27..=30, 56_000),
    (31..=33, 25_000),
    (34..=35, 50_000),
    (36..=39, 100_000),
    (40..=40, 50_000),
    (41..=41, 1_000),
    (42..=46, 10_000),
    (47..=47, 2_500),
    (48..=48, 5_000),
    (52..=56, 50_000),
    (57..=61, 100_000),
    (62..=66, 200_000),
    (67..=67, 100),
    (68..=68, 1_000),
    (69..=73, 400_000),
    (75..=79, 100_000),
    (80..=84, 200_000),
];

/// The highest speed of a port in Mbit/s: of its supported modes, or else of its present link.
pub(super) fn top(settings: &LinkSettings) -> Option<u32> {
    let of_mode = |mode: &u32| MODES.iter().find(|(modes, _)| modes.contains(mode)).map(|(_, speed)| *speed);
    settings.supported.iter().filter_map(of_mode).chain(settings.speed_mbps).max()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(supported: &[u32], speed_mbps: Option<u32>) -> LinkSettings {
        LinkSettings { supported: supported.to_vec(), speed_mbps, ..LinkSettings::default() }
    }

    #[test]
    fn the_top_speed_is_that_of_the_fastest_mode_even_where_the_link_is_slower() {
        // As on an X540: 100baseT, 1000baseT and 10GbaseT, autonegotiation, twisted pair, pause.
        assert_eq!(top(&settings(&[3, 5, 6, 7, 12, 13], Some(1_000))), Some(10_000));
        assert_eq!(top(&settings(&[6, 7, 10], Some(25_000))), Some(25_000));
        assert_eq!(top(&settings(&[6], None)), None);
    }
}
