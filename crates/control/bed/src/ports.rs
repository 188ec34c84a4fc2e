//! Two ports of this machine, each in a network namespace of its own, so that what one sends to the other leaves the card.
//! Pure: it says what to set up, or why not, and does nothing.

mod error;

use std::net::IpAddr;

use model::{
    Bed, BedKind, Change, ClockRelation, Endpoint, IpVersion, Manager, Mtu, PortFacts, PortsState, Privilege,
    units::LEAST_IPV6_MTU,
};

pub use self::error::PortError;
use crate::{
    cores::Chosen,
    lab::{address_changes, addresses, links_up, settings},
    through::Through,
};

/// What the user lets be taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Taking {
    /// Ports with addresses or routes, which their users then lack for a while.
    pub in_use: bool,
    /// A machine's uplink, or the port that an ssh session came in through.
    pub uplink: bool,
}

/// What a bed of ports is made from.
pub(crate) struct Ports {
    /// Names its namespaces: `wp<id>-a`, `wp<id>-b`.
    pub(crate) id: String,
    pub(crate) ports: [PortFacts; 2],
    pub(crate) mtu: Option<Mtu>,
    pub(crate) ipv6: bool,
    pub(crate) managers: Vec<Manager>,
    pub(crate) cores: [Chosen; 2],
    /// What stands between them.
    pub(crate) through: Through,
    /// Whether cards that can are told to stamp packets.
    pub(crate) stamps: bool,
}

impl Ports {
    /// Chooses these two of the machine's ports, or says why one of them is not to be taken. Cores are not chosen yet.
    pub(crate) fn choose(
        id: &str,
        names: &[String; 2],
        state: &PortsState,
        mtu: Option<Mtu>,
        taking: Taking,
    ) -> Result<Self, PortError> {
        let [a, b] = names.each_ref().map(|name| named(name, state));
        let ports = [a?.clone(), b?.clone()];
        for port in &ports {
            check_kind(port)?;
            check_use(port, taking)?;
            check_mtu(port, mtu)?;
        }
        let (id, managers) = (id.to_owned(), state.managers.clone());
        let through = Through::default();
        Ok(Self { id, ports, mtu, ipv6: true, managers, cores: Default::default(), through, stamps: false })
    }

    /// Everything to set up, in order.
    pub(crate) fn changes(&self) -> Vec<Change> {
        let endpoints = self.endpoints();
        let mut changes: Vec<Change> = self.ports.iter().flat_map(|port| left_alone(port, &self.managers)).collect();
        changes.extend(endpoints.iter().map(|end| Change::Namespace { name: end.namespace.clone() }));
        changes.extend(endpoints.iter().flat_map(|end| settings(end, self.ipv6)));
        changes.extend(endpoints.iter().map(moved));
        changes.extend(endpoints.iter().zip(&self.ports).filter_map(|(end, port)| other_mtu(end, port)));
        let stamping = endpoints.iter().zip(&self.ports).filter(|(_, port)| self.stamps && stamps_freely(port));
        changes.extend(stamping.map(|(end, _)| stamping_change(end)));
        changes.extend(endpoints.iter().flat_map(links_up));
        if self.through.gateways.is_empty() {
            changes.extend(endpoints.iter().flat_map(address_changes));
        } else {
            changes.extend(endpoints.iter().enumerate().flat_map(|(side, end)| self.routed(side, end)));
        }
        changes
    }

    /// The bed that it makes.
    pub(crate) fn bed(&self, name: &str, privilege: Privilege) -> Bed {
        Bed {
            kind: BedKind::Ports,
            name: name.to_owned(),
            // What is on no bus is no card.
            simulated: self.ports.iter().all(|port| port.bus.is_empty()),
            privilege,
            clocks: ClockRelation::Same,
            wrap: Vec::new(),
            dut: self.through.device(&self.endpoints()),
            endpoints: self.endpoints(),
        }
    }

    /// The addresses of a port beside its gateway, and the routes to the other side.
    fn routed(&self, side: usize, end: &Endpoint) -> Vec<Change> {
        let has = |address: &IpAddr| end.address(IpVersion::of(*address)).is_some();
        let own = self.through.addresses(side, 0).into_iter().filter(|(address, _)| has(address));
        let add = own.map(|(address, prefix)| Change::Address {
            namespace: end.namespace.clone(),
            interface: end.interface.clone(),
            address,
            prefix,
        });
        let routes = self.through.routes(side, &end.namespace, &end.interface).into_iter();
        let routes = routes.filter(|route| matches!(route, Change::Route { via, .. } if has(via)));
        add.chain(routes).collect()
    }

    fn endpoints(&self) -> Vec<Endpoint> {
        let names = ["a", "b"].into_iter().zip(1..);
        let ends = names.zip(&self.ports).zip(&self.cores);
        ends.map(|(((name, host), port), cores)| self.endpoint(name, host, port, cores)).collect()
    }

    fn endpoint(&self, name: &str, host: u8, port: &PortFacts, cores: &Chosen) -> Endpoint {
        let mtu = self.mtu.unwrap_or(port.mtu);
        Endpoint {
            name: name.to_owned(),
            machine: String::new(),
            namespace: format!("wp{}-{name}", self.id),
            interface: port.name.clone(),
            driver: port.driver.clone(),
            mtu,
            addresses: self.addresses(host, self.ipv6 && mtu >= LEAST_IPV6_MTU),
            cpus: cores.cpus.clone(),
            cpus_why: cores.why.clone(),
        }
    }
}

impl Ports {
    /// Addresses of the end with this number, from 1.
    fn addresses(&self, host: u8, ipv6: bool) -> Vec<IpAddr> {
        if self.through.gateways.is_empty() {
            return addresses(host, ipv6);
        }
        let own = self.through.addresses(usize::from(host) - 1, 0).into_iter().map(|(address, _)| address);
        own.filter(|address| address.is_ipv4() || ipv6).collect()
    }
}

/// What keeps programs that configure interfaces away from a port.
pub(crate) fn left_alone(port: &PortFacts, managers: &[Manager]) -> impl Iterator<Item = Change> {
    let (interface, mac) = (port.name.clone(), port.mac.clone());
    managers.iter().map(move |manager| Change::LeftAlone {
        manager: *manager,
        interface: interface.clone(),
        mac: mac.clone(),
    })
}

/// Why a port is not to be touched, where nobody may say that it is to be all the same; `None` for an idle one.
pub(crate) fn why_not(port: &PortFacts) -> Option<String> {
    let refused = check_kind(port).and_then(|()| check_use(port, Taking::default())).err()?;
    Some(match refused {
        PortError::InUse { what, .. } => format!("in use ({})", what.join(", ")),
        PortError::Uplink { .. } => "it carries the machine's default route".to_owned(),
        PortError::Session { .. } => "your ssh session comes in through it".to_owned(),
        other => other.to_string(),
    })
}

fn moved(end: &Endpoint) -> Change {
    Change::Port { interface: end.interface.clone(), namespace: end.namespace.clone() }
}

/// Where somebody told the card to stamp already, they rely on how it does.
fn stamps_freely(port: &PortFacts) -> bool {
    port.stamping.is_some_and(|stamping| stamping.is_free())
}

fn stamping_change(end: &Endpoint) -> Change {
    Change::Stamping { namespace: end.namespace.clone(), interface: end.interface.clone() }
}

fn other_mtu(end: &Endpoint, port: &PortFacts) -> Option<Change> {
    let (namespace, interface) = (end.namespace.clone(), end.interface.clone());
    (end.mtu != port.mtu).then_some(Change::Mtu { namespace, interface, mtu: end.mtu })
}

fn named<'a>(name: &str, state: &'a PortsState) -> Result<&'a PortFacts, PortError> {
    if let Some(port) = state.ports.iter().find(|port| port.name == name) {
        return Ok(port);
    }
    let elsewhere = state.elsewhere.iter().find(|(_, interface)| interface == name);
    Err(match elsewhere {
        Some((namespace, _)) => PortError::Elsewhere { name: name.to_owned(), namespace: namespace.clone() },
        None => {
            let ports = state.ports.iter().filter(|port| port.name != "lo" && aggregate(port).is_none());
            PortError::Missing { name: name.to_owned(), ports: ports.map(|port| port.name.clone()).collect() }
        }
    })
}

/// What stands for several interfaces is none itself.
fn aggregate(port: &PortFacts) -> Option<&str> {
    ["bridge", "bond", "team", "openvswitch"].into_iter().find(|kind| port.kind == *kind)
}

fn check_kind(port: &PortFacts) -> Result<(), PortError> {
    let name = port.name.clone();
    let what = match aggregate(port) {
        _ if name == "lo" => Some("the loopback interface".to_owned()),
        aggregate => aggregate.map(|kind| format!("a {kind}")),
    };
    match (what, &port.master, port.on_top.as_slice()) {
        (Some(what), ..) => Err(PortError::NoPort { name, what }),
        (None, Some(master), _) => Err(PortError::Member { name, master: master.clone() }),
        (None, None, []) => Ok(()),
        (None, None, on_top) => Err(PortError::Parent { name, on_top: on_top.to_vec() }),
    }
}

fn check_use(port: &PortFacts, taking: Taking) -> Result<(), PortError> {
    let name = port.name.clone();
    if !port.lasting.is_empty() {
        return Err(PortError::Lasting { name, what: port.lasting.clone() });
    }
    let is_own_way_out = port.carries_session || port.is_uplink;
    match taking {
        Taking { uplink: true, .. } if is_own_way_out => return Ok(()),
        _ if port.carries_session => return Err(PortError::Session { name }),
        _ if port.is_uplink => return Err(PortError::Uplink { name }),
        _ => {}
    }
    let what = [port.addresses.clone(), port.routes.clone()].concat();
    if what.is_empty() || taking.in_use { Ok(()) } else { Err(PortError::InUse { name, what }) }
}

fn check_mtu(port: &PortFacts, mtu: Option<Mtu>) -> Result<(), PortError> {
    match (mtu, port.mtus) {
        (Some(Mtu(mtu)), Some((least, most))) if !(least..=most).contains(&mtu) => {
            Err(PortError::Mtu { mtu, name: port.name.clone(), driver: port.driver.clone(), least, most })
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests;
