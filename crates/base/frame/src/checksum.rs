//! The Internet checksum (RFC 1071): a sum of 16-bit words in ones' complement, which may be taken in any order and in parts.

/// The sum of these bytes as 16-bit words, not folded; an odd last byte counts as the upper half of a word.
///
/// Bytes are added as they lie, in larger words whose carries are brought back, and swapped once at the end (RFC 1071, section 2).
pub fn sum(bytes: &[u8]) -> u32 {
    const WORD: usize = size_of::<u64>();
    // As many that do not wait for one another as a processor adds at a time.
    const LANES: usize = 4;
    let (blocks, rest) = bytes.as_chunks::<{ LANES * WORD }>();
    let mut lanes = [0_u128; LANES];
    for block in blocks {
        let (words, _) = block.as_chunks::<WORD>();
        for (lane, word) in lanes.iter_mut().zip(words) {
            *lane += u128::from(u64::from_ne_bytes(*word));
        }
    }
    let (words, rest) = rest.as_chunks::<2>();
    let last = rest.first().map_or(0, |byte| u64::from(u16::from_ne_bytes([*byte, 0])));
    let words = words.iter().fold(last, |sum, word| sum + u64::from(u16::from_ne_bytes(*word)));
    let sum = lanes.into_iter().sum::<u128>() + u128::from(words);
    // 2¹⁶ is 1 here, and so is each power of it.
    let halves = |sum: u64| (sum >> 32) + (sum & 0xffff_ffff);
    let sum = halves(halves(halves(sum as u64) + halves((sum >> 64) as u64))) as u32;
    u32::from(u16::from_be(fold(sum)))
}

/// A sum brought into 16 bits, carries added at the lower end.
pub fn fold(sum: u32) -> u16 {
    let once = (sum >> 16) + (sum & 0xffff);
    ((once >> 16) + (once & 0xffff)) as u16
}

/// The checksum of this sum, as it stands in IP and TCP headers.
pub fn finish(sum: u32) -> u16 {
    !fold(sum)
}

/// The checksum of this sum as it stands in UDP headers, where 0 would mean that there is none (RFC 768).
pub fn finish_udp(sum: u32) -> u16 {
    match finish(sum) {
        0 => 0xffff,
        checksum => checksum,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_of_rfc_1071_adds_up() {
        let bytes = [0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7];
        assert_eq!(fold(sum(&bytes)), 0xddf2);
        assert_eq!(fold(sum(&bytes[..3]) + sum(&[0, bytes[3]]) + sum(&bytes[4..])), 0xddf2);
        assert_eq!(finish(sum(&bytes)), !0xddf2);
    }

    #[test]
    fn any_number_of_bytes_adds_up_as_words_do() {
        let bytes: Vec<u8> = (0..4096_u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
        let plain = |bytes: &[u8]| {
            bytes.chunks(2).map(|word| u32::from(word[0]) << 8 | u32::from(*word.get(1).unwrap_or(&0))).sum()
        };
        for length in (0..200).chain([1471, 1472, 1473, 4096]) {
            for from in 0..3 {
                let part = &bytes[from.min(bytes.len() - length)..][..length];
                assert_eq!(fold(sum(part)), fold(plain(part)), "{length} bytes");
            }
        }
        assert_eq!(fold(sum(&[0xff; 65_535])), fold(plain(&[0xff; 65_535])));
    }

    #[test]
    fn a_udp_checksum_is_never_zero() {
        assert_eq!((finish(0xffff), finish_udp(0xffff)), (0, 0xffff));
        assert_eq!(finish_udp(1), 0xfffe);
        assert_eq!(fold(u32::MAX), 0xffff);
    }
}
