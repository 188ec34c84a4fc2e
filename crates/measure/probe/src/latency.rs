//! Round-trip time: by ping-pong, or under load.
//!
//! In ping-pong the clock is read right before the send call and right after the receive call that brought the reply, so
//! the RTT holds both ends' system calls, as sockperf's does. Under load it counts from the time the schedule meant the
//! message to leave, so that a message that had to wait for its turn is not made to look faster than it was. Half of an RTT
//! is not a one-way delay.

mod background;
mod client;
mod load;
mod message;
mod ping_pong;
mod pipe;
mod recent;
mod reply_tracker;
mod server;
mod session;
mod so_far;
mod stages;

use kernel::socket::set_ample_buffers;
use model::{
    FrameSize, LatencySpec, Mtu, PayloadSize, Side, SideSetup,
    frame_size::Headers,
    probe::{LATENCY_LEAST_PAYLOAD, ONE_WAY_LEAST_PAYLOAD},
};
use socket2::Socket;

use self::{client::Client, server::Server};
use crate::{Prepared, ProbeError};

/// Gets one side ready.
pub(crate) fn prepare(spec: &LatencySpec, side: Side, setup: &SideSetup) -> Result<Box<dyn Prepared>, ProbeError> {
    Ok(match side {
        Side::Near => Box::new(Client::prepare(spec, setup)?),
        Side::Far => Box::new(Server::prepare(spec, setup)?),
    })
}

/// Whether the far side puts its stamps into replies of this length. Both sides know by themselves.
fn carries_stamps(setup: &SideSetup, length: usize) -> bool {
    setup.same_clock && !setup.agentless_peer && length >= ONE_WAY_LEAST_PAYLOAD.0 as usize
}

/// The frames that are really sent, and their payload.
fn frame_of(spec: &LatencySpec, tcp_timestamps: bool, mtu: Mtu) -> Result<(FrameSize, PayloadSize), ProbeError> {
    let headers = Headers { ip: spec.ip, protocol: spec.protocol, tcp_timestamps };
    Ok(headers.frame_of(spec.frame_size, LATENCY_LEAST_PAYLOAD, mtu)?)
}

/// Room for messages that arrive while a side under load is descheduled: dropping them would be the tester's loss. Over TCP
/// nothing is lost, and the kernel tunes the buffers.
fn make_room(socket: &Socket, spec: &LatencySpec) -> Result<(), ProbeError> {
    const ROOM: usize = 8 << 20;
    match spec.rate {
        Some(_) => Ok(set_ample_buffers(socket, ROOM, ROOM)?),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests;
