//! Goodput: bulk data one way or both, counted where it arrives.
//!
//! The near side opens every connection and flow, whoever sends: a firewall in front of it needs no hole. The counted time
//! begins a fixed warm-up after the first byte (that warm-up is stored with the result) and is cut into whole seconds by
//! the receiver's clock. Sender and receiver also count every byte of the whole transfer, so that the two sums can be
//! compared after the last byte has been drained.

mod far;
mod hello;
mod near;
mod program;
mod setting;
mod tcp;
mod threads;
mod timeline;
mod transfer;
mod udp;

use std::time::Duration;

use model::{GoodputSpec, Side, SideSetup};

pub(crate) use self::transfer::both;
use self::{
    far::Far,
    near::Near,
    program::BesideProgram,
    transfer::{Untold, stopping},
};
use crate::{Prepared, ProbeError};

/// Time in which all streams have to connect, and the first byte has to come.
const ARRIVAL: Duration = Duration::from_secs(10);

/// The sender goes on this long after its counted time, so that the receiver's, which begins a little later, is full.
const OVERRUN: Duration = Duration::from_millis(300);

/// Time without progress after which draining ends.
const DRAIN: Duration = Duration::from_secs(10);

/// Longest time of draining in all: the controller waits a little longer.
const DRAIN_IN_ALL: Duration = Duration::from_secs(60);

/// Gets one side ready.
pub(crate) fn prepare(spec: &GoodputSpec, side: Side, setup: &SideSetup) -> Result<Box<dyn Prepared>, ProbeError> {
    Ok(match side {
        Side::Near if setup.agentless_peer => Box::new(BesideProgram::prepare(spec, setup)?),
        Side::Near => Box::new(Near::prepare(spec, setup)?),
        Side::Far => prepare_at(spec, setup, 0)?,
    })
}

/// Gets a far side ready that listens at this port.
pub(crate) fn prepare_at(spec: &GoodputSpec, setup: &SideSetup, port: u16) -> Result<Box<dyn Prepared>, ProbeError> {
    Ok(Box::new(Far::prepare(spec, setup, port)?))
}

#[cfg(test)]
mod tests;
