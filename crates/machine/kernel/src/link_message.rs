//! rtnetlink messages about one interface of the caller's namespace.

use std::io;

use netlink_packet_route::{
    RouteNetlinkMessage,
    link::{LinkAttribute, LinkFlags, LinkMessage},
};

use crate::netlink::request;

/// Sets an interface of the caller's own namespace up or down.
pub(crate) fn switch(interface: &str, up: bool) -> io::Result<()> {
    let mut message = named(interface);
    message.header.change_mask = LinkFlags::Up;
    message.header.flags = if up { LinkFlags::Up } else { LinkFlags::empty() };
    request(RouteNetlinkMessage::SetLink(message), 0).map(drop)
}

pub(crate) fn named(interface: &str) -> LinkMessage {
    let mut message = LinkMessage::default();
    message.attributes.push(LinkAttribute::IfName(interface.to_owned()));
    message
}
