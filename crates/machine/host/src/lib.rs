//! Facts about the machine, and its counters.

pub mod counters;
pub mod facts;
mod parse;
