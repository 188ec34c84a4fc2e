//! The record of every change to the machine, and its undoing.
//!
//! Each owner (a run, a standing bed) has one file of JSON lines, locked while the owner lives. A change is on disk before it
//! is made, with the state before; it is undone in reverse order, by its owner or, where that has died, by whoever finds
//! the file unlocked.
//!
//! `kinds` has each kind of change, `file` the lines. The header of a line is read first: a reboot has undone what it records,
//! unless the kind survives one. A line that is not understood is named, and stops nobody.

mod error;
mod failure;
mod file;
mod kinds;
mod machine;
mod owned;
mod record;
mod stale;
#[cfg(test)]
mod tests;

use std::path::Path;

pub use error::{Error, UndoErrors};
pub use failure::Failure;
pub use owned::Ledger;
pub use stale::{Cleaned, Undone, kept, stale, undo_stale};

/// Where root's changes are recorded. It outlives a crash, and is found by whoever cleans up after it.
pub fn directory() -> &'static Path {
    Path::new("/var/lib/wireproof/ledger")
}
