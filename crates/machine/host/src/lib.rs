//! Facts about the machine, and its counters.

pub mod counters;
mod cpus;
pub mod facts;
mod parse;
mod services;
