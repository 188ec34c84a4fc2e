//! Cache of next hops: all destinations behind a router share its entry.

use std::{net::IpAddr, ops::Range};

use kernel::neighbour::Neighbour;
use model::stream::Mac;

use super::super::Kernel;

/// Cached neighbours; a new one replaces another with the same hash.
const PLACES: usize = 256;

/// A neighbour's interface and address.
type At = (u32, IpAddr);

#[derive(Clone, Copy)]
struct Place {
    at: At,
    generation: u64,
    until: u64,
    mac: Mac,
    /// Whether the kernel has confirmed the neighbour; otherwise it was given a datagram to make it probe.
    confirmed: bool,
}

pub(super) struct Hops(Vec<Option<Place>>);

impl Hops {
    pub(super) fn new() -> Self {
        Self(vec![None; PLACES])
    }

    /// The neighbour's MAC address, and whether it is reliable; the answer is cached.
    ///
    /// After each change, one datagram through the kernel makes it probe a neighbour that it has not confirmed.
    pub(super) fn find(
        &mut self,
        kernel: &mut dyn Kernel,
        at: At,
        holds: Range<u64>,
        generation: u64,
    ) -> Option<(Mac, bool)> {
        let place = &mut self.0[number(at)];
        let before = place.filter(|place| place.at == at && place.generation == generation);
        if let Some(known) = before.filter(|known| holds.start < known.until) {
            return Some((known.mac, true));
        }
        let Neighbour { mac, confirmed } = kernel.neighbour(at.0, at.1)?;
        *place = Some(Place { at, generation, until: holds.end, mac, confirmed });
        let was_asked = before.is_some_and(|before| !before.confirmed && before.mac == mac);
        Some((mac, confirmed || was_asked))
    }
}

fn number((interface, address): At) -> usize {
    let last = match address {
        IpAddr::V4(address) => u32::from(address),
        IpAddr::V6(address) => u128::from(address) as u32,
    };
    (last ^ interface).wrapping_mul(0x9e37_79b9) as usize >> 24
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_of_a_network_have_places_of_their_own() {
        let mut taken = [0_u8; PLACES];
        (1..=100).for_each(|last| taken[number((7, [198, 18, 0, last].into()))] += 1);
        assert!(taken.iter().all(|count| *count <= 3), "{taken:?}");
    }
}
