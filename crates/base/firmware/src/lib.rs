//! Tables of a machine's firmware and of its PCI devices, read from their bytes.
//!
//! This crate is pure. Any bytes give a value; nothing beyond their end is read.

mod configuration;
mod smbios;

pub use configuration::{CONFIGURATION_BYTES, sizes};
pub use smbios::{TABLE_BYTES, slots};
