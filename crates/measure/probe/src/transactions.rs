//! Requests and their responses, on one connection or on many, as a web server sees them.
//!
//! The client has a thread for each core, each with an epoll set and its share of the connections. A transaction belongs to
//! the counted time by its beginning: the request (`rr`), the connection (`crr`), or the intended time of a schedule. After
//! the counted time no transaction begins, and those that have begun are waited for until their timeout. So a server that
//! stops is in the sample however long it stops. `completed` counts by the end of a transaction.

mod backlog;
mod client;
mod far;
mod files;
mod label;
mod nginx;
mod reply;
mod served;
mod setting;
mod so_far;
mod tally;
mod worker;

use kernel::cpu;
use model::{Side, SideSetup, probe::TransactionsSpec};

use crate::{Prepared, ProbeError};

/// Gets one side ready.
pub(crate) fn prepare(spec: &TransactionsSpec, side: Side, setup: &SideSetup) -> Result<Box<dyn Prepared>, ProbeError> {
    spec.check().map_err(|why| ProbeError::Unable { what: "transactions".to_owned(), why })?;
    files::allow(spec.connections);
    Ok(match side {
        Side::Near => Box::new(client::Client::prepare(spec, setup)?),
        Side::Far => far::prepare(spec, setup)?,
    })
}

/// Number of threads of a side: one for each core, at most one for each connection.
fn threads(spec: &TransactionsSpec, setup: &SideSetup) -> usize {
    setup.cpus.len().clamp(1, usize::from(spec.connections.max(1)))
}

/// Keeps a thread on its core, where there are cores to keep to.
fn pin(cpus: &[usize], thread: usize) -> Result<(), ProbeError> {
    match cpus.get(thread) {
        Some(cpu) => Ok(cpu::pin_current_thread(*cpu)?),
        None => Ok(()),
    }
}

#[cfg(test)]
pub(crate) mod tests;
