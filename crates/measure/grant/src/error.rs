//! Reasons for which nothing can bypass the kernel.

use std::{io, time::Duration};

use model::bypass::Hindrance;

/// A launcher's reason for making no grant.
#[derive(Debug, thiserror::Error)]
pub enum GrantError {
    /// The steering program.
    #[error(transparent)]
    Steer(#[from] xdp::Error),
    /// Memory or an AF_XDP socket.
    #[error(transparent)]
    Socket(#[from] xdp::socket::SocketError),
    /// The kernel's answer about interfaces.
    #[error(transparent)]
    Kernel(#[from] kernel::Error),
    /// No such interface.
    #[error("there is no interface {0} in this network namespace; \"ip link\" lists those that there are")]
    NoInterface(String),
    /// An interface without Ethernet addresses, such as a tunnel.
    #[error("interface {0} is no Ethernet interface; only those can be bypassed")]
    NoEthernet(String),
    /// A reason that has its own words for people.
    #[error(transparent)]
    Hindered(#[from] Hindrance),
    /// Another failed system call.
    #[error("{call}: {io}")]
    Call {
        /// Name of the call.
        call: &'static str,
        /// The kernel's error. Not a `source`: it is part of the message.
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

/// A program's reason for having no grant; its sockets go through the kernel.
#[derive(Debug, thiserror::Error)]
pub enum NoGrant {
    /// No launcher listens: it has ended, or is in another network namespace.
    #[error("the launcher is not there: {0}")]
    NoLauncher(io::Error),
    /// The launcher's refusal, with its reason.
    #[error("{0}")]
    Refused(String),
    /// The launcher did not answer in time, as when it is stopped.
    #[error("the launcher did not answer for {} s", .0.as_secs())]
    Silent(Duration),
    /// The launcher's message could not be used.
    #[error("what the launcher handed over could not be used: {0}")]
    Unusable(String),
}
