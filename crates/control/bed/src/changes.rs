//! The changes that make a bed, in order. Pure.

use model::{
    Change, Endpoint, Manager, Mtu,
    change::{
        Address, Bridge, Gro, InterfaceMtu, InterfaceSetting, LinkEnd, LinkUp, MovedNic, Namespace, NapiThreads,
        Offload, OffloadKind, OpenVswitch, Route, Stamping, Sysctl, UnmanagedNic, Veth,
    },
};

use crate::topology::{Interface, Link, Node, Role, Topology};

/// Cores that received packets of the first queue are handed to (RPS). A veth of a lab has one queue.
const FIRST_QUEUE_CPUS: &str = "queues/rx-0/rps_cpus";

/// Changes to one host. They are undone in reverse order.
pub(crate) fn changes(topology: &Topology, host: &str) -> Vec<Change> {
    let nodes: Vec<&Node> = topology.nodes.iter().filter(|node| node.host == host).collect();
    let links: Vec<&Link> = topology.links.iter().filter(|link| topology.nodes[link.node()].host == host).collect();
    let interfaces: Vec<(&str, &Interface)> = nodes.iter().flat_map(|node| interfaces_of(node)).collect();
    let each = |change: fn(&str, &Interface) -> Option<Change>| {
        interfaces.iter().filter_map(move |(namespace, interface)| change(namespace, interface))
    };
    let mut changes: Vec<Change> = links.iter().flat_map(|link| managers_told(link)).collect();
    changes.extend(nodes.iter().filter_map(|node| namespace(node)));
    changes.extend(nodes.iter().flat_map(|node| sysctls(node)));
    changes.extend(links.iter().filter_map(|link| attached(link, &topology.nodes)));
    changes.extend(each(other_mtu));
    changes.extend(each(gro));
    changes.extend(each(plain_checksums));
    changes.extend(each(plain_tags));
    changes.extend(each(stamping));
    // Links come up before addresses are added: an interface loses its IPv6 addresses when it goes down.
    changes.extend(nodes.iter().flat_map(|node| links_up(node)));
    // An interface has no queue to poll before it is up.
    changes.extend(each(threads));
    changes.extend(each(handed_on));
    changes.extend(links.iter().filter_map(|link| switch(link, &topology.nodes)));
    changes.extend(interfaces.iter().flat_map(|(namespace, interface)| addresses_and_routes(namespace, interface)));
    changes
}

/// Changes to an existing interface.
pub(crate) fn interface_changes(namespace: &str, interface: &Interface) -> Vec<Change> {
    let set = [other_mtu, gro, stamping, up].map(|change| change(namespace, interface));
    set.into_iter().flatten().chain(addresses_and_routes(namespace, interface)).collect()
}

/// Change of an end's MTU.
pub(crate) fn mtu_change(end: &Endpoint, mtu: Mtu) -> Change {
    InterfaceMtu { namespace: end.namespace.clone(), interface: end.interface.clone(), mtu }.into()
}

/// Keeps network managers away from a NIC.
pub(crate) fn unmanaged_nic(interface: &str, mac: &str, managers: &[Manager]) -> Vec<Change> {
    let told =
        |manager: &Manager| UnmanagedNic { manager: *manager, interface: interface.to_owned(), mac: mac.to_owned() };
    managers.iter().map(|manager| told(manager).into()).collect()
}

/// Whether two changes of NICs are recorded together before either is made.
///
/// Taking a NIC ends the link of the port it is cabled to, and the kernel then drops link-dependent state, like nexthop
/// objects.
pub(crate) fn are_made_together(one: &Change, next: &Change) -> bool {
    let both_move = matches!((one, next), (Change::Nic(_), Change::Nic(_)));
    both_move || matches!((one, next), (Change::UnmanagedNic(_), Change::UnmanagedNic(_)))
}

fn interfaces_of(node: &Node) -> impl Iterator<Item = (&str, &Interface)> {
    node.interfaces.iter().map(|interface| (node.namespace.as_str(), interface))
}

fn managers_told(link: &Link) -> Vec<Change> {
    match link {
        Link::Nic { interface, mac, managers, .. } => unmanaged_nic(interface, mac, managers),
        Link::Veth { .. } | Link::Bridge { .. } | Link::OpenVswitch { .. } => Vec::new(),
    }
}

fn namespace(node: &Node) -> Option<Change> {
    (!node.namespace.is_empty()).then(|| Namespace { name: node.namespace.clone() }.into())
}

fn sysctls(node: &Node) -> impl Iterator<Item = Change> {
    let set = |(key, value): &(&str, &str)| Sysctl {
        namespace: node.namespace.clone(),
        key: (*key).to_owned(),
        value: (*value).to_owned(),
    };
    node.sysctls.iter().map(move |setting| set(setting).into())
}

/// Change that brings the interfaces of a link to their nodes.
fn attached(link: &Link, nodes: &[Node]) -> Option<Change> {
    let end = |(node, interface): &(usize, String)| LinkEnd {
        namespace: nodes[*node].namespace.clone(),
        interface: interface.clone(),
    };
    match link {
        Link::Veth { ends: [a, b], mtu } => Some(Veth { a: end(a), b: end(b), mtu: *mtu }.into()),
        Link::Nic { node, interface, .. } => {
            Some(MovedNic { interface: interface.clone(), namespace: nodes[*node].namespace.clone() }.into())
        }
        Link::Bridge { .. } | Link::OpenVswitch { .. } => None,
    }
}

/// Change that connects interfaces of a node.
fn switch(link: &Link, nodes: &[Node]) -> Option<Change> {
    let namespace = nodes[link.node()].namespace.clone();
    match link {
        Link::Bridge { interface, members, .. } => {
            Some(Bridge { namespace, interface: interface.clone(), ports: members.clone() }.into())
        }
        Link::OpenVswitch { interface, members, folder, cpus, .. } => {
            let (interface, ports) = (interface.clone(), members.clone());
            Some(OpenVswitch { namespace, interface, ports, folder: folder.clone(), cpus: cpus.clone() }.into())
        }
        Link::Veth { .. } | Link::Nic { .. } => None,
    }
}

fn other_mtu(namespace: &str, interface: &Interface) -> Option<Change> {
    let (namespace, name, mtu) = (namespace.to_owned(), interface.name.clone(), interface.mtu);
    (mtu != interface.before.mtu).then(|| InterfaceMtu { namespace, interface: name, mtu }.into())
}

fn gro(namespace: &str, interface: &Interface) -> Option<Change> {
    let (namespace, name) = (namespace.to_owned(), interface.name.clone());
    interface.gro.then(|| Gro { namespace, interface: name }.into())
}

fn plain_checksums(namespace: &str, interface: &Interface) -> Option<Change> {
    interface.plain.then(|| without(namespace, interface, OffloadKind::SendChecksums))
}

fn plain_tags(namespace: &str, interface: &Interface) -> Option<Change> {
    interface.plain.then(|| without(namespace, interface, OffloadKind::SendVlanTags))
}

fn without(namespace: &str, interface: &Interface, offload: OffloadKind) -> Change {
    Offload { namespace: namespace.to_owned(), interface: interface.name.clone(), offload }.into()
}

fn stamping(namespace: &str, interface: &Interface) -> Option<Change> {
    let (namespace, name) = (namespace.to_owned(), interface.name.clone());
    interface.stamps.then(|| Stamping { namespace, interface: name }.into())
}

fn threads(namespace: &str, interface: &Interface) -> Option<Change> {
    let (namespace, name, cpus) = (namespace.to_owned(), interface.name.clone(), interface.threads.clone());
    (!cpus.is_empty()).then(|| NapiThreads { namespace, interface: name, cpus }.into())
}

fn handed_on(namespace: &str, interface: &Interface) -> Option<Change> {
    let (namespace, name, setting) = (namespace.to_owned(), interface.name.clone(), FIRST_QUEUE_CPUS.to_owned());
    let value = mask(&interface.handed_to)?;
    Some(InterfaceSetting { namespace, interface: name, setting, value }.into())
}

/// Cores as the kernel writes a set of them: words of 32 bits, the highest first. `None` for no cores.
fn mask(cpus: &[usize]) -> Option<String> {
    let words = cpus.iter().max()? / 32 + 1;
    let of_word =
        |word: usize| cpus.iter().filter(|cpu| **cpu / 32 == word).fold(0, |bits, cpu| bits | 1_u32 << (cpu % 32));
    let text = (0..words).rev().map(|word| match word + 1 == words {
        true => format!("{:x}", of_word(word)),
        false => format!("{:08x}", of_word(word)),
    });
    Some(text.collect::<Vec<_>>().join(","))
}

fn up(namespace: &str, interface: &Interface) -> Option<Change> {
    (!interface.before.up).then(|| link_up(namespace, &interface.name))
}

fn links_up(node: &Node) -> impl Iterator<Item = Change> {
    let talks_to_itself = !node.namespace.is_empty() && node.role != Role::Dut;
    let loopback = talks_to_itself.then(|| link_up(&node.namespace, "lo"));
    loopback.into_iter().chain(interfaces_of(node).filter_map(|(namespace, interface)| up(namespace, interface)))
}

fn link_up(namespace: &str, interface: &str) -> Change {
    LinkUp { namespace: namespace.to_owned(), interface: interface.to_owned() }.into()
}

fn addresses_and_routes(namespace: &str, interface: &Interface) -> Vec<Change> {
    let at = || (namespace.to_owned(), interface.name.clone());
    let addresses = interface.missing_addresses().map(|(address, prefix)| {
        let (namespace, interface) = at();
        Address { namespace, interface, address: *address, prefix: *prefix }.into()
    });
    let routes = interface.routes.iter().map(|route| {
        let (namespace, interface) = at();
        Route { namespace, interface, to: route.to, prefix: route.prefix, via: route.via, count: route.count }.into()
    });
    addresses.chain(routes).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_nics_are_recorded_before_one_is_moved() {
        let namespace = |name: &str| Namespace { name: name.into() }.into();
        let moved = |nic: &str| MovedNic { interface: nic.into(), namespace: "wp1-a".into() }.into();
        let up = |nic: &str| link_up("wp1-a", nic);
        let changes: [Change; 6] =
            [namespace("wp1-a"), namespace("wp1-b"), moved("p1"), moved("p2"), up("p1"), up("p2")];
        let sizes: Vec<_> = changes.chunk_by(are_made_together).map(<[_]>::len).collect();
        assert_eq!(sizes, [1, 1, 2, 1, 1]);
    }

    #[test]
    fn a_set_of_cores_is_written_as_the_kernel_writes_it() {
        let masks = [&[][..], &[0], &[1, 2], &[33], &[64, 0]].map(mask);
        assert_eq!(masks.map(Option::unwrap_or_default), ["", "1", "6", "2,00000000", "1,00000000,00000001"]);
    }
}
