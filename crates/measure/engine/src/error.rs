//! What can go wrong with an engine.

use xdp::{RedirectError, socket::SocketError};

/// An engine that cannot be had, or does not go on.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// Its AF_XDP socket.
    #[error(transparent)]
    Socket(#[from] SocketError),
    /// `EINVAL` of binding an AF_XDP socket, at an MTU above that of Ethernet.
    #[error(
        "queue {queue} of interface {interface} takes no AF_XDP socket, as with many drivers at an MTU of {mtu}; set it to 1500, which all of \
         them take, at both ends (\"ip link set {interface} mtu 1500\"), or use engine af_packet"
    )]
    SocketMtu {
        /// The interface.
        interface: String,
        /// The queue, from 0.
        queue: u32,
        /// Its MTU.
        mtu: u32,
    },
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
    /// It started, and nothing of it left the machine.
    #[error("engine {engine} cannot be had: {why}")]
    NothingLeft {
        /// Which.
        engine: model::Engine,
        /// Why, and what to do.
        why: String,
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
