//! Errors of an engine.

use xdp::{RedirectError, socket::SocketError};

/// A failure to open or run an engine.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// AF_XDP socket.
    #[error(transparent)]
    Socket(#[from] SocketError),
    /// `EINVAL` from binding an AF_XDP socket, at an MTU above Ethernet's 1500 bytes.
    #[error(
        "queue {queue} of interface {interface} takes no AF_XDP socket, as with many drivers at an MTU of {mtu}; set it to 1500, which all of \
         them take, at both ends (\"ip link set {interface} mtu 1500\"), or use engine af_packet"
    )]
    SocketMtu {
        /// The interface.
        interface: String,
        /// The queue, from 0.
        queue: u32,
        /// MTU.
        mtu: u32,
    },
    /// XDP program.
    #[error(transparent)]
    Redirect(#[from] RedirectError),
    /// BPF programs.
    #[error(transparent)]
    Xdp(#[from] xdp::Error),
    /// A system call.
    #[error(transparent)]
    Kernel(#[from] kernel::Error),
    /// A call that sends or receives.
    #[error("{what}: {io}")]
    Io {
        /// The attempted operation.
        what: String,
        /// The kernel's error. Not a `source`: it is part of the message.
        io: std::io::Error,
    },
    /// It started, but nothing left the machine.
    #[error("engine {engine} cannot be had: {why}")]
    NothingLeft {
        /// The engine.
        engine: model::Engine,
        /// Reason and advice.
        why: String,
    },
    /// A request that this engine cannot fulfil.
    #[error("{what} cannot be had: {why}")]
    Unable {
        /// The request.
        what: String,
        /// Reason and advice.
        why: String,
    },
}

impl EngineError {
    /// Whether this driver, or this user, can never have XDP programs.
    pub(crate) fn is_of_driver(&self) -> bool {
        matches!(
            self,
            Self::Xdp(
                xdp::Error::NoXdp(_)
                    | xdp::Error::TooLargeMtu(_)
                    | xdp::Error::RefusedMtu { .. }
                    | xdp::Error::Denied(_)
            )
        )
    }
}
