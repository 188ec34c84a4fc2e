//! Selects the interfaces to bypass.

use std::collections::HashSet;

use kernel::link::{self, Link};
use model::bypass::{Hindrance, Passed};

/// Selected interfaces, and the others with reasons.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Chosen {
    pub(super) taken: Vec<String>,
    pub(super) passed: Vec<Passed>,
}

/// An unsuitable interface was named.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadInterface {
    /// No interface has this name.
    #[error("there is no interface {0} in this network namespace; \"ip link\" lists those that there are")]
    None(String),
    /// The loopback interface.
    #[error("{0} is the loopback interface, which has no driver to go to; its datagrams stay with the kernel")]
    Loopback(String),
    /// It has no Ethernet address.
    #[error("interface {0} is no Ethernet interface; only those can be bypassed")]
    NoEthernet(String),
}

/// The named interfaces, or all suitable ones.
pub(super) fn interfaces(named: &[String]) -> Result<Chosen, super::BypassError> {
    let links = link::list()?;
    if named.is_empty() {
        // Without permission for this query, no uplink could be known.
        return Ok(all(&links, &host::nics::uplinks()?));
    }
    named.iter().try_for_each(|name| check(name, &links))?;
    Ok(Chosen { taken: each_once(named), passed: Vec::new() })
}

fn each_once(named: &[String]) -> Vec<String> {
    let mut seen = HashSet::new();
    named.iter().filter(|name| seen.insert(*name)).cloned().collect()
}

/// All interfaces that are up and have an address, except uplinks: some drivers stop their card for seconds to attach a
/// program.
fn all(links: &[Link], uplinks: &[String]) -> Chosen {
    let mut chosen = Chosen::default();
    for link in links.iter().filter(|link| !is_loopback(link) && link.up && !link.addresses.is_empty()) {
        let why = if uplinks.contains(&link.name) {
            Hindrance::Uplink
        } else if has_ethernet(link) {
            chosen.taken.push(link.name.clone());
            continue;
        } else {
            Hindrance::NoEthernet
        };
        chosen.passed.push(Passed { interface: link.name.clone(), why });
    }
    chosen
}

fn check(name: &str, links: &[Link]) -> Result<(), BadInterface> {
    match links.iter().find(|link| link.name == name) {
        None => Err(BadInterface::None(name.to_owned())),
        Some(link) if is_loopback(link) => Err(BadInterface::Loopback(name.to_owned())),
        Some(link) if !has_ethernet(link) => Err(BadInterface::NoEthernet(name.to_owned())),
        Some(_) => Ok(()),
    }
}

/// The kernel creates it first in each network namespace.
fn is_loopback(link: &Link) -> bool {
    link.index == 1 && link.name == "lo"
}

fn has_ethernet(link: &Link) -> bool {
    link.mac.len() == "02:00:00:00:00:01".len()
}

#[cfg(test)]
mod tests {
    use model::Mtu;

    use super::*;

    fn link(index: u32, name: &str, mac: &str) -> Link {
        Link {
            index,
            name: name.to_owned(),
            kind: String::new(),
            up: true,
            master: None,
            lower: None,
            vlan: None,
            mtu: Mtu(1500),
            mac: mac.to_owned(),
            operstate: "up".to_owned(),
            carrier_losses: 0,
            addresses: vec![("198.18.0.1".parse().expect("an address"), 24)],
        }
    }

    #[test]
    fn all_are_those_that_are_up_with_an_address_and_no_uplink() {
        let mac = "02:00:00:00:00:01";
        let links = [
            link(1, "lo", "00:00:00:00:00:00"),
            link(2, "eth0", mac),
            link(3, "eth1", mac),
            Link { up: false, ..link(4, "eth2", mac) },
            Link { addresses: Vec::new(), ..link(5, "eth3", mac) },
            link(6, "wg0", ""),
        ];
        let chosen = all(&links, &["eth0".to_owned()]);
        assert_eq!(chosen.taken, ["eth1"]);
        let passed: Vec<_> = chosen.passed.into_iter().map(|passed| (passed.interface, passed.why)).collect();
        assert_eq!(passed, [("eth0".to_owned(), Hindrance::Uplink), ("wg0".to_owned(), Hindrance::NoEthernet)]);
    }

    #[test]
    fn what_is_named_again_is_one_interface() {
        let named = ["v1", "v2", "v1", "v1"].map(str::to_owned);
        assert_eq!(each_once(&named), ["v1", "v2"]);
    }

    #[test]
    fn what_cannot_be_meant_is_refused() {
        let links = [link(1, "lo", "00:00:00:00:00:00"), link(2, "eth0", "02:00:00:00:00:01"), link(3, "wg0", "")];
        let checked = |name: &str| check(name, &links);
        assert_eq!(checked("eth0"), Ok(()));
        assert_eq!(checked("none0"), Err(BadInterface::None("none0".to_owned())));
        assert_eq!(checked("lo"), Err(BadInterface::Loopback("lo".to_owned())));
        assert_eq!(checked("wg0"), Err(BadInterface::NoEthernet("wg0".to_owned())));
    }
}
