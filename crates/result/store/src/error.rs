//! Failures of a store.

use std::{
    io,
    path::{Path, PathBuf},
};

use model::{RunId, plain::one_line, plausible::Implausible};
use rusqlite::ErrorCode;

/// A failure of a store: the attempt, the reason, and the remedy.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// There is nothing to read.
    #[error(
        "there is no store {path}; measure something first (\"wireproof verify\"), or name another with --store PATH"
    )]
    Absent {
        /// The store.
        path: PathBuf,
    },
    /// The folder for it could not be made.
    #[error("cannot make the folder {path} for the store: {source}; name a place that you may write with --store PATH")]
    Folder {
        /// The folder.
        path: PathBuf,
        /// Message of the system.
        source: io::Error,
    },
    /// The file could not be made.
    #[error("cannot make the store {path}: {source}; name a place that you may write with --store PATH")]
    Create {
        /// The store.
        path: PathBuf,
        /// Message of the system.
        source: io::Error,
    },
    /// SQLite cannot get at the file, for a reason that the user can do something about.
    #[error("cannot {tried}: {}", .trouble.of(path))]
    Trouble {
        /// The store.
        path: PathBuf,
        /// The attempt.
        tried: &'static str,
        /// The reason.
        trouble: Trouble,
    },
    /// Not a store, or not any more.
    #[error(
        "cannot {tried}: {path} is {is}; move it out of the way and a new store is made, or name another with --store PATH"
    )]
    NotAStore {
        /// The file.
        path: PathBuf,
        /// The attempt.
        tried: &'static str,
        /// The kind of file that it is.
        is: &'static str,
    },
    /// Written by a later version of this program.
    #[error(
        "the store {path} was written by a newer wireproof (its schema is {theirs}, this program knows {ours}); update \
         wireproof, or name another store with --store PATH"
    )]
    Newer {
        /// The store.
        path: PathBuf,
        /// Version of its schema.
        theirs: u32,
        /// Version that this program knows.
        ours: u32,
    },
    /// No run has that name.
    #[error("there is no run \"{run}\" in {path}; \"wireproof runs\" lists those there are")]
    NoSuchRun {
        /// The store.
        path: PathBuf,
        /// The name that was asked for.
        run: RunId,
    },
    /// More than one run's name begins so.
    #[error("{fit} runs in {path} begin with \"{run}\"; write more of the name, \"wireproof runs\" lists them")]
    SeveralRuns {
        /// The store.
        path: PathBuf,
        /// The beginning that was asked for.
        run: RunId,
        /// Number that fits.
        fit: usize,
    },
    /// A run whose name differs from its row's, or is not a valid name of a run.
    #[error(
        "the run \"{}\" in {path} calls itself \"{}\": it was changed by hand, and is not used; other runs are not touched \
         by this", .row.escape_debug(), .body.escape_debug()
    )]
    OtherName {
        /// The store.
        path: PathBuf,
        /// Name of its row.
        row: String,
        /// Name in its text.
        body: String,
    },
    /// Another program works on the run.
    #[error("run {run} is under way{}; interrupt it first, or wait for its end", process(*.by))]
    UnderWay {
        /// The run.
        run: RunId,
        /// Number of the program's process, where it is known.
        by: Option<u32>,
    },
    /// The run could not be taken.
    #[error(transparent)]
    Lock(#[from] kernel::Error),
    /// The file that says which program has the run could not be written.
    #[error("cannot write {path}: {source}")]
    RunLock {
        /// The file.
        path: PathBuf,
        /// Message of the system.
        source: io::Error,
    },
    /// There is no run at all.
    #[error("the store {path} holds no run yet; start with \"wireproof verify\"")]
    NoRuns {
        /// The store.
        path: PathBuf,
    },
    /// There is nothing to compare with.
    #[error(
        "no baseline{} is set for plan \"{plan}\" on bed \"{bed}\" in {path}; set one with \"wireproof baseline set RUN\", \
         \"wireproof baseline show\" lists those there are",
        named(name)
    )]
    NoBaseline {
        /// The store.
        path: PathBuf,
        /// The bed's name.
        bed: String,
        /// The plan's name.
        plan: String,
        /// The baseline's own name; empty for none.
        name: String,
    },
    /// The database is intact, but the rows of a run are not.
    #[error(
        "the run \"{run}\" in {path} cannot be read: {}; it was changed by hand or by another version, other runs \
         are not touched by this", one_line(&source.to_string())
    )]
    Unreadable {
        /// The store.
        path: PathBuf,
        /// The run.
        run: RunId,
        /// Fault of its text.
        source: serde_json::Error,
    },
    /// A run with a plan, a bed or machines that cannot be.
    #[error(
        "the run \"{run}\" in {path} is not used: {source}; it was changed by hand or by another version, other runs are not \
         touched by this"
    )]
    Impossible {
        /// The store.
        path: PathBuf,
        /// The run.
        run: RunId,
        /// Fault of its values.
        source: Implausible,
    },
    /// Anything else that SQLite says.
    #[error("cannot {tried} in {path}: {source}; if that disk is not in order, name another place with --store PATH")]
    Other {
        /// The store.
        path: PathBuf,
        /// The attempt.
        tried: &'static str,
        /// Message of SQLite.
        source: rusqlite::Error,
    },
}

/// Why SQLite cannot get at a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// It may be read, but not written.
    ReadOnly,
    /// The file, or the journal that SQLite keeps beside it while it writes, cannot be opened.
    CannotOpen,
    /// No room is left.
    Full,
    /// Somebody else has been writing for too long.
    Locked,
}

impl Trouble {
    fn of(self, path: &Path) -> String {
        let path = path.display();
        match self {
            Self::ReadOnly => format!("{path} is read-only; make it writable, or name another place with --store PATH"),
            Self::CannotOpen => format!(
                "{path}, or a file beside it, cannot be opened; see that it is a file, and that you may write to it and to the \
                 folder it is in, or name another place with --store PATH"
            ),
            Self::Full => format!(
                "the disk that holds {path} is full; make room there, or name another place with --store PATH. What was \
                 stored before is kept"
            ),
            Self::Locked => format!(
                "another program has kept {path} locked for 5 s; find it with \"fuser -v {path}\", wait for it or end it, \
                 then try again"
            ),
        }
    }
}

fn process(pid: Option<u32>) -> String {
    pid.map_or_else(String::new, |pid| format!(" (pid {pid})"))
}

fn named(name: &str) -> String {
    if name.is_empty() { String::new() } else { format!(" \"{name}\"") }
}

impl StoreError {
    /// Classifies an error of SQLite by the user's remedy.
    pub(crate) fn sqlite(path: &Path, tried: &'static str, source: rusqlite::Error) -> Self {
        let path = path.to_owned();
        let trouble = match source.sqlite_error_code() {
            Some(ErrorCode::ReadOnly) => Trouble::ReadOnly,
            Some(ErrorCode::CannotOpen) => Trouble::CannotOpen,
            Some(ErrorCode::DiskFull) => Trouble::Full,
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Trouble::Locked,
            Some(ErrorCode::NotADatabase) => return Self::NotAStore { path, tried, is: "not an SQLite database" },
            Some(ErrorCode::DatabaseCorrupt) => {
                return Self::NotAStore { path, tried, is: "a damaged SQLite database" };
            }
            _ => return Self::Other { path, tried, source },
        };
        Self::Trouble { path, tried, trouble }
    }
}
