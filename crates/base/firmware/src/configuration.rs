//! Configuration space of a PCI device (PCI Express Base Specification, section 7).

use model::settings::PciSizes;

/// Bytes of the part that has the list of capabilities.
pub const CONFIGURATION_BYTES: usize = 256;

/// Status bit: there is a list of capabilities.
const HAS_CAPABILITIES: u16 = 1 << 4;
/// Beginning of the list.
const FIRST: usize = 0x34;
/// The capability of PCI Express.
const PCI_EXPRESS: u8 = 0x10;
/// No list is longer: a capability has four bytes.
const MOST: usize = (CONFIGURATION_BYTES - 64) / 4;

/// Sizes of payloads and requests; `None` for a device without PCI Express, or where the bytes end before.
pub fn sizes(space: &[u8]) -> Option<PciSizes> {
    let at = capability(space, PCI_EXPRESS)?;
    let (can, control) = (word(space, at + 4)?, word(space, at + 8)?);
    let size = |code: u16| (code < 6).then(|| 128_u32 << code);
    Some(PciSizes {
        payload_most: size(can & 7)?,
        payload: size(control >> 5 & 7)?,
        read_request: size(control >> 12 & 7)?,
    })
}

fn capability(space: &[u8], wanted: u8) -> Option<usize> {
    (word(space, 6)? & HAS_CAPABILITIES != 0).then_some(())?;
    let mut at = usize::from(*space.get(FIRST)? & !3);
    for _ in 0..MOST {
        if at < 64 {
            return None;
        }
        if *space.get(at)? == wanted {
            return Some(at);
        }
        at = usize::from(*space.get(at + 1)? & !3);
    }
    None
}

fn word(space: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(space.get(at..at + 2)?.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Power management at 0x40, PCI Express at 0xa0, as on an 82599: payloads of 512 possible and 256 set, requests of 512.
    fn space() -> Vec<u8> {
        let mut space = vec![0; CONFIGURATION_BYTES];
        (space[6], space[FIRST]) = (0x10, 0x40);
        (space[0x40], space[0x41]) = (1, 0xa0);
        (space[0xa0], space[0xa4]) = (PCI_EXPRESS, 2);
        (space[0xa8], space[0xa9]) = (0x37, 0x28);
        space
    }

    #[test]
    fn sizes_are_found_behind_other_capabilities() {
        let found = PciSizes { payload_most: 512, payload: 256, read_request: 512 };
        assert_eq!(sizes(&space()), Some(found));
        assert_eq!(sizes(&space()[..64]), None, "an ordinary user reads no more");
        let mut ring = space();
        ring[0x41] = 0x40;
        assert_eq!(sizes(&ring), None, "a list that ends nowhere");
    }

    proptest! {
        #[test]
        fn any_bytes_are_read(space in proptest::collection::vec(any::<u8>(), 0..300)) {
            if let Some(found) = sizes(&space) {
                prop_assert!((128..=4096).contains(&found.payload) && (128..=4096).contains(&found.read_request));
            }
        }
    }
}
