//! What the kernel counts of a socket.

use rustix::net::sockopt::xdp_statistics;

use super::{Bound, SocketError, error::failed};

/// Packets that a socket did not receive or send since it was opened (`XDP_STATISTICS`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Received packets that were dropped for a reason that the kernel does not tell apart, like being too large for a frame.
    pub dropped: u64,
    /// Received packets that were dropped because the program had not emptied the RX ring.
    pub ring_full: u64,
    /// How often there was no frame in the fill ring.
    pub no_frame: u64,
    /// Frames in the fill ring that the kernel refused.
    pub bad_frames: u64,
    /// Packets in the TX ring that the kernel refused.
    pub bad_packets: u64,
    /// How often the kernel looked for packets to send and found none.
    pub nothing_to_send: u64,
}

impl Bound {
    pub(super) fn statistics(&self) -> Result<Statistics, SocketError> {
        let read = xdp_statistics(&self.fd);
        let read = read.map_err(failed("getsockopt(XDP_STATISTICS)", &self.interface, self.queue))?;
        Ok(Statistics {
            dropped: read.rx_dropped,
            // Kernels before 5.9 do not count these.
            ring_full: read.rx_ring_full.unwrap_or(0),
            no_frame: read.rx_fill_ring_empty_descs.unwrap_or(0),
            bad_frames: read.rx_invalid_descs,
            bad_packets: read.tx_invalid_descs,
            nothing_to_send: read.tx_ring_empty_descs.unwrap_or(0),
        })
    }
}
