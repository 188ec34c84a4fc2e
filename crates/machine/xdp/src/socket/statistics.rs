//! The kernel's counters of a socket.

use rustix::net::sockopt::xdp_statistics;

use super::{Bound, SocketError, error::failed};

/// Packets not received or not sent since the socket was opened (`XDP_STATISTICS`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Received packets dropped for other reasons, such as a size beyond the frame.
    pub dropped: u64,
    /// Received packets dropped at a full RX ring.
    pub ring_full: u64,
    /// Times that the fill ring was empty.
    pub no_frame: u64,
    /// Invalid frames in the fill ring.
    pub bad_frames: u64,
    /// Invalid packets in the TX ring.
    pub bad_packets: u64,
    /// Times that the kernel found the TX ring empty.
    pub nothing_to_send: u64,
}

impl Bound {
    pub(super) fn statistics(&self) -> Result<Statistics, SocketError> {
        let read = xdp_statistics(&self.fd);
        let read = read.map_err(failed("getsockopt(XDP_STATISTICS)", &self.interface, self.queue))?;
        Ok(Statistics {
            dropped: read.rx_dropped,
            // Kernels before 5.9 lack these.
            ring_full: read.rx_ring_full.unwrap_or(0),
            no_frame: read.rx_fill_ring_empty_descs.unwrap_or(0),
            bad_frames: read.rx_invalid_descs,
            bad_packets: read.tx_invalid_descs,
            nothing_to_send: read.tx_ring_empty_descs.unwrap_or(0),
        })
    }
}
