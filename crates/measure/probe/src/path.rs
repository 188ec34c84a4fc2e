//! Path MTU to the byte, each way by itself: UDP packets that may not be fragmented, of real size, up to the largest there
//! is (RFC 8899).
//!
//! Forward, the near side sends packets and the far side acknowledges each with a small one. In reverse, the near side asks
//! with a small packet for a large one; where the far side cannot send it, or a router tells the far side that it is too
//! big, the far side says so in a small one. So each way is judged alone, also where the other one is broken.

mod burst;
mod devices;
mod far;
mod hops;
mod line;
mod message;
mod message_socket;
mod near;
mod search;
pub(crate) mod toward;

use model::{PathSpec, Side, SideSetup};

use self::{far::Far, near::Near};
use crate::{Prepared, ProbeError};

/// Gets one side ready.
pub(crate) fn prepare(spec: &PathSpec, side: Side, setup: &SideSetup) -> Result<Box<dyn Prepared>, ProbeError> {
    Ok(match side {
        Side::Near => Box::new(Near::prepare(spec, setup)?),
        Side::Far => Box::new(Far::prepare(setup)?),
    })
}

#[cfg(test)]
mod tests;
