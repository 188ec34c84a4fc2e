//! The ports of a router: which interfaces can be ones, and how the program is attached to them.

use std::path::Path;

use host::nics;
use kernel::{
    link::{self, Link},
    namespace,
};
use model::{
    Mac, NicFacts,
    change::LinkEnd,
    router::{Mode, WhyGeneric},
};
use serde::{Deserialize, Serialize};
use xdp::router::VlanInterface;

use super::{Asked, errors::RouterError};

/// An attached port.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Port {
    pub(super) name: String,
    pub(super) index: u32,
    /// Place among the program's counters.
    pub(super) place: u32,
    /// `None` in the driver.
    pub(super) why_generic: Option<WhyGeneric>,
}

/// An interface that can be a port.
#[derive(Clone, Debug)]
pub(super) struct Found {
    pub(super) name: String,
    pub(super) mac: Mac,
    /// Interface at the other end, if it is a veth that could be found.
    pub(super) other_end: Option<LinkEnd>,
    pub(super) is_veth: bool,
    /// Why not to try the driver.
    pub(super) why_generic: Option<WhyGeneric>,
}

/// The requested interfaces, unless one of them cannot or must not be a port. Changes nothing.
pub(super) fn choose(asked: &Asked) -> Result<Vec<Found>, RouterError> {
    let state = nics::nics()?;
    let mut found: Vec<Found> = Vec::new();
    for name in &asked.interfaces {
        let Some(nic) = state.ports.iter().find(|nic| nic.name == *name) else {
            let there = state.ports.iter().map(|nic| nic.name.clone()).filter(|name| name != "lo").collect();
            return Err(RouterError::Missing { name: name.clone(), there });
        };
        if found.iter().any(|port| port.name == *name) {
            return Err(RouterError::Twice(name.clone()));
        }
        check(nic, asked.uplink)?;
        let mac = nic.mac.parse().map_err(|_| RouterError::NoEthernet(name.clone()))?;
        let is_veth = nic.kind == "veth";
        let other_end = if is_veth { other_end(name)? } else { None };
        let why_generic = match (asked.generic, is_veth, &other_end) {
            (true, ..) => Some(WhyGeneric::Asked),
            (false, true, None) => Some(WhyGeneric::Peer),
            _ => None,
        };
        found.push(Found { name: name.clone(), mac, other_end, is_veth, why_generic });
    }
    Ok(found)
}

fn check(nic: &NicFacts, uplink: bool) -> Result<(), RouterError> {
    let name = nic.name.clone();
    match &nic.master {
        _ if name == "lo" => Err(RouterError::NoEthernet(name)),
        Some(master) => Err(RouterError::Member { name, master: master.clone() }),
        None if uplink => Ok(()),
        None if nic.carries_session => Err(RouterError::Uplink { name, what: "your ssh session" }),
        None if nic.is_uplink => Err(RouterError::Uplink { name, what: "the machine's default route" }),
        None => Ok(()),
    }
}

/// The other end of a veth pair, in this namespace or a named one; `None` if it is elsewhere.
fn other_end(interface: &str) -> Result<Option<LinkEnd>, RouterError> {
    let Some(end) = link::other_end(interface)? else { return Ok(None) };
    let mut names = Vec::new();
    if end.namespace.is_none() {
        names.push(String::new());
    } else {
        for name in namespace::list()? {
            // A namespace may have disappeared since, or have no number.
            if namespace::number(&name).ok().flatten() == end.namespace {
                names.push(name);
            }
        }
    }
    let Some(namespace) = names.into_iter().next() else { return Ok(None) };
    let links = namespace::within(&namespace, link::list)??;
    let found = links.into_iter().find(|link| link.index == end.index);
    Ok(found.map(|link| LinkEnd { namespace, interface: link.name }))
}

/// Attaches the program to the ports, pins it in this folder if there is one, and starts to forward.
pub(super) fn attached(found: Vec<Found>, folder: Option<&Path>) -> Result<(xdp::Router, Vec<Port>), RouterError> {
    let mut program = xdp::Router::load()?;
    let mut whys = Vec::new();
    for port in &found {
        whys.push(attach(&mut program, port)?);
    }
    folder.map_or(Ok(()), |folder| program.pin(folder))?;
    program.start()?;
    let places: Vec<u32> = program.places().map(|(_, place)| place).collect();
    let mut ports = Vec::new();
    for ((found, why_generic), place) in found.into_iter().zip(whys).zip(places) {
        let index = link::index(&found.name)?;
        ports.push(Port { name: found.name, index, place, why_generic });
    }
    Ok((program, ports))
}

/// Attaches it in the driver if that has native XDP, else on the kernel's packets; returns why.
fn attach(program: &mut xdp::Router, port: &Found) -> Result<Option<WhyGeneric>, RouterError> {
    let why = match port.why_generic {
        Some(why) => why,
        None => match program.attach(&port.name, port.mac, Mode::Native) {
            Ok(()) => return Ok(None),
            Err(xdp::Error::NoXdp(_)) => WhyGeneric::NoNative,
            Err(xdp::Error::TooFewQueues(_)) => WhyGeneric::Queues,
            Err(xdp::Error::TooLargeMtu(_) | xdp::Error::RefusedMtu { .. }) => WhyGeneric::Mtu,
            Err(error) => return Err(error.into()),
        },
    };
    program.attach(&port.name, port.mac, Mode::Generic)?;
    Ok(Some(why))
}

/// VLAN interfaces whose frames the program may forward: those on a port that are up. The kernel sees to a VLAN interface with a master,
/// which takes its packets, and to one that gives frames a priority.
pub(super) fn vlans(links: &[Link], ports: &[Port]) -> Vec<VlanInterface> {
    let port_of = |link: &Link| {
        let port = links.iter().find(|port| Some(&port.name) == link.lower.as_ref())?;
        ports.iter().any(|it| it.index == port.index).then_some(port.index)
    };
    let vlan = |link: &Link| {
        let vlan = link.vlan.filter(|vlan| link.up && link.master.is_none() && !vlan.sets_priority)?;
        let (port, mac) = (port_of(link)?, link.mac.parse().ok()?);
        Some(VlanInterface { index: link.index, mac, port, tpid: vlan.tpid, id: vlan.id })
    };
    links.iter().filter_map(vlan).collect()
}

/// The program in the drivers of these interfaces of the caller's namespace, for a bed that prepared them. It ends with the value.
pub(crate) fn attached_natively(interfaces: &[String]) -> Result<xdp::Router, RouterError> {
    let mut program = xdp::Router::load()?;
    for link in link::list()? {
        if interfaces.contains(&link.name) {
            let mac = link.mac.parse().map_err(|_| RouterError::NoEthernet(link.name.clone()))?;
            program.attach(&link.name, mac, Mode::Native)?;
        }
    }
    program.start()?;
    Ok(program)
}

#[cfg(test)]
mod tests {
    use kernel::link::Vlan;
    use model::Mtu;

    use super::*;

    fn link(index: u32, name: &str) -> Link {
        Link {
            index,
            name: name.to_owned(),
            up: true,
            mtu: Mtu(1500),
            mac: "02:00:00:00:00:01".to_owned(),
            operstate: "up".to_owned(),
            ..Link::default()
        }
    }

    fn vlan_on(port: &str, index: u32, id: u16) -> Link {
        let vlan = Vlan { tpid: 0x8100, id, sets_priority: false };
        Link { lower: Some(port.to_owned()), vlan: Some(vlan), ..link(index, &format!("{port}.{id}")) }
    }

    #[test]
    fn vlan_interfaces_of_ports_are_those_that_the_kernel_would_route_likewise() {
        let ports = [Port { name: "eth1".to_owned(), index: 2, place: 2, why_generic: None }];
        let plain = vlan_on("eth1", 10, 7);
        let maps = Vlan { tpid: 0x8100, id: 9, sets_priority: true };
        let links = [
            link(2, "eth1"),
            link(3, "eth2"),
            plain.clone(),
            Link { up: false, ..vlan_on("eth1", 11, 8) },
            Link { vlan: Some(maps), ..vlan_on("eth1", 12, 9) },
            Link { master: Some("br0".to_owned()), ..vlan_on("eth1", 13, 10) },
            vlan_on("eth2", 14, 7),
            vlan_on("eth1.7", 15, 7),
            // A macvlan.
            Link { lower: Some("eth1".to_owned()), ..link(16, "above") },
        ];
        let expected = VlanInterface { index: 10, mac: Mac([2, 0, 0, 0, 0, 1]), port: 2, tpid: 0x8100, id: 7 };
        assert_eq!(vlans(&links, &ports), [expected]);
    }
}
