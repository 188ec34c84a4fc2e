//! Reasons for which a change could not be made or undone.

use std::{io, path::PathBuf};

/// Reason for which a change could not be made or undone.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The kernel refused.
    #[error(transparent)]
    Kernel(#[from] kernel::Error),
    /// The name of a new object is in use.
    #[error("{what} exists already; remove it with \"{remove}\"")]
    AlreadyExists {
        /// The existing object.
        what: String,
        /// Command that would remove it.
        remove: String,
    },
    /// The previous state cannot be written or read.
    #[error("what is recorded of the state before is not understood ({0})")]
    Record(#[from] serde_json::Error),
    /// A file could not be written or removed.
    #[error("cannot write {}: {io}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The cause.
        io: io::Error,
    },
    /// A program could not be notified.
    #[error("\"{command}\" does not work: {said}")]
    Program {
        /// The command.
        command: String,
        /// Output, or why it did not run.
        said: String,
    },
    /// Taking the port would destroy settings that cannot be restored.
    #[error("it has what could not be put back; take it off first: {}", .0.join(", "))]
    Lasting(Vec<String>),
    /// The port was taken from another network namespace.
    #[error("it was taken from another network namespace than this one; run \"wireproof clean\" there")]
    Elsewhere,
    /// The port is back, but not entirely as before.
    #[error("it is back, but not in all as it was; what follows could not be done: {}", .0.join("; "))]
    NotAsBefore(Vec<String>),
}
