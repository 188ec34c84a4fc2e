//! A ledger opened by its owner.

use std::{
    fs::{self, DirBuilder, File, Permissions},
    io::{self, Read, Write},
    os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt},
    path::{Path, PathBuf},
    sync::Arc,
};

use kernel::{
    file::{open_trusted, open_trusted_folder, trusted},
    lock::FileLock,
    namespace, sysctl,
};
use model::{
    Change,
    change::{MovedNic, Namespace, UnmanagedNic},
};
use serde::Serialize;
use serde_json::Value;

use crate::{
    Error, Failure, UndoErrors,
    file::{Contents, Entry, KeptLine, Line},
    kinds::Prepared,
    machine::{Machine, ThisMachine},
};

/// No ledger is longer, in bytes: a change takes some thousand at most.
const LONGEST: u64 = 256 << 20;

/// The changes of one owner, locked against others. Dropping it undoes nothing: the next cleanup does.
#[derive(Debug)]
pub struct Ledger {
    machine: Arc<dyn Machine>,
    owner: String,
    path: PathBuf,
    lock: FileLock,
    boot_id: String,
    contents: Contents,
}

/// A standing change with the states of its object, each as the ledger writes it: `null` where it is as the change wants it.
#[derive(Clone, Debug, PartialEq)]
pub struct State {
    /// The change.
    pub change: Change,
    /// State before it was made.
    pub before: Value,
    /// Present state, or why it cannot be read.
    pub now: Result<Value, String>,
}

impl Ledger {
    /// Starts the ledger of a new owner; creates a missing directory.
    pub fn open(dir: &Path, owner: &str) -> Result<Self, Error> {
        Self::open_on(Arc::new(ThisMachine), dir, owner)
    }

    pub(crate) fn open_on(machine: Arc<dyn Machine>, dir: &Path, owner: &str) -> Result<Self, Error> {
        DirBuilder::new().recursive(true).mode(0o700).create(dir).map_err(failed("make", dir))?;
        make_private(dir).map_err(failed("make private", dir))?;
        let ledger = Self::load(machine, dir, owner)?;
        if ledger.contents.stands() {
            return Err(Error::NotUndone(owner.to_owned()));
        }
        // A new file's name is safe on disk only after its directory is synced.
        open_trusted_folder(dir).and_then(|dir| dir.sync_all()).map_err(failed("sync", dir))?;
        Ok(ledger)
    }

    /// Takes over the ledger of an owner that kept its changes, or died.
    pub fn reopen(dir: &Path, owner: &str) -> Result<Self, Error> {
        Self::reopen_on(Arc::new(ThisMachine), dir, owner)
    }

    pub(crate) fn reopen_on(machine: Arc<dyn Machine>, dir: &Path, owner: &str) -> Result<Self, Error> {
        if fs::symlink_metadata(path(dir, owner)?).is_err() {
            return Err(Error::Nothing { owner: owner.to_owned(), dir: dir.to_owned() });
        }
        Self::load(machine, dir, owner)
    }

    fn load(machine: Arc<dyn Machine>, dir: &Path, owner: &str) -> Result<Self, Error> {
        let path = path(dir, owner)?;
        // Locked only for this moment: otherwise a cleanup could lock a new file before its owner does.
        let directory = open_trusted_folder(dir).map_err(failed("open", dir))?;
        directory.lock().map_err(failed("lock", dir))?;
        match open_trusted(&path, LONGEST) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(failed("open", &path)(error)),
            Ok(_) | Err(_) => {}
        }
        let lock = FileLock::try_lock(&path).map_err(Error::Lock)?.ok_or_else(|| Error::InUse(owner.to_owned()))?;
        let boot_id = boot_id()?;
        let contents = read(lock.file(), &path, &boot_id)?;
        // Appended lines must not continue an incomplete one.
        lock.file().set_len(contents.length as u64).map_err(failed("cut", &path))?;
        Ok(Self { machine, owner: owner.to_owned(), path, lock, boot_id, contents })
    }

    /// Records a change, then makes it.
    pub fn apply(&mut self, change: Change) -> Result<(), Error> {
        self.apply_all(vec![change])
    }

    /// Records these changes, then makes them in order.
    ///
    /// One may alter another's previous state: a port that goes down takes the link from the port at the other end of
    /// its cable.
    pub fn apply_all(&mut self, changes: Vec<Change>) -> Result<(), Error> {
        let prepared = changes.iter().map(|change| self.prepare(change)).collect::<Result<Vec<_>, _>>()?;
        for (change, prepared) in changes.iter().zip(&prepared) {
            self.record(change, prepared)?;
        }
        for (change, prepared) in changes.iter().zip(prepared) {
            (prepared.make)().map_err(|error| Error::Make { change: change.to_string(), error })?;
        }
        Ok(())
    }

    fn prepare<'a>(&self, change: &'a Change) -> Result<Prepared<'a>, Error> {
        self.machine.prepare(change).map_err(|failure| match failure {
            Failure::AlreadyExists { what, remove } => Error::AlreadyExists { what, remove },
            error => Error::Before { change: change.to_string(), error },
        })
    }

    fn record(&mut self, change: &Change, prepared: &Prepared) -> Result<(), Error> {
        let entry = Entry {
            seq: self.contents.last_seq + 1,
            boot_id: self.boot_id.clone(),
            survives_reboot: prepared.survives_reboot,
            change: change.clone(),
            before: prepared.before.clone(),
            namespaces: prepared.namespaces.clone(),
        };
        self.append(&Line::Entry(entry.clone()))?;
        self.sync()?;
        self.contents.last_seq = entry.seq;
        self.contents.entries.push(entry);
        Ok(())
    }

    /// The standing changes with their states.
    pub fn states(&self) -> Vec<State> {
        let state = |entry: &Entry| {
            let now = self.machine.prepare(&entry.change).map(|prepared| prepared.before.state());
            State {
                change: entry.change.clone(),
                before: entry.before.state(),
                now: now.map_err(|error| error.to_string()),
            }
        };
        self.contents.entries.iter().map(state).collect()
    }

    /// Description of kept changes, as it was given to [`Ledger::keep`].
    pub fn kept_about(&self) -> Option<&Value> {
        self.contents.kept.as_ref()
    }

    /// Undoes those changes that are meant, in reverse order.
    pub fn undo_where(&mut self, is_meant: impl Fn(&Change) -> bool) -> Result<Vec<Change>, UndoErrors> {
        let meant: Vec<Entry> =
            self.contents.entries.iter().rev().filter(|entry| is_meant(&entry.change)).cloned().collect();
        self.undo_entries(meant)
    }

    /// Ends the record of those changes that are meant. They stand.
    pub fn forget_where(&mut self, is_meant: impl Fn(&Change) -> bool) -> Result<(), Error> {
        let (meant, rest): (Vec<_>, Vec<_>) =
            self.contents.entries.drain(..).partition(|entry| is_meant(&entry.change));
        self.contents.entries = rest;
        meant.iter().try_for_each(|entry| self.append(&Line::Undone(entry.seq)))
    }

    /// Number of standing changes.
    pub fn standing(&self) -> usize {
        self.contents.entries.len()
    }

    /// Undoes all changes in reverse order, and goes on after a failure: a change that fails stays recorded.
    ///
    /// Returns the changes that were undone, without those that had already gone.
    pub fn undo_all(&mut self) -> Result<Vec<Change>, UndoErrors> {
        let undone = self.undo_last(self.contents.entries.len());
        let Some(unknown) = self.unknown() else { return undone };
        let failed = undone.err().map_or(Vec::new(), |UndoErrors(errors)| errors);
        Err(UndoErrors(failed.into_iter().chain([unknown]).collect()))
    }

    /// Undoes the last `changes` changes in the same way.
    pub fn undo_last(&mut self, changes: usize) -> Result<Vec<Change>, UndoErrors> {
        self.undo_entries(self.contents.entries.iter().rev().take(changes).cloned().collect())
    }

    fn undo_entries(&mut self, entries: Vec<Entry>) -> Result<Vec<Change>, UndoErrors> {
        let (mut undone, mut errors, mut away) = (Vec::new(), Vec::new(), Vec::new());
        let mut again = Vec::new();
        for entry in entries {
            if waits(&entry.change, &away) {
                continue;
            }
            match self.undo(&entry) {
                Ok(true) => undone.push(entry.change),
                Ok(false) => {}
                Err(Error::Undo { error: Failure::NotAsBefore(_), .. }) => again.push(entry),
                Err(error) => {
                    away.extend(still_away(entry.change));
                    errors.push(error);
                }
            }
        }
        // A port may lack settings that depend on another port, such as a link.
        for entry in again {
            match self.undo(&entry) {
                Ok(true) => undone.push(entry.change),
                Ok(false) => {}
                Err(error) => errors.push(error),
            }
        }
        if errors.is_empty() { Ok(undone) } else { Err(UndoErrors(errors)) }
    }

    fn undo(&mut self, entry: &Entry) -> Result<bool, Error> {
        let undone =
            self.machine.undo(&entry.change, &entry.before, &entry.namespaces).map_err(|error| Error::Undo {
                owner: self.owner.clone(),
                path: self.path.as_path().into(),
                change: entry.change.to_string(),
                error,
            })?;
        // Not synced, and not written on a full disk: without this line, a later cleanup finds nothing to undo.
        let _ = self.append(&Line::Undone(entry.seq));
        self.contents.entries.retain(|other| other.seq != entry.seq);
        Ok(undone)
    }

    /// Keeps the changes on purpose; `about` is returned by [`kept`](crate::kept()).
    ///
    /// On a write error, they stay with this owner, to be undone.
    pub fn keep(&mut self, about: &impl Serialize) -> Result<(), Error> {
        let about = serde_json::to_value(about).map_err(io::Error::from).map_err(failed("write", &self.path))?;
        let survives_reboot = self.contents.entries.iter().any(|entry| entry.survives_reboot);
        let (boot_id, kept) = (self.boot_id.clone(), about.clone());
        self.append(&Line::Kept(KeptLine { boot_id, survives_reboot, about: kept }))?;
        self.sync()?;
        self.contents.kept = Some(about);
        Ok(())
    }

    /// Whether its owner kept the changes on purpose.
    pub(crate) fn is_kept(&self) -> bool {
        self.contents.kept.is_some()
    }

    /// Whether changes were made in a private network namespace of the owner that is not the caller's.
    ///
    /// They can only be undone from there.
    pub(crate) fn is_elsewhere(&self) -> Result<bool, Error> {
        let here = namespace::identity("")?;
        Ok(self.contents.namespaces().filter_map(|all| all.identity("")).any(|there| Some(there) != here))
    }

    /// Lines unknown to this version.
    pub(crate) fn unknown(&self) -> Option<Error> {
        let unknown = &self.contents.unknown;
        let why = unknown.first()?.why.clone();
        Some(Error::Lines { path: self.path.clone(), lines: unknown.iter().map(|line| line.number).collect(), why })
    }

    fn append(&mut self, line: &Line) -> Result<(), Error> {
        let text = serde_json::to_string(line).map_err(io::Error::from).map_err(failed("write", &self.path))?;
        // One call, so that a crash leaves a whole line or an incomplete one. A full disk may have taken a part.
        let result = self.lock.file().write_all(format!("{text}\n").as_bytes());
        match result {
            Ok(()) => self.contents.length += text.len() + 1,
            Err(_) => self.lock.file().set_len(self.contents.length as u64).map_err(failed("cut", &self.path))?,
        }
        result.map_err(failed("write", &self.path))
    }

    fn sync(&self) -> Result<(), Error> {
        self.lock.file().sync_data().map_err(failed("sync", &self.path))
    }
}

impl Drop for Ledger {
    fn drop(&mut self) {
        // While the lock is held. A file that stays has no changes and is harmless.
        if !self.contents.stands() {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Whether undoing has to wait for a NIC that is still away.
///
/// The NIC would end with its namespace, or appear to network managers too early.
fn waits(change: &Change, away: &[MovedNic]) -> bool {
    away.iter().any(|nic| match change {
        Change::Namespace(Namespace { name }) => *name == nic.namespace,
        Change::UnmanagedNic(UnmanagedNic { interface, .. }) => *interface == nic.interface,
        _ => false,
    })
}

fn still_away(change: Change) -> Option<MovedNic> {
    match change {
        Change::Nic(nic) => Some(nic),
        _ => None,
    }
}

/// Takes a folder away from all but its owner: an earlier version let others read it, and so lock what is in it.
fn make_private(dir: &Path) -> io::Result<()> {
    let folder = open_trusted_folder(dir)?;
    if folder.metadata()?.mode() & 0o077 == 0 { Ok(()) } else { folder.set_permissions(Permissions::from_mode(0o700)) }
}

/// Reads a ledger without locking it; `None` if its owner has just removed it.
pub(crate) fn read_unlocked(dir: &Path, owner: &str) -> Result<Option<Contents>, Error> {
    let path = path(dir, owner)?;
    match open_trusted(&path, LONGEST) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        file => read(&file.map_err(failed("open", &path))?, &path, &boot_id()?).map(Some),
    }
}

fn read(file: &File, path: &Path, boot_id: &str) -> Result<Contents, Error> {
    let mut bytes = Vec::new();
    let mut read = || {
        trusted(&file.metadata()?, LONGEST)?;
        file.take(LONGEST).read_to_end(&mut bytes)
    };
    read().map_err(failed("read", path))?;
    Ok(Contents::parse(&bytes, boot_id))
}

fn path(dir: &Path, owner: &str) -> Result<PathBuf, Error> {
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if owner.is_empty() || owner.len() > 200 || !owner.chars().all(fits) {
        return Err(Error::OwnerName(owner.to_owned()));
    }
    Ok(dir.join(format!("{owner}.jsonl")))
}

fn boot_id() -> Result<String, Error> {
    Ok(sysctl::read("kernel.random.boot_id")?)
}

pub(crate) fn failed(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Error + use<> {
    let path = path.to_owned();
    move |io| Error::File { doing, path, io }
}
