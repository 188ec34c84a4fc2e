//! Proof that the files of a report are those that were handed over: a list of their SHA-256 sums, which `sha256sum -c`
//! reads, and a signature over that list, which `minisign -V` verifies.

mod check;
mod error;
mod sign;
mod sums;

pub use check::{Checked, Finding, check, others};
pub use error::SealError;
pub use sign::SigningKey;
pub use sums::{Sum, Sums, sha256};

/// Name of the list of sums in a report's folder.
pub const SUMS_FILE: &str = "SHA256SUMS";
/// Name of the signature over that list.
pub const SIGNATURE_FILE: &str = "SHA256SUMS.minisig";
