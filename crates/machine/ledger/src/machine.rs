//! The machine to change: the real one, or a test's model.

use std::fmt::Debug;

use model::Change;

use crate::{
    failure::Failure,
    kinds::{Prepared, kind},
    record::{Before, Namespaces},
};

/// A machine as the ledger changes it.
pub(crate) trait Machine: Debug + Send + Sync {
    /// Reads the state that a change would alter. Changes nothing.
    fn prepare<'a>(&self, change: &'a Change) -> Result<Prepared<'a>, Failure>;

    /// Undoes a change; returns whether there was anything to undo.
    fn undo(&self, change: &Change, before: &Before, namespaces: &Namespaces) -> Result<bool, Failure>;
}

/// The real machine.
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
