//! Routes of a bed to a network through a gateway, and route lookups.

use std::{collections::BTreeMap, net::IpAddr};

use netlink_packet_core::{NLM_F_CREATE, NLM_F_DUMP, NLM_F_EXCL};
use netlink_packet_route::{
    AddressFamily, RouteNetlinkMessage,
    route::{
        RouteAddress, RouteAttribute, RouteFlags, RouteHeader, RouteMessage, RouteMetric, RouteProtocol, RouteScope,
        RouteType,
    },
};

use crate::{
    error::{On, Result},
    link,
    namespace::within,
    netlink::request,
    route_queries::{Question, RouteQueries, address, attributes, family, number},
};

/// Adds a route to a network (address and prefix length) through a gateway at this interface.
pub fn add(namespace: &str, interface: &str, network: (IpAddr, u8), via: IpAddr) -> Result<()> {
    within(namespace, || {
        let message = RouteNetlinkMessage::NewRoute(message(interface, network, via)?);
        request(message, NLM_F_CREATE | NLM_F_EXCL).on("RTM_NEWROUTE", what(network, via, interface)).map(drop)
    })?
}

/// Removes the route.
pub fn remove(namespace: &str, interface: &str, network: (IpAddr, u8), via: IpAddr) -> Result<()> {
    within(namespace, || {
        let message = RouteNetlinkMessage::DelRoute(message(interface, network, via)?);
        request(message, 0).on("RTM_DELROUTE", what(network, via, interface)).map(drop)
    })?
}

/// Whether such a route exists, whatever its origin.
pub fn exists(namespace: &str, interface: &str, network: (IpAddr, u8), via: IpAddr) -> Result<bool> {
    within(namespace, || {
        let wanted = message(interface, network, via)?;
        let mut question = RouteMessage::default();
        question.header.address_family = wanted.header.address_family;
        let all = request(RouteNetlinkMessage::GetRoute(question), NLM_F_DUMP);
        let all = all.on("RTM_GETROUTE", what(network, via, interface))?;
        Ok(all.iter().any(|route| matches!(route, RouteNetlinkMessage::NewRoute(route) if is_same(route, &wanted))))
    })?
}

/// Routes of the main table through an interface of the caller's namespace: the network, and each router to it. Those are left out
/// that routers announce.
pub fn through(interface: &str) -> Result<BTreeMap<String, String>> {
    let index = link::index(interface)?;
    let mut routes: BTreeMap<String, String> = BTreeMap::new();
    for family in [AddressFamily::Inet, AddressFamily::Inet6] {
        let mut question = RouteMessage::default();
        question.header.address_family = family;
        for answer in request(RouteNetlinkMessage::GetRoute(question), NLM_F_DUMP).on("RTM_GETROUTE", interface)? {
            let RouteNetlinkMessage::NewRoute(route) = answer else { continue };
            if let Some((network, via)) = described(&route, index) {
                let all = routes.entry(network).or_default();
                all.push_str(if all.is_empty() { "" } else { ", " });
                all.push_str(&via);
            }
        }
    }
    Ok(routes)
}

fn described(route: &RouteMessage, index: u32) -> Option<(String, String)> {
    let header = &route.header;
    let is_wanted = header.table == RouteHeader::RT_TABLE_MAIN
        && header.kind == RouteType::Unicast
        && !matches!(header.protocol, RouteProtocol::Ra | RouteProtocol::IcmpRedirect)
        && route.attributes.contains(&RouteAttribute::Oif(index));
    let (mut network, mut via) = (None, None);
    for attribute in &route.attributes {
        match attribute {
            RouteAttribute::Destination(address) => network = ip(address),
            RouteAttribute::Gateway(address) => via = ip(address),
            _ => {}
        }
    }
    let network = network.map_or_else(
        || format!("default of {:?}", header.address_family),
        |address| format!("{address}/{}", header.destination_prefix_length),
    );
    is_wanted.then(|| (network, via.map_or_else(|| "on the link".to_owned(), |via| format!("via {via}"))))
}

/// MTUs of paths that the kernel of the caller's namespace has learned and keeps for a time (`ip route show cache`).
pub fn learned_mtus() -> Result<Vec<(IpAddr, u32)>> {
    let mut learned = Vec::new();
    for family in [AddressFamily::Inet, AddressFamily::Inet6] {
        let mut question = RouteMessage::default();
        question.header.address_family = family;
        question.header.flags = RouteFlags::Cloned;
        let answers = request(RouteNetlinkMessage::GetRoute(question), NLM_F_DUMP);
        learned.extend(answers.on("RTM_GETROUTE", "learned routes")?.iter().filter_map(|answer| match answer {
            RouteNetlinkMessage::NewRoute(route) if route.header.flags.contains(RouteFlags::Cloned) => {
                learned_mtu(route)
            }
            _ => None,
        }));
    }
    Ok(learned)
}

fn learned_mtu(route: &RouteMessage) -> Option<(IpAddr, u32)> {
    let (mut to, mut mtu) = (None, None);
    for attribute in &route.attributes {
        match attribute {
            RouteAttribute::Destination(address) => to = ip(address),
            RouteAttribute::Metrics(metrics) => {
                mtu = metrics
                    .iter()
                    .find_map(|metric| if let RouteMetric::Mtu(mtu) = metric { Some(*mtu) } else { None });
            }
            _ => {}
        }
    }
    Some((to?, mtu.filter(|mtu| *mtu > 0)?))
}

fn ip(address: &RouteAddress) -> Option<IpAddr> {
    match address {
        RouteAddress::Inet(address) => Some(IpAddr::from(*address)),
        RouteAddress::Inet6(address) => Some(IpAddr::from(*address)),
        _ => None,
    }
}

/// The route of a packet from here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketRoute {
    /// Whether it goes to a single other host without encapsulation: no broadcast, no multicast, no local address.
    pub leaves: bool,
    /// Index of the outgoing interface.
    pub interface: u32,
    /// The next router; `None` if the destination is on the link.
    pub gateway: Option<IpAddr>,
    /// The default source address.
    pub source: Option<IpAddr>,
    /// The MTU of the route or path, if smaller than the interface's.
    pub mtu: Option<u32>,
    /// Whether this MTU is locked against path MTU discovery (`mtu lock`, ip-route(8)): routers may fragment packets
    /// then.
    pub is_mtu_locked: bool,
}

/// The route to a destination, from a source address if one is chosen, in the asker's namespace. Only errors allocate.
///
/// # Errors
/// If there is none: the kernel's error for a packet to it.
pub fn to(queries: &mut RouteQueries, destination: IpAddr, source: Option<IpAddr>) -> Result<PacketRoute> {
    const GET: u16 = 26;
    let bits = if destination.is_ipv4() { 32 } else { 128 };
    let from_bits = source.map_or(0, |_| bits);
    // `struct rtmsg`.
    let head = [family(destination), bits, from_bits, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    let question = Question::new(GET, &head).with_address(DESTINATION, destination);
    let question = source.into_iter().fold(question, |question, source| question.with_address(SOURCE, source));
    let mut room = [0; 2048];
    queries.ask(question, &mut room).map(read).on("RTM_GETROUTE", destination)
}

const DESTINATION: u16 = 1;
const SOURCE: u16 = 2;

/// Reads `struct rtmsg` and its attributes.
fn read(answer: &[u8]) -> PacketRoute {
    const HEAD: usize = 12;
    const INTERFACE: u16 = 4;
    const GATEWAY: u16 = 5;
    const PREFERRED: u16 = 7;
    const METRICS: u16 = 8;
    /// Via for either version: `struct rtvia`.
    const VIA: u16 = 18;
    const LOCKED: u16 = 1;
    const MTU: u16 = 2;
    /// `RTA_ENCAP_TYPE`: the route encapsulates packets.
    const ENCAPSULATION: u16 = 21;
    const UNICAST: u8 = 1;
    let leaves = answer.get(7) == Some(&UNICAST);
    let way = PacketRoute { leaves, interface: 0, gateway: None, source: None, mtu: None, is_mtu_locked: false };
    attributes(answer.get(HEAD..).unwrap_or_default()).fold(way, |way, (kind, value)| match kind {
        INTERFACE => PacketRoute { interface: number(value).unwrap_or(0), ..way },
        GATEWAY => PacketRoute { gateway: address(value), ..way },
        VIA => PacketRoute { gateway: value.get(2..).and_then(address), ..way },
        ENCAPSULATION => PacketRoute { leaves: false, ..way },
        PREFERRED => PacketRoute { source: address(value), ..way },
        METRICS => {
            let of =
                |kind: u16| attributes(value).find(|(known, _)| *known == kind).and_then(|(_, value)| number(value));
            let is_mtu_locked = of(LOCKED).is_some_and(|locked| locked & 1 << MTU != 0);
            PacketRoute { mtu: of(MTU).filter(|mtu| *mtu > 0), is_mtu_locked, ..way }
        }
        _ => way,
    })
}

/// Equal except for origin and metric.
fn is_same(route: &RouteMessage, wanted: &RouteMessage) -> bool {
    let place = |route: &RouteMessage| (route.header.table, route.header.destination_prefix_length);
    place(route) == place(wanted) && wanted.attributes.iter().all(|attribute| route.attributes.contains(attribute))
}

fn what((to, length): (IpAddr, u8), via: IpAddr, interface: &str) -> String {
    format!("route {to}/{length} via {via} at {interface}")
}

fn message(interface: &str, (to, length): (IpAddr, u8), via: IpAddr) -> Result<RouteMessage> {
    let mut message = RouteMessage::default();
    message.header = RouteHeader {
        address_family: if to.is_ipv4() { AddressFamily::Inet } else { AddressFamily::Inet6 },
        destination_prefix_length: length,
        table: RouteHeader::RT_TABLE_MAIN,
        protocol: RouteProtocol::Static,
        scope: RouteScope::Universe,
        kind: RouteType::Unicast,
        ..RouteHeader::default()
    };
    message.attributes = vec![
        RouteAttribute::Destination(to.into()),
        RouteAttribute::Gateway(via.into()),
        RouteAttribute::Oif(link::index(interface)?),
    ];
    Ok(message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_kernel_tells_is_read() {
        let mut answer = vec![2, 32, 0, 0, 254, 0, 0, 1, 0, 0, 0, 0];
        let mut add = |kind: u16, value: &[u8]| {
            answer.extend((4 + value.len() as u16).to_ne_bytes());
            answer.extend(kind.to_ne_bytes());
            answer.extend(value);
        };
        add(1, &[198, 18, 0, 2]);
        add(4, &7_u32.to_ne_bytes());
        add(5, &[198, 18, 0, 9]);
        add(7, &[198, 18, 0, 1]);
        add(8, &[8, 0, 2, 0, 0x78, 5, 0, 0]);
        let ip = |last: u8| Some(IpAddr::from([198, 18, 0, last]));
        let expected = PacketRoute {
            leaves: true,
            interface: 7,
            gateway: ip(9),
            source: ip(1),
            mtu: Some(1400),
            is_mtu_locked: false,
        };
        assert_eq!(read(&answer), expected);
        let locked = [&answer[..answer.len() - 12], &[20, 0, 8, 0, 8, 0, 1, 0, 4, 0, 0, 0, 8, 0, 2, 0, 0x78, 5, 0, 0]];
        assert_eq!(read(&locked.concat()), PacketRoute { is_mtu_locked: true, ..expected });
        let encapsulated = [answer.as_slice(), &[6, 0, 21, 0, 2, 0, 0, 0]].concat();
        assert_eq!(read(&encapsulated), PacketRoute { leaves: false, ..expected }, "in a tunnel");
        answer[7] = 2;
        assert!(!read(&answer).leaves, "to ourselves");
        assert!(!read(&[]).leaves);
    }

    #[test]
    fn the_way_to_ourselves_does_not_leave() {
        let mut queries = RouteQueries::open(|fd| fd).expect("a socket");
        let way = to(&mut queries, [127, 0, 0, 1].into(), None).expect("loopback is up");
        assert_eq!((way.leaves, way.gateway, way.source), (false, None, Some([127, 0, 0, 1].into())));
        let error = to(&mut queries, [127, 0, 0, 1].into(), Some([198, 18, 77, 77].into()));
        let error = error.expect_err("that is no address of ours").to_string();
        assert!(error.starts_with("RTM_GETROUTE on 127.0.0.1: "), "{error}");
    }
}
