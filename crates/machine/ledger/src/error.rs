//! Errors of a ledger.

use std::{
    fmt, io,
    path::{Path, PathBuf},
};

use crate::Failure;

/// A failure with a ledger or a change.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The owner's name is no valid file name.
    #[error("\"{0}\" cannot name a ledger; use letters, digits, \"-\" and \"_\" only")]
    OwnerName(String),
    /// The file or its directory could not be used.
    #[error("cannot {doing} {}: {io}; nothing is changed that cannot be recorded there", path.display())]
    File {
        /// The attempted operation.
        doing: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// The cause.
        io: io::Error,
    },
    /// The file could not be locked for this owner.
    #[error("{0}; nothing is changed that cannot be recorded there")]
    Lock(kernel::Error),
    /// Unreadable lines of a file.
    #[error(
        "cannot read {} of {} ({why}): another version of wireproof made a change, or the file is damaged; undo it with that version or \
         by hand, then remove the file: wireproof then forgets what the file records, and leaves it as it is",
        numbered(.lines), path.display()
    )]
    Lines {
        /// The file.
        path: PathBuf,
        /// Line numbers, from 1.
        lines: Vec<usize>,
        /// The problem of the first one.
        why: String,
    },
    /// The description of kept changes is unreadable.
    #[error(
        "the changes of \"{owner}\" are kept, but not by this version ({why}); take them down with the one that made them"
    )]
    Kept {
        /// Owner of the changes.
        owner: String,
        /// The problem.
        why: serde_json::Error,
    },
    /// Another process has it open.
    #[error("the changes of \"{0}\" are in use by another wireproof; wait for it to end, or end it")]
    InUse(String),
    /// Changes of this owner still stand.
    #[error(
        "there are changes of \"{0}\" that still stand; take its bed down with \"wireproof bed down {0}\", or run \
         \"wireproof clean\" if a crash left them behind"
    )]
    NotUndone(String),
    /// This owner has no changes.
    #[error("no changes of \"{0}\" are recorded in {}", dir.display())]
    Nothing {
        /// Requested owner.
        owner: String,
        /// Searched directory.
        dir: PathBuf,
    },
    /// The name of the new object is in use.
    #[error("{what} exists already, and is not wireproof's; remove it with \"{remove}\", or choose another name")]
    AlreadyExists {
        /// The existing object.
        what: String,
        /// Command that would remove it.
        remove: String,
    },
    /// The previous state could not be read.
    #[error("cannot read what is there before making {change}: {error}")]
    Before {
        /// The change.
        change: String,
        /// The cause.
        error: Failure,
    },
    /// A change could not be made.
    #[error("cannot make {change}: {error}")]
    Make {
        /// The change.
        change: String,
        /// The cause.
        error: Failure,
    },
    /// A change could not be undone, and stays recorded.
    #[error("cannot undo {change} (of \"{owner}\"): {error}")]
    Undo {
        /// Owner of the change.
        owner: String,
        /// The file that records it.
        path: Box<Path>,
        /// The change.
        change: String,
        /// The cause.
        error: Failure,
    },
    /// The kernel refused an operation that every change needs.
    #[error(transparent)]
    Kernel(#[from] kernel::Error),
}

fn numbered(numbers: &[usize]) -> String {
    let shown: Vec<String> = numbers.iter().map(ToString::to_string).collect();
    format!("{} {}", if numbers.len() == 1 { "line" } else { "lines" }, shown.join(", "))
}

/// Changes that could not be undone; all others were.
#[derive(Debug)]
pub struct UndoErrors(pub Vec<Error>);

impl std::error::Error for UndoErrors {}

impl fmt::Display for UndoErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not everything could be undone; put right what follows, then run \"wireproof clean\": ")?;
        for (index, error) in self.0.iter().enumerate() {
            write!(f, "{}{error}", if index == 0 { "" } else { "; " })?;
        }
        let recorded = self.0.iter().filter_map(|error| match error {
            Error::Undo { path, .. } => Some(path.display().to_string()),
            _ => None,
        });
        let mut files: Vec<String> = recorded.collect();
        files.dedup();
        if files.is_empty() {
            return Ok(());
        }
        write!(
            f,
            ". Until then wireproof changes nothing here; where it is to stay as it is, remove {}",
            files.join(", ")
        )
    }
}
