//! Errors of beds.

mod hosts;
mod nics;

use protocol::{AgentError, SshError};

pub use self::{hosts::HostsError, nics::NicError};
use crate::through::DutUnreachable;

/// A failure to make, use or return a bed.
#[derive(Debug, thiserror::Error)]
pub enum BedError {
    /// An error of an agent.
    #[error(transparent)]
    Agent(#[from] AgentError),
    /// A change could not be made; earlier ones are undone.
    #[error("cannot set up the bed: {0}; what was set up before it has been undone")]
    SetUp(AgentError),
    /// A NIC must not be taken.
    #[error("nothing was changed: {0}")]
    Nic(Box<NicError>),
    /// A change must not be made.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// A NIC has disappeared.
    #[error(
        "{interface} at endpoint {endpoint} is gone: its card was pulled out or reset, or somebody removed or moved it; see \
         \"dmesg\", and go on with \"wireproof resume\" and the same --bed once it is back"
    )]
    PortGone {
        /// The port.
        interface: String,
        /// End.
        endpoint: String,
    },
    /// The machine agent was lost.
    #[error("{0}; a new agent has undone what it had set up")]
    Orphaned(AgentError),
    /// The agent of another machine was lost.
    #[error(
        "{error}; {host} undoes by itself, within 10 s, what was changed there (the next run with it does where that was ended too, or \
         \"wireproof clean\" there)"
    )]
    Lost {
        /// The machine.
        host: String,
        /// The fault.
        error: AgentError,
    },
    /// Undoing after an earlier error failed, too.
    #[error("{error}; after that, {undoing}")]
    NotUndone {
        /// The first error.
        error: Box<BedError>,
        /// The error of undoing.
        undoing: Box<BedError>,
    },
    /// Another machine is unreachable.
    #[error(transparent)]
    Ssh(#[from] SshError),
    /// Two machines cannot be measured as requested.
    #[error(transparent)]
    Hosts(#[from] HostsError),
    /// No bed of this name stands.
    #[error("there is no bed \"{name}\"; {}", standing(.beds))]
    NoSuchBed {
        /// Requested name.
        name: String,
        /// Standing beds.
        beds: Vec<String>,
    },
    /// A bed of this name already stands.
    #[error("there is a bed \"{0}\" already; take it down with \"wireproof bed down {0}\", or choose another name")]
    Exists(String),
    /// No such end.
    #[error("bed \"{bed}\" has no endpoint \"{endpoint}\"; it has {}", .names.join(" and "))]
    NoSuchEndpoint {
        /// The bed.
        bed: String,
        /// Requested endpoint.
        endpoint: String,
        /// Names of its endpoints, and of the device between them.
        names: Vec<String>,
    },
    /// An unusable core.
    #[error("--cpus: core {cpu} cannot be used here; cores that can: {}", list(.allowed))]
    NoSuchCore {
        /// Requested core.
        cpu: usize,
        /// Usable cores.
        allowed: Vec<usize>,
    },
    /// Cores for a device under test that the bed does not make.
    #[error(
        "--dut-cpus: bed \"{0}\" is not made with a device under test between its ends; use lab:bridge, lab:router, lab:vswitch, \
         lab:ovs, lab:xdp-router or lab:senders=N"
    )]
    NoDut(String),
    /// More cores than there are.
    #[error("--dut-cpus {asked}: this machine has {there} cores that can be used")]
    TooManyCores {
        /// Requested number.
        asked: usize,
        /// Number of usable cores.
        there: usize,
    },
    /// An MTU that differs from the bed's.
    #[error("bed \"{bed}\" stands with MTU {has}; --mtu {asked} would need another bed")]
    OtherMtu {
        /// The bed.
        bed: String,
        /// The bed's MTU.
        has: u32,
        /// Requested MTU.
        asked: u32,
    },
    /// The user interrupted it.
    #[error("interrupted before anything was measured; what was set up has been undone")]
    Interrupted,
    /// The link stays down.
    #[error(
        "{interface} has no link after {waited:?}; is its cable in, and the other end up? See \"ip link\" and \"ethtool\""
    )]
    NoLink {
        /// The interface.
        interface: String,
        /// Waiting time.
        waited: std::time::Duration,
    },
    /// A link that flaps.
    #[error(
        "the link of {interface} went down {} within {within_s} s, and does not stay. As where two ports cannot agree: set both ends to \
         the same speed (\"ethtool -s PORT speed MBPS duplex full autoneg on\"), try another cable, and look at the SFP (\"wireproof \
         inspect --dev PORT\": is it supported, does it see light?); \"dmesg\" says what the driver saw", how_often(*.times)
    )]
    Flapping {
        /// The interface and its place.
        interface: String,
        /// Number of link losses.
        times: u32,
        /// Time span in seconds.
        within_s: u64,
    },
    /// A link that was lost during the run.
    #[error(
        "{} lost its link: the cable was pulled out, or somebody set the port or its other end down; see \"ip link\" and \"dmesg\", and \
         go on with \"wireproof resume\" and the same --bed once it is back", .ports.join(", ")
    )]
    LinkLost {
        /// The interfaces and their places.
        ports: Vec<String>,
    },
    /// The ends have no link-layer connection.
    #[error(
        "{from} does not find {address}, which is at {to}: nobody answers for it there; are the two joined by a cable, or by a switch \
         in one VLAN? \"wireproof doctor --cabling\" says which idle ports of a machine hear each other"
    )]
    NoWire {
        /// The asking interface and its place.
        from: String,
        /// The interface that should have answered.
        to: String,
        /// Requested address.
        address: std::net::IpAddr,
    },
    /// An end has no route to another.
    #[error(
        "{from} has no route to {address}, which is at {to}: give both ends addresses of one network (near-addr=, addr=), or set the \
         route"
    )]
    NoRoute {
        /// The asking interface and its place.
        from: String,
        /// The interface that should have answered.
        to: String,
        /// Requested address.
        address: std::net::IpAddr,
    },
    /// The device under test does not forward.
    #[error(
        "the device under test does not forward between the two sides: {}. --dry-run prints what to configure on it",
        .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
    )]
    NotForwarded(Vec<DutUnreachable>),
    /// An MTU that a veth pair cannot have.
    #[error("--mtu {0}: the lab's interfaces take an MTU from 68 (the least IPv4 allows) to 65535")]
    Mtu(u32),
}

/// A forbidden change. Nothing was changed.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// A change to the interface with the default route or our connection.
    #[error(
        "{interface} of {host} carries the default route or the ssh connection, and this would change it: {}. Name another \
         interface, ask for nothing that it does not have, or add --i-know-this-is-my-uplink", .what.join(", ")
    )]
    Uplink {
        /// The machine.
        host: String,
        /// The interface.
        interface: String,
        /// The changes.
        what: Vec<String>,
    },
    /// Changes on a machine on which nothing of ours runs.
    #[error(
        "nothing of wireproof runs on {host}, so nothing is changed there, and this would have to be: {}. Do it there by hand", .what.join(", ")
    )]
    Agentless {
        /// The machine.
        host: String,
        /// The changes.
        what: Vec<String>,
    },
    /// Changes that require root.
    #[error(
        "without root on {host} nothing is changed there, and this would have to be: {}. Do it by hand, or let wireproof be \
         root: with sudo here; there by logging in as root, or with sudo that asks for no password (NOPASSWD)", .what.join(", ")
    )]
    NotRoot {
        /// The machine.
        host: String,
        /// The changes.
        what: Vec<String>,
    },
}

impl BedError {
    /// This error, combined with the result of giving back afterwards.
    pub(crate) fn and_then_of(self, given_back: Result<(), Self>) -> Self {
        match (self, given_back) {
            (error, Ok(())) => error,
            // The error of giving back includes the cause of the agent's end.
            (Self::Agent(_), Err(undoing @ (Self::Orphaned(_) | Self::Lost { .. }))) => undoing,
            (Self::Interrupted, Err(undoing)) => undoing,
            (error, Err(undoing)) => Self::NotUndone { error: Box::new(error), undoing: Box::new(undoing) },
        }
    }
}

fn standing(beds: &[String]) -> String {
    match beds {
        [] => "none stands. Make one with \"wireproof bed up NAME\"".to_owned(),
        beds => format!("standing: {}", beds.join(", ")),
    }
}

fn how_often(times: u32) -> String {
    if times == 1 { "once".to_owned() } else { format!("{times} times") }
}

fn list(items: &[usize]) -> String {
    items.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}
