//! `ports:IF1,IF2`: two NICs of this machine, each in its own network namespace, so that packets between them leave the
//! card.

use model::{Manager, Mtu, NicFacts, NicsState, Reading, units::LEAST_IPV6_MTU};

use super::{
    Parsed, ReferenceError,
    testers::{addresses, end_name, routes_of, sysctls},
};
use crate::{
    error::{BedError, NicError},
    machine::Machine,
    through::{self, DutRequest},
    topology::{Before, Interface, Link, Node, Role, Topology},
    wanted::{BedRef, LaidOut, Layout, NicConsent, Rights, Wanted},
};

/// Usage.
pub(super) const USAGE: &str = "ports:IF1,IF2 (two of its ports)";

const PORTS: &str = "ports:";

/// Longest name of an interface: IFNAMSIZ of linux/if.h without the NUL.
const LONGEST_NAME: usize = 15;

/// Two NICs as requested.
struct Nics {
    names: [String; 2],
    /// A device between them.
    through: DutRequest,
}

/// Two NICs that can be taken, and how.
struct NicPair {
    /// Part of its namespaces' names: `wp<id>-a`, `wp<id>-b`.
    id: String,
    nics: [NicFacts; 2],
    managers: Vec<Manager>,
    mtu: Option<Mtu>,
    /// Whether the kernel has IPv6.
    ipv6: bool,
    /// Whether to enable hardware timestamps if supported.
    stamps: bool,
}

pub(super) fn parse(text: &str) -> Parsed {
    text.strip_prefix(PORTS).map(two)
}

fn two(text: &str) -> Result<BedRef, ReferenceError> {
    let items: Vec<&str> = text.split(',').map(str::trim).collect();
    let text = format!("{PORTS}{}", items.join(","));
    let [a, b, parts @ ..] = items.as_slice() else { return Err(ReferenceError::NotTwoNics(text)) };
    let fits = |name: &str| {
        (1..=LONGEST_NAME).contains(&name.len()) && !name.contains(|c: char| c.is_whitespace() || "/:".contains(c))
    };
    match [*a, *b].into_iter().find(|name| !fits(name)) {
        Some("") => return Err(ReferenceError::NotTwoNics(text)),
        Some(name) => return Err(ReferenceError::NicName(name.to_owned())),
        None if a == b => return Err(ReferenceError::SameNic(text)),
        None => {}
    }
    match through::parse(&parts.join(",")) {
        Ok(through) => Ok(BedRef::new(text, Nics { names: [*a, *b].map(str::to_owned), through })),
        Err(why) => Err(ReferenceError::DutRequest { text, why }),
    }
}

impl Layout for Nics {
    fn rights(&self) -> Rights {
        Rights::Root("taking ports of this machine needs root".to_owned())
    }

    fn can_stay(&self) -> Result<(), String> {
        match &self.through.dut {
            None => Ok(()),
            Some(_) => {
                Err("; dut=… is reached anew for each run: leave it out here, or measure with this --bed".to_owned())
            }
        }
    }

    fn through(&self) -> Option<&DutRequest> {
        self.through.known()
    }

    fn commands_for_dut(&self, networks: u16) -> Vec<String> {
        self.through.commands(self.names.each_ref().map(String::as_str), networks)
    }

    fn lay_out(&self, id: &str, wanted: &Wanted, machines: &mut [Machine]) -> Result<LaidOut, BedError> {
        let state = machines[0].nics_state()?;
        let nics = self.choose(&state, wanted.mtu, wanted.taking).map_err(|error| BedError::Nic(Box::new(error)))?;
        let ipv6 = machines[0].lab_state(None)?.ipv6;
        let (id, managers) = (id.to_owned(), state.managers);
        let ground = NicPair { id, nics, managers, mtu: wanted.mtu, ipv6, stamps: wanted.stamps };
        Ok(LaidOut::New(self.topology(&ground)))
    }
}

impl Nics {
    /// These two of the machine's NICs; an error if one of them must not be taken.
    fn choose(&self, state: &NicsState, mtu: Option<Mtu>, taking: NicConsent) -> Result<[NicFacts; 2], NicError> {
        let [a, b] = self.names.each_ref().map(|name| named(name, state));
        let nics = [a?.clone(), b?.clone()];
        for nic in &nics {
            check_kind(nic)?;
            check_use(nic, taking)?;
            check_mtu(nic, mtu)?;
        }
        Ok(nics)
    }

    fn topology(&self, ground: &NicPair) -> Topology {
        let nodes: Vec<Node> = (0..2).map(|side| self.tester(side, ground)).collect();
        let link = |(node, nic): (usize, &NicFacts)| Link::Nic {
            node,
            interface: nic.name.clone(),
            mac: nic.mac.clone(),
            managers: ground.managers.clone(),
        };
        Topology {
            layout: "ports".to_owned(),
            dut: self.through.device(&[end_name(0, 2), end_name(1, 2)]),
            nodes,
            links: ground.nics.iter().enumerate().map(link).collect(),
            // An interface on no bus is no card.
            simulated: ground.nics.iter().all(|nic| nic.bus == Reading::Absent),
        }
    }

    fn tester(&self, side: usize, ground: &NicPair) -> Node {
        let (name, nic) = (end_name(side, 2), &ground.nics[side]);
        let mtu = ground.mtu.unwrap_or(nic.mtu);
        let is_routed = !self.through.gateways.is_empty();
        let mut all = if is_routed { self.through.addresses(side, 0) } else { addresses(side, true) };
        all.retain(|(address, _)| address.is_ipv4() || ground.ipv6 && mtu >= LEAST_IPV6_MTU);
        let routes = routes_of(&self.through, side, &all);
        let interface = Interface {
            name: nic.name.clone(),
            driver: nic.driver.clone(),
            mtu,
            addresses: all,
            routes,
            stamps: ground.stamps && stamps_freely(nic),
            before: Before { mtu: nic.mtu, ..Before::default() },
            ..Interface::default()
        };
        Node {
            namespace: format!("wp{}-{name}", ground.id),
            sysctls: sysctls(ground.ipv6),
            interfaces: vec![interface],
            role: Role::Tester(name),
            ..Node::default()
        }
    }
}

/// The reason why a NIC is not taken without the user's consent; `None` for an idle one.
pub(crate) fn why_not(nic: &NicFacts) -> Option<String> {
    let refused = check_kind(nic).and_then(|()| check_use(nic, NicConsent::default())).err()?;
    Some(match refused {
        NicError::InUse { what, .. } => format!("in use ({})", what.join(", ")),
        NicError::Uplink { .. } => "it carries the machine's default route".to_owned(),
        NicError::Session { .. } => "your ssh session comes in through it".to_owned(),
        other => other.to_string(),
    })
}

/// If timestamping is already configured, another program relies on it.
fn stamps_freely(nic: &NicFacts) -> bool {
    nic.stamping.is_some_and(|stamping| stamping.is_free())
}

fn named<'a>(name: &str, state: &'a NicsState) -> Result<&'a NicFacts, NicError> {
    if let Some(nic) = state.ports.iter().find(|nic| nic.name == name) {
        return Ok(nic);
    }
    let elsewhere = state.elsewhere.iter().find(|(_, interface)| interface == name);
    Err(match elsewhere {
        Some((namespace, _)) => NicError::Elsewhere { name: name.to_owned(), namespace: namespace.clone() },
        None => {
            let nics = state.ports.iter().filter(|nic| nic.name != "lo" && aggregate(nic).is_none());
            NicError::Missing { name: name.to_owned(), nics: nics.map(|nic| nic.name.clone()).collect() }
        }
    })
}

/// An aggregate of interfaces is no NIC.
fn aggregate(nic: &NicFacts) -> Option<&str> {
    ["bridge", "bond", "team", "openvswitch"].into_iter().find(|kind| nic.kind == *kind)
}

fn check_kind(nic: &NicFacts) -> Result<(), NicError> {
    let name = nic.name.clone();
    let what = match aggregate(nic) {
        _ if name == "lo" => Some("the loopback interface".to_owned()),
        aggregate => aggregate.map(|kind| format!("a {kind}")),
    };
    match (what, &nic.master, nic.on_top.as_slice()) {
        (Some(what), ..) => Err(NicError::NoNic { name, what }),
        (None, Some(master), _) => Err(NicError::Member { name, master: master.clone() }),
        (None, None, []) => Ok(()),
        (None, None, on_top) => Err(NicError::Parent { name, on_top: on_top.to_vec() }),
    }
}

fn check_use(nic: &NicFacts, taking: NicConsent) -> Result<(), NicError> {
    let name = nic.name.clone();
    if !nic.lasting.is_empty() {
        return Err(NicError::Lasting { name, what: nic.lasting.clone() });
    }
    let is_own_way_out = nic.carries_session || nic.is_uplink;
    match taking {
        NicConsent { uplink: true, .. } if is_own_way_out => return Ok(()),
        _ if nic.carries_session => return Err(NicError::Session { name }),
        _ if nic.is_uplink => return Err(NicError::Uplink { name }),
        _ => {}
    }
    let what = [nic.addresses.clone(), nic.routes.clone()].concat();
    if what.is_empty() || taking.in_use { Ok(()) } else { Err(NicError::InUse { name, what }) }
}

fn check_mtu(nic: &NicFacts, mtu: Option<Mtu>) -> Result<(), NicError> {
    match (mtu, nic.mtus) {
        (Some(Mtu(mtu)), Some((least, most))) if !(least..=most).contains(&mtu) => {
            let driver = nic.driver.known().map(|driver| format!(" ({driver})"));
            Err(NicError::Mtu { mtu, nic: nic.name.clone() + &driver.unwrap_or_default(), least, most })
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests;
