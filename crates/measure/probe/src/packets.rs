//! Numbered packets at a rate: an engine sends them, and a receiver counts them by number where they arrive.
//!
//! Each side that receives is attached before anybody sends. The near side greets the far one (which also makes every host on
//! the way learn the addresses), both send for the time asked for, and the near side then asks whether all has arrived:
//! the far one says so when it has stopped sending and nothing more came for a while.

mod account;
pub mod alone;
mod far;
mod meeting;
mod near;
mod receiving;
mod replay;
mod sending;

use std::time::Duration;

use model::{PacketsSpec, Seat, Side};

use self::{far::Far, near::Near};
use crate::{Prepared, ProbeError};

/// What an engine says, for whoever measures.
fn engine_error(error: engine::EngineError) -> ProbeError {
    ProbeError::Unable { what: "packets".to_owned(), why: error.to_string() }
}

/// Nothing came for this long: what was on the way has arrived, or is lost.
const QUIET: Duration = Duration::from_millis(200);

/// Gets one side ready.
pub(crate) fn prepare(spec: &PacketsSpec, side: Side, seat: &Seat) -> Result<Box<dyn Prepared>, ProbeError> {
    Ok(match side {
        Side::Near => Box::new(Near::prepare(spec, seat)?),
        Side::Far => Box::new(Far::prepare(spec, seat)?),
    })
}
