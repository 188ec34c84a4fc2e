//! Facts about the machine, and its counters.
//!
//! Facts are read from a `source`: this machine, or a recorded one in tests.

pub mod answers;
pub mod cabling;
mod card;
pub mod counters;
mod cpus;
pub mod facts;
pub mod interfaces;
pub mod nics;
mod parse;
#[cfg(test)]
mod recorded;
pub mod routes;
mod services;
mod source;
