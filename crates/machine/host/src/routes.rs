//! Route lookups.

use std::{
    fs,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, UdpSocket},
};

use kernel::sysctl;

/// The source address for packets to this one; `None` without a route. Sends nothing.
pub fn source_for(address: IpAddr) -> Option<IpAddr> {
    let any: IpAddr = if address.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() };
    let socket = UdpSocket::bind((any, 0)).ok()?;
    // Discard (RFC 863); connecting a datagram socket only looks up its route.
    socket.connect((address, 9)).ok()?;
    socket.local_addr().ok().map(|source| source.ip()).filter(|source| !source.is_unspecified())
}

/// Interfaces whose IPv6 default route a router announced, and which lose it as soon as the kernel forwards IPv6 itself.
pub fn announced_defaults() -> Vec<String> {
    let loses = |interface: &String| {
        let key = format!("net.ipv6.conf.{}.accept_ra", interface.replace('.', "/"));
        sysctl::read(&key).is_ok_and(|value| value != "2")
    };
    let table = fs::read_to_string("/proc/thread-self/net/ipv6_route").unwrap_or_default();
    announced_in(&table).into_iter().filter(loses).collect()
}

/// Lines of `/proc/net/ipv6_route` end with flags and interface; `RTF_DEFAULT` and `RTF_ADDRCONF` mark these routes.
fn announced_in(table: &str) -> Vec<String> {
    const ANNOUNCED: u32 = 0x0001_0000 | 0x0004_0000;
    let of_line = |line: &str| {
        let mut fields = line.split_whitespace().rev();
        let (interface, flags) = (fields.next()?, u32::from_str_radix(fields.next()?, 16).ok()?);
        (flags & ANNOUNCED == ANNOUNCED).then(|| interface.to_owned())
    };
    let mut found: Vec<String> = table.lines().filter_map(of_line).collect();
    found.sort();
    found.dedup();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_default_route_of_a_router_is_told_from_others() {
        let line = |flags: &str, interface: &str| {
            let zeros = "0".repeat(32);
            format!(
                "{zeros} 00 {zeros} 00 fe800000000000000000000000000001 00000400 00000001 00000000 {flags} {interface}\n"
            )
        };
        let table =
            line("00450003", "eth1") + &line("00000003", "eth2") + &line("00450003", "eth1") + &line("00200200", "lo");
        assert_eq!(announced_in(&table), ["eth1"]);
        assert!(announced_in("nonsense\n\n").is_empty());
    }

    #[test]
    fn loopback_is_reached_from_itself() {
        let here = IpAddr::from(Ipv4Addr::LOCALHOST);
        assert_eq!(source_for(here), Some(here));
    }
}
