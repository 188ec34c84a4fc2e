//! `lab`: two network namespaces of this machine, joined by one veth pair.

use model::{Mtu, units::ETHERNET_MTUS, units::LEAST_IPV6_MTU};

use super::{
    Parsed,
    testers::{addresses, end_name, sysctls},
};
use crate::{
    error::BedError,
    machine::Machine,
    reference::Network,
    topology::{Before, Interface, Link, Node, Role, Topology},
    wanted::{BedRef, LaidOut, Layout, Rights, Wanted},
};

/// Usage.
pub(super) const USAGE: &str = "lab (two namespaces on this machine)";

/// Default MTU of a lab.
const ETHERNET_MTU: Mtu = Mtu(1500);

const NAME: &str = "lab";

struct Lab;

/// Common properties of labs.
#[derive(Clone)]
pub(super) struct LabProperties {
    /// Part of its namespaces' names: `wp<id>-a`, `wp<id>-b`.
    pub(super) id: String,
    pub(super) mtu: Mtu,
    /// Whether the kernel has IPv6.
    pub(super) ipv6: bool,
    /// Networks behind each end.
    pub(super) networks: u16,
}

pub(super) fn parse(text: &str) -> Parsed {
    (text == NAME).then(|| Ok(bed()))
}

pub(super) fn bed() -> BedRef {
    BedRef::new(NAME, Lab)
}

impl Layout for Lab {
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

fn topology(ground: &LabProperties) -> Topology {
    let [a, b] = [0, 1].map(|place| ground.tester(place, 2, ground.addresses(addresses(place, true))));
    let ends = [(0, a.interfaces[0].name.clone()), (1, b.interfaces[0].name.clone())];
    let links = vec![Link::Veth { ends, mtu: ground.mtu }];
    Topology { layout: NAME.to_owned(), nodes: vec![a, b], links, dut: None, simulated: true }
}

/// The reason why a lab cannot be kept.
pub(super) fn made_anew(bed: &str) -> String {
    format!("; this lab is made anew for each run: measure with --bed {bed}")
}

impl LabProperties {
    /// Reads the state of this machine.
    pub(super) fn of(id: &str, wanted: &Wanted, machines: &mut [Machine]) -> Result<Self, BedError> {
        let mtu = wanted.mtu.unwrap_or(ETHERNET_MTU);
        if !ETHERNET_MTUS.contains(&mtu.0) {
            return Err(BedError::Mtu(mtu.0));
        }
        Ok(Self { id: id.to_owned(), mtu, ipv6: machines[0].lab_state(None)?.ipv6, networks: wanted.networks })
    }

    /// The addresses among these that an interface can have.
    pub(super) fn addresses(&self, all: Vec<Network>) -> Vec<Network> {
        let fits = |(address, _): &Network| address.is_ipv4() || self.ipv6 && self.mtu >= LEAST_IPV6_MTU;
        all.into_iter().filter(fits).collect()
    }

    /// The tester end number `place` of `count`.
    pub(super) fn tester(&self, place: usize, count: usize, addresses: Vec<Network>) -> Node {
        let name = end_name(place, count);
        Node {
            namespace: self.namespace(&name),
            sysctls: sysctls(self.ipv6),
            interfaces: vec![Interface { addresses, ..self.interface(&format!("lab-{name}")) }],
            role: Role::Tester(name),
            ..Node::default()
        }
    }

    /// One end of a veth pair.
    pub(super) fn interface(&self, name: &str) -> Interface {
        let before = Before { mtu: self.mtu, ..Before::default() };
        Interface { name: name.to_owned(), driver: "veth".into(), mtu: self.mtu, before, ..Interface::default() }
    }

    /// Name of this node's namespace.
    pub(super) fn namespace(&self, name: &str) -> String {
        format!("wp{}-{name}", self.id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layouts::tests::changes_of;

    fn ground(mtu: u32) -> LabProperties {
        LabProperties { id: "1f".into(), mtu: Mtu(mtu), ipv6: true, networks: 1 }
    }

    #[test]
    fn a_lab_is_two_namespaces_joined_by_a_veth_pair() {
        assert_eq!(
            changes_of(&topology(&ground(1500))),
            [
                "namespace wp1f-a",
                "namespace wp1f-b",
                "net.ipv4.tcp_timestamps = 0 in wp1f-a",
                "net.ipv4.tcp_no_metrics_save = 1 in wp1f-a",
                "net.ipv6.conf.default.disable_ipv6 = 0 in wp1f-a",
                "net.ipv6.conf.default.accept_ra = 0 in wp1f-a",
                "net.ipv4.tcp_timestamps = 0 in wp1f-b",
                "net.ipv4.tcp_no_metrics_save = 1 in wp1f-b",
                "net.ipv6.conf.default.disable_ipv6 = 0 in wp1f-b",
                "net.ipv6.conf.default.accept_ra = 0 in wp1f-b",
                "veth pair wp1f-a/lab-a and wp1f-b/lab-b, MTU 1500",
                "wp1f-a/lo up",
                "wp1f-a/lab-a up",
                "wp1f-b/lo up",
                "wp1f-b/lab-b up",
                "address 198.18.0.1/24 on wp1f-a/lab-a",
                "address 2001:2::1/64 on wp1f-a/lab-a",
                "address 198.18.0.2/24 on wp1f-b/lab-b",
                "address 2001:2::2/64 on wp1f-b/lab-b",
            ]
        );
    }

    #[test]
    fn an_mtu_too_small_for_ipv6_leaves_it_out() {
        let has_v6 = |mtu| changes_of(&topology(&ground(mtu))).iter().any(|change| change.starts_with("address 2001"));
        assert!(has_v6(1280) && !has_v6(1279));
    }
}
