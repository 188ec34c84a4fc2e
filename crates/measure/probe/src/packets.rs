//! Numbered packets at a rate: an engine sends them, and a receiver counts them by number where they arrive.
//!
//! Each side that receives is attached before anybody sends. The near side greets the far one (which also makes every host on
//! the way learn the addresses), both send for the time asked for, and the near side then asks whether all has arrived:
//! the far one says so when it has stopped sending and nothing more came for a while.

mod account;
pub mod alone;
mod far;
mod near;
mod receiving;
mod replay;
mod sending;
mod streams;
mod trial_socket;

use std::{
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
    time::Duration,
};

use model::{Endpoint, IpVersion, PacketsSpec, Privilege, Side, SideSetup};

use self::{far::Far, near::Near, sending::Sending};
use crate::{Prepared, ProbeError};

/// An engine's error as a probe's.
fn engine_error(error: engine::EngineError) -> ProbeError {
    ProbeError::Unable { what: "packets".to_owned(), why: error.to_string() }
}

/// Without any arrival for this long, packets on the way have arrived or are lost.
const QUIET: Duration = Duration::from_millis(200);

/// After all is sent, packets are waited for no longer than this (RFC 2544, 26.1), whatever arrives.
const LATEST: Duration = Duration::from_secs(2);

/// Whether an end that will be there, and whose driver is known, will be able to send these packets with this privilege. Where it
/// will not, why: before anything is set up.
pub(crate) fn foresee(spec: &PacketsSpec, end: &Endpoint, privilege: Privilege) -> Result<(), ProbeError> {
    let unspecified = match spec.ip() {
        IpVersion::V4 => IpAddr::from(Ipv4Addr::UNSPECIFIED),
        IpVersion::V6 => IpAddr::from(Ipv6Addr::UNSPECIFIED),
    };
    let setup = SideSetup {
        endpoint: end.name.clone(),
        local: end.address(spec.ip()).unwrap_or(unspecified),
        peer: None,
        interface: end.interface.clone(),
        mtu: spec.mtu.unwrap_or(end.mtu),
        cpus: end.cpus.clone(),
        peer_cpus: 0,
        same_clock: false,
        agentless_peer: false,
        congestion: None,
        token: 0,
        sender: 0,
        senders: 1,
        highest: None,
    };
    // Engines take an unknown driver for one that can do nothing special.
    let driver = end.driver.known().map_or("", String::as_str);
    Sending::foresee(&spec.as_sent(), &setup, driver, privilege)
}

/// Gets one side ready.
pub(crate) fn prepare(spec: &PacketsSpec, side: Side, setup: &SideSetup) -> Result<Box<dyn Prepared>, ProbeError> {
    let spec = spec.as_sent();
    Ok(match side {
        Side::Near => Box::new(Near::prepare(&spec, setup)?),
        Side::Far => Box::new(Far::prepare(&spec, setup)?),
    })
}

fn unable(what: &str, why: &str) -> ProbeError {
    ProbeError::Unable { what: what.to_owned(), why: why.to_owned() }
}
