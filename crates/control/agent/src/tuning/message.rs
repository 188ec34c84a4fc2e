//! Requests to the process that holds an unconfirmed tuning, and its answers.

use std::{
    io::{Read, Write},
    time::Duration,
};

use kernel::local;
use model::tuning::{TuningState, Undone};
use serde::{Deserialize, Serialize};

use super::errors::TuningError;

/// Name of the holder's socket; its network namespace tells it from others.
pub(super) const SOCKET: &str = "wireproof-tune";

/// Asks to keep it.
pub(super) const CONFIRM: &[u8] = b"confirm";
/// Asks for its state.
pub(super) const STATE: &[u8] = b"state";
/// Asks to undo it.
pub(super) const UNDO: &[u8] = b"undo";

/// Undoing may wait for drivers.
const PATIENCE: Duration = Duration::from_secs(60);

/// An answer.
#[derive(Serialize, Deserialize)]
pub(super) enum Answer {
    /// The tuning as it is.
    State(TuningState),
    /// It is undone.
    Undone(Undone),
    /// It could not do that.
    Failed(String),
}

/// Asks the holder of this namespace; `None` without one.
pub(super) fn ask(request: &[u8]) -> Result<Option<Answer>, TuningError> {
    let Some(mut holder) = local::connect_to(SOCKET)? else { return Ok(None) };
    let mut said = String::new();
    let asked = holder
        .set_read_timeout(Some(PATIENCE))
        .and_then(|()| holder.write_all(request))
        .and_then(|()| holder.read_to_string(&mut said));
    match asked.ok().and_then(|_| serde_json::from_str(&said).ok()) {
        Some(answer) => Ok(Some(answer)),
        None => Err(TuningError::Confused),
    }
}
