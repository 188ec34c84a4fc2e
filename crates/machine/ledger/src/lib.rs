//! The record of every change to the machine, and its undoing.
//!
//! Each owner (a run, a standing bed) has one file of JSON lines, locked while the owner lives. A change is on disk before it
//! is made, with what was there before; it is undone in reverse order, by its owner or, where that has died, by
//! whoever finds the file unlocked.

mod error;
mod failure;
mod file;
mod machine;
mod managers;
mod owned;
mod port;
mod stale;

use std::path::Path;

pub use error::{Error, UndoErrors};
pub use failure::Failure;
pub use owned::Ledger;
pub use stale::{Undone, kept, stale, undo_stale};

/// Where root's changes are recorded. It outlives a crash, and is found by whoever cleans up after it.
pub fn directory() -> &'static Path {
    Path::new("/var/lib/wireproof/ledger")
}
