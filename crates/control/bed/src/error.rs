//! What can go wrong with beds.

mod hosts;
mod nics;

use protocol::{AgentError, SshError};

pub use self::{hosts::HostsError, nics::NicError};
use crate::through::NotThrough;

/// A bed that could not be made, used or given back.
#[derive(Debug, thiserror::Error)]
pub enum BedError {
    /// Something went wrong with an agent.
    #[error(transparent)]
    Agent(#[from] AgentError),
    /// A change could not be made; what was made before it is undone.
    #[error("cannot set up the bed: {0}; what was set up before it has been undone")]
    SetUp(AgentError),
    /// A NIC is not to be taken.
    #[error("nothing was changed: {0}")]
    Nic(Box<NicError>),
    /// A change is not to be made.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// A NIC is not there any more.
    #[error(
        "{interface} at endpoint {endpoint} is gone: its card was pulled out or reset, or somebody removed or moved it; see \
         \"dmesg\", and go on with \"wireproof resume\" once it is back"
    )]
    PortGone {
        /// The port.
        interface: String,
        /// The end it was at.
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
        /// How.
        error: AgentError,
    },
    /// What was set up before it could not be undone, either.
    #[error("{error}; after that, {undoing}")]
    NotUndone {
        /// What went wrong first.
        error: Box<BedError>,
        /// Why it could not be undone.
        undoing: Box<BedError>,
    },
    /// Another machine cannot be reached.
    #[error(transparent)]
    Ssh(#[from] SshError),
    /// Two machines cannot be measured as asked.
    #[error(transparent)]
    Hosts(#[from] HostsError),
    /// No bed of this name stands.
    #[error("there is no bed \"{name}\"; {}", standing(.beds))]
    NoSuchBed {
        /// The name asked for.
        name: String,
        /// Beds that stand.
        beds: Vec<String>,
    },
    /// A bed of this name stands already.
    #[error("there is a bed \"{0}\" already; take it down with \"wireproof bed down {0}\", or choose another name")]
    Exists(String),
    /// No such end.
    #[error("bed \"{bed}\" has no endpoint \"{endpoint}\"; it has a and b")]
    NoSuchEndpoint {
        /// The bed.
        bed: String,
        /// The endpoint asked for.
        endpoint: String,
    },
    /// A core that may not be used.
    #[error("--cpus: core {cpu} cannot be used here; cores that can: {}", list(.allowed))]
    NoSuchCore {
        /// The core asked for.
        cpu: usize,
        /// Cores that may be used.
        allowed: Vec<usize>,
    },
    /// An MTU that was given for a bed that has one.
    #[error("bed \"{bed}\" stands with MTU {has}; --mtu {asked} would need another bed")]
    OtherMtu {
        /// The bed.
        bed: String,
        /// MTU it has.
        has: u32,
        /// MTU asked for.
        asked: u32,
    },
    /// The user does not want it any more.
    #[error("interrupted before anything was measured; what was set up has been undone")]
    Interrupted,
    /// The link stays down.
    #[error(
        "{interface} has no link after {waited:?}; is its cable in, and the other end up? See \"ip link\" and \"ethtool\""
    )]
    NoLink {
        /// The interface.
        interface: String,
        /// How long it was waited for.
        waited: std::time::Duration,
    },
    /// A link that comes and goes.
    #[error(
        "the link of {interface} went down {} within {within_s} s, and does not stay. As where two ports cannot agree: set both ends to \
         the same speed (\"ethtool -s PORT speed MBPS duplex full autoneg on\"), try another cable, and look at the SFP (\"wireproof \
         inspect --dev PORT\": is it supported, does it see light?); \"dmesg\" says what the driver saw", how_often(*.times)
    )]
    Flapping {
        /// The interface, and where it is.
        interface: String,
        /// How often it went.
        times: u32,
        /// Within this time, in seconds.
        within_s: u64,
    },
    /// A link that went in the middle.
    #[error(
        "{} lost its link: the cable was pulled out, or somebody set the port or its other end down; see \"ip link\" and \"dmesg\", and \
         go on with \"wireproof resume\" once it is back", .ports.join(", ")
    )]
    LinkLost {
        /// The interfaces, and where they are.
        ports: Vec<String>,
    },
    /// The ends are not on one wire.
    #[error(
        "{from} does not find {address}, which is at {to}: nobody answers for it there; are the two joined by a cable, or by a switch \
         in one VLAN? \"wireproof doctor --cabling\" says which idle ports of a machine hear each other"
    )]
    NoWire {
        /// The interface that asked, and where it is.
        from: String,
        /// That which should have answered.
        to: String,
        /// The address asked for.
        address: std::net::IpAddr,
    },
    /// An end knows no way to another.
    #[error(
        "{from} has no route to {address}, which is at {to}: give both ends addresses of one network (near-addr=, addr=), or set the \
         route"
    )]
    NoRoute {
        /// The interface that asked, and where it is.
        from: String,
        /// That which should have answered.
        to: String,
        /// The address asked for.
        address: std::net::IpAddr,
    },
    /// The device under test does not forward.
    #[error(
        "the device under test does not forward between the two sides: {}. --dry-run prints what to configure on it",
        .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
    )]
    NotForwarded(Vec<NotThrough>),
    /// An MTU that a veth pair cannot have.
    #[error("--mtu {0}: the lab's interfaces take an MTU from 68 (the least IPv4 allows) to 65535")]
    Mtu(u32),
}

/// A change that a machine does not allow. Nothing was changed.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// A change would be made to the interface that people, or we, reach the machine by.
    #[error(
        "{interface} of {host} carries the default route or the ssh connection, and this would change it: {}. Name another \
         interface, ask for nothing that it does not have, or add --i-know-this-is-my-uplink", .what.join(", ")
    )]
    Uplink {
        /// The machine.
        host: String,
        /// The interface.
        interface: String,
        /// What would be changed.
        what: Vec<String>,
    },
    /// Changes that only root can make.
    #[error(
        "without root on {host} nothing is changed there, and this would have to be: {}. Do it by hand, or let wireproof be \
         root: with sudo here; there by logging in as root, or with sudo that asks for no password (NOPASSWD)", .what.join(", ")
    )]
    NotRoot {
        /// The machine.
        host: String,
        /// What would be changed.
        what: Vec<String>,
    },
}

impl BedError {
    /// This error, and what came of giving back after it.
    pub(crate) fn and_then_of(self, given_back: Result<(), Self>) -> Self {
        match (self, given_back) {
            (error, Ok(())) => error,
            // That which ended the agent is told there.
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
