//! Errors of NICs.

/// Reason why a NIC is not taken.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum NicError {
    /// No interface of this name.
    #[error("there is no interface \"{name}\" here; {}", candidates(.nics))]
    Missing {
        /// Requested name.
        name: String,
        /// Available NICs.
        nics: Vec<String>,
    },
    /// It is already in a namespace.
    #[error(
        "{name} is in the network namespace \"{namespace}\"; take it out (wireproof bed down, wireproof clean, or \
         ip -netns {namespace} link set {name} netns 1)"
    )]
    Elsewhere {
        /// The NIC.
        name: String,
        /// Namespace.
        namespace: String,
    },
    /// The loopback interface, or an aggregate.
    #[error("{name} is {what}, which cannot be a port of a bed; name the ports of a card")]
    NoNic {
        /// The interface.
        name: String,
        /// Kind.
        what: String,
    },
    /// It belongs to a bridge, bond or team.
    #[error("{name} belongs to {master}; take it out first (ip link set {name} nomaster), and put it back afterwards")]
    Member {
        /// The NIC.
        name: String,
        /// Master.
        master: String,
    },
    /// Other interfaces are on top of it.
    #[error("{name} carries {}, which would stop; remove them first (ip link delete NAME)", .on_top.join(", "))]
    Parent {
        /// The NIC.
        name: String,
        /// The interfaces on top.
        on_top: Vec<String>,
    },
    /// It carries the default route.
    #[error(
        "{name} carries the machine's default route: taking it cuts the machine off for as long as the run lasts. Name \
         another port, or say --i-know-this-is-my-uplink"
    )]
    Uplink {
        /// The NIC.
        name: String,
    },
    /// It carries the caller's session.
    #[error(
        "your ssh session comes in through {name}: taking it cuts you off. Name another port, or say \
         --i-know-this-is-my-uplink (and run it in tmux, or the run ends with the session)"
    )]
    Session {
        /// The NIC.
        name: String,
    },
    /// It is in use.
    #[error(
        "{name} is in use ({}); name another port, or say --take-ports-in-use: all of it is put back afterwards",
        .what.join(", ")
    )]
    InUse {
        /// The NIC.
        name: String,
        /// Addresses and routes.
        what: Vec<String>,
    },
    /// It has state that cannot be restored.
    #[error("{name} has what could not be put back; take it off first: {}", .what.join(", "))]
    Lasting {
        /// The NIC.
        name: String,
        /// State, and how to remove it.
        what: Vec<String>,
    },
    /// Its driver rejects the MTU.
    #[error("--mtu {mtu}: {nic} takes an MTU from {least} to {most}")]
    Mtu {
        /// Requested MTU.
        mtu: u32,
        /// The NIC, with its driver where that is known.
        nic: String,
        /// Smallest MTU.
        least: u32,
        /// Largest MTU.
        most: u32,
    },
}

fn candidates(nics: &[String]) -> String {
    match nics {
        [] => "there is none but the loopback".to_owned(),
        nics => format!("there are: {}", nics.join(", ")),
    }
}
