//! Trials with planted faults, and their assessments.

mod dut;
pub(crate) mod fixture;
mod latency;
mod loss;
mod simulated;
mod tcp;
mod transactions;
mod transfer;
mod udp;
