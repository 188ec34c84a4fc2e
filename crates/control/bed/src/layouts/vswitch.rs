//! `lab:vswitch`: a router behind two virtual switches, as a virtual machine that routes is attached to its host.
//!
//! End, bridge, router, bridge and end are a chain of veth pairs. All of the device is in one namespace, so that one agent reads it.

use model::Dut;

use super::{
    Device, PLAIN_DEVICE, Parsed,
    lab::LabProperties,
    router::{FORWARDING, IPV6_FORWARDING, tester, through},
    testers::end_name,
};
use crate::{
    error::BedError,
    machine::Machine,
    topology::{Interface, Link, Node, Topology, facing},
    wanted::{BedRef, LaidOut, Layout, Rights, Wanted},
};

/// Usage.
pub(super) const USAGE: &str = "lab:vswitch (a Linux router behind two virtual switches)";

const NAME: &str = "lab:vswitch";

/// Answers to ARP requests at the interface that has the address: else the bridges would answer for the router.
const OWN_ADDRESSES: (&str, &str) = ("net.ipv4.conf.all.arp_ignore", "1");

/// Index of the device's node, after those of the two ends.
const NODE: usize = 2;

/// A drop may be anywhere in the chain.
pub(super) const DEVICE: Device = Device { layout: "lab-vswitch", counts_all: true, ..PLAIN_DEVICE };

/// Name of the device under test.
const VSWITCH: &str = "vswitch";

struct Vswitch;

/// Names of the parts of the device at one side.
struct Part {
    /// The bridge.
    switch: String,
    /// The bridge's interface towards the end.
    facing: String,
    /// The bridge's interface towards the router.
    port: String,
    /// The router's interface.
    router: String,
}

pub(super) fn parse(text: &str) -> Parsed {
    (text == NAME).then(|| Ok(BedRef::new(NAME, Vswitch)))
}

impl Layout for Vswitch {
    fn rights(&self) -> Rights {
        Rights::NamespaceRoot
    }

    fn can_stay(&self) -> Result<(), String> {
        Ok(())
    }

    fn lay_out(&self, id: &str, wanted: &Wanted, machines: &mut [Machine]) -> Result<LaidOut, BedError> {
        Ok(LaidOut::New(topology(&LabProperties::of(id, wanted, machines)?)))
    }
}

impl Part {
    fn of(side: usize) -> Self {
        let end = end_name(side, 2);
        let named = |what: &str| format!("{what}-{end}");
        Self { switch: named("switch"), facing: facing(&end), port: named("port"), router: named("router") }
    }
}

fn topology(ground: &LabProperties) -> Topology {
    let through = through(ground);
    let mut nodes: Vec<Node> = (0..NODE).map(|side| tester(side, &through, ground)).collect();
    let parts = [0, 1].map(Part::of);
    let at_side = |(side, part): (usize, &Part)| -> [Interface; 3] {
        let addresses = through.gateways.iter().map(|pair| pair[side]).collect();
        [
            // A veth drops packets that XDP sends to it unless its peer receives by NAPI.
            Interface { gro: true, ..ground.interface(&part.facing) },
            ground.interface(&part.port),
            Interface { addresses, routes: through.behind(side, ground.networks), ..ground.interface(&part.router) },
        ]
    };
    let interfaces = parts.iter().enumerate().flat_map(at_side).collect();
    let links_of = |(side, part): (usize, &Part)| -> [Link; 3] {
        let end = (side, nodes[side].interfaces[0].name.clone());
        let own = |name: &String| (NODE, name.clone());
        [
            Link::Veth { ends: [end, own(&part.facing)], mtu: ground.mtu },
            Link::Veth { ends: [own(&part.port), own(&part.router)], mtu: ground.mtu },
            Link::Bridge {
                node: NODE,
                interface: part.switch.clone(),
                members: vec![part.facing.clone(), part.port.clone()],
            },
        ]
    };
    let links = parts.iter().enumerate().flat_map(links_of).collect();
    let ipv6 = IPV6_FORWARDING.into_iter().filter(|_| ground.ipv6);
    let sysctls = [FORWARDING, OWN_ADDRESSES].into_iter().chain(ipv6).collect();
    nodes.push(Node { namespace: ground.namespace(VSWITCH), sysctls, interfaces, ..Node::default() });
    let device = through.device(&[end_name(0, 2), end_name(1, 2)]);
    let dut = device.map(|device| Dut { machine: VSWITCH.to_owned(), ..device });
    Topology { layout: DEVICE.layout.to_owned(), nodes, links, dut, simulated: true }
}

#[cfg(test)]
mod tests {
    use model::{Mtu, Privilege};

    use super::*;
    use crate::{layouts::tests::changes_of, topology::dut_namespace};

    #[test]
    fn a_router_hangs_between_two_bridges_in_one_namespace() {
        let ground = LabProperties { id: "1f".into(), mtu: Mtu(1500), ipv6: true, networks: 1 };
        let topology = topology(&ground);
        let changes = changes_of(&topology);
        for change in [
            "net.ipv4.conf.all.arp_ignore = 1 in wp1f-vswitch",
            "veth pair wp1f-a/lab-a and wp1f-vswitch/to-a, MTU 1500",
            "veth pair wp1f-vswitch/port-b and wp1f-vswitch/router-b, MTU 1500",
            "wp1f-vswitch/to-b GRO on",
            "bridge wp1f-vswitch/switch-a of to-a, port-a",
            "address 198.18.0.1/24 on wp1f-vswitch/router-a",
            "address 2001:2:0:1::1/64 on wp1f-vswitch/router-b",
            "route to 198.19.0.0/24 via 198.18.0.1 at wp1f-a/lab-a",
        ] {
            assert!(changes.iter().any(|made| made == change), "{change}: {changes:#?}");
        }
        let bed = topology.bed("lab:vswitch", Privilege::Root);
        assert_eq!((bed.endpoints.len(), bed.layout()), (2, "lab-vswitch"));
        assert_eq!(dut_namespace(&bed).as_deref(), Some("wp1f-vswitch"));
    }
}
