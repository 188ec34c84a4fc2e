//! Which way packets would take. Nothing here fails: what cannot be found is left out.

use std::{
    collections::BTreeSet,
    fs,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, UdpSocket},
};

/// RTF_REJECT of linux/route.h: such a route leads nowhere.
const REJECT: u32 = 0x200;

/// The address that packets to this one would be sent from; `None` where no route leads there. Nothing is sent.
pub fn source_for(address: IpAddr) -> Option<IpAddr> {
    let any: IpAddr = if address.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() };
    let socket = UdpSocket::bind((any, 0)).ok()?;
    // Discard (RFC 863); a datagram socket that is connected looks up its route, and no more.
    socket.connect((address, 9)).ok()?;
    socket.local_addr().ok().map(|source| source.ip()).filter(|source| !source.is_unspecified())
}

/// Interfaces of the caller's network namespace that a default route goes through.
pub fn uplinks() -> Vec<String> {
    let read = |file: &str| fs::read_to_string(format!("/proc/thread-self/net/{file}")).unwrap_or_default();
    let all: BTreeSet<String> = ipv4(&read("route")).chain(ipv6(&read("ipv6_route"))).collect();
    all.into_iter().filter(|interface| interface != "lo").collect()
}

/// A head line, then interface, destination, gateway, flags, …, mask in hexadecimal.
fn ipv4(table: &str) -> impl Iterator<Item = String> {
    table.lines().skip(1).filter_map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [interface, "00000000", _, flags, _, _, _, "00000000", ..] = words.as_slice() else { return None };
        leads_on(flags).then(|| (*interface).to_owned())
    })
}

/// Destination, its prefix, source, its prefix, next hop, metric, …, …, flags, interface.
fn ipv6(table: &str) -> impl Iterator<Item = String> {
    table.lines().filter_map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [destination, "00", _, _, _, _, _, _, flags, interface] = words.as_slice() else { return None };
        (destination.bytes().all(|digit| digit == b'0') && leads_on(flags)).then(|| (*interface).to_owned())
    })
}

fn leads_on(flags: &str) -> bool {
    u32::from_str_radix(flags, 16).is_ok_and(|flags| flags & REJECT == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn default_routes_are_found() {
        let table = "Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\tMTU\tWindow\tIRTT\n\
            eth0\t00000000\t010011AC\t0003\t0\t0\t0\t00000000\t0\t0\t0\n\
            eth1\t000012C6\t00000000\t0001\t0\t0\t0\t0000FEFF\t0\t0\t0\n";
        assert_eq!(ipv4(table).collect::<Vec<_>>(), ["eth0"]);
        let zeros = "0".repeat(32);
        let line =
            |flags: &str, interface: &str| format!("{zeros} 00 {zeros} 00 {zeros} 00000400 1 0 {flags} {interface}\n");
        let table = line("00000003", "eth2") + &line("00200200", "lo");
        assert_eq!(ipv6(&table).collect::<Vec<_>>(), ["eth2"]);
    }

    #[test]
    fn loopback_is_reached_from_itself() {
        let here = IpAddr::from(Ipv4Addr::LOCALHOST);
        assert_eq!(source_for(here), Some(here));
    }
}
