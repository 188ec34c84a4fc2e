//! Kernel sockets on a port of a bypassed socket.

use std::net::IpAddr;

use datagram::{Binding, Versions};
use kernel::diag::Bound;

/// A kernel socket.
pub(crate) struct Other {
    binding: Binding,
    device: Option<u32>,
}

impl Other {
    pub(crate) fn of(bound: &Bound) -> Self {
        Self { binding: binding(bound), device: bound.device }
    }

    /// Whether it receives by one of these interfaces.
    pub(crate) fn is_here(&self, mut interfaces: impl Iterator<Item = u32>) -> bool {
        self.device.is_none_or(|device| interfaces.any(|interface| interface == device))
    }

    /// Whether the kernel may give it a datagram that `own` would receive at one of these addresses.
    pub(crate) fn takes_from(&self, own: &Binding, mut addresses: impl Iterator<Item = IpAddr>) -> bool {
        addresses.any(|address| own.yields_to(&self.binding, address))
    }
}

fn binding(bound: &Bound) -> Binding {
    let versions = match (bound.v6, bound.v6_only) {
        (false, _) => Versions::V4,
        (true, true) => Versions::V6,
        (true, false) => Versions::Both,
    };
    let Bound { address, port, peer, .. } = *bound;
    // The kernel does not tell whether it shares its port; that makes no difference to a bypassed socket.
    Binding { address, port, peer, versions, has_device: bound.device.is_some(), shares: false }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_is_shared_with_those_that_hear_the_same() {
        let own_address: IpAddr = [198, 18, 0, 1].into();
        let any = Bound { inode: 1, v6: false, v6_only: false, address: None, port: 7, peer: None, device: None };
        let takes = |other: Bound| {
            let other = Other::of(&other);
            other.is_here([4].into_iter()) && other.takes_from(&binding(&any), [own_address].into_iter())
        };
        assert!(takes(any));
        assert!(takes(Bound { address: Some(own_address), ..any }));
        assert!(!takes(Bound { address: Some([127, 0, 0, 1].into()), ..any }), "at another address");
        assert!(!takes(Bound { port: 8, ..any }), "at another port");
        assert!(!takes(Bound { v6: true, ..any }), "one of IPv4 comes first");
        assert!(takes(Bound { device: Some(4), ..any }));
        assert!(!takes(Bound { device: Some(5), ..any }), "by another interface");
    }
}
