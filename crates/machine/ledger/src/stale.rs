//! Ledgers whose owners are gone: left behind by a crash, or kept on purpose.

use std::{ffi::OsStr, fmt, fs, io, path::Path};

use model::Change;
use serde::de::DeserializeOwned;

use crate::{
    Error, Ledger, UndoErrors,
    owned::{failed, read_unlocked},
};

/// A change of somebody else that was undone.
#[derive(Clone, Debug, PartialEq)]
pub struct Undone {
    /// Whose change it was.
    pub owner: String,
    /// The change.
    pub change: Change,
}

impl fmt::Display for Undone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (left by \"{}\")", self.change, self.owner)
    }
}

/// What owners said of changes of this boot that they left standing on purpose, see [`Ledger::keep`].
pub fn kept<T: DeserializeOwned>(dir: &Path) -> Result<Vec<T>, Error> {
    let mut found = Vec::new();
    for owner in owners(dir)? {
        let Some(contents) = read_unlocked(dir, &owner)? else { continue };
        if let Some(about) = contents.kept {
            found.push(serde_json::from_value(about).map_err(|why| Error::Kept { owner: owner.clone(), why })?);
        }
    }
    Ok(found)
}

/// Owners that died before they undid their changes.
pub fn stale(dir: &Path) -> Result<Vec<String>, Error> {
    let mut found = Vec::new();
    for owner in owners(dir)? {
        found.extend(abandoned(dir, &owner)?.map(|_| owner));
    }
    Ok(found)
}

/// Undoes what owners left behind that died, and forgets what an earlier boot left. Goes on where something fails.
pub fn undo_stale(dir: &Path) -> Result<Vec<Undone>, UndoErrors> {
    let owners = owners(dir).map_err(|error| UndoErrors(vec![error]))?;
    let (mut undone, mut errors) = (Vec::new(), Vec::new());
    for owner in owners {
        match abandoned(dir, &owner).map(|ledger| ledger.map(|mut ledger| ledger.undo_all())) {
            Ok(None) => {}
            Ok(Some(Ok(changes))) => {
                undone.extend(changes.into_iter().map(|change| Undone { owner: owner.clone(), change }));
            }
            Ok(Some(Err(UndoErrors(failures)))) => errors.extend(failures),
            Err(error) => errors.push(error),
        }
    }
    if errors.is_empty() { Ok(undone) } else { Err(UndoErrors(errors)) }
}

/// The ledger of an owner that died; `None` where it lives, has ended properly, kept its changes, or made them in a network
/// namespace that was its own and is not ours.
fn abandoned(dir: &Path, owner: &str) -> Result<Option<Ledger>, Error> {
    let ledger = match Ledger::reopen(dir, owner) {
        Err(Error::InUse(_) | Error::Nothing { .. }) => return Ok(None),
        ledger => ledger?,
    };
    let is_ours = !ledger.is_kept() && !ledger.is_elsewhere()?;
    Ok(is_ours.then_some(ledger))
}

fn owners(dir: &Path) -> Result<Vec<String>, Error> {
    let entries = match fs::read_dir(dir) {
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
