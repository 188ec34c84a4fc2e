//! Facts about the machine, and its counters.

pub mod answers;
pub mod cabling;
pub mod card;
pub mod counters;
mod cpus;
pub mod facts;
mod parse;
pub mod ports;
pub mod routes;
mod services;
