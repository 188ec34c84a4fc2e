//! Reasons for which a machine is not tuned.

use ledger::UndoErrors;

/// A failure to tune, to confirm or to undo.
#[derive(Debug, thiserror::Error)]
pub enum TuningError {
    /// Not root of the machine.
    #[error(
        "tuning changes the machine and needs root; run the same command with sudo, on another machine as root@HOST"
    )]
    NoRoot,
    /// There is one already.
    #[error(
        "this machine is tuned already; see \"wireproof tune status\", and undo it first with \"wireproof tune undo\""
    )]
    Stands,
    /// One waits to be confirmed.
    #[error(
        "a tuning waits to be confirmed; keep it with \"wireproof tune confirm\" or undo it with \"wireproof tune undo\" first"
    )]
    Waits,
    /// Another process is running.
    #[error(
        "another wireproof tunes, undoes or measures a tuning on this machine at the moment; try again when it has ended"
    )]
    Busy,
    /// There is none.
    #[error("this machine is not tuned: there is nothing to undo")]
    Nothing,
    /// None waits.
    #[error(
        "no tuning waits to be confirmed: it was confirmed before, or its time was up and it is undone; see \"wireproof tune status\""
    )]
    NothingWaits,
    /// A change was refused.
    #[error("{error}; {}", .undoing.as_ref().map_or_else(|| "what was changed before it has been undone".to_owned(), ToString::to_string))]
    Refused {
        /// The refused change.
        error: Box<ledger::Error>,
        /// Changes that could not be undone.
        undoing: Option<UndoErrors>,
    },
    /// The process that holds an unconfirmed tuning failed.
    #[error("{0}")]
    Holder(String),
    /// It said something else than was asked.
    #[error("the process that holds the tuning gave no sensible answer; \"wireproof clean\" undoes what it left")]
    Confused,
    /// A failure with the result of undoing.
    #[error("{error}; {undoing}")]
    AndUndoing {
        /// The failure.
        error: Box<Self>,
        /// Changes that could not be undone.
        undoing: UndoErrors,
    },
    /// The record of changes.
    #[error(transparent)]
    Ledger(#[from] ledger::Error),
    /// Undoing.
    #[error(transparent)]
    Undo(#[from] UndoErrors),
    /// The kernel.
    #[error(transparent)]
    Kernel(#[from] kernel::Error),
}

impl TuningError {
    /// This error, and the one of undoing afterwards.
    pub(super) fn and_then(self, undoing: Option<UndoErrors>) -> Self {
        match undoing {
            None => self,
            Some(undoing) => Self::AndUndoing { error: Box::new(self), undoing },
        }
    }
}
