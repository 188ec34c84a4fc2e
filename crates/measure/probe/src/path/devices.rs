//! Devices at one end that the packets go through, and those that pull their MTU down.

use std::net::IpAddr;

use kernel::link::{self, Link};
use model::{SideSetup, trial::PathDevice};

use crate::ProbeError;

/// Devices of this end.
pub(super) fn devices(setup: &SideSetup) -> Result<Vec<PathDevice>, ProbeError> {
    devices_at(&setup.endpoint, &setup.interface, setup.local)
}

/// Devices of a host below its interface with this address.
pub(super) fn devices_at(host: &str, interface: &str, local: IpAddr) -> Result<Vec<PathDevice>, ProbeError> {
    Ok(around(&link::list()?, host, interface, local))
}

/// The interface with the setup's address and all that is under it. Of a bridge or bond with several ports nobody says
/// which one carries the packets: only a single port is on the path for sure. An interface that belongs to a bridge shows
/// that bridge as well, which its own packets do not go through.
fn around(links: &[Link], host: &str, interface: &str, local: IpAddr) -> Vec<PathDevice> {
    let has_address = |link: &&Link| link.addresses.iter().any(|(address, _)| *address == local);
    let named = |name: &str| links.iter().find(|link| link.name == name);
    let Some(own) = links.iter().find(has_address).or_else(|| named(interface)) else { return Vec::new() };
    let mut found: Vec<(&Link, bool)> = Vec::new();
    let mut to_see = vec![(own, true)];
    while let Some((link, on_path)) = to_see.pop() {
        if found.iter().any(|(seen, _)| seen.name == link.name) {
            continue;
        }
        found.push((link, on_path));
        let ports: Vec<_> = links.iter().filter(|port| port.master.as_ref() == Some(&link.name)).collect();
        let only = on_path && ports.len() == 1;
        to_see.extend(ports.into_iter().map(|port| (port, only)));
        to_see.extend(link.lower.as_deref().and_then(named).map(|lower| (lower, on_path)));
    }
    let master = own.master.as_deref().and_then(named);
    let found = found.into_iter().chain(master.map(|master| (master, false)));
    found.map(|(link, on_path)| described(link, on_path, host)).collect()
}

fn described(link: &Link, on_path: bool, host: &str) -> PathDevice {
    PathDevice {
        host: host.to_owned(),
        name: link.name.clone(),
        kind: link.kind.clone(),
        mtu: link.mtu,
        master: link.master.clone(),
        on_path,
    }
}

#[cfg(test)]
mod tests {
    use model::Mtu;

    use super::*;

    fn link(name: &str, kind: &str, master: Option<&str>, lower: Option<&str>) -> Link {
        Link {
            up: true,
            index: 7,
            name: name.to_owned(),
            kind: kind.to_owned(),
            master: master.map(str::to_owned),
            lower: lower.map(str::to_owned),
            vlan: None,
            mtu: Mtu(1500),
            mac: String::new(),
            operstate: "up".to_owned(),
            carrier_losses: 0,
            addresses: Vec::new(),
        }
    }

    fn seen(mut links: Vec<Link>, own: &str) -> Vec<(String, bool)> {
        let local = "198.18.0.1".parse().expect("an address");
        let own = links.iter_mut().find(|link| link.name == own).expect("listed");
        own.addresses = vec![(local, 24)];
        around(&links, "a", "stale", local).into_iter().map(|device| (device.name, device.on_path)).collect()
    }

    fn on(name: &str) -> (String, bool) {
        (name.to_owned(), true)
    }

    fn off(name: &str) -> (String, bool) {
        (name.to_owned(), false)
    }

    #[test]
    fn a_plain_card_is_alone() {
        let links = vec![link("eth0", "", None, None), link("eth1", "", None, None)];
        assert_eq!(seen(links, "eth0"), [on("eth0")]);
    }

    #[test]
    fn a_vlan_on_a_bridge_with_one_port_shows_what_is_under_it() {
        let links = vec![
            link("eth0", "", Some("br0"), None),
            link("br0", "bridge", None, None),
            link("br0.7", "vlan", None, Some("br0")),
        ];
        assert_eq!(seen(links, "br0.7"), [on("br0.7"), on("br0"), on("eth0")]);
    }

    #[test]
    fn of_several_ports_none_is_on_the_path_for_sure() {
        let links = vec![
            link("br0", "bridge", None, None),
            link("eth0", "", Some("br0"), None),
            link("tap0", "tun", Some("br0"), None),
        ];
        assert_eq!(seen(links, "br0"), [on("br0"), off("tap0"), off("eth0")]);
    }

    #[test]
    fn a_port_with_the_address_shows_its_bridge() {
        let links = vec![link("br0", "bridge", None, None), link("eth0", "", Some("br0"), None)];
        assert_eq!(seen(links, "eth0"), [on("eth0"), off("br0")]);
    }
}
