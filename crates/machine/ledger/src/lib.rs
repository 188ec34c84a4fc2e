//! The record of every change to the machine, and its undoing.
//!
//! Each owner (a run, a standing bed) has one file of JSON lines, locked while the owner lives. A change and the
//! previous state are on disk before it is made.
//!
//! Changes are undone in reverse order by the owner or, if it has died, by the next process that finds the file
//! unlocked.
//!
//! `kinds` has each kind of change, `file` the lines. The header of a line is read first: a reboot has undone its
//! change, unless the kind survives one. Unknown lines are reported, and do not stop other owners.

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
pub use owned::{Ledger, State};
pub use stale::{Cleanup, Undone, kept, stale, undo_stale};

/// Directory of root's ledgers. It survives a crash, so later processes can clean up.
pub fn directory() -> &'static Path {
    Path::new("/var/lib/wireproof/ledger")
}
