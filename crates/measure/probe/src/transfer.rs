//! One file from one end to the other, by wireproof itself or by the programs that people use for it.
//!
//! The ends talk over a connection of their own (`line`). The far end listens on it; the near end is always the client, whichever way the
//! contents go. What takes time and is no transfer stands outside of the counted time: making the contents, starting the server, hashing.
//!
//! ```text
//! near → far   available memory, words of the method (a public key)     or "lacks"
//! far → near   size, port of the server, words (a host key)             or "lacks"
//! near → far   begin
//! far → near   go              the counted time begins at both ends
//! near → far   done            the client has ended
//! ```

mod contents;
mod far;
mod line;
mod methods;
mod near;
mod own;
mod place;
mod run;
mod said;

use std::{fs, net::IpAddr};

use model::{
    Bytes, Direction, Side, SideSetup,
    probe::{ORDINARY_TRANSFER, TransferSpec},
    trial::{Program, TransferSide},
};

use rustix::process::geteuid;

use crate::{
    Prepared, ProbeError,
    programs::{NOBODY, is_root},
};

/// Purposes of connections to the far end's socket (see `greeting`).
const LINE: u32 = 0;
const DATA: u32 = 1;

/// Part of the available memory that contents may take without another size.
const SHARE: u64 = 8;

/// Gets one side ready.
pub(crate) fn prepare(spec: &TransferSpec, side: Side, setup: &SideSetup) -> Result<Box<dyn Prepared>, ProbeError> {
    spec.check().map_err(|why| ProbeError::Unable { what: "transfer".to_owned(), why })?;
    Ok(match side {
        Side::Near => Box::new(near::Near::prepare(spec, setup)?),
        Side::Far => Box::new(far::Far::prepare(spec, setup)?),
    })
}

/// Whether this side makes the contents.
fn sends(spec: &TransferSpec, side: Side) -> bool {
    (side == Side::Near) == (spec.method.direction() == Direction::Forward)
}

/// Size of the contents, for the memory that the end with less of it has available. In a lab both ends take of the same.
fn size(spec: &TransferSpec, available: u64) -> Result<u64, ProbeError> {
    match spec.size {
        None => Ok(ORDINARY_TRANSFER.0.min(available / SHARE).max(1)),
        Some(size) if size.0 <= available / 2 => Ok(size.0),
        Some(size) => Err(unable(
            "memory",
            format!(
                "an end has {} available, of which {size} would be more than half; ask for less (--size)",
                Bytes(available >> 20 << 20)
            ),
        )),
    }
}

/// A side that lacks a program.
fn lacking(program: Program) -> TransferSide {
    TransferSide { lacks: Some(program), ..TransferSide::default() }
}

fn unable(what: &str, why: impl ToString) -> ProbeError {
    ProbeError::Unable { what: what.to_owned(), why: why.to_string() }
}

/// An address without a port, as URLs have it.
fn in_url(ip: IpAddr) -> String {
    if ip.is_ipv6() { format!("[{ip}]") } else { ip.to_string() }
}

/// Name of the user that the programs run as (passwd(5)).
fn own_name() -> String {
    let id = if is_root() { NOBODY } else { geteuid().as_raw() }.to_string();
    let users = fs::read_to_string("/etc/passwd").unwrap_or_default();
    let named =
        users.lines().map(|line| line.split(':').collect::<Vec<_>>()).find(|fields| fields.get(2) == Some(&&*id));
    named.map_or("nobody", |fields| fields[0]).to_owned()
}

#[cfg(test)]
mod tests;
