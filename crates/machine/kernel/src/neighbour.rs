//! The next hop to an address: the host itself or a router, from the kernel's routes and neighbour table (ip-route(8),
//! ip-neighbour(8)).

use std::{collections::BTreeMap, io, net::IpAddr};

use model::stream::Mac;
use netlink_packet_core::NLM_F_DUMP;
use netlink_packet_route::{
    AddressFamily, RouteNetlinkMessage,
    neighbour::{NeighbourAddress, NeighbourAttribute, NeighbourFlags, NeighbourMessage, NeighbourState},
    route::{RouteAddress, RouteAttribute, RouteMessage},
};

use crate::{
    error::{On, Result},
    link,
    netlink::request,
    route_queries::{self, Question, RouteQueries},
};

/// MAC address of the next hop to a destination, on this interface of the caller's namespace. Known after a first
/// packet.
pub fn next_hop(interface: &str, destination: IpAddr) -> Result<Mac> {
    let index = link::index(interface)?;
    let hop = gateway(destination).on("RTM_GETROUTE", destination)?.unwrap_or(destination);
    let what = format!("neighbour {hop} on {interface}");
    mac_of(index, hop).on("RTM_GETNEIGH", &what)?.ok_or_else(nobody).on("RTM_GETNEIGH", what)
}

/// A neighbour as the kernel knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Neighbour {
    /// MAC address.
    pub mac: Mac,
    /// Whether it is reachable without further probing: confirmed recently, or added manually.
    ///
    /// The kernel probes other neighbours when it sends to them.
    pub confirmed: bool,
}

/// The neighbour with this address at the interface with this index, in the asker's namespace. Only errors allocate.
///
/// `None` if its MAC address is unknown.
pub fn at(queries: &mut RouteQueries, interface: u32, address: IpAddr) -> Result<Option<Neighbour>> {
    const GET: u16 = 30;
    const DESTINATION: u16 = 1;
    let [a, b, c, d] = interface.to_ne_bytes();
    // `struct ndmsg`.
    let question = Question::new(GET, &[route_queries::family(address), 0, 0, 0, a, b, c, d, 0, 0, 0, 0]);
    let mut room = [0; 2048];
    match queries.ask(question.with_address(DESTINATION, address), &mut room) {
        Ok(answer) => Ok(read(answer)),
        Err(error) if error.raw_os_error() == Some(libc::ENOENT) => Ok(None),
        Err(error) => Err(error).on("RTM_GETNEIGH", address),
    }
}

/// Reads `struct ndmsg` and its attributes.
fn read(answer: &[u8]) -> Option<Neighbour> {
    const HEAD: usize = 12;
    const LINK_ADDRESS: u16 = 2;
    /// `NUD_REACHABLE`, `NUD_NOARP` and `NUD_PERMANENT`.
    const CONFIRMED: u8 = 0x02 | 0x40 | 0x80;
    /// `NUD_STALE`, `NUD_DELAY` and `NUD_PROBE`.
    const DOUBTFUL: u8 = 0x04 | 0x08 | 0x10;
    let state = *answer.get(8)?;
    let mut attributes = route_queries::attributes(answer.get(HEAD..)?);
    let mac = attributes.find(|(kind, _)| *kind == LINK_ADDRESS)?.1.try_into().ok().map(Mac)?;
    let confirmed = state & CONFIRMED != 0;
    (confirmed || state & DOUBTFUL != 0).then_some(Neighbour { mac, confirmed })
}

/// Has the kernel probe the neighbours of these interfaces that it has not confirmed for a while, as it does when it sends to them
/// itself. For packets that it does not send.
pub fn probe_stale(interfaces: &[u32]) -> Result<()> {
    let all = request(RouteNetlinkMessage::GetNeighbour(NeighbourMessage::default()), NLM_F_DUMP);
    for answer in all.on("RTM_GETNEIGH", "all neighbours")? {
        let RouteNetlinkMessage::NewNeighbour(entry) = answer else { continue };
        if entry.header.state != NeighbourState::Stale || !interfaces.contains(&entry.header.ifindex) {
            continue;
        }
        let mut use_it = NeighbourMessage::default();
        use_it.header.family = entry.header.family;
        use_it.header.ifindex = entry.header.ifindex;
        use_it.header.flags = NeighbourFlags::Use;
        let address = entry.attributes.into_iter().filter(|it| matches!(it, NeighbourAttribute::Destination(_)));
        use_it.attributes.extend(address);
        match request(RouteNetlinkMessage::NewNeighbour(use_it), 0) {
            // It has been removed meanwhile.
            Err(error) if error.raw_os_error() == Some(libc::ENOENT) => {}
            route_queries => drop(
                route_queries.on("RTM_NEWNEIGH", format_args!("neighbours of interface {}", entry.header.ifindex))?,
            ),
        }
    }
    Ok(())
}

/// Neighbours at an interface of the caller's namespace: MAC address, and `permanent` where it was set by hand.
pub fn table(interface: &str) -> Result<BTreeMap<IpAddr, String>> {
    let index = link::index(interface)?;
    let all = request(RouteNetlinkMessage::GetNeighbour(NeighbourMessage::default()), NLM_F_DUMP);
    let all = all.on("RTM_GETNEIGH", interface)?;
    let entries = all.into_iter().filter_map(|answer| match answer {
        RouteNetlinkMessage::NewNeighbour(entry) if entry.header.ifindex == index => entry_of(&entry),
        _ => None,
    });
    Ok(entries.collect())
}

/// `None` without a MAC address, and for addresses that need none (multicast).
fn entry_of(entry: &NeighbourMessage) -> Option<(IpAddr, String)> {
    let address = entry.attributes.iter().find_map(|attribute| match attribute {
        NeighbourAttribute::Destination(NeighbourAddress::Inet(address)) => Some(IpAddr::from(*address)),
        NeighbourAttribute::Destination(NeighbourAddress::Inet6(address)) => Some(IpAddr::from(*address)),
        _ => None,
    })?;
    let mac = mac_in(entry, address)?;
    match entry.header.state {
        NeighbourState::Noarp | NeighbourState::Failed | NeighbourState::Incomplete => None,
        NeighbourState::Permanent => Some((address, format!("{mac} permanent"))),
        _ => Some((address, mac.to_string())),
    }
}

/// The kernel's neighbour entry of the next hop to a destination.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NextHop {
    /// The destination, or the router to it.
    pub address: IpAddr,
    /// State as ip-neighbour(8) names it, like `REACHABLE` or `FAILED`; `None` without an entry.
    pub state: Option<String>,
    /// MAC address, where one is known.
    pub mac: Option<Mac>,
}

/// The next hop to a destination on this interface of the caller's namespace, as the kernel knows it now. Nothing is sent.
pub fn known(interface: &str, destination: IpAddr) -> Result<NextHop> {
    let index = link::index(interface)?;
    let address = gateway(destination).on("RTM_GETROUTE", destination)?.unwrap_or(destination);
    let entry = entries(index, address).on("RTM_GETNEIGH", address)?.into_iter().find(|entry| is_of(entry, address));
    let state = entry.as_ref().map(|entry| format!("{:?}", entry.header.state).to_uppercase());
    Ok(NextHop { address, state, mac: entry.and_then(|entry| mac_in(&entry, address)) })
}

fn nobody() -> io::Error {
    io::Error::new(io::ErrorKind::NotFound, "nobody has told its MAC address; is the link up, and the address right?")
}

/// The router to the destination; `None` if it is on the link.
fn gateway(destination: IpAddr) -> io::Result<Option<IpAddr>> {
    let mut question = RouteMessage::default();
    question.header.address_family = family(destination);
    question.header.destination_prefix_length = if destination.is_ipv4() { 32 } else { 128 };
    question.attributes.push(RouteAttribute::Destination(RouteAddress::from(destination)));
    let answers = request(RouteNetlinkMessage::GetRoute(question), 0)?;
    let routes = answers.into_iter().filter_map(|answer| match answer {
        RouteNetlinkMessage::NewRoute(route) => Some(route),
        _ => None,
    });
    Ok(routes.flat_map(|route| route.attributes).find_map(|attribute| match attribute {
        RouteAttribute::Gateway(RouteAddress::Inet(router)) => Some(router.into()),
        RouteAttribute::Gateway(RouteAddress::Inet6(router)) => Some(router.into()),
        _ => None,
    }))
}

fn mac_of(index: u32, address: IpAddr) -> io::Result<Option<Mac>> {
    Ok(entries(index, address)?.iter().find_map(|entry| mac_in(entry, address)))
}

/// Neighbours of an interface, for addresses of this version.
fn entries(index: u32, address: IpAddr) -> io::Result<Vec<NeighbourMessage>> {
    let mut question = NeighbourMessage::default();
    question.header.family = family(address);
    let answers = request(RouteNetlinkMessage::GetNeighbour(question), NLM_F_DUMP)?;
    let entries = answers.into_iter().filter_map(|answer| match answer {
        RouteNetlinkMessage::NewNeighbour(entry) if entry.header.ifindex == index => Some(entry),
        _ => None,
    });
    Ok(entries.collect())
}

/// The entry's MAC address, if it is for this address.
fn mac_in(entry: &NeighbourMessage, wanted: IpAddr) -> Option<Mac> {
    let mac = |attribute: &NeighbourAttribute| match attribute {
        NeighbourAttribute::LinkLayerAddress(bytes) => bytes.as_slice().try_into().ok().map(Mac),
        _ => None,
    };
    is_of(entry, wanted).then(|| entry.attributes.iter().find_map(mac)).flatten()
}

fn is_of(entry: &NeighbourMessage, wanted: IpAddr) -> bool {
    entry.attributes.iter().any(|attribute| match attribute {
        NeighbourAttribute::Destination(NeighbourAddress::Inet(address)) => IpAddr::from(*address) == wanted,
        NeighbourAttribute::Destination(NeighbourAddress::Inet6(address)) => IpAddr::from(*address) == wanted,
        _ => false,
    })
}

fn family(address: IpAddr) -> AddressFamily {
    if address.is_ipv4() { AddressFamily::Inet } else { AddressFamily::Inet6 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_wanted_neighbour_answers() {
        let mut entry = NeighbourMessage::default();
        let address: IpAddr = "198.18.0.2".parse().unwrap();
        entry.attributes.push(NeighbourAttribute::Destination(NeighbourAddress::Inet([198, 18, 0, 2].into())));
        assert_eq!(mac_in(&entry, address), None, "not known yet");
        entry.attributes.push(NeighbourAttribute::LinkLayerAddress(vec![2, 0, 0, 0, 0, 7]));
        assert_eq!(mac_in(&entry, address), Some(Mac([2, 0, 0, 0, 0, 7])));
        assert_eq!(mac_in(&entry, "198.18.0.3".parse().unwrap()), None);
    }

    #[test]
    fn a_state_says_whether_it_holds() {
        let entry = |state: u8| {
            let mut entry = vec![2, 0, 0, 0, 7, 0, 0, 0, state, 0, 0, 0];
            entry.extend([8, 0, 1, 0, 198, 18, 0, 2, 10, 0, 2, 0, 2, 0, 0, 0, 0, 7, 0, 0]);
            read(&entry)
        };
        let mac = Mac([2, 0, 0, 0, 0, 7]);
        for (state, confirmed) in
            [(0x02, true), (0x80, true), (0x40, true), (0x04, false), (0x08, false), (0x10, false)]
        {
            assert_eq!(entry(state), Some(Neighbour { mac, confirmed }), "{state:#x}");
        }
        for state in [0x01, 0x20] {
            assert_eq!(entry(state), None, "not known, or known to be gone");
        }
        assert_eq!(read(&[0; 12]), None);
    }

    #[test]
    fn a_neighbour_that_nobody_knows_is_none() {
        let index = link::index("lo").expect("there is one");
        let mut queries = RouteQueries::open(|fd| fd).expect("a socket");
        assert_eq!(at(&mut queries, index, "127.0.0.77".parse().unwrap()).expect("readable"), None);
    }

    #[test]
    fn the_next_hop_is_named_without_an_entry_too() {
        let address: IpAddr = "127.0.0.77".parse().unwrap();
        assert_eq!(known("lo", address).expect("readable"), NextHop { address, state: None, mac: None });
    }

    #[test]
    fn what_is_not_there_says_so() {
        let error = next_hop("lo", "127.0.0.77".parse().unwrap()).unwrap_err().to_string();
        assert!(error.contains("neighbour 127.0.0.77 on lo: nobody"), "{error}");
    }
}
