//! A bed as a value: nodes, the links between them, and the role of each node. Pure.

use model::{Bed, BedKind, ClockRelation, Dut, Endpoint, Manager, Mtu, Privilege};

use crate::{reference::Network, through::Route};

/// A bed before it is made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Topology {
    /// Testers first: the senders, then the receiver.
    pub(crate) nodes: Vec<Node>,
    /// How interfaces come into being, and what joins them.
    pub(crate) links: Vec<Link>,
    /// What is known of a device under test, be it a node or not.
    pub(crate) dut: Option<Dut>,
    /// Whether no card is involved.
    pub(crate) simulated: bool,
}

/// A network namespace with what belongs to it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Node {
    /// The host it is on, as endpoints name it; empty where there is only one.
    pub(crate) host: String,
    /// The namespace, which is made with the bed; empty for the host's own.
    pub(crate) namespace: String,
    pub(crate) role: Role,
    /// Kernel settings of the namespace.
    pub(crate) sysctls: Vec<(&'static str, &'static str)>,
    /// Interfaces that packets of the bed go through; a tester has one.
    pub(crate) interfaces: Vec<Interface>,
}

/// What a node is there for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Role {
    /// Stands between the testers; an agent in its namespace reads its counters.
    #[default]
    Dut,
    /// An end of the measurement, with its name.
    Tester(String),
}

/// An interface as it will be.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Interface {
    pub(crate) name: String,
    pub(crate) driver: String,
    pub(crate) mtu: Mtu,
    /// IPv4 first.
    pub(crate) addresses: Vec<Network>,
    pub(crate) routes: Vec<Route>,
    /// Generic receive offload is switched on.
    pub(crate) gro: bool,
    /// The card stamps packets.
    pub(crate) stamps: bool,
    /// As it is before anything is set: only what differs is changed.
    pub(crate) before: Before,
}

/// State of an interface before the bed is made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Before {
    pub(crate) mtu: Mtu,
    pub(crate) addresses: Vec<Network>,
    pub(crate) up: bool,
}

/// What brings interfaces to nodes and joins them. Nodes are named by their place in [`Topology::nodes`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Link {
    /// A veth pair between interfaces of two nodes.
    Veth { ends: [(usize, String); 2], mtu: Mtu },
    /// A bridge of a node that joins some of its interfaces.
    Bridge { node: usize, interface: String, members: Vec<String> },
    /// A NIC of the host, moved to a node. Programs that configure interfaces are told to leave it alone.
    Nic { node: usize, interface: String, mac: String, managers: Vec<Manager> },
}

impl Topology {
    /// The bed that it makes. No cores are chosen yet.
    pub(crate) fn bed(&self, name: &str, privilege: Privilege) -> Bed {
        Bed {
            kind: self.kind(),
            name: name.to_owned(),
            simulated: self.simulated,
            privilege,
            clocks: ClockRelation::Same,
            wrap: Vec::new(),
            dut: self.dut.clone(),
            endpoints: self.nodes.iter().filter_map(Node::endpoint).collect(),
        }
    }

    /// The device under test where it is a node.
    pub(crate) fn dut_node(&self) -> Option<&Node> {
        self.nodes.iter().find(|node| node.role == Role::Dut)
    }

    fn kind(&self) -> BedKind {
        if self.links.iter().any(|link| matches!(link, Link::Veth { .. })) {
            BedKind::Lab
        } else if self.nodes.iter().all(|node| node.namespace.is_empty()) {
            BedKind::Hosts
        } else {
            BedKind::Ports
        }
    }
}

impl Interface {
    /// Addresses that it does not have yet.
    pub(crate) fn missing_addresses(&self) -> impl Iterator<Item = &Network> {
        let is_there = |address| self.before.addresses.iter().any(|(there, _)| there == address);
        self.addresses.iter().filter(move |(address, _)| !is_there(address))
    }
}

impl Node {
    /// The endpoint that a tester is.
    fn endpoint(&self) -> Option<Endpoint> {
        let Role::Tester(name) = &self.role else { return None };
        let interface = self.interfaces.first()?;
        Some(Endpoint {
            name: name.clone(),
            machine: self.host.clone(),
            namespace: self.namespace.clone(),
            interface: interface.name.clone(),
            driver: interface.driver.clone(),
            mtu: interface.mtu,
            addresses: interface.addresses.iter().map(|(address, _)| *address).collect(),
            cpus: Vec::new(),
            cpus_why: String::new(),
        })
    }
}

impl Link {
    /// A node of its host.
    pub(crate) fn node(&self) -> usize {
        match self {
            Self::Veth { ends: [(node, _), _], .. } | Self::Bridge { node, .. } | Self::Nic { node, .. } => *node,
        }
    }
}
