//! Ways of measuring: a module each, with a near side, a far side, and the pure part apart.
//!
//! Both sides are prepared first (sockets, memory, core), and run when the controller says so. They run on the thread
//! that calls them, which the caller has pinned; [`Control`] is how another thread watches and stops them.

mod forwarding;
mod goodput;
mod latency;
mod packets;
mod path;
mod transactions;
mod transfer;

mod control;
mod datagrams;
mod direction;
mod error;
mod greeting;
mod programs;
mod schedule;
mod socket;

use std::net::SocketAddr;

use model::{Endpoint, Privilege, ProbeSpec, Side, SideFigures, SideSetup};

pub use control::{Control, Window};
pub use error::ProbeError;
pub use packets::alone;
pub use path::toward::{Toward, toward};

/// A side that is ready to run.
pub trait Prepared: Send {
    /// Address at which it listens; `None` for a near side.
    fn address(&self) -> Option<SocketAddr>;

    /// Measures to the end, or until `control` stops it. `window` is told when the counted time begins and ends.
    fn run(self: Box<Self>, control: &Control, window: &dyn Window) -> Result<SideFigures, ProbeError>;
}

/// Address at which the far side listens, as a near side has to know.
fn far_address(setup: &SideSetup) -> Result<SocketAddr, ProbeError> {
    setup.peer.ok_or_else(|| ProbeError::Unable {
        what: format!("the near side at {}", setup.local),
        why: "it was not told where the far side listens; this is a fault in wireproof, please report it".to_owned(),
    })
}

/// Whether a probe could be measured from an end that does not exist yet.
pub fn foresee(spec: &ProbeSpec, end: &Endpoint, privilege: Privilege) -> Result<(), ProbeError> {
    spec.of().map_or(Ok(()), |spec| packets::foresee(spec, end, privilege))
}

/// Gets one side of a probe ready.
pub fn prepare(spec: &ProbeSpec, side: Side, setup: &SideSetup) -> Result<Box<dyn Prepared>, ProbeError> {
    match spec {
        ProbeSpec::Latency(spec) => latency::prepare(spec, side, setup),
        ProbeSpec::Goodput(spec) => goodput::prepare(spec, side, setup),
        ProbeSpec::Path(spec) => path::prepare(spec, side, setup),
        ProbeSpec::Packets(spec) => packets::prepare(spec, side, setup),
        ProbeSpec::Transactions(spec) => transactions::prepare(spec, side, setup),
        ProbeSpec::Forwarding(spec) => forwarding::prepare(spec, side, setup),
        ProbeSpec::Transfer(spec) => transfer::prepare(spec, side, setup),
    }
}
