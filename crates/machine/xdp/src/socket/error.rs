//! Errors of AF_XDP sockets, with advice.

use std::io;

use rustix::io::Errno;

/// A failure to open or use a socket.
#[derive(Debug, thiserror::Error)]
pub enum SocketError {
    /// The kernel has no AF_XDP sockets.
    #[error("this kernel has no AF_XDP sockets (CONFIG_XDP_SOCKETS)")]
    NoKernel,
    /// Not root.
    #[error("an AF_XDP socket needs root (CAP_NET_RAW in the namespace of the interface)")]
    NotAllowed,
    /// No such interface.
    #[error("there is no interface {0} in this network namespace")]
    NoInterface(String),
    /// The interface has fewer queues.
    #[error("interface {interface} has no queue {queue} that both sends and receives; see \"ethtool -l {interface}\"")]
    NoQueue {
        /// The interface.
        interface: String,
        /// The requested queue, from 0.
        queue: u32,
    },
    /// Another socket has the queue.
    #[error(
        "queue {queue} of interface {interface} is taken by another AF_XDP socket; end the program that holds it, or take \
         another queue"
    )]
    Busy {
        /// The interface.
        interface: String,
        /// The queue, from 0.
        queue: u32,
    },
    /// The driver lacks a feature.
    #[error("the driver of interface {interface} does not do {what}; {instead}")]
    NoSupport {
        /// The interface.
        interface: String,
        /// The requested feature.
        what: &'static str,
        /// The alternative.
        instead: &'static str,
    },
    /// The interface is down, or went down or disappeared during use.
    #[error("interface {0} is down or gone")]
    Down(String),
    /// The limit of locked memory is too low.
    #[error(
        "{mib} MiB for frames are more than may be locked; raise the limit (\"ulimit -l\"), have CAP_IPC_LOCK, or ask for \
         fewer frames"
    )]
    Memory {
        /// Requested size in MiB, rounded up.
        mib: u64,
    },
    /// An invalid size of a ring or of memory.
    #[error("{0}")]
    BadOption(String),
    /// Another error.
    #[error("{call} on queue {queue} of interface {interface}: {io}")]
    Call {
        /// The system call.
        call: &'static str,
        /// The interface.
        interface: String,
        /// The queue, from 0.
        queue: u32,
        /// The kernel's error. Not a `source`: it is part of the message.
        io: io::Error,
    },
}

/// Converts an error of the kernel without a variant of its own.
pub(super) fn failed<'a>(call: &'static str, interface: &'a str, queue: u32) -> impl Fn(Errno) -> SocketError + 'a {
    move |error| match error {
        Errno::NETDOWN | Errno::NXIO | Errno::NODEV => SocketError::Down(interface.to_owned()),
        _ => SocketError::Call { call, interface: interface.to_owned(), queue, io: error.into() },
    }
}
