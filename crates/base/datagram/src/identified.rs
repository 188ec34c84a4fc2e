//! Identifications of packets of IPv4 that routers may cut into fragments.

use std::{
    hash::{BuildHasher, RandomState},
    net::IpAddr,
};

/// Counters, which pairs of addresses share by chance.
const COUNTERS: usize = 1024;

/// Distinction of the fragments of one packet from those of another between the same two addresses (RFC 6864, section 4.3). Each pair begins somewhere
/// else, so that who sees those of one does not know those of another, for which fragments could be forged.
#[derive(Debug)]
pub struct Identifications {
    next: Vec<u16>,
    hasher: RandomState,
}

impl Default for Identifications {
    fn default() -> Self {
        Self { next: vec![0; COUNTERS], hasher: RandomState::new() }
    }
}

impl Identifications {
    /// So many for the next packets of a pair: the first of them, which the others follow, and begin anew with 0 after 65535.
    pub fn take(&mut self, from: IpAddr, to: IpAddr, count: usize) -> u16 {
        let hash = self.hasher.hash_one((from, to));
        let next = &mut self.next[hash as usize % COUNTERS];
        let first = next.wrapping_add((hash >> 48) as u16);
        *next = next.wrapping_add(count as u16);
        first
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ip(last: u8) -> IpAddr {
        [198, 18, 0, last].into()
    }

    #[test]
    fn none_comes_again_before_all_were_there() {
        let mut all = Identifications::default();
        let mut seen = vec![false; 1 << 16];
        for count in [1, 2, 3, 58].into_iter().cycle().take(4096) {
            let first = all.take(ip(1), ip(2), count);
            for number in 0..count {
                let place = &mut seen[usize::from(first.wrapping_add(number as u16))];
                assert!(!std::mem::replace(place, true));
            }
        }
        assert!(seen.iter().all(|seen| *seen));
    }

    #[test]
    fn those_of_one_pair_say_nothing_of_another() {
        let mut all = Identifications::default();
        let firsts: std::collections::HashSet<u16> = (0..=255).map(|last| all.take(ip(1), ip(last), 1)).collect();
        assert!(firsts.len() > 240, "{}", firsts.len());
    }
}
