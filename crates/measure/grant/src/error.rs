//! Why nothing can be taken past the kernel.

use std::io;

use model::bypass::Hindrance;

/// Why a launcher cannot make a grant.
#[derive(Debug, thiserror::Error)]
pub enum GrantError {
    /// The steering program.
    #[error(transparent)]
    Steer(#[from] xdp::Error),
    /// Memory or an AF_XDP socket.
    #[error(transparent)]
    Socket(#[from] xdp::socket::SocketError),
    /// What the kernel says of interfaces.
    #[error(transparent)]
    Kernel(#[from] kernel::Error),
    /// No such interface.
    #[error("there is no interface {0} in this network namespace; \"ip link\" lists those that there are")]
    NoInterface(String),
    /// An interface without Ethernet addresses, like a tunnel.
    #[error("interface {0} is no Ethernet interface; only those can be bypassed")]
    NoEthernet(String),
    /// What a person is told in other words.
    #[error(transparent)]
    Hindered(#[from] Hindrance),
    /// Another failed call.
    #[error("{call}: {io}")]
    Call {
        /// Which call.
        call: &'static str,
        /// What the kernel said. Not a `source`: it is part of the message.
        io: io::Error,
    },
}

impl From<GrantError> for Hindrance {
    fn from(error: GrantError) -> Self {
        match error {
            GrantError::Hindered(hindrance) => hindrance,
            error => Self::Error { why: error.to_string() },
        }
    }
}

/// Why a program has no grant; all of its sockets go through the kernel.
#[derive(Debug, thiserror::Error)]
pub enum NoGrant {
    /// Nobody listens there: the launcher has ended, or it is one of another network namespace.
    #[error("the launcher is not there: {0}")]
    NoLauncher(io::Error),
    /// The launcher says why not.
    #[error("{0}")]
    Refused(String),
    /// What the launcher sent could not be taken over.
    #[error("what the launcher handed over could not be used: {0}")]
    Unusable(String),
}
