//! Ledgers without a living owner: left by a crash, or kept on purpose.

use std::{ffi::OsStr, fmt, fs, io, path::Path, sync::Arc};

use kernel::file::open_trusted_folder;
use model::Change;
use serde::de::DeserializeOwned;

use crate::{
    Error, Ledger, UndoErrors,
    machine::{Machine, ThisMachine},
    owned::{failed, read_unlocked},
};

/// Outcome of a cleanup after dead owners.
#[derive(Debug, Default)]
pub struct Cleanup {
    /// Changes that were undone.
    pub undone: Vec<Undone>,
    /// Files with lines unknown to this version. They do not stop other owners.
    pub unknown: Vec<Error>,
}

/// An undone change of another owner.
#[derive(Clone, Debug, PartialEq)]
pub struct Undone {
    /// Owner.
    pub owner: String,
    /// The change.
    pub change: Change,
}

impl fmt::Display for Undone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (left by \"{}\")", self.change, self.owner)
    }
}

/// Descriptions of this boot's changes that these owners kept on purpose, see [`Ledger::keep`].
pub fn kept<T: DeserializeOwned>(dir: &Path, is_meant: impl Fn(&str) -> bool) -> Result<Vec<T>, Error> {
    let mut found = Vec::new();
    for owner in owners(dir)?.into_iter().filter(|owner| is_meant(owner)) {
        let Some(contents) = read_unlocked(dir, &owner)? else { continue };
        if let Some(about) = contents.kept {
            found.push(serde_json::from_value(about).map_err(|why| Error::Kept { owner: owner.clone(), why })?);
        }
    }
    Ok(found)
}

/// Owners that died before undoing their changes.
pub fn stale(dir: &Path) -> Result<Vec<String>, Error> {
    let mut found = Vec::new();
    for owner in owners(dir)? {
        found.extend(abandoned(&this_machine(), dir, &owner)?.map(|_| owner));
    }
    Ok(found)
}

/// Undoes the changes of dead owners, and discards those of an earlier boot. Goes on after a failure.
pub fn undo_stale(dir: &Path) -> Result<Cleanup, UndoErrors> {
    undo_stale_on(&this_machine(), dir)
}

pub(crate) fn undo_stale_on(machine: &Arc<dyn Machine>, dir: &Path) -> Result<Cleanup, UndoErrors> {
    let owners = owners(dir).map_err(|error| UndoErrors(vec![error]))?;
    let (mut cleaned, mut errors) = (Cleanup::default(), Vec::new());
    for owner in owners {
        match abandoned(machine, dir, &owner) {
            Ok(None) => {}
            Ok(Some(mut ledger)) => {
                cleaned.unknown.extend(ledger.unknown());
                match ledger.undo_last(ledger.standing()) {
                    Ok(changes) => {
                        cleaned.undone.extend(changes.into_iter().map(|change| Undone { owner: owner.clone(), change }))
                    }
                    Err(UndoErrors(failures)) => errors.extend(failures),
                }
            }
            Err(error) => errors.push(error),
        }
    }
    if errors.is_empty() { Ok(cleaned) } else { Err(UndoErrors(errors)) }
}

fn this_machine() -> Arc<dyn Machine> {
    Arc::new(ThisMachine)
}

/// The ledger of a dead owner. `None` if the owner lives, has ended properly, or kept its changes.
///
/// Also `None` for changes in an owner's private network namespace that is not ours.
fn abandoned(machine: &Arc<dyn Machine>, dir: &Path, owner: &str) -> Result<Option<Ledger>, Error> {
    let ledger = match Ledger::reopen_on(machine.clone(), dir, owner) {
        Err(Error::InUse(_) | Error::Nothing { .. }) => return Ok(None),
        ledger => ledger?,
    };
    let is_ours = !ledger.is_kept() && !ledger.is_elsewhere()?;
    Ok(is_ours.then_some(ledger))
}

fn owners(dir: &Path) -> Result<Vec<String>, Error> {
    let entries = match open_trusted_folder(dir).and_then(|_| fs::read_dir(dir)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(failed("read", dir))?,
    };
    let mut owners = Vec::new();
    for entry in entries {
        let path = entry.map_err(failed("read", dir))?.path();
        let is_ledger = path.extension() == Some(OsStr::new("jsonl"));
        owners.extend(path.file_stem().filter(|_| is_ledger).map(|stem| stem.to_string_lossy().into_owned()));
    }
    owners.sort();
    Ok(owners)
}
