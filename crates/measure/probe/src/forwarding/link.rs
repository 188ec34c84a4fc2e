//! The port of a side, and addresses of its network that nobody has.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use kernel::{link, neighbour};
use model::{SideSetup, stream::Mac};

use super::{
    craft::{NETWORK_V4, NETWORK_V6},
    trial_socket::TrialSocket,
    unable,
};
use crate::ProbeError;

/// The port of a side as the kernel has it now.
pub(super) struct Port {
    pub(super) mac: Mac,
    pub(super) mtu: u32,
    /// Length of the prefix of its network.
    prefix: Option<u8>,
}

impl Port {
    pub(super) fn of(setup: &SideSetup) -> Result<Self, ProbeError> {
        let links = link::list()?;
        let link = links.iter().find(|link| link.name == setup.interface);
        let link = link.ok_or_else(|| unable(&format!("there is no interface {}", setup.interface)))?;
        let mac = link.mac.parse().map_err(|_| unable(&format!("{} has no MAC address", setup.interface)))?;
        let own = link.addresses.iter().find(|(address, _)| *address == setup.local);
        Ok(Self { mac, mtu: link.mtu.0, prefix: own.map(|(_, prefix)| *prefix) })
    }
}

/// Addresses of a side's network that may be nobody's.
pub(super) struct UnusedAddresses(Vec<IpAddr>);

impl UnusedAddresses {
    /// Has the kernel ask for each of them.
    pub(super) fn ask(setup: &SideSetup, port: &Port, trial_socket: &TrialSocket) -> Result<Self, ProbeError> {
        let all = port.prefix.map_or_else(Vec::new, |prefix| candidates(setup.local, prefix));
        all.iter().try_for_each(|address| trial_socket.ask_for(*address))?;
        Ok(Self(all))
    }

    /// The first one that nobody has answered for.
    pub(super) fn choose(&self, interface: &str) -> Result<Option<IpAddr>, ProbeError> {
        for address in &self.0 {
            if neighbour::known(interface, *address)?.mac.is_none() {
                return Ok(Some(*address));
            }
        }
        Ok(None)
    }
}

/// Addresses of the network with this prefix, beside the end's own: from its middle, where hosts and routers are rare. A large network
/// counts as its part around the end's own address: the near side believes no others.
fn candidates(own: IpAddr, prefix: u8) -> Vec<IpAddr> {
    const MANY: u32 = 3;
    // A network of four addresses has two hosts, and none is left.
    let (width, part) = if own.is_ipv4() { (32, NETWORK_V4) } else { (128, NETWORK_V6) };
    let hosts = u32::from(u8::checked_sub(width, prefix.max(part)).unwrap_or(0));
    if hosts < 3 {
        return Vec::new();
    }
    let middle = (1_u128 << (hosts - 1)) | 1;
    let address = |offset: u32| match own {
        IpAddr::V4(own) => {
            let mask = u32::MAX.checked_shl(hosts).unwrap_or(0);
            IpAddr::from(Ipv4Addr::from_bits((own.to_bits() & mask) + middle as u32 + offset))
        }
        IpAddr::V6(own) => {
            let mask = u128::MAX.checked_shl(hosts).unwrap_or(0);
            IpAddr::from(Ipv6Addr::from_bits((own.to_bits() & mask) + middle + u128::from(offset)))
        }
    };
    // Neither the first nor the last address of a network is a host's.
    let many = MANY.min((1 << (hosts.min(8) - 1)) - 2);
    (0..many).map(address).filter(|address| *address != own).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_nobody_lie_within_the_network() {
        let of = |own: &str, prefix| -> Vec<String> {
            candidates(own.parse().expect("an address"), prefix).iter().map(ToString::to_string).collect()
        };
        assert_eq!(of("198.19.0.2", 24), ["198.19.0.129", "198.19.0.130", "198.19.0.131"]);
        assert_eq!(of("198.19.0.130", 24), ["198.19.0.129", "198.19.0.131"]);
        assert_eq!(of("198.19.0.2", 29), ["198.19.0.5", "198.19.0.6", "198.19.0.7"][..2]);
        assert_eq!(of("10.1.2.3", 16), ["10.1.2.129", "10.1.2.130", "10.1.2.131"]);
        assert_eq!(of("2001:2:0:1::2", 48)[0], "2001:2:0:1:8000::1");
        assert!(of("198.19.0.2", 30).is_empty() && of("198.19.0.2", 32).is_empty());
        assert_eq!(of("2001:2:0:1::2", 64)[0], "2001:2:0:1:8000::1");
        assert!(of("2001:2::2", 127).is_empty());
    }
}
