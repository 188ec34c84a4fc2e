//! Correctness of a forwarding device: the near side sends crafted frames through it, the far side compares each arrived frame with the
//! one that was sent.
//!
//! The two sides greet each other first, which also makes every host on the way learn the addresses. From what they tell each other both
//! make the same frames, so that no frame has to be carried back. The far side judges what arrives; the near side judges what the
//! device answers, and what comes back. Each frame has a tag with its group and its number.

mod answers;
mod craft;
mod far;
mod frame_checker;
mod link;
mod near;
mod tally;
mod trial_socket;
mod view;

use model::{ForwardingSpec, Side, SideSetup};

use self::{far::Far, near::Near};
use crate::{Prepared, ProbeError};

/// Gets one side ready.
pub(crate) fn prepare(spec: &ForwardingSpec, side: Side, setup: &SideSetup) -> Result<Box<dyn Prepared>, ProbeError> {
    spec.check().map_err(|why| unable(&why))?;
    Ok(match side {
        Side::Near => Box::new(Near::prepare(spec, setup)?),
        Side::Far => Box::new(Far::prepare(spec, setup)?),
    })
}

fn unable(why: &str) -> ProbeError {
    ProbeError::Unable { what: "forwarding".to_owned(), why: why.to_owned() }
}

#[cfg(test)]
mod tests;
