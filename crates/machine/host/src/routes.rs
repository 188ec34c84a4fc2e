//! Route lookups.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, UdpSocket};

/// The source address for packets to this one; `None` without a route. Sends nothing.
pub fn source_for(address: IpAddr) -> Option<IpAddr> {
    let any: IpAddr = if address.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() };
    let socket = UdpSocket::bind((any, 0)).ok()?;
    // Discard (RFC 863); connecting a datagram socket only looks up its route.
    socket.connect((address, 9)).ok()?;
    socket.local_addr().ok().map(|source| source.ip()).filter(|source| !source.is_unspecified())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_is_reached_from_itself() {
        let here = IpAddr::from(Ipv4Addr::LOCALHOST);
        assert_eq!(source_for(here), Some(here));
    }
}
