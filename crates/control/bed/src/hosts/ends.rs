//! What an end of two machines will be, and what has to be changed for it. Pure.

use std::net::IpAddr;

use model::{Change, Mtu, environment::InterfaceFacts, units::LEAST_IPV6_MTU};

use super::{HostsError, reference::Asked};

/// A machine as it is found.
pub(crate) struct Ground {
    /// Its name.
    pub(crate) host: String,
    /// Its interfaces.
    pub(crate) interfaces: Vec<InterfaceFacts>,
    /// Interfaces that are not to be changed: others would be cut off, or we.
    pub(crate) protected: Vec<String>,
    /// Whether we may change it.
    pub(crate) may_change: bool,
}

/// An end as it will be.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct End {
    pub(crate) interface: String,
    pub(crate) driver: String,
    pub(crate) mtu: Mtu,
    /// IPv4 first.
    pub(crate) addresses: Vec<IpAddr>,
    pub(crate) changes: Vec<Change>,
}

impl Ground {
    /// The end as it is asked for, with this MTU where one is.
    pub(crate) fn end(&self, end: &Asked, mtu: Option<Mtu>) -> Result<End, HostsError> {
        let (name, asked) = (end.name(), &end.addresses);
        let interface = self.interface(name)?;
        self.check_member(interface)?;
        asked.iter().try_for_each(|(address, _)| self.check(*address, interface))?;
        let own: Vec<IpAddr> = addresses(interface).map(|(address, _)| address).collect();
        let missing = asked.iter().filter(|(address, _)| !own.contains(address));
        let added = missing.map(|(address, prefix)| Change::Address {
            namespace: String::new(),
            interface: name.to_owned(),
            address: *address,
            prefix: *prefix,
        });
        let has = Mtu(interface.mtu);
        self.check_mtu(name, mtu.unwrap_or(has), own.iter().chain(asked.iter().map(|(address, _)| address)))?;
        let resized = mtu.filter(|mtu| *mtu != has);
        let resized = resized.map(|mtu| Change::Mtu { namespace: String::new(), interface: name.to_owned(), mtu });
        let up = Change::LinkUp { namespace: String::new(), interface: name.to_owned() };
        let up = (interface.state == "down").then_some(up);
        let changes: Vec<Change> = resized.into_iter().chain(added).chain(up).chain(end.routes.clone()).collect();
        self.check_changes(name, &changes)?;
        let mut addresses = if asked.is_empty() { own } else { asked.iter().map(|(address, _)| *address).collect() };
        if addresses.is_empty() {
            return Err(HostsError::NoAddress { host: self.host.clone(), interface: name.to_owned() });
        }
        addresses.sort_by_key(IpAddr::is_ipv6);
        let driver = interface.driver.clone();
        Ok(End { interface: name.to_owned(), driver, mtu: mtu.unwrap_or(has), addresses, changes })
    }

    /// Whether it is the same machine as another: it has the very same interfaces.
    pub(crate) fn is_same_machine(&self, other: &Self) -> bool {
        let names = |ground: &Self| -> Vec<(String, String)> {
            ground.interfaces.iter().map(|interface| (interface.name.clone(), interface.mac.clone())).collect()
        };
        names(self) == names(other) && self.interfaces.iter().any(|interface| !interface.mac.is_empty())
    }

    /// The interface that has this address.
    pub(crate) fn holder(&self, address: IpAddr) -> Option<&InterfaceFacts> {
        self.interfaces.iter().find(|interface| addresses(interface).any(|(own, _)| own == address))
    }

    /// Where packets leave to reach an end: interface, and the addresses that they leave from.
    pub(crate) fn towards(&self, end: &End, sources: &[IpAddr]) -> Result<Asked, HostsError> {
        let no_way = || HostsError::NoWay { host: self.host.clone(), to: end.addresses.clone() };
        let interface = sources.iter().find_map(|source| self.holder(*source)).ok_or_else(no_way)?;
        for change in &end.changes {
            // An address that nobody has yet is reached by nobody's route but that of its own network.
            if let Change::Address { address, .. } = change
                && !addresses(interface).any(|network| contains(network, *address))
            {
                return Err(no_way());
            }
        }
        let used = addresses(interface).filter(|(own, _)| sources.contains(own)).collect();
        Ok(Asked { interface: Some(interface.name.clone()), addresses: used, routes: Vec::new() })
    }

    fn interface(&self, name: &str) -> Result<&InterfaceFacts, HostsError> {
        let missing = || HostsError::NoInterface {
            host: self.host.clone(),
            interface: name.to_owned(),
            there: self.interfaces.iter().map(|interface| interface.name.clone()).collect(),
        };
        self.interfaces.iter().find(|interface| interface.name == name).ok_or_else(missing)
    }

    fn check(&self, address: IpAddr, interface: &InterfaceFacts) -> Result<(), HostsError> {
        let host = self.host.clone();
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

    /// What a bridge or a bond has is none of the interface's any more; a VRF (its driver says so) only routes for it.
    fn check_member(&self, interface: &InterfaceFacts) -> Result<(), HostsError> {
        let has_packets =
            |master: &&String| !self.interfaces.iter().any(|it| it.name == **master && it.driver == "vrf");
        match interface.master.as_ref().filter(has_packets) {
            None => Ok(()),
            Some(master) => {
                let (host, interface) = (self.host.clone(), interface.name.clone());
                Err(HostsError::Member { host, interface, master: master.clone() })
            }
        }
    }

    /// Nothing would put back addresses that go with an MTU too small for them.
    fn check_mtu<'a>(
        &self,
        interface: &str,
        mtu: Mtu,
        addresses: impl Iterator<Item = &'a IpAddr>,
    ) -> Result<(), HostsError> {
        let mut lost: Vec<IpAddr> = addresses.filter(|address| address.is_ipv6()).copied().collect();
        lost.dedup();
        if mtu >= LEAST_IPV6_MTU || lost.is_empty() {
            return Ok(());
        }
        let (host, interface) = (self.host.clone(), interface.to_owned());
        Err(HostsError::TakesAddresses { mtu: mtu.0, least: LEAST_IPV6_MTU.0, host, interface, addresses: lost })
    }

    fn check_changes(&self, interface: &str, changes: &[Change]) -> Result<(), HostsError> {
        let (host, interface) = (self.host.clone(), interface.to_owned());
        let what = || changes.iter().map(ToString::to_string).collect();
        match changes {
            [] => Ok(()),
            _ if self.protected.contains(&interface) => Err(HostsError::Uplink { host, interface, what: what() }),
            _ if !self.may_change => Err(HostsError::NotRoot { host, what: what() }),
            _ => Ok(()),
        }
    }
}

/// Addresses of an interface that reach further than its link, with the lengths of their prefixes.
fn addresses(interface: &InterfaceFacts) -> impl Iterator<Item = (IpAddr, u8)> {
    let parsed = interface.addresses.iter().filter_map(|text| {
        let (address, length) = text.split_once('/')?;
        Some((address.parse().ok()?, length.parse().ok()?))
    });
    parsed.filter(|(address, _)| is_usable(address))
}

/// A link-local address (RFC 3927, RFC 4291 section 2.5.6) means nothing without its interface; a loopback's never leaves.
fn is_usable(address: &IpAddr) -> bool {
    let is_link_local = match address {
        IpAddr::V4(address) => address.is_link_local() || address.is_broadcast(),
        IpAddr::V6(address) => address.is_unicast_link_local(),
    };
    !is_link_local && !address.is_unspecified() && !address.is_loopback() && !address.is_multicast()
}

fn contains((network, length): (IpAddr, u8), address: IpAddr) -> bool {
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

    fn ground() -> Ground {
        let interface = |name: &str, state: &str, addresses: &[&str]| InterfaceFacts {
            name: name.into(),
            state: state.into(),
            mtu: 1500,
            addresses: addresses.iter().map(ToString::to_string).collect(),
            ..InterfaceFacts::default()
        };
        Ground {
            host: "far".into(),
            interfaces: vec![
                interface("eth0", "up", &["198.18.9.1/24"]),
                interface("eth1", "up", &["2001:2::2/64", "198.18.0.2/24"]),
                interface("eth2", "down", &["169.254.1.1/16"]),
            ],
            protected: vec!["eth0".into()],
            may_change: true,
        }
    }

    fn asked(name: &str, addresses: &[(IpAddr, u8)]) -> Asked {
        Asked { interface: Some(name.into()), addresses: addresses.to_vec(), routes: vec![] }
    }

    fn words(end: &End) -> Vec<String> {
        end.changes.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn what_is_there_is_taken_as_it_is() {
        let end = ground().end(&asked("eth1", &[]), None).expect("it has addresses");
        assert_eq!((end.addresses, end.changes), (vec![ip("198.18.0.2"), ip("2001:2::2")], vec![]));
        let unchanged = Ground { may_change: false, ..ground() };
        assert!(unchanged.end(&asked("eth1", &[(ip("198.18.0.2"), 24)]), Some(Mtu(1500))).is_ok());
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
        assert_eq!(words(&end), ["eth2 MTU 9000", "address 198.18.1.2/24 on eth2", "eth2 up"]);
    }

    #[test]
    fn what_must_not_be_changed_is_refused() {
        let refused = |ground: Ground, name: &str, address: &str, mtu| {
            ground.end(&asked(name, &[(ip(address), 24)]), mtu).expect_err("refused").to_string()
        };
        let uplink = refused(ground(), "eth0", "198.18.9.1", Some(Mtu(9000)));
        assert!(uplink.contains("eth0 MTU 9000") && uplink.contains("--i-know-this-is-my-uplink"), "{uplink}");
        let user = refused(Ground { may_change: false, ..ground() }, "eth1", "198.18.0.3", None);
        assert!(user.contains("address 198.18.0.3/24 on eth1") && user.contains("sudo"), "{user}");
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
        let missing = ground().end(&asked("eth7", &[]), None).expect_err("no interface").to_string();
        assert!(missing.contains("eth0, eth1, eth2"), "{missing}");
    }

    #[test]
    fn the_end_here_is_found_by_the_route() {
        let far = |address: &str, changes| End {
            interface: "x".into(),
            driver: String::new(),
            mtu: Mtu(1500),
            addresses: vec![ip(address)],
            changes,
        };
        let near = ground().towards(&far("198.18.0.9", vec![]), &[ip("198.18.0.2")]).expect("a way");
        assert_eq!(near, asked("eth1", &[(ip("198.18.0.2"), 24)]));
        let added = |address: &str| {
            let change =
                Change::Address { namespace: String::new(), interface: "x".into(), address: ip(address), prefix: 24 };
            far(address, vec![change])
        };
        assert!(ground().towards(&added("198.18.0.9"), &[ip("198.18.0.2")]).is_ok());
        let error = ground().towards(&added("198.18.7.9"), &[ip("198.18.9.1")]).expect_err("by the default route");
        assert!(error.to_string().contains("near-dev"), "{error}");
        assert!(ground().towards(&far("198.18.7.9", vec![]), &[]).is_err());
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
