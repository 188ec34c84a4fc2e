//! Reasons for which there is no router.

use ledger::UndoErrors;

/// A failure to make, read or end a router.
#[derive(Debug, thiserror::Error)]
pub enum RouterError {
    /// Not root of the machine.
    #[error(
        "the router needs root of the machine itself, as it puts programs into drivers; run the same command with sudo"
    )]
    NoRoot,
    /// There is one already.
    #[error("a router stands in this network namespace; take it down with \"wireproof router down\"")]
    Stands,
    /// There is none.
    #[error("no router stands in this network namespace; make one with \"wireproof router up IF IF\"")]
    Nothing,
    /// An interface that is not there.
    #[error("there is no interface \"{name}\" here; there are: {}", .there.join(", "))]
    Missing {
        /// Name.
        name: String,
        /// The others.
        there: Vec<String>,
    },
    /// An interface named twice.
    #[error("{0} is named twice; a router's ports are different interfaces")]
    Twice(String),
    /// An interface without Ethernet frames.
    #[error("{0} is no Ethernet interface, between which the router forwards; name others")]
    NoEthernet(String),
    /// An interface of a bridge, bond or VRF.
    #[error(
        "{name} belongs to {master}, which forwards its packets; take it out first (ip link set {name} nomaster), or name another one"
    )]
    Member {
        /// The interface.
        name: String,
        /// Master.
        master: String,
    },
    /// The interface of the default route, or of the caller's session.
    #[error(
        "{name} carries {what}: if the router fails, it is cut off. Name another interface, or say --i-know-this-is-my-uplink"
    )]
    Uplink {
        /// The interface.
        name: String,
        /// Content.
        what: &'static str,
    },
    /// The IPv6 default route would be lost.
    #[error(
        "a router announced the IPv6 default route of {}, and the kernel gives it up once it forwards IPv6 itself; keep it with \
         \"sysctl net.ipv6.conf.IF.accept_ra=2\", or switch IPv6 forwarding on first", .0.join(", ")
    )]
    Announced(Vec<String>),
    /// No BPF file system for a kept router.
    #[error(
        "--keep needs a BPF file system at {0}, where programs stay without a process; mount it: mount -t bpf bpf {0}"
    )]
    NoBpfFolder(&'static str),
    /// Another XDP program.
    #[error("{0}; the router needs the interface for itself")]
    Busy(xdp::Error),
    /// The program could not be loaded, attached or read.
    #[error(transparent)]
    Program(xdp::Error),
    /// A change could not be made or recorded.
    #[error(transparent)]
    Change(#[from] ledger::Error),
    /// A change could not be undone.
    #[error(transparent)]
    Undo(#[from] UndoErrors),
    /// A system call failed.
    #[error(transparent)]
    Kernel(#[from] kernel::Error),
    /// An error of the process that owns the router.
    #[error("{0}")]
    Owner(String),
    /// An answer of the owner that is not understood.
    #[error(
        "the router of this namespace does not answer as this version asks; take it down by ending its process, then run \"wireproof clean\""
    )]
    Confused,
    /// Undoing after an earlier error failed, too.
    #[error("{error}; after that, {undoing}")]
    NotUndone {
        /// The first error.
        error: Box<RouterError>,
        /// The error of undoing.
        undoing: Box<RouterError>,
    },
}

impl From<xdp::Error> for RouterError {
    fn from(error: xdp::Error) -> Self {
        match error {
            error @ xdp::Error::Busy(_) => Self::Busy(error),
            error => Self::Program(error),
        }
    }
}

impl RouterError {
    /// This error, combined with the result of undoing afterwards.
    pub(super) fn and_then<T>(self, undone: Result<T, Self>) -> Self {
        match undone {
            Ok(_) => self,
            Err(undoing) => Self::NotUndone { error: Box::new(self), undoing: Box::new(undoing) },
        }
    }
}
