//! Slots of a board, from the structures of SMBIOS (DMTF DSP0134, section 7.10).

use model::settings::Slot;

/// No table is longer that the kernel shows (`/sys/firmware/dmi/tables/DMI`).
pub const TABLE_BYTES: usize = 1 << 20;

/// Type of the structure of a slot.
const SLOT: u8 = 9;
/// Type of the last structure.
const END: u8 = 127;
/// No board has more slots.
const MOST: usize = 256;

/// The PCI Express slots of a table; a structure that goes beyond its end ends the list.
pub fn slots(table: &[u8]) -> Vec<Slot> {
    let (mut slots, mut rest) = (Vec::new(), table);
    while let Some(structure) = Structure::first(rest) {
        if structure.kind == END || slots.len() == MOST {
            break;
        }
        if structure.kind == SLOT {
            slots.extend(structure.slot());
        }
        rest = structure.rest;
    }
    slots
}

/// A structure: formatted bytes, then strings that end with two NULs.
struct Structure<'t> {
    kind: u8,
    formatted: &'t [u8],
    strings: &'t [u8],
    rest: &'t [u8],
}

impl<'t> Structure<'t> {
    fn first(table: &'t [u8]) -> Option<Self> {
        let (&[kind, length, ..], Some(formatted)) = (table.get(..4)?, table.get(..usize::from(*table.get(1)?))) else {
            return None;
        };
        (length >= 4).then_some(())?;
        let behind = &table[formatted.len()..];
        let strings = behind.windows(2).position(|pair| pair == [0, 0])?;
        Some(Self { kind, formatted, strings: &behind[..strings], rest: &behind[strings + 2..] })
    }

    fn slot(&self) -> Option<Slot> {
        let byte = |at: usize| self.formatted.get(at).copied();
        let (generation, length_lanes) = kind(byte(5)?)?;
        let address = match (byte(0xd), byte(0xe), byte(0xf), byte(0x10)) {
            // All ones for a slot without an address.
            (_, _, Some(0xff), Some(0xff)) => None,
            (Some(low), Some(high), Some(bus), Some(device)) => {
                Some(format!("{:04x}:{bus:02x}:{:02x}", u16::from_le_bytes([low, high]), device >> 3))
            }
            _ => None,
        };
        let in_use = match byte(7)? {
            3 => Some(false),
            4 => Some(true),
            _ => None,
        };
        Some(Slot { name: self.string(byte(4)?), generation, length_lanes, lanes: width(byte(6)?), in_use, address })
    }

    /// The string of this number, from 1.
    fn string(&self, number: u8) -> String {
        let all = self.strings.split(|byte| *byte == 0);
        let bytes = usize::from(number).checked_sub(1).and_then(|before| all.into_iter().nth(before));
        String::from_utf8_lossy(bytes.unwrap_or_default()).trim().to_owned()
    }
}

/// Generation and lanes of a PCI Express slot by its type; `None` for another kind of slot.
fn kind(code: u8) -> Option<(Option<u32>, Option<u32>)> {
    // Five blocks of: any width, x1, x2, x4, x8, x16.
    let block = |first: u8, generation: u32| (generation, [None, Some(1), Some(2), Some(4), Some(8), Some(16)], first);
    let blocks = [block(0xa5, 1), block(0xab, 2), block(0xb1, 3), block(0xb8, 4), block(0xbe, 5)];
    let found = blocks.into_iter().find_map(|(generation, lanes, first)| {
        Some((Some(generation), *lanes.get(usize::from(code.checked_sub(first)?))?))
    });
    // Generation 6 and beyond.
    found.or((code == 0xc4).then_some((Some(6), None)))
}

/// Lanes that are wired, by the width of the data bus.
fn width(code: u8) -> Option<u32> {
    Some(match code {
        8 => 1,
        9 => 2,
        0xa => 4,
        0xb => 8,
        0xc => 12,
        0xd => 16,
        0xe => 32,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn structure(kind: u8, formatted: &[u8], strings: &str) -> Vec<u8> {
        let head = [kind, formatted.len() as u8 + 4, 1, 0];
        [&head, formatted, strings.as_bytes(), &[0, 0]].concat()
    }

    /// A slot of 17 bytes (SMBIOS 2.6).
    fn slot(code: u8, width: u8, usage: u8, address: [u8; 4]) -> Vec<u8> {
        let [low, high, bus, device] = address;
        structure(SLOT, &[1, code, width, usage, 4, 1, 0, 4, 1, low, high, bus, device], "SLOT6 PCI-E X16")
    }

    #[test]
    fn slots_have_their_length_their_lanes_and_whether_they_are_free() {
        let table = [
            structure(1, &[1, 2], "Supermicro\0X9SCL"),
            slot(0xb0, 0xa, 4, [0, 0, 3, 0]),
            slot(0xb6, 0xd, 3, [0, 0, 0xff, 0xff]),
            structure(SLOT, &[1, 6, 5, 3, 4, 1, 0, 4, 1, 0, 0, 5, 8], "PCI 32 bit"),
            structure(END, &[], ""),
            slot(0xb0, 0xa, 4, [0, 0, 3, 0]),
        ]
        .concat();
        let found = slots(&table);
        let narrow = Slot {
            name: "SLOT6 PCI-E X16".into(),
            generation: Some(2),
            length_lanes: Some(16),
            lanes: Some(4),
            in_use: Some(true),
            address: Some("0000:03:00".into()),
        };
        assert_eq!((found.len(), &found[0]), (2, &narrow));
        assert_eq!((found[1].generation, found[1].in_use, &found[1].address), (Some(3), Some(false), &None));
    }

    #[test]
    fn half_a_table_gives_the_slots_before_its_end() {
        let table = [slot(0xa9, 0xb, 3, [0; 4]), slot(0xa9, 0xb, 3, [0; 4])].concat();
        assert_eq!(slots(&table[..table.len() - 3]).len(), 1);
        assert_eq!(slots(&[SLOT, 0, 0, 0, 0, 0]), [], "a structure shorter than its head");
    }

    proptest! {
        #[test]
        fn any_bytes_are_read(table in proptest::collection::vec(any::<u8>(), 0..400)) {
            prop_assert!(slots(&table).len() <= MOST);
        }
    }
}
