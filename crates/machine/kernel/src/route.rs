//! Routes that a bed needs: to a network through a gateway.

use std::net::IpAddr;

use netlink_packet_core::{NLM_F_CREATE, NLM_F_DUMP, NLM_F_EXCL};
use netlink_packet_route::{
    AddressFamily, RouteNetlinkMessage,
    route::{RouteAttribute, RouteHeader, RouteMessage, RouteProtocol, RouteScope, RouteType},
};

use crate::{
    error::{On, Result},
    link,
    namespace::within,
    netlink::request,
};

/// Adds a route to a network (address and length of its prefix) through a gateway at this interface.
pub fn add(namespace: &str, interface: &str, network: (IpAddr, u8), via: IpAddr) -> Result<()> {
    within(namespace, || {
        let message = RouteNetlinkMessage::NewRoute(message(interface, network, via)?);
        request(message, NLM_F_CREATE | NLM_F_EXCL).on("RTM_NEWROUTE", what(network, via, interface)).map(drop)
    })?
}

/// Takes it away again.
pub fn remove(namespace: &str, interface: &str, network: (IpAddr, u8), via: IpAddr) -> Result<()> {
    within(namespace, || {
        let message = RouteNetlinkMessage::DelRoute(message(interface, network, via)?);
        request(message, 0).on("RTM_DELROUTE", what(network, via, interface)).map(drop)
    })?
}

/// Whether there is such a route, whoever added it.
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

/// Whoever added it, and with whatever metric.
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
