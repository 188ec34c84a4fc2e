//! Trials as the faults named leave them, and what is said of them.

mod dut;
pub(crate) mod fixture;
mod latency;
mod loss;
mod tcp;
mod transactions;
mod udp;
