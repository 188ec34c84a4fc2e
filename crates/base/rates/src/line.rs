//! Share of a line that packets take.

use crate::reading::DirectionCounts;

/// Bytes that a frame takes of an Ethernet line beside those that interfaces count: FCS (4), preamble and start delimiter (8), and
/// the least gap to the next frame (12), in bytes.
pub const WIRE_EXTRA: u64 = 24;
/// The shortest frame without FCS (IEEE 802.3); shorter ones are filled up.
const SHORTEST: u64 = 60;

/// Bits that so many packets of so many bytes take of an Ethernet line (layer 1).
pub fn wire_bits(way: &DirectionCounts) -> u64 {
    let filled = way.bytes.max(way.packets.saturating_mul(SHORTEST));
    filled.saturating_add(way.packets.saturating_mul(WIRE_EXTRA)).saturating_mul(8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_rate_of_the_shortest_frames_fills_the_line() {
        // 14,880,952 frames of 64 bytes with FCS are 10GbE's line rate.
        let shortest = DirectionCounts { bytes: 14_880_952 * 60, packets: 14_880_952, ..DirectionCounts::default() };
        assert_eq!(wire_bits(&shortest) / 1_000_000, 9_999);
        let requests = DirectionCounts { bytes: 42, packets: 1, ..DirectionCounts::default() };
        assert_eq!(wire_bits(&requests), 84 * 8);
        let full = DirectionCounts { bytes: 1514, packets: 1, ..DirectionCounts::default() };
        assert_eq!(wire_bits(&full), 1538 * 8);
    }
}
