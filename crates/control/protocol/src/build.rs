//! The program's build: its version and the linker's build ID, which identifies the file.

use std::{fs::File, io::Read};

/// Enough for the ELF headers and the notes, which linkers put in front.
const HEAD: u64 = 64 * 1024;
const PT_NOTE: u32 = 4;
const NT_GNU_BUILD_ID: u32 = 3;

/// Version and build ID, like `0.1.0 3f9c2b7a11d04e55`.
pub fn build_id() -> String {
    let version = env!("CARGO_PKG_VERSION");
    match own_head().as_deref().and_then(gnu_build_id) {
        Some(id) => format!("{version} {id}"),
        None => version.to_owned(),
    }
}

fn own_head() -> Option<Vec<u8>> {
    let mut head = Vec::new();
    File::open("/proc/self/exe").ok()?.take(HEAD).read_to_end(&mut head).ok()?;
    Some(head)
}

/// First eight bytes of the GNU build ID of a 64-bit ELF file in this machine's byte order (elf(5), "Notes").
fn gnu_build_id(elf: &[u8]) -> Option<String> {
    let (table, size, count) = (u64_at(elf, 0x20)? as usize, u16_at(elf, 0x36)? as usize, u16_at(elf, 0x38)? as usize);
    (0..count)
        .filter_map(|index| table.checked_add(index * size))
        .filter(|header| u32_at(elf, *header) == Some(PT_NOTE))
        .find_map(|header| {
            let (offset, length) = (u64_at(elf, header + 8)?, u64_at(elf, header + 32)?);
            build_id_note(elf.get(offset as usize..)?.get(..length as usize)?)
        })
}

fn build_id_note(mut notes: &[u8]) -> Option<String> {
    while notes.len() >= 12 {
        let (name, description) = (u32_at(notes, 0)? as usize, u32_at(notes, 4)? as usize);
        let start = 12 + name.next_multiple_of(4);
        if u32_at(notes, 8)? == NT_GNU_BUILD_ID && notes.get(12..15)? == b"GNU" {
            let id = notes.get(start..start + description.min(8))?;
            return Some(id.iter().map(|byte| format!("{byte:02x}")).collect());
        }
        notes = notes.get(start + description.next_multiple_of(4)..)?;
    }
    None
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_ne_bytes(bytes.get(at..)?.get(..2)?.try_into().ok()?))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(bytes.get(at..)?.get(..4)?.try_into().ok()?))
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_ne_bytes(bytes.get(at..)?.get(..8)?.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_very_program_has_a_build_id() {
        let id = build_id();
        let (_, hex) = id.split_once(' ').expect("the linker writes a build id");
        assert_eq!(hex.len(), 16, "{id}");
    }

    #[test]
    fn what_is_no_elf_file_has_none() {
        assert_eq!(gnu_build_id(b"#!/bin/sh"), None);
        assert_eq!(gnu_build_id(&[0xff; 4096]), None);
    }
}
