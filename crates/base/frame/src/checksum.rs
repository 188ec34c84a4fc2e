//! The Internet checksum (RFC 1071): a sum of 16-bit words in ones' complement, which may be taken in any order and in parts.

/// The sum of these bytes as 16-bit words, not folded; an odd last byte counts as the upper half of a word.
pub fn sum(bytes: &[u8]) -> u32 {
    let (words, rest) = bytes.as_chunks::<2>();
    let last = rest.first().map_or(0, |byte| u32::from(*byte) << 8);
    // 65,536 words would be too many for 32 bits; an IP packet has half as many.
    words.iter().fold(last, |sum, word| sum + u32::from(u16::from_be_bytes(*word)))
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
    fn a_udp_checksum_is_never_zero() {
        assert_eq!((finish(0xffff), finish_udp(0xffff)), (0, 0xffff));
        assert_eq!(finish_udp(1), 0xfffe);
        assert_eq!(fold(u32::MAX), 0xffff);
    }
}
