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

pub use error::{Error, UndoErrors};
pub use failure::Failure;
pub use owned::Ledger;
pub use stale::{Undone, kept, stale, undo_stale};
