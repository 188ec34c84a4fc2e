//! Errors of beds on several machines.

use std::net::IpAddr;

/// Reason why machines make no bed. Nothing was changed.
#[derive(Debug, thiserror::Error)]
pub enum HostsError {
    /// wireproof is missing there.
    #[error(
        "there is no wireproof on the path of the user at {to}; have this one copied there for the run with --push, install \
         it (not every login sets the same path: \"{by_hand}\"), or, in a bed of hosts, measure with the programs there (key agent=none)"
    )]
    NoProgram {
        /// The machine.
        to: String,
        /// The command line that asks for it.
        by_hand: String,
    },
    /// There is no program of ours for that system.
    #[error(
        "{to} runs {system}, and wireproof only Linux; \"wireproof inspect\" reads a FreeBSD machine without anything installed there, and \
         a bed of hosts has goodput and latency to it"
    )]
    System {
        /// The machine.
        to: String,
        /// System.
        system: String,
    },
    /// Our program cannot run there.
    #[error("{to} is of another architecture ({there}, here {here}), so --push does not help; install wireproof there")]
    Architecture {
        /// The machine.
        to: String,
        /// Architecture.
        there: String,
        /// Architecture of this machine.
        here: String,
    },
    /// The other machine is this one.
    #[error(
        "{to} is this very host: packets between two of its interfaces would never leave it; use --bed ports:IF1,IF2, which puts \
         each into a namespace of its own"
    )]
    Itself {
        /// The machine.
        to: String,
    },
    /// Two of the other machines are the same.
    #[error("{to} and {other} are one host; name each sender once")]
    Twice {
        /// The machine.
        to: String,
        /// The other name of the same machine.
        other: String,
    },
    /// A program of another machine is no sender among several.
    #[error(
        "nothing of wireproof runs on {host}, and several hosts that send to this one all need it; measure to {host} alone"
    )]
    AgentlessSender {
        /// The machine.
        host: String,
    },
    /// The senders reach this machine by different interfaces.
    #[error(
        "the routes of {host} to the other hosts leave through several interfaces or addresses; name the one interface that all \
         of them send to with near-dev=, and its address with near-addr=ADDRESS/LENGTH"
    )]
    SeveralWays {
        /// This machine.
        host: String,
    },
    /// No such interface.
    #[error("{host} has no interface \"{interface}\"; it has {}", .there.join(", "))]
    NoInterface {
        /// The machine.
        host: String,
        /// Requested interface.
        interface: String,
        /// Available interfaces.
        there: Vec<String>,
    },
    /// An interface without a usable address.
    #[error(
        "{interface} has no address on {host} (link-local ones do not count); name one with addr=ADDRESS/LENGTH (near-addr= for \
         the end here), and it is added for the run"
    )]
    NoAddress {
        /// The machine.
        host: String,
        /// The interface.
        interface: String,
    },
    /// An interface whose MTU could not be read.
    #[error("the MTU of {interface} of {host} is not known ({why}); \"ip link show {interface}\" there has to show it")]
    UnknownMtu {
        /// The machine.
        host: String,
        /// The interface.
        interface: String,
        /// The reason.
        why: String,
    },
    /// An interface that is a member of another.
    #[error(
        "{interface} of {host} belongs to {master}, which has its packets; name {master} in its place, or take it out"
    )]
    Member {
        /// The machine.
        host: String,
        /// The interface.
        interface: String,
        /// Master.
        master: String,
    },
    /// The same address at two ends.
    #[error("{host} and {other} would both have {address}; give each end an address of its own")]
    SameAddress {
        /// A machine.
        host: String,
        /// Another one.
        other: String,
        /// The address.
        address: IpAddr,
    },
    /// An unusable address.
    #[error("{address}, asked for on {host}, is link-local, a loopback's, for many hosts, or none; name another")]
    Unusable {
        /// The machine.
        host: String,
        /// The address.
        address: IpAddr,
    },
    /// The address belongs to another interface.
    #[error("{address} cannot be on {interface} of {host}: {holder} has it")]
    Elsewhere {
        /// The machine.
        host: String,
        /// The address.
        address: IpAddr,
        /// Interface.
        holder: String,
        /// Requested interface.
        interface: String,
    },
    /// An MTU that would remove addresses.
    #[error(
        "--mtu {mtu}: under an MTU of {least} the kernel takes all addresses of IPv6 off an interface, and {interface} of {host} has \
         or is to have {}; ask for {least} or more, or leave these out", list(.addresses)
    )]
    TakesAddresses {
        /// Requested MTU.
        mtu: u32,
        /// Smallest MTU of IPv6.
        least: u32,
        /// The machine.
        host: String,
        /// The interface.
        interface: String,
        /// Addresses that would be lost.
        addresses: Vec<IpAddr>,
    },
    /// A routed address that only the far machine names.
    #[error(
        "{to} says that {interface} has {}, which is in no network of {near} here and is not what ssh connects to, so that packets \
         might reach a stranger; where it is right, add {options} behind dev={interface}", list(.addresses)
    )]
    Claimed {
        /// The machine.
        to: String,
        /// Interface of the far end.
        interface: String,
        /// Interface here.
        near: String,
        /// Addresses that may be anybody's.
        addresses: Vec<IpAddr>,
        /// Options that name all addresses of the far end.
        options: String,
    },
    /// No route from here.
    #[error(
        "no route of {host} leads to {} but one that may lead anywhere; name the interface here with near-dev=, and its address \
         with near-addr=ADDRESS/LENGTH", list(.to)
    )]
    NoWay {
        /// This machine.
        host: String,
        /// Addresses of the far end.
        to: Vec<IpAddr>,
    },
}

fn list(addresses: &[IpAddr]) -> String {
    addresses.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}
