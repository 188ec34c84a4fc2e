//! Requests to the process that owns a router, and its answers.

use std::{
    io::{Read, Write},
    time::Duration,
};

use kernel::local;
use model::Router;
use serde::{Deserialize, Serialize};

use super::{SOCKET, errors::RouterError};

/// Asks for the end of the router.
pub(super) const DOWN: &[u8] = b"down";
/// Asks for its counters.
pub(super) const STATISTICS: &[u8] = b"statistics";

/// Undoing may wait for other programs.
const PATIENCE: Duration = Duration::from_secs(120);

/// An answer.
#[derive(Serialize, Deserialize)]
pub(super) enum Answer {
    /// The router as it is.
    Router(Router),
    /// It has ended; its changes, in words.
    Undone(Vec<String>),
    /// It could not do that.
    Failed(String),
}

impl Answer {
    pub(super) fn failed(error: &RouterError) -> Self {
        Self::Failed(error.to_string())
    }
}

/// Asks the owner of this namespace's router; `None` without one.
pub(super) fn ask(request: &[u8]) -> Result<Option<Answer>, RouterError> {
    let Some(mut owner) = local::connect_to(SOCKET)? else { return Ok(None) };
    let mut said = String::new();
    let asked = owner
        .set_read_timeout(Some(PATIENCE))
        .and_then(|()| owner.write_all(request))
        .and_then(|()| owner.read_to_string(&mut said));
    match asked.ok().and_then(|_| serde_json::from_str(&said).ok()) {
        Some(answer) => Ok(Some(answer)),
        None => Err(RouterError::Confused),
    }
}
