//! The machine that changes are made on: the one we are on, or one that a test makes up.

use std::fmt::Debug;

use model::Change;

use crate::{
    failure::Failure,
    kinds::{Prepared, kind},
    record::{Before, Namespaces},
};

/// A machine as the ledger changes it.
pub(crate) trait Machine: Debug + Send + Sync {
    /// Reads what a change would alter. Changes nothing.
    fn prepare<'a>(&self, change: &'a Change) -> Result<Prepared<'a>, Failure>;

    /// Undoes a change. Says whether there was anything to undo.
    fn undo(&self, change: &Change, before: &Before, namespaces: &Namespaces) -> Result<bool, Failure>;
}

/// The machine that we are on.
#[derive(Debug)]
pub(crate) struct ThisMachine;

impl Machine for ThisMachine {
    fn prepare<'a>(&self, change: &'a Change) -> Result<Prepared<'a>, Failure> {
        kind(change).prepare()
    }

    fn undo(&self, change: &Change, before: &Before, namespaces: &Namespaces) -> Result<bool, Failure> {
        kind(change).undo(before, namespaces)
    }
}
