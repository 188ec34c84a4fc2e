//! Round-trip time by ping-pong: one message out, the same back, then the next.
//!
//! The clock is read right before the send call and right after the receive call that brought the reply, so the RTT
//! holds both ends' system calls, as sockperf's does. Half of it is not a one-way delay.

mod book;
mod client;
mod server;

pub use client::Client;
pub use server::Server;

use model::{LatencySpec, Mtu, PayloadSize, frame_size::Headers, probe::LATENCY_LEAST_PAYLOAD};

use crate::ProbeError;

/// The payload that makes frames of the size asked for.
fn payload_of(spec: &LatencySpec, tcp_timestamps: bool, mtu: Mtu) -> Result<PayloadSize, ProbeError> {
    let headers = Headers { ip: spec.ip, protocol: spec.protocol, tcp_timestamps };
    Ok(headers.payload_of(spec.frame_size, LATENCY_LEAST_PAYLOAD, mtu)?)
}

#[cfg(test)]
mod tests;
