//! One file, or many small ones, from one end to the other, by wireproof itself or by the programs that people use for it.
//!
//! The ends talk over a connection of their own (`line`). The far end listens on it; the near end is always the client, whichever way the
//! contents go. What takes time and is no transfer stands outside of the counted time: making the contents, starting the server, hashing.
//!
//! ```text
//! near → far   available memory, size of a file on disk or 0, words of the method (a public key)     or "lacks"
//! far → near   size, port of the server, words (a host key)             or "lacks"
//! near → far   begin
//! far → near   go              the counted time begins at both ends
//! near → far   done            the client has ended
//! far → near   hashed          which takes long for large contents
//! ```

mod contents;
mod disk;
mod far;
mod kernel_tls;
mod line;
mod many;
mod methods;
mod near;
mod own;
mod place;
mod run;
mod said;

use std::{fs, net::IpAddr};

use model::{
    Bytes, Direction, Side, SideSetup,
    probe::{ORDINARY_TRANSFER, SMALL_FILE, SMALL_FILES, TransferMethod, TransferSpec},
    trial::{Program, TransferSide},
};

use rustix::process::geteuid;

use self::{disk::DiskFile, place::Place};
use crate::{
    Prepared, ProbeError,
    programs::{NOBODY, is_root},
};

/// Purposes of connections to the far end's socket (see `greeting`).
const LINE: u32 = 0;
const DATA: u32 = 1;

/// Word of a far end that has nothing more to do.
const HASHED: &str = "hashed";

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

/// State of an end before anything moves.
#[derive(Default)]
struct Before {
    /// Hash of the contents, where this end sends them.
    hash: Option<String>,
    /// Rate of the disk that they come from or go to.
    disk_bps: Option<f64>,
}

/// The file on disk that this side sends.
fn source(spec: &TransferSpec, side: Side) -> Result<Option<DiskFile>, ProbeError> {
    spec.file.as_ref().filter(|_| sends(spec, side)).map(|path| DiskFile::open(path)).transpose()
}

/// Makes the contents, or measures the disk that they come from or go to.
fn make_ready(
    spec: &TransferSpec,
    sends: bool,
    place: &Place,
    source: Option<&DiskFile>,
    token: u32,
    size: u64,
) -> Result<Before, ProbeError> {
    Ok(match source {
        _ if spec.method == TransferMethod::Iperf3 => Before::default(),
        Some(source) => {
            let (bps, hash) = source.measure()?;
            Before { hash: Some(hash), disk_bps: Some(bps) }
        }
        None if sends => Before { hash: Some(place.fill(spec, token, size)?), disk_bps: None },
        None if spec.file.is_some() => Before { hash: None, disk_bps: Some(disk::write_bps(place.room(), size)?) },
        None => Before::default(),
    })
}

/// Whether this side makes the contents.
fn sends(spec: &TransferSpec, side: Side) -> bool {
    (side == Side::Near) == (spec.method.direction() == Direction::Forward)
}

/// Size of the contents, for the memory that the end with less of it has available. In a lab both ends take of the same.
fn size(spec: &TransferSpec, available: u64) -> Result<u64, ProbeError> {
    let asked = if spec.is_many() { Some(Bytes(SMALL_FILES * SMALL_FILE.0)) } else { spec.size };
    match asked {
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
