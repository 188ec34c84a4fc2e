//! A bed as a value: nodes, the links between them, and the role of each node. Pure.

use std::path::PathBuf;

use model::{Bed, BedKind, ClockRelation, Dut, Endpoint, Manager, Mtu, Privilege, Reading};

use crate::{reference::Network, through::Route};

/// A bed before it is made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Topology {
    /// Name of the layout, like `lab-router`, by which the report words it.
    pub(crate) layout: String,
    /// Testers first: the senders, then the receiver.
    pub(crate) nodes: Vec<Node>,
    /// Creation and connection of interfaces.
    pub(crate) links: Vec<Link>,
    /// The device under test as far as known, whether it is a node or not.
    pub(crate) dut: Option<Dut>,
    /// Whether no card is involved.
    pub(crate) simulated: bool,
}

/// A network namespace with its contents.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Node {
    /// Host's name in endpoints; empty if there is only one.
    pub(crate) host: String,
    /// The namespace, created with the bed; empty for the host's own.
    pub(crate) namespace: String,
    pub(crate) role: Role,
    /// Kernel settings of the namespace.
    pub(crate) sysctls: Vec<(&'static str, &'static str)>,
    /// Interfaces on the bed's path; a tester has one.
    pub(crate) interfaces: Vec<Interface>,
}

/// Role of a node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Role {
    /// Between the testers; an agent in its namespace reads its counters.
    #[default]
    Dut,
    /// An end of the measurement, by name.
    Tester(String),
}

/// An interface in the bed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Interface {
    pub(crate) name: String,
    pub(crate) driver: Reading<String>,
    pub(crate) mtu: Mtu,
    /// IPv4 first.
    pub(crate) addresses: Vec<Network>,
    pub(crate) routes: Vec<Route>,
    /// Whether to enable generic receive offload.
    pub(crate) gro: bool,
    /// Whether the kernel computes checksums and writes tags itself: an XDP program at the other end sees nothing else.
    pub(crate) plain: bool,
    /// Cores of the kernel threads that receive for it; empty for soft interrupts.
    pub(crate) threads: Vec<usize>,
    /// Cores that its received packets are handed to (RPS); empty for the core that they come from.
    pub(crate) handed_to: Vec<usize>,
    /// Whether to enable hardware timestamps.
    pub(crate) stamps: bool,
    /// Previous state: only differences are changed.
    pub(crate) before: Before,
}

/// State of an interface before the bed is made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Before {
    pub(crate) mtu: Mtu,
    pub(crate) addresses: Vec<Network>,
    pub(crate) up: bool,
}

/// Creates, moves or connects interfaces. Nodes are given by index in [`Topology::nodes`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Link {
    /// A veth pair between interfaces of two nodes.
    Veth { ends: [(usize, String); 2], mtu: Mtu },
    /// A bridge in a node that connects some of its interfaces.
    Bridge { node: usize, interface: String, members: Vec<String> },
    /// An Open vSwitch in a node that connects some of its interfaces, with daemons on these cores.
    OpenVswitch { node: usize, interface: String, members: Vec<String>, folder: PathBuf, cpus: Vec<usize> },
    /// A NIC of the host, moved to a node and left alone by network managers.
    Nic { node: usize, interface: String, mac: String, managers: Vec<Manager> },
}

/// Namespace of a lab's device under test, which is named like those of the ends; `None` without one.
pub fn dut_namespace(bed: &Bed) -> Option<String> {
    let (device, end) = (bed.dut.as_ref()?, bed.endpoints.first()?);
    let start = end.namespace.strip_suffix(&end.name).filter(|_| bed.makes_its_links())?;
    Some(format!("{start}{}", device.machine))
}

/// Name of the interface that faces this end, at a lab's device under test.
pub fn facing(end: &str) -> String {
    format!("to-{end}")
}

impl Topology {
    /// The resulting bed, without cores.
    pub(crate) fn bed(&self, name: &str, privilege: Privilege) -> Bed {
        Bed {
            kind: self.kind(),
            layout: self.layout.clone(),
            name: name.to_owned(),
            simulated: self.simulated,
            privilege,
            clocks: ClockRelation::Same,
            wrap: Vec::new(),
            dut: self.dut.clone(),
            endpoints: self.nodes.iter().filter_map(Node::endpoint).collect(),
        }
    }

    /// Lets the device under test work on its cores alone. Its threads would also do the receive work of the ends, which is handed to the
    /// ends' own cores, as far as soft interrupts may run there.
    pub(crate) fn pin_dut(&mut self, bed: &Bed, may_interrupt: impl Fn(usize) -> bool) {
        let Some(dut) = bed.dut.as_ref().filter(|dut| !dut.cpus.is_empty()) else { return };
        for link in &mut self.links {
            if let Link::OpenVswitch { cpus, .. } = link {
                cpus.clone_from(&dut.cpus);
            }
        }
        for node in &mut self.nodes {
            match &node.role {
                Role::Dut => {
                    let polled: Vec<_> = node.interfaces.iter_mut().filter(|interface| interface.gro).collect();
                    let count = polled.len();
                    for (place, interface) in polled.into_iter().enumerate() {
                        interface.threads = dealt(&dut.cpus, place, count);
                    }
                }
                Role::Tester(name) => {
                    let own = bed.end(name).map(|end| end.cpus.clone()).unwrap_or_default();
                    let own: Vec<usize> = own.into_iter().filter(|cpu| may_interrupt(*cpu)).collect();
                    for interface in &mut node.interfaces {
                        // A veth passes its queue by where its peer cuts segments itself.
                        interface.plain = true;
                        interface.handed_to.clone_from(&own);
                    }
                }
            }
        }
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

/// Cores of number `place` of `count`, which share them where there are too few.
fn dealt(cpus: &[usize], place: usize, count: usize) -> Vec<usize> {
    let own: Vec<usize> = cpus.iter().skip(place).step_by(count).copied().collect();
    if own.is_empty() { cpus.get(place % cpus.len()).copied().into_iter().collect() } else { own }
}

impl Interface {
    /// Addresses that are to be added.
    pub(crate) fn missing_addresses(&self) -> impl Iterator<Item = &Network> {
        let is_there = |address| self.before.addresses.iter().any(|(there, _)| there == address);
        self.addresses.iter().filter(move |(address, _)| !is_there(address))
    }
}

impl Node {
    /// The endpoint of a tester.
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
            agentless: false,
            addresses: interface.addresses.iter().map(|(address, _)| *address).collect(),
            cpus: Vec::new(),
            cpus_why: String::new(),
        })
    }
}

impl Link {
    /// Index of one of its nodes; all are on the same host.
    pub(crate) fn node(&self) -> usize {
        match self {
            Self::Veth { ends: [(node, _), _], .. }
            | Self::Bridge { node, .. }
            | Self::OpenVswitch { node, .. }
            | Self::Nic { node, .. } => *node,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_of_a_device_take_turns_at_its_cores() {
        let cores = |cpus: &[usize]| [0, 1].map(|place| dealt(cpus, place, 2));
        assert_eq!(cores(&[3]), [[3], [3]]);
        assert_eq!(cores(&[3, 5]), [[3], [5]]);
        assert_eq!(cores(&[3, 5, 7]), [vec![3, 7], vec![5]]);
    }
}
