//! What can go wrong with an engine.

use xdp::{RedirectError, socket::SocketError};

/// An engine that cannot be had, or does not go on.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// Its AF_XDP socket.
    #[error(transparent)]
    Socket(#[from] SocketError),
    /// Its XDP program.
    #[error(transparent)]
    Redirect(#[from] RedirectError),
    /// Its BPF programs.
    #[error(transparent)]
    Xdp(#[from] xdp::Error),
    /// A system call.
    #[error(transparent)]
    Kernel(#[from] kernel::Error),
    /// A call that sends or receives.
    #[error("{what}: {io}")]
    Io {
        /// What was tried.
        what: String,
        /// What the kernel said. Not a `source`: it is part of the message.
        io: std::io::Error,
    },
    /// Something that this engine cannot do.
    #[error("{what} cannot be had: {why}")]
    Unable {
        /// What was asked for.
        what: String,
        /// Why not, and what to do.
        why: String,
    },
}

impl EngineError {
    /// Whether it is this driver, or this user, that cannot have XDP programs, whatever is done.
    pub(crate) fn is_of_driver(&self) -> bool {
        matches!(self, Self::Xdp(xdp::Error::NoXdp(_) | xdp::Error::TooLargeMtu(_) | xdp::Error::Denied(_)))
    }
}
