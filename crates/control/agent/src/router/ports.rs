//! The ports of a router: which interfaces can be ones, and how the program is attached to them.

use std::path::Path;

use host::nics;
use kernel::{link, namespace};
use model::{
    Mac, NicFacts,
    change::LinkEnd,
    router::{Mode, WhyGeneric},
};
use serde::{Deserialize, Serialize};

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
