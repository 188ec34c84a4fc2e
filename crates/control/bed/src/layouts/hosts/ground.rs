//! The ends of a bed on several machines, and the changes for them. Pure.

use std::net::IpAddr;

use model::{Mtu, Reading, environment::InterfaceFacts, units::LEAST_IPV6_MTU};

use super::asked::Asked;
use crate::{
    changes::interface_changes,
    error::{BedError, HostsError},
    machine::Allowed,
    reference::Network,
    topology::{Before, Interface},
};

/// A machine as found.
pub(super) struct FoundMachine {
    /// Permitted changes there.
    pub(super) allowed: Allowed,
    /// Interfaces.
    pub(super) interfaces: Vec<InterfaceFacts>,
}

impl FoundMachine {
    /// The end as requested, with this MTU if any.
    pub(super) fn end(&self, end: &Asked, mtu: Option<Mtu>) -> Result<Interface, BedError> {
        let name = end.name();
        let found = self.interface(name)?;
        self.check_member(found)?;
        end.addresses.iter().try_for_each(|(address, _)| self.check(*address, found))?;
        let before = Before { mtu: self.mtu(found)?, addresses: addresses(found).collect(), up: found.state != "down" };
        let mtu = mtu.unwrap_or(before.mtu);
        self.check_mtu(name, mtu, before.addresses.iter().chain(&end.addresses))?;
        let mut own = if end.addresses.is_empty() { before.addresses.clone() } else { end.addresses.clone() };
        own.sort_by_key(|(address, _)| address.is_ipv6());
        let interface = Interface {
            name: name.to_owned(),
            driver: found.driver.clone(),
            mtu,
            addresses: own,
            routes: end.routes.clone(),
            before,
            ..Interface::default()
        };
        self.allowed.check(name, &interface_changes("", &interface))?;
        if interface.addresses.is_empty() {
            return Err(HostsError::NoAddress { host: self.host(), interface: name.to_owned() }.into());
        }
        Ok(interface)
    }

    /// Whether it is the same machine: it has identical interfaces.
    pub(super) fn is_same_machine(&self, other: &Self) -> bool {
        let names = |ground: &Self| -> Vec<(String, Reading<String>)> {
            ground.interfaces.iter().map(|interface| (interface.name.clone(), interface.mac.clone())).collect()
        };
        names(self) == names(other) && self.interfaces.iter().any(|interface| interface.mac.known().is_some())
    }

    /// The interface with this address.
    pub(super) fn holder(&self, address: IpAddr) -> Option<&InterfaceFacts> {
        self.interfaces.iter().find(|interface| addresses(interface).any(|(own, _)| own == address))
    }

    /// The outgoing interface for an end, and its source addresses.
    pub(super) fn towards(&self, end: &Interface, sources: &[IpAddr]) -> Result<Asked, HostsError> {
        let to = || end.addresses.iter().map(|(address, _)| *address).collect();
        let no_way = || HostsError::NoWay { host: self.host(), to: to() };
        let interface = sources.iter().find_map(|source| self.holder(*source)).ok_or_else(no_way)?;
        // A new address is only reachable in its own network.
        if end.missing_addresses().any(|(new, _)| !addresses(interface).any(|network| contains(network, *new))) {
            return Err(no_way());
        }
        let used = addresses(interface).filter(|(own, _)| sources.contains(own)).collect();
        Ok(Asked { interface: Some(interface.name.clone()), addresses: used, routes: Vec::new() })
    }

    /// MTU of an interface. It has to be known: it bounds what is sent, and it is put back after the run.
    fn mtu(&self, interface: &InterfaceFacts) -> Result<Mtu, HostsError> {
        let why = match &interface.mtu {
            Reading::Known(mtu) => return Ok(Mtu(*mtu)),
            Reading::Absent => "it has none".to_owned(),
            Reading::Unreadable { why, .. } => why.clone(),
        };
        Err(HostsError::UnknownMtu { host: self.host(), interface: interface.name.clone(), why })
    }

    fn host(&self) -> String {
        self.allowed.host.clone()
    }

    fn interface(&self, name: &str) -> Result<&InterfaceFacts, HostsError> {
        let missing = || HostsError::NoInterface {
            host: self.host(),
            interface: name.to_owned(),
            there: self.interfaces.iter().map(|interface| interface.name.clone()).collect(),
        };
        self.interfaces.iter().find(|interface| interface.name == name).ok_or_else(missing)
    }

    fn check(&self, address: IpAddr, interface: &InterfaceFacts) -> Result<(), HostsError> {
        let host = self.host();
        if !is_usable(&address) {
            return Err(HostsError::Unusable { host, address });
        }
        match self.holder(address) {
            Some(holder) if holder.name != interface.name => {
                let (holder, interface) = (holder.name.clone(), interface.name.clone());
                Err(HostsError::Elsewhere { host, address, holder, interface })
            }
            _ => Ok(()),
        }
    }

    /// A bridge or bond receives its members' packets; a VRF (by its driver) only routes for them.
    fn check_member(&self, interface: &InterfaceFacts) -> Result<(), HostsError> {
        let has_packets =
            |master: &&String| !self.interfaces.iter().any(|it| it.name == **master && it.driver == "vrf".into());
        match interface.master.as_ref().filter(has_packets) {
            None => Ok(()),
            Some(master) => {
                let (host, interface) = (self.host(), interface.name.clone());
                Err(HostsError::Member { host, interface, master: master.clone() })
            }
        }
    }

    /// Addresses that a too small MTU removes would not be restored.
    fn check_mtu<'a>(
        &self,
        interface: &str,
        mtu: Mtu,
        addresses: impl Iterator<Item = &'a Network>,
    ) -> Result<(), HostsError> {
        let mut lost: Vec<IpAddr> = addresses.map(|(address, _)| *address).filter(IpAddr::is_ipv6).collect();
        lost.dedup();
        if mtu >= LEAST_IPV6_MTU || lost.is_empty() {
            return Ok(());
        }
        let (host, interface) = (self.host(), interface.to_owned());
        Err(HostsError::TakesAddresses { mtu: mtu.0, least: LEAST_IPV6_MTU.0, host, interface, addresses: lost })
    }
}

/// The addresses of a far end that are in no network of the end here.
pub(super) fn routed(near: &Interface, far: &Interface) -> Vec<IpAddr> {
    let networks: Vec<&Network> = near.addresses.iter().chain(&near.before.addresses).collect();
    let is_routed = |address: &IpAddr| !networks.iter().any(|network| contains(**network, *address));
    far.addresses.iter().map(|(address, _)| *address).filter(is_routed).collect()
}

/// Addresses of an interface beyond link-local scope, with prefix lengths.
fn addresses(interface: &InterfaceFacts) -> impl Iterator<Item = Network> {
    let parsed = interface.addresses.iter().filter_map(|text| {
        let (address, length) = text.split_once('/')?;
        Some((address.parse().ok()?, length.parse().ok()?))
    });
    parsed.filter(|(address, _)| is_usable(address))
}

/// A link-local address (RFC 3927, RFC 4291 section 2.5.6) needs its interface; a loopback address never leaves.
fn is_usable(address: &IpAddr) -> bool {
    let is_link_local = match address {
        IpAddr::V4(address) => address.is_link_local() || address.is_broadcast(),
        IpAddr::V6(address) => address.is_unicast_link_local(),
    };
    !is_link_local && !address.is_unspecified() && !address.is_loopback() && !address.is_multicast()
}

fn contains((network, length): Network, address: IpAddr) -> bool {
    let same = |bits: u32, a: u128, b: u128| (a ^ b).checked_shr(bits - u32::from(length).min(bits)).unwrap_or(0) == 0;
    match (network, address) {
        (IpAddr::V4(a), IpAddr::V4(b)) => same(32, u32::from(a).into(), u32::from(b).into()),
        (IpAddr::V6(a), IpAddr::V6(b)) => same(128, a.into(), b.into()),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ip(text: &str) -> IpAddr {
        text.parse().expect("an address")
    }

    fn ground() -> FoundMachine {
        let interface = |name: &str, state: &str, addresses: &[&str]| InterfaceFacts {
            name: name.into(),
            state: state.into(),
            mtu: Reading::Known(1500),
            addresses: addresses.iter().map(ToString::to_string).collect(),
            ..InterfaceFacts::default()
        };
        FoundMachine {
            allowed: Allowed { host: "far".into(), protected: vec!["eth0".into()], root: true, agentless: false },
            interfaces: vec![
                interface("eth0", "up", &["198.18.9.1/24"]),
                interface("eth1", "up", &["2001:2::2/64", "198.18.0.2/24"]),
                interface("eth2", "down", &["169.254.1.1/16"]),
            ],
        }
    }

    /// The same without the permission to change anything.
    fn unprivileged() -> FoundMachine {
        let allowed = Allowed { root: false, ..ground().allowed };
        FoundMachine { allowed, ..ground() }
    }

    fn asked(name: &str, addresses: &[(IpAddr, u8)]) -> Asked {
        Asked { interface: Some(name.into()), addresses: addresses.to_vec(), routes: vec![] }
    }

    fn words(end: &Interface) -> Vec<String> {
        interface_changes("", end).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn what_is_there_is_taken_as_it_is() {
        let end = ground().end(&asked("eth1", &[]), None).expect("it has addresses");
        assert_eq!(words(&end), [""; 0]);
        assert_eq!(end.addresses, [(ip("198.18.0.2"), 24), (ip("2001:2::2"), 64)]);
        assert!(unprivileged().end(&asked("eth1", &[(ip("198.18.0.2"), 24)]), Some(Mtu(1500))).is_ok());
        assert!(ground().end(&asked("eth0", &[]), None).is_ok(), "nothing is changed");
    }

    #[test]
    fn a_machine_is_known_by_its_interfaces() {
        let mut other = ground();
        assert!(!ground().is_same_machine(&other), "nothing tells them apart or together");
        other.interfaces[0].mac = "02:00:00:00:00:01".into();
        assert!(other.is_same_machine(&other) && !other.is_same_machine(&ground()));
    }

    #[test]
    fn what_is_missing_is_added() {
        let end = ground().end(&asked("eth2", &[(ip("198.18.1.2"), 24)]), Some(Mtu(9000))).expect("possible");
        assert_eq!(words(&end), ["eth2 MTU 9000", "eth2 up", "address 198.18.1.2/24 on eth2"]);
    }

    #[test]
    fn what_must_not_be_changed_is_refused() {
        let refused = |ground: FoundMachine, name: &str, address: &str, mtu| {
            ground.end(&asked(name, &[(ip(address), 24)]), mtu).expect_err("refused").to_string()
        };
        let uplink = refused(ground(), "eth0", "198.18.9.1", Some(Mtu(9000)));
        assert!(uplink.contains("eth0 MTU 9000") && uplink.contains("--i-know-this-is-my-uplink"), "{uplink}");
        let user = refused(unprivileged(), "eth1", "198.18.0.3", None);
        assert!(user.contains("address 198.18.0.3/24 on eth1") && user.contains("sudo"), "{user}");
        let allowed = Allowed { agentless: true, ..ground().allowed };
        let agentless = refused(FoundMachine { allowed, ..ground() }, "eth0", "198.18.0.3", None);
        assert!(agentless.contains("nothing of wireproof runs on far") && agentless.contains("by hand"), "{agentless}");
        let elsewhere = refused(ground(), "eth1", "198.18.9.1", None);
        assert!(elsewhere.contains("eth0 has it"), "{elsewhere}");
        let local = refused(ground(), "eth1", "169.254.1.1", None);
        assert!(local.contains("link-local"), "{local}");
        let small = ground().end(&asked("eth1", &[]), Some(Mtu(1000))).expect_err("too small").to_string();
        assert!(small.contains("eth1 of far has or is to have 2001:2::2; ask for 1280 or more"), "{small}");
        assert!(ground().end(&asked("eth2", &[(ip("198.18.1.2"), 24)]), Some(Mtu(1000))).is_ok());
        let none = ground().end(&asked("eth2", &[]), None).expect_err("no address").to_string();
        assert!(none.contains("eth2 has no address"), "{none}");
        for nobody in ["127.0.0.5", "224.0.0.5", "255.255.255.255", "::1", "ff02::1"] {
            let why = refused(ground(), "eth1", nobody, None);
            assert!(why.contains("name another"), "{nobody}: {why}");
        }
        let member = |driver: &str| {
            let mut ground = ground();
            ground.interfaces[1].master = Some("eth2".into());
            ground.interfaces[2].driver = driver.into();
            ground.end(&asked("eth1", &[]), None).err().map(|error| error.to_string())
        };
        assert!(member("bridge").expect("a member").starts_with("eth1 of far belongs to eth2, which has its packets"));
        assert_eq!(member("vrf"), None);
        let mut unread = ground();
        unread.interfaces[1].mtu = Reading::Unreadable { path: "ip link".into(), why: "no rights".into() };
        let unread = unread.end(&asked("eth1", &[]), None).expect_err("it is not 0").to_string();
        assert!(unread.contains("the MTU of eth1 of far is not known (no rights)"), "{unread}");
        let missing = ground().end(&asked("eth7", &[]), None).expect_err("no interface").to_string();
        assert!(missing.contains("eth0, eth1, eth2"), "{missing}");
    }

    #[test]
    fn the_end_here_is_found_by_the_route() {
        let far = |address: &str, before: &[Network]| Interface {
            addresses: vec![(ip(address), 24)],
            before: Before { addresses: before.to_vec(), ..Before::default() },
            ..Interface::default()
        };
        let has = |address: &str| far(address, &[(ip(address), 24)]);
        let near = ground().towards(&has("198.18.0.9"), &[ip("198.18.0.2")]).expect("a way");
        assert_eq!(near, asked("eth1", &[(ip("198.18.0.2"), 24)]));
        let added = |address: &str| far(address, &[]);
        assert!(ground().towards(&added("198.18.0.9"), &[ip("198.18.0.2")]).is_ok());
        let error = ground().towards(&added("198.18.7.9"), &[ip("198.18.9.1")]).expect_err("by the default route");
        assert!(error.to_string().contains("near-dev"), "{error}");
        assert!(ground().towards(&has("198.18.7.9"), &[]).is_err());
    }

    #[test]
    fn a_network_holds_its_addresses() {
        assert!(contains((ip("198.18.0.1"), 15), ip("198.19.255.255")));
        assert!(!contains((ip("198.18.0.1"), 24), ip("198.18.1.1")));
        assert!(
            contains((ip("2001:2::1"), 64), ip("2001:2::ffff")) && !contains((ip("2001:2::1"), 64), ip("198.18.0.1"))
        );
    }
}
