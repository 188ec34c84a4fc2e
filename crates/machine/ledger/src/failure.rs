//! Why a change could not be made or undone.

use std::{io, path::PathBuf};

/// Why a change could not be made or undone.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The kernel refused.
    #[error(transparent)]
    Kernel(#[from] kernel::Error),
    /// The name of a new thing is somebody else's.
    #[error("{what} exists already; remove it with \"{remove}\"")]
    Taken {
        /// The thing of that name.
        what: String,
        /// The command that would remove it.
        remove: String,
    },
    /// The state before cannot be written or read.
    #[error("what is recorded of the state before is not understood ({0})")]
    Record(#[from] serde_json::Error),
    /// A file could not be written or removed.
    #[error("cannot write {}: {io}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why it failed.
        io: io::Error,
    },
    /// A program that had to be told could not be.
    #[error("\"{command}\" does not work: {said}")]
    Program {
        /// Its words.
        command: String,
        /// What it said, or why it could not be run.
        said: String,
    },
    /// A port has what a move would take, and nobody could put back.
    #[error("it has what could not be put back; take it off first: {}", .0.join(", "))]
    Lasting(Vec<String>),
    /// A port was taken from another network namespace than this one.
    #[error("it was taken from another network namespace than this one; run \"wireproof clean\" there")]
    Elsewhere,
    /// A port is back, but not in all as it was.
    #[error("it is back, but not in all as it was; what follows could not be done: {}", .0.join("; "))]
    NotAsBefore(Vec<String>),
}
