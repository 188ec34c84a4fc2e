//! Errors of measuring.

use std::{io, net::SocketAddr, time::Duration};

use model::frame_size::FrameSizeError;

/// A measurement that could not be made.
#[derive(Debug, thiserror::Error)]
pub enum ProbeError {
    /// A socket operation failed.
    #[error("{what} {on}: {error}{}", kernel::packet_filter_advice(error))]
    Socket {
        /// The operation, like `connect to`.
        what: &'static str,
        /// The address it was about.
        on: SocketAddr,
        /// The kernel's error.
        error: io::Error,
    },
    /// A call to the kernel failed.
    #[error(transparent)]
    Kernel(#[from] kernel::Error),
    /// The frame size asked for cannot be had.
    #[error(transparent)]
    FrameSize(#[from] FrameSizeError),
    /// The other side stopped.
    #[error("{peer} closed the connection in the middle of the measurement; is its agent still running?")]
    PeerClosed {
        /// The other side.
        peer: SocketAddr,
    },
    /// The other side does not answer at all.
    #[error("no answer from {peer} for {:.1} s", waited.as_secs_f64())]
    NoAnswer {
        /// The other side.
        peer: SocketAddr,
        /// Time waited.
        waited: Duration,
    },
    /// Not even the smallest packet is answered.
    #[error("{peer} answered no packet of any size for {:.1} s", waited.as_secs_f64())]
    NothingPasses {
        /// The other side.
        peer: SocketAddr,
        /// Time waited.
        waited: Duration,
    },
    /// Sent data keeps arriving, but too slowly.
    #[error(
        "what was sent to {peer} had not all arrived {:.1} s after the last of it; ask for a smaller send buffer \
         (--window)", waited.as_secs_f64()
    )]
    SlowDrain {
        /// The other side.
        peer: SocketAddr,
        /// Time waited.
        waited: Duration,
    },
    /// The connections are there, and nothing comes over them.
    #[error("connected, but no data came from {peer} for {:.1} s", waited.as_secs_f64())]
    NoData {
        /// The other side.
        peer: SocketAddr,
        /// Time waited.
        waited: Duration,
    },
    /// The other side did not connect as often as it should.
    #[error("only {connected} of {expected} streams came to {local} within {:.1} s", waited.as_secs_f64())]
    StreamsMissing {
        /// Streams that came.
        connected: usize,
        /// Streams that should have come.
        expected: u16,
        /// Place where they should have arrived.
        local: SocketAddr,
        /// Time waited.
        waited: Duration,
    },
    /// This kernel or this user cannot provide the requested feature.
    #[error("{what}: {why}")]
    Unable {
        /// The requested feature, like `congestion control "vegas"`.
        what: String,
        /// Why not, and what to do.
        why: String,
    },
    /// The measurement was cancelled.
    #[error("cancelled")]
    Cancelled,
}

impl ProbeError {
    /// The other side, where nothing came from it.
    pub fn silent_peer(&self) -> Option<SocketAddr> {
        match self {
            Self::NoAnswer { peer, .. } | Self::NothingPasses { peer, .. } | Self::NoData { peer, .. } => Some(*peer),
            Self::Socket { on, error, .. } => is_silence(error).then_some(*on),
            _ => None,
        }
    }
}

fn is_silence(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::TimedOut | io::ErrorKind::HostUnreachable)
}

/// Turns an I/O error into one with the attempted action and its address.
pub(crate) fn socket_error(what: &'static str, on: SocketAddr) -> impl Fn(io::Error) -> ProbeError {
    move |error| ProbeError::Socket { what, on, error }
}
