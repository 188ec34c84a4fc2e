//! Ports that several sockets have.

use std::{collections::HashSet, net::IpAddr};

use datagram::{Binding, Versions};
use kernel::diag::{Bound, udp_sockets};

/// The sockets of all processes that have a port, or any, in the order in which the kernel looks at them; none where it does not say: it is asked again
/// by and by.
pub(crate) fn on(port: Option<u16>) -> Option<Vec<Bound>> {
    udp_sockets(port).ok()
}

/// Those of them that the kernel gives what comes for them.
pub(crate) struct Others(Vec<(Binding, Option<u32>)>);

impl Others {
    /// Those that are not past the kernel.
    pub(crate) fn of(all: &[Bound], past: &HashSet<u64>) -> Self {
        let others = all.iter().filter(|bound| !past.contains(&bound.inode));
        Self(others.map(|bound| (binding(bound), bound.device)).collect())
    }

    /// Whether the kernel may give one of them something that this one would hear, at one of these addresses and by one of these interfaces.
    pub(crate) fn share_with(
        &self,
        own: &Binding,
        addresses: impl Iterator<Item = IpAddr> + Clone,
        interfaces: &[u32],
    ) -> bool {
        let is_here = |device: &Option<u32>| device.is_none_or(|device| interfaces.contains(&device));
        let mut others = self.0.iter().filter(|(_, device)| is_here(device));
        others.any(|(other, _)| addresses.clone().any(|address| own.yields_to(other, address)))
    }
}

fn binding(bound: &Bound) -> Binding {
    let versions = match (bound.v6, bound.v6_only) {
        (false, _) => Versions::V4,
        (true, true) => Versions::V6,
        (true, false) => Versions::Both,
    };
    let Bound { address, port, peer, .. } = *bound;
    // Whether it shares is not told, and makes no difference to one that is past the kernel.
    Binding { address, port, peer, versions, has_device: bound.device.is_some(), shares: false }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_is_shared_with_those_that_hear_the_same_and_are_not_past_the_kernel() {
        let own_address: IpAddr = [198, 18, 0, 1].into();
        let any = Bound { inode: 1, v6: false, v6_only: false, address: None, port: 7, peer: None, device: None };
        let shared = |others: &[Bound]| {
            let others = Others::of(others, &HashSet::from([1, 2]));
            others.share_with(&binding(&any), [own_address].into_iter(), &[4])
        };
        let other = Bound { inode: 3, ..any };
        assert!(shared(&[other]) && !shared(&[any, Bound { inode: 2, ..any }]));
        assert!(shared(&[any, Bound { address: Some(own_address), ..other }]));
        assert!(!shared(&[Bound { address: Some([127, 0, 0, 1].into()), ..other }]), "at another address");
        assert!(!shared(&[Bound { port: 8, ..other }]), "at another port");
        assert!(!shared(&[Bound { v6: true, ..other }]), "one of IPv4 comes first");
        assert!(shared(&[Bound { device: Some(4), ..other }]));
        assert!(!shared(&[Bound { device: Some(5), ..other }]), "by another interface");
    }
}
