//! `lab:ovs`: two ends, connected by an Open vSwitch in its own namespace, which forwards in a daemon of its own.

use std::path::Path;

use model::Dut;
use protocol::Request;

use super::{
    Device, PLAIN_DEVICE, Parsed,
    lab::{LabProperties, made_anew},
    testers::{addresses, end_name},
};
use crate::{
    error::BedError,
    machine::Machine,
    topology::{Link, Node, Topology, facing},
    wanted::{BedRef, LaidOut, Layout, Rights, Wanted},
};

/// Usage.
pub(super) const USAGE: &str = "lab:ovs (an Open vSwitch between two)";

const NAME: &str = "lab:ovs";

/// Name of the device under test, and of the switch.
const OVS: &str = "ovs";

/// An agent takes the packets that XDP sends to the switch.
pub(super) const DEVICE: Device =
    Device { layout: "lab-ovs", request: Some(|interfaces| Request::TakeFromXdp { interfaces }), ..PLAIN_DEVICE };

/// Folder of the daemons' files, a folder each.
const RUNTIME: &str = "/run/wireproof/ovs";

struct Ovs;

pub(super) fn parse(text: &str) -> Parsed {
    (text == NAME).then(|| Ok(BedRef::new(NAME, Ovs)))
}

impl Layout for Ovs {
    fn rights(&self) -> Rights {
        Rights::LabRoot("the daemons of Open vSwitch need root of the machine itself".to_owned())
    }

    /// An agent of the run takes the packets that XDP sends to it.
    fn can_stay(&self) -> Result<(), String> {
        Err(made_anew(NAME))
    }

    fn lay_out(&self, id: &str, wanted: &Wanted, machines: &mut [Machine]) -> Result<LaidOut, BedError> {
        Ok(LaidOut::New(topology(&LabProperties::of(id, wanted, machines)?)))
    }
}

fn topology(ground: &LabProperties) -> Topology {
    let mut nodes: Vec<Node> =
        [0, 1].map(|place| ground.tester(place, 2, ground.addresses(addresses(place, true)))).into();
    // Its daemon takes packets from sockets, which do not learn what is left to a card.
    nodes.iter_mut().for_each(|node| node.interfaces[0].plain = true);
    let members = [0, 1].map(|place| facing(&end_name(place, 2)));
    let veth = |(place, member): (usize, &String)| Link::Veth {
        ends: [(place, nodes[place].interfaces[0].name.clone()), (2, member.clone())],
        mtu: ground.mtu,
    };
    let mut links: Vec<Link> = members.iter().enumerate().map(veth).collect();
    let namespace = ground.namespace(OVS);
    let (folder, interface) = (Path::new(RUNTIME).join(&namespace), OVS.to_owned());
    nodes.push(Node {
        // Without IPv6, its interfaces themselves send nothing.
        sysctls: ground.ipv6.then_some(("net.ipv6.conf.default.disable_ipv6", "1")).into_iter().collect(),
        // Without GRO, which would join packets beyond the MTU.
        interfaces: members.iter().map(|name| ground.interface(name)).collect(),
        namespace,
        ..Node::default()
    });
    links.push(Link::OpenVswitch { node: 2, interface, members: members.into(), folder, cpus: Vec::new() });
    let dut = Dut { machine: OVS.to_owned(), ..Dut::default() };
    Topology { layout: DEVICE.layout.to_owned(), nodes, links, dut: Some(dut), simulated: true }
}

#[cfg(test)]
mod tests {
    use model::{Mtu, Privilege};

    use super::*;
    use crate::{layouts::tests::changes_of, topology::dut_namespace};

    #[test]
    fn an_open_vswitch_has_daemons_and_a_folder_of_its_own() {
        let mut topology = topology(&LabProperties { id: "1f".into(), mtu: Mtu(1500), ipv6: true, networks: 1 });
        let mut bed = topology.bed("lab:ovs", Privilege::Root);
        assert_eq!((bed.layout(), dut_namespace(&bed).as_deref()), ("lab-ovs", Some("wp1f-ovs")));
        let changes = changes_of(&topology);
        for change in [
            "wp1f-a/lab-a tx-checksums off",
            "veth pair wp1f-b/lab-b and wp1f-ovs/to-b, MTU 1500",
            "Open vSwitch wp1f-ovs/ovs of to-a, to-b, with daemons in /run/wireproof/ovs/wp1f-ovs",
            "address 198.18.0.2/24 on wp1f-b/lab-b",
        ] {
            assert!(changes.iter().any(|made| made == change), "{change}: {changes:#?}");
        }
        bed.dut.iter_mut().for_each(|dut| dut.cpus = vec![1]);
        topology.pin_dut(&bed, |_| true);
        let pinned = |link: &Link| matches!(link, Link::OpenVswitch { cpus, .. } if *cpus == [1]);
        assert!(topology.links.iter().any(pinned), "{topology:#?}");
    }
}
