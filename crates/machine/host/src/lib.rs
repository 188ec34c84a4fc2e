//! Facts about the machine, and its counters.
//!
//! Facts are read from a `source`: this machine, or a recorded one in tests.

pub mod answers;
pub mod cabling;
mod card;
pub mod counters;
pub mod facts;
mod interface_settings;
pub mod interfaces;
pub mod nics;
mod parse;
mod placement;
mod processor;
#[cfg(test)]
mod recorded;
pub mod routes;
mod services;
pub mod settings;
mod source;
pub mod tuning;
