use model::card::Card;

use super::*;
use crate::{recorded::Recorded, source::LocalSource};

const ROOT: &str = "/sys/devices/pci0000:00";

/// PCI devices in sysfs: each folder in that of the device above, and a link to it from the bus.
struct Tree(Recorded);

impl Tree {
    fn new() -> Self {
        Self(Recorded::new(&[]))
    }

    /// Adds a device with its facts, at this path.
    fn add(&self, path: &str, facts: &[(&str, &str)]) -> Device<'_> {
        let folder = format!("{ROOT}/{path}");
        self.0.make_folder(&folder);
        facts.iter().for_each(|(name, fact)| self.0.write(&format!("{folder}/{name}"), fact));
        self.0.link(&format!("/sys/bus/pci/devices/{}", name(&folder)), &folder);
        Device { source: &self.0, folder }
    }

    /// A port of a card whose link has so many lanes of 5 GT/s.
    fn port(&self, path: &str, lanes: &str) -> Device<'_> {
        let ids = [("class", "0x020000"), ("vendor", "0xfffc"), ("device", "0x10fb")];
        self.add(path, &[&ids[..], &[("current_link_width", lanes), ("current_link_speed", "5.0 GT/s PCIe")]].concat())
    }

    fn bridge(&self, path: &str, lanes: &str) {
        self.add(
            path,
            &[("class", "0x060400"), ("current_link_width", lanes), ("current_link_speed", "8.0 GT/s PCIe")],
        );
    }
}

#[test]
fn functions_are_told_from_other_folders() {
    let is = |name: &str| is_function(&format!("/sys/devices/{name}"));
    assert!(is("0000:01:00.0") && is("10000:e1:00.1"));
    assert!(!is("pci0000:00") && !is("net") && !is("0000:00:1c.0:pcie001") && !is("virtio0"));
}

#[test]
fn virtual_interfaces_are_on_no_bus() {
    assert!(device_of(&LocalSource, "lo").is_none() && device_of(&LocalSource, "none0").is_none());
}

#[test]
fn the_way_of_a_card_to_the_root_is_held_against_all_ports_behind_each_link() {
    let tree = Tree::new();
    tree.bridge("0000:00:01.0", "4");
    // A switch on the card, with two chips of two ports each.
    tree.bridge("0000:00:01.0/0000:01:00.0", "8");
    let ports = ["02:00.0/0000:03:00.0", "02:00.0/0000:03:00.1", "02:01.0/0000:04:00.0", "02:01.0/0000:04:00.1"];
    for chip in ["0000:02:00.0", "0000:02:01.0"] {
        tree.bridge(&format!("0000:00:01.0/0000:01:00.0/{chip}"), "8");
    }
    let ports = ports.map(|port| tree.port(&format!("0000:00:01.0/0000:01:00.0/0000:{port}"), "8"));
    // A virtual function uses the port of its physical one.
    let function = tree.port("0000:00:01.0/0000:01:00.0/0000:02:00.0/0000:03:10.0", "0");
    tree.0.link(&format!("{}/physfn", function.folder), &ports[0].folder);
    tree.0.link("/sys/class/net/eth1/device", &ports[0].folder);

    let hops = device_of(&tree.0, "eth1").expect("it is on the bus").hops();
    let seen: Vec<_> = hops.iter().map(|hop| (hop.device.as_str(), hop.link.width.as_str(), hop.ports)).collect();
    assert_eq!(
        seen,
        [("0000:03:00.0", "8", 2), ("0000:02:00.0", "8", 2), ("0000:01:00.0", "8", 4), ("0000:00:01.0", "4", 4)]
    );
    let card = Card { top_speed_mbps: Reading::Known(10_000), hops, ..Card::default() };
    let short = card.shortfall().expect("four lanes for four ports of 10 Gbit/s");
    assert_eq!((short.hop.device.as_str(), short.needs_bps), ("0000:00:01.0", 40e9));
    assert_eq!(ports[0].link().map(|link| link.speed), Some("5.0 GT/s PCIe".into()));
}

#[test]
fn a_device_that_is_part_of_the_chipset_has_no_link() {
    let tree = Tree::new();
    assert!(tree.port("0000:00:19.0", "0").hops().is_empty());
    assert!(tree.add("0000:00:1a.0", &[("class", "0x020000")]).link().is_none());
}

#[test]
fn network_controllers_without_an_interface_are_found_with_driver_and_model() {
    let tree = Tree::new();
    tree.bridge("0000:00:01.0", "8");
    let taken = tree.port("0000:00:01.0/0000:01:00.0", "8");
    tree.0.make_folder(&format!("{}/net/eth1", taken.folder));
    let refused = tree.port("0000:00:01.0/0000:01:00.1", "8");
    let given_away = tree.port("0000:00:02.0", "8");
    tree.0.make_folder("/sys/bus/pci/drivers/vfio-pci");
    tree.0.link(&format!("{}/driver", given_away.folder), "/sys/bus/pci/drivers/vfio-pci");
    // For virtio, the interface is one folder further down.
    let virtio = tree.port("0000:00:03.0", "0");
    tree.0.make_folder(&format!("{}/virtio1/net/eth2", virtio.folder));
    tree.add("0000:00:1f.2", &[("class", "0x010601")]);

    let found = network_controllers(&tree.0);
    let seen: Vec<_> = found.iter().map(|device| (device.address(), device.has_interface())).collect();
    let expected = [("0000:01:00.0", true), ("0000:01:00.1", false), ("0000:00:02.0", false), ("0000:00:03.0", true)];
    assert_eq!(seen, expected.map(|(address, has)| (address.to_owned(), has)));
    assert_eq!((refused.driver(), given_away.driver()), (Reading::Absent, Reading::Known("vfio-pci".to_owned())));
    assert_eq!(refused.model(), "fffc:10fb", "no list knows it, as that of Debian knows fffd");
}
