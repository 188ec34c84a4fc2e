//! `lab:bridge` and `lab:senders=N`: one or several senders and a receiver, connected by a bridge in its own namespace.

use model::Dut;

use super::{
    Device, PLAIN_DEVICE, Parsed, ReferenceError,
    lab::{LabProperties, made_anew},
    testers::{addresses, end_name},
};
use crate::{
    error::BedError,
    machine::Machine,
    topology::{Interface, Link, Node, Topology, facing},
    wanted::{BedRef, LaidOut, Layout, Rights, Wanted},
};

/// Usage.
pub(super) const USAGE: &str =
    "lab:senders=N (several of them that send to one), lab:bridge (a Linux bridge between two)";

const BRIDGE: &str = "lab:bridge";

/// Filters of the family of bridges see all that it forwards.
pub(super) const DEVICE: Device = Device { layout: "lab-bridge", has_filters: true, ..PLAIN_DEVICE };

const SENDERS: &str = "lab:senders=";

/// Limit of senders: more than most machines have cores for.
const MOST_SENDERS: usize = 16;

struct Bridge {
    senders: usize,
    /// Name in the report, and the bridge's.
    name: &'static str,
}

pub(super) fn parse(text: &str) -> Parsed {
    if text == BRIDGE {
        return Some(Ok(BedRef::new(BRIDGE, Bridge { senders: 1, name: "bridge" })));
    }
    let count = text.strip_prefix(SENDERS)?.parse().ok().filter(|count| (2..=MOST_SENDERS).contains(count));
    let bed = count.map(|senders| BedRef::new(text, Bridge { senders, name: "switch" }));
    Some(bed.ok_or_else(|| ReferenceError::SenderCount(text.to_owned())))
}

impl Layout for Bridge {
    fn rights(&self) -> Rights {
        Rights::NamespaceRoot
    }

    fn senders(&self) -> usize {
        self.senders
    }

    /// With several senders, the argument of `--bed` has to tell their number.
    fn can_stay(&self) -> Result<(), String> {
        if self.senders == 1 { Ok(()) } else { Err(made_anew(&format!("{SENDERS}{}", self.senders))) }
    }

    /// Several senders need the bridge.
    fn without_device(&self) -> Option<BedRef> {
        (self.senders == 1).then(BedRef::lab)
    }

    fn lay_out(&self, id: &str, wanted: &Wanted, machines: &mut [Machine]) -> Result<LaidOut, BedError> {
        Ok(LaidOut::New(self.topology(&LabProperties::of(id, wanted, machines)?)))
    }
}

impl Bridge {
    fn topology(&self, ground: &LabProperties) -> Topology {
        let count = self.senders + 1;
        let tester = |place| ground.tester(place, count, ground.addresses(addresses(place, true)));
        let mut nodes: Vec<Node> = (0..count).map(tester).collect();
        let ends: Vec<String> = nodes.iter().map(|node| node.interfaces[0].name.clone()).collect();
        let members: Vec<String> = (0..count).map(|place| facing(&end_name(place, count))).collect();
        let veth = |(place, (end, member)): (usize, (String, &String))| Link::Veth {
            ends: [(place, end), (count, member.clone())],
            mtu: ground.mtu,
        };
        let mut links: Vec<Link> = ends.into_iter().zip(&members).enumerate().map(veth).collect();
        nodes.push(Node {
            namespace: ground.namespace(self.name),
            // Without IPv6, the bridge itself sends nothing.
            sysctls: ground.ipv6.then_some(("net.ipv6.conf.default.disable_ipv6", "1")).into_iter().collect(),
            // A veth drops packets that XDP sends to it unless its peer receives by NAPI.
            interfaces: members.iter().map(|name| Interface { gro: true, ..ground.interface(name) }).collect(),
            ..Node::default()
        });
        links.push(Link::Bridge { node: count, interface: self.name.to_owned(), members });
        let dut = Dut { machine: self.name.to_owned(), ..Dut::default() };
        Topology { layout: format!("lab-{}", self.name), nodes, links, dut: Some(dut), simulated: true }
    }
}

#[cfg(test)]
mod tests {
    use model::Mtu;

    use super::*;
    use crate::{layouts::tests::changes_of, topology::dut_namespace};

    #[test]
    fn several_senders_are_joined_to_their_receiver_by_a_bridge() {
        let ground = LabProperties { id: "1f".into(), mtu: Mtu(1500), ipv6: true, networks: 1 };
        let topology = Bridge { senders: 2, name: "switch" }.topology(&ground);
        let bed = topology.bed("lab:senders=2", model::Privilege::Root);
        assert_eq!(bed.endpoints.iter().map(|end| end.name.as_str()).collect::<Vec<_>>(), ["a1", "a2", "b"]);
        assert!(bed.keeps_mtu() && bed.makes_its_links());
        assert_eq!(dut_namespace(&bed).as_deref(), Some("wp1f-switch"));
        let changes = changes_of(&topology);
        let two = changes_of(&Bridge { senders: 1, name: "bridge" }.topology(&ground));
        assert!(two.contains(&"bridge wp1f-bridge/bridge of to-a, to-b".to_owned()), "{two:#?}");
        for change in [
            "namespace wp1f-switch",
            "veth pair wp1f-a2/lab-a2 and wp1f-switch/to-a2, MTU 1500",
            "wp1f-switch/to-b GRO on",
            "bridge wp1f-switch/switch of to-a1, to-a2, to-b",
            "address 198.18.0.3/24 on wp1f-b/lab-b",
        ] {
            assert!(changes.iter().any(|made| made == change), "{change}: {changes:#?}");
        }
    }
}
