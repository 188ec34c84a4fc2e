//! `lab:router` and `lab:xdp-router`: a third network namespace of this machine, in which the kernel or the XDP router routes between the
//! two ends.

use model::Dut;
use protocol::Request;

use super::{
    Device, PLAIN_DEVICE, Parsed,
    lab::{LabProperties, made_anew},
    testers::{end_name, routes_of},
};
use crate::{
    error::BedError,
    machine::Machine,
    through::DutRequest,
    topology::{Interface, Link, Node, Topology, facing},
    wanted::{BedRef, LaidOut, Layout, Rights, Wanted},
};

/// Usage.
pub(super) const USAGE: &str = "lab:router (a Linux router between two), lab:xdp-router (wireproof's own)";

const KERNEL: Router = Router { bed: "lab:router", name: "router", by_xdp: false };

const XDP: Router = Router { bed: "lab:xdp-router", name: "xdp-router", by_xdp: true };

/// The agent of the device is the XDP router.
pub(super) const DEVICE: Device = Device {
    layout: "lab-xdp-router",
    request: Some(|interfaces| Request::Route { interfaces }),
    has_routes: true,
    ..PLAIN_DEVICE
};

/// The kernel's forwarding passes its filters. A port of it that faces no end may be where packets come out.
pub(super) const KERNEL_DEVICE: Device =
    Device { layout: "lab-router", counts_all: true, has_filters: true, has_routes: true, ..PLAIN_DEVICE };

/// Enables forwarding. Written before there are interfaces, which inherit it.
pub(super) const FORWARDING: (&str, &str) = ("net.ipv4.ip_forward", "1");

/// The same for IPv6. If the machine has IPv6 disabled, new namespaces may inherit that.
pub(super) const IPV6_FORWARDING: [(&str, &str); 2] =
    [("net.ipv6.conf.default.disable_ipv6", "0"), ("net.ipv6.conf.all.forwarding", "1")];

#[derive(Clone, Copy)]
struct Router {
    bed: &'static str,
    /// Name in the report.
    name: &'static str,
    by_xdp: bool,
}

pub(super) fn parse(text: &str) -> Parsed {
    let router = [KERNEL, XDP].into_iter().find(|router| router.bed == text)?;
    Some(Ok(BedRef::new(text, router)))
}

impl Layout for Router {
    fn rights(&self) -> Rights {
        match self.by_xdp {
            true => Rights::LabRoot("putting a program into drivers needs root of the machine itself".to_owned()),
            false => Rights::NamespaceRoot,
        }
    }

    fn can_stay(&self) -> Result<(), String> {
        if self.by_xdp { Err(made_anew(self.bed)) } else { Ok(()) }
    }

    fn without_device(&self) -> Option<BedRef> {
        Some(BedRef::lab())
    }

    fn lay_out(&self, id: &str, wanted: &Wanted, machines: &mut [Machine]) -> Result<LaidOut, BedError> {
        Ok(LaidOut::New(topology(*self, &LabProperties::of(id, wanted, machines)?)))
    }
}

fn topology(router: Router, ground: &LabProperties) -> Topology {
    let through = through(ground);
    let mut nodes: Vec<Node> = (0..2).map(|side| tester(side, &through, ground)).collect();
    for node in nodes.iter_mut().filter(|_| router.by_xdp) {
        (node.interfaces[0].gro, node.interfaces[0].plain) = (true, true);
    }
    let interface = |side: usize| Interface {
        addresses: through.gateways.iter().map(|pair| pair[side]).collect(),
        routes: through.behind(side, ground.networks),
        // A veth drops packets that XDP sends to it unless its peer receives by NAPI.
        gro: true,
        ..ground.interface(&facing(&end_name(side, 2)))
    };
    let interfaces: Vec<Interface> = (0..2).map(interface).collect();
    let link = |side: usize| Link::Veth {
        ends: [(side, nodes[side].interfaces[0].name.clone()), (2, interfaces[side].name.clone())],
        mtu: ground.mtu,
    };
    let links = (0..2).map(link).collect();
    let ipv6 = IPV6_FORWARDING.into_iter().filter(|_| ground.ipv6);
    let sysctls = [FORWARDING].into_iter().chain(ipv6).collect();
    nodes.push(Node { namespace: ground.namespace(router.name), sysctls, interfaces, ..Node::default() });
    let device = through.device(&[end_name(0, 2), end_name(1, 2)]);
    let dut = device.map(|device| Dut { machine: router.name.to_owned(), ..device });
    Topology { layout: format!("lab-{}", router.name), nodes, links, dut, simulated: true }
}

/// A router with the gateways of those IP versions that the lab has.
pub(super) fn through(ground: &LabProperties) -> DutRequest {
    let mut through = DutRequest::routed();
    through.gateways.retain(|pair| !ground.addresses(vec![pair[0]]).is_empty());
    through
}

/// The end at this side of a router.
pub(super) fn tester(side: usize, through: &DutRequest, ground: &LabProperties) -> Node {
    let mut node = ground.tester(side, 2, through.addresses(side, 0));
    node.interfaces[0].routes = routes_of(through, side, &node.interfaces[0].addresses);
    node
}

#[cfg(test)]
mod tests {
    use model::{Mtu, Privilege};

    use super::*;
    use crate::{layouts::tests::changes_of, topology::dut_namespace};

    #[test]
    fn two_namespaces_are_routed_through_a_third_one() {
        let ground = LabProperties { id: "1f".into(), mtu: Mtu(1500), ipv6: true, networks: 1 };
        let changes = changes_of(&topology(KERNEL, &ground));
        for change in [
            "net.ipv4.ip_forward = 1 in wp1f-router",
            "net.ipv6.conf.all.forwarding = 1 in wp1f-router",
            "veth pair wp1f-a/lab-a and wp1f-router/to-a, MTU 1500",
            "wp1f-router/to-b up",
            "address 198.18.0.2/24 on wp1f-a/lab-a",
            "route to 198.19.0.0/24 via 198.18.0.1 at wp1f-a/lab-a",
            "address 198.19.0.1/24 on wp1f-router/to-b",
            "route to 2001:2::/64 via 2001:2:0:1::1 at wp1f-b/lab-b",
        ] {
            assert!(changes.iter().any(|made| made == change), "{change}: {changes:#?}");
        }
        assert_eq!(KERNEL.without_device(), Some(BedRef::lab()));
        let bed = topology(KERNEL, &ground).bed("lab:router", Privilege::Root);
        assert_eq!((bed.endpoints.len(), bed.layout()), (2, "lab-router"));
        assert_eq!(dut_namespace(&bed).as_deref(), Some("wp1f-router"));
        assert_eq!(bed.dut.map(|dut| dut.gateways.len()), Some(4));
    }

    #[test]
    fn ends_of_the_xdp_router_receive_from_it_and_send_whole_packets() {
        let topology = topology(XDP, &LabProperties { id: "1f".into(), mtu: Mtu(1500), ipv6: true, networks: 1 });
        let changes = changes_of(&topology);
        for change in ["wp1f-a/lab-a GRO on", "wp1f-b/lab-b tx-checksums off", "wp1f-b/lab-b tx-vlan-tags off"] {
            assert!(changes.iter().any(|made| made == change), "{change}: {changes:#?}");
        }
        let bed = topology.bed("lab:xdp-router", Privilege::Root);
        assert_eq!((bed.layout(), dut_namespace(&bed).as_deref()), ("lab-xdp-router", Some("wp1f-xdp-router")));
    }

    #[test]
    fn a_router_has_routes_to_each_network_behind_its_ends() {
        let ground = LabProperties { id: "1f".into(), mtu: Mtu(1500), ipv6: true, networks: 256 };
        let changes = changes_of(&topology(KERNEL, &ground));
        for change in [
            "255 networks, the first: route to 198.18.1.0/24 via 198.18.0.2 at wp1f-router/to-a",
            "255 networks, the first: route to 2001:2:0:1::1:0/112 via 2001:2:0:1::2 at wp1f-router/to-b",
        ] {
            assert!(changes.iter().any(|made| made == change), "{change}: {changes:#?}");
        }
    }

    #[test]
    fn without_ipv6_nothing_of_it_is_left() {
        let changes =
            changes_of(&topology(KERNEL, &LabProperties { id: "1f".into(), mtu: Mtu(1500), ipv6: false, networks: 1 }));
        assert!(!changes.iter().any(|change| change.contains("ipv6") || change.contains("2001:")), "{changes:#?}");
    }
}
