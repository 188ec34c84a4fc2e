//! Common properties of layouts' tester ends: names, addresses, settings. Pure.
//!
//! Addresses are those reserved for benchmarks: 198.18.0.0/15 (RFC 2544, appendix C) and 2001:2::/48 (RFC 5180).

use std::net::{Ipv4Addr, Ipv6Addr};

use crate::{
    reference::Network,
    through::{DutRequest, Route},
};

/// Settings of a tester's namespace, with reasons.
const SYSCTLS: [(&str, &str); 2] = [
    // Timestamps take 12 bytes of each TCP segment; without them, the payload size follows from the frame size.
    ("net.ipv4.tcp_timestamps", "0"),
    // A trial must not inherit the congestion window of the previous one.
    ("net.ipv4.tcp_no_metrics_save", "1"),
];

/// The same for IPv6.
const IPV6_SYSCTLS: [(&str, &str); 2] = [
    // If the machine has IPv6 disabled, new namespaces may inherit that.
    ("net.ipv6.conf.default.disable_ipv6", "0"),
    // Router announcements would change addresses and routes during a run.
    //
    // Solicitations cost, too: a frame from another core moves a veth's receiver there, and its ring overflows
    // meanwhile.
    ("net.ipv6.conf.default.accept_ra", "0"),
];

/// Settings of a tester's namespace.
pub(super) fn sysctls(ipv6: bool) -> Vec<(&'static str, &'static str)> {
    SYSCTLS.into_iter().chain(IPV6_SYSCTLS.into_iter().filter(|_| ipv6)).collect()
}

/// Name of end number `place` of `count`: senders are a, or a1 and so on if there are several; the receiver is b.
pub(super) fn end_name(place: usize, count: usize) -> String {
    match (place + 1 == count, count) {
        (true, _) => "b".to_owned(),
        (false, 2) => "a".to_owned(),
        (false, _) => format!("a{}", place + 1),
    }
}

/// Addresses of the end at this place in the common network, IPv4 first.
pub(super) fn addresses(place: usize, ipv6: bool) -> Vec<Network> {
    let host = place as u8 + 1;
    let v6 = ipv6.then(|| (Ipv6Addr::new(0x2001, 2, 0, 0, 0, 0, 0, host.into()).into(), 64));
    [(Ipv4Addr::new(198, 18, 0, host).into(), 24)].into_iter().chain(v6).collect()
}

/// Routes through a device for an end at this side with these addresses.
pub(super) fn routes_of(through: &DutRequest, side: usize, addresses: &[Network]) -> Vec<Route> {
    let has = |route: &Route| addresses.iter().any(|(address, _)| address.is_ipv4() == route.via.is_ipv4());
    through.routes(side).into_iter().filter(has).collect()
}
