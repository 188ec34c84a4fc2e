//! A ledger in its owner's hands.

use std::{
    fs::{self, DirBuilder, File},
    io::{self, Read, Write},
    os::unix::fs::DirBuilderExt,
    path::{Path, PathBuf},
};

use kernel::{lock::FileLock, namespace, sysctl};
use model::Change;
use serde::Serialize;

use crate::{
    Error, Failure, UndoErrors,
    file::{BadLine, Contents, Entry, KeptLine, Line},
    machine::{self, Prepared},
};

/// The changes of one owner, locked against others. Dropping it undoes nothing: whoever cleans up next will.
#[derive(Debug)]
pub struct Ledger {
    owner: String,
    path: PathBuf,
    lock: FileLock,
    boot_id: String,
    contents: Contents,
}

impl Ledger {
    /// Begins the ledger of a new owner; the directory is made where it is missing.
    pub fn open(dir: &Path, owner: &str) -> Result<Self, Error> {
        DirBuilder::new().recursive(true).mode(0o755).create(dir).map_err(failed("make", dir))?;
        let ledger = Self::load(dir, owner)?;
        if !ledger.contents.entries.is_empty() {
            return Err(Error::Standing(owner.to_owned()));
        }
        // The name of a new file is safe on disk only when its directory is.
        File::open(dir).and_then(|dir| dir.sync_all()).map_err(failed("sync", dir))?;
        Ok(ledger)
    }

    /// Takes over the ledger of an owner that kept its changes, or died.
    pub fn reopen(dir: &Path, owner: &str) -> Result<Self, Error> {
        if !path(dir, owner)?.exists() {
            return Err(Error::Nothing { owner: owner.to_owned(), dir: dir.to_owned() });
        }
        Self::load(dir, owner)
    }

    fn load(dir: &Path, owner: &str) -> Result<Self, Error> {
        let path = path(dir, owner)?;
        // For this moment only: else whoever cleans up could hold a new file between its owner's making and locking it.
        let directory = File::open(dir).map_err(failed("open", dir))?;
        directory.lock().map_err(failed("lock", dir))?;
        let lock = FileLock::try_lock(&path).map_err(Error::Lock)?.ok_or_else(|| Error::InUse(owner.to_owned()))?;
        let boot_id = boot_id()?;
        let contents = read(lock.file(), &path, &boot_id)?;
        // What is appended must not become part of a torn line.
        lock.file().set_len(contents.length as u64).map_err(failed("cut", &path))?;
        Ok(Self { owner: owner.to_owned(), path, lock, boot_id, contents })
    }

    /// Makes a change, once it is recorded.
    pub fn apply(&mut self, change: Change) -> Result<(), Error> {
        self.apply_all(vec![change])
    }

    /// Makes these changes in order, once all of them are recorded: making one may take from another what it was before, as where
    /// a port that goes takes the link from the one at the other end of its cable.
    pub fn apply_all(&mut self, changes: Vec<Change>) -> Result<(), Error> {
        let prepared = changes.iter().map(Prepared::read).collect::<Result<Vec<_>, _>>()?;
        for (change, prepared) in changes.iter().zip(&prepared) {
            self.record(change, prepared)?;
        }
        let make = |(prepared, change): (Prepared, &Change)| {
            prepared.make(change).map_err(|error| Error::Make { change: change.to_string(), error })
        };
        prepared.into_iter().zip(&changes).try_for_each(make)
    }

    fn record(&mut self, change: &Change, prepared: &Prepared) -> Result<(), Error> {
        let entry = Entry {
            seq: self.contents.last_seq + 1,
            boot_id: self.boot_id.clone(),
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

    /// How many changes stand.
    pub fn standing(&self) -> usize {
        self.contents.entries.len()
    }

    /// Undoes all changes, the last one first, and goes on where one cannot be undone: that one stays recorded. Says what
    /// was undone; what had gone by itself is not in it.
    pub fn undo_all(&mut self) -> Result<Vec<Change>, UndoErrors> {
        self.undo_last(self.contents.entries.len())
    }

    /// Undoes the last changes, as many as said, in the same way.
    pub fn undo_last(&mut self, changes: usize) -> Result<Vec<Change>, UndoErrors> {
        let (mut undone, mut errors, mut away) = (Vec::new(), Vec::new(), Vec::new());
        let mut again = Vec::new();
        for entry in self.contents.entries.clone().into_iter().rev().take(changes) {
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
        // A port may lack what needs another one, like a link.
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
        let undone = machine::take_back(entry).map_err(|error| Error::Undo {
            owner: self.owner.clone(),
            path: self.path.as_path().into(),
            change: entry.change.to_string(),
            error,
        })?;
        // Not synced, and on a disk that is full not even written: losing this line only means to look again, and to find nothing
        // to undo.
        let _ = self.append(&Line::Undone(entry.seq));
        self.contents.entries.retain(|other| other.seq != entry.seq);
        Ok(undone)
    }

    /// Leaves the changes standing on purpose; `about` is what [`kept`](crate::kept()) will say of them. Where that cannot
    /// be written, they are this owner's still, to be undone.
    pub fn keep(&mut self, about: &impl Serialize) -> Result<(), Error> {
        let about = serde_json::to_value(about).map_err(io::Error::from).map_err(failed("write", &self.path))?;
        self.append(&Line::Kept(KeptLine { boot_id: self.boot_id.clone(), about: about.clone() }))?;
        self.sync()?;
        self.contents.kept = Some(about);
        Ok(())
    }

    /// Whether its owner left the changes standing on purpose.
    pub(crate) fn is_kept(&self) -> bool {
        self.contents.kept.is_some()
    }

    /// Whether some of the changes were made in the network namespace that was its owner's own, and is not the caller's. They
    /// can be undone from there alone.
    pub(crate) fn is_elsewhere(&self) -> Result<bool, Error> {
        let here = namespace::identity("")?;
        Ok(self.contents.entries.iter().filter_map(|entry| entry.namespaces.get("")).any(|there| Some(*there) != here))
    }

    fn append(&mut self, line: &Line) -> Result<(), Error> {
        let text = serde_json::to_string(line).map_err(io::Error::from).map_err(failed("write", &self.path))?;
        // One call, so that a crash leaves all of it or a line without an end. A disk that is full may have taken a part.
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
        // While the lock is still held. A file that stays is empty of changes and harmless.
        if self.contents.entries.is_empty() {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Whether a port that is still away has to come back first: it would end with its namespace, or turn up wherever the kernel
/// puts it, and programs that configure interfaces would find it there.
fn waits(change: &Change, away: &[StillAway]) -> bool {
    away.iter().any(|port| match change {
        Change::Namespace { name } => *name == port.namespace,
        Change::LeftAlone { interface, .. } => *interface == port.interface,
        _ => false,
    })
}

/// A port that could not be given back, and the namespace that it is in.
struct StillAway {
    interface: String,
    namespace: String,
}

fn still_away(change: Change) -> Option<StillAway> {
    match change {
        Change::Port { interface, namespace } => Some(StillAway { interface, namespace }),
        _ => None,
    }
}

/// Reads a ledger without locking it; `None` where its owner has just ended and removed it.
pub(crate) fn read_unlocked(dir: &Path, owner: &str) -> Result<Option<Contents>, Error> {
    let path = path(dir, owner)?;
    match File::open(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        file => read(&file.map_err(failed("open", &path))?, &path, &boot_id()?).map(Some),
    }
}

fn read(mut file: &File, path: &Path, boot_id: &str) -> Result<Contents, Error> {
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).map_err(failed("read", path))?;
    let bad = |bad: BadLine| Error::Line { path: path.to_owned(), line: bad.number, why: bad.why };
    Contents::parse(&bytes, boot_id).map_err(bad)
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
