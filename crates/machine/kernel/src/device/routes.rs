//! Routes and their nexthop objects.

use std::net::IpAddr;

use model::nic::Saved;

use super::message::{Entry, Kind};
use crate::{error::Result, link};

pub(super) const ROUTES: Kind = Kind { name: "routes", new: 24, get: 26, head: 12, index_attribute: Some(RTA_OIF) };
pub(super) const NEXTHOPS: Kind =
    Kind { name: "nexthop objects", new: 104, get: 106, head: 8, index_attribute: Some(NHA_OIF) };

const RTA_DST: u16 = 1;
const RTA_OIF: u16 = 4;
const RTA_GATEWAY: u16 = 5;
const RTA_PRIORITY: u16 = 6;
const RTA_MULTIPATH: u16 = 9;
const RTA_CACHEINFO: u16 = 12;
const RTA_TABLE: u16 = 15;
const RTA_VIA: u16 = 18;
const RTA_NH_ID: u16 = 30;
/// `RTNH_F_ONLINK` and `RTNH_F_PERVASIVE`: the other flags are read-only.
const SETTABLE_FLAGS: u8 = 4 | 2;
/// `RTPROT_KERNEL`.
const KERNEL: u8 = 2;
/// `RTPROT_REDIRECT` and `RTPROT_RA`: routers announce these again.
const BY_ROUTERS: [u8; 2] = [1, 9];
/// `RTN_UNICAST`.
const UNICAST: u8 = 1;

const NHA_ID: u16 = 1;
const NHA_GROUP: u16 = 2;
const NHA_GROUP_TYPE: u16 = 3;
const NHA_OIF: u16 = 5;
const NHA_GATEWAY: u16 = 6;
/// Settable attributes of a nexthop object, with `NHA_ENCAP_TYPE` and `NHA_ENCAP`; the others are read-only.
const MADE_OF: [u16; 7] = [NHA_ID, NHA_GROUP, NHA_GROUP_TYPE, NHA_OIF, NHA_GATEWAY, 7, 8];

/// Routes that a move removes: those through the interface, and through its nexthop objects.
pub(super) struct RoutesThrough {
    interface: String,
    index: u32,
    /// Single objects first, then groups.
    objects: Vec<Entry>,
}

impl RoutesThrough {
    pub(super) fn read(interface: &str, index: u32) -> Result<Self> {
        // Kernels before 5.3 have no nexthop objects.
        let all = match NEXTHOPS.all() {
            Err(error) if error.errno() == Some(libc::EOPNOTSUPP) => Vec::new(),
            all => all?,
        };
        let (mut objects, others): (Vec<_>, Vec<_>) =
            all.into_iter().partition(|entry| NEXTHOPS.index(entry) == Some(index));
        let own = ids(&objects);
        objects.extend(others.into_iter().filter(|entry| members(entry).iter().any(|(id, _)| own.contains(id))));
        Ok(Self { interface: interface.to_owned(), index, objects })
    }

    /// Nexthop objects, with their groups.
    pub(super) fn nexthops(&self) -> Vec<Saved> {
        self.objects.iter().map(|entry| saved_nexthop(entry, &self.interface)).collect()
    }

    /// Resilient groups, which the kernel does not accept as it describes them.
    pub(super) fn lasting(&self) -> Vec<String> {
        let changing = |entry: &&Entry| entry.value(NHA_GROUP_TYPE).is_some_and(|kind| kind != [0, 0]);
        let words = |entry: &Entry| {
            let id = entry.number(NHA_ID).unwrap_or_default();
            format!("a resilient group of nexthops (ip nexthop delete id {id})")
        };
        self.objects.iter().filter(changing).map(words).collect()
    }

    /// Routes that are to be restored.
    pub(super) fn restorable_routes(&self) -> Result<Vec<Saved>> {
        let entry = ROUTES.all()?.into_iter().filter(|entry| self.takes(entry) && is_given_route(entry));
        entry.map(|entry| self.saved_route(entry)).collect()
    }

    fn takes(&self, route: &Entry) -> bool {
        let by_object = route.number(RTA_NH_ID).is_some_and(|id| ids(&self.objects).contains(&id));
        by_object || ROUTES.index(route) == Some(self.index) || hops(route).iter().any(|hop| hop.index == self.index)
    }

    fn saved_route(&self, mut entry: Entry) -> Result<Saved> {
        let words = self.words(&entry)?;
        if entry.value(RTA_NH_ID).is_some() {
            // The contents of a nexthop object are read with the route, but may not be written with it.
            entry = entry.without(&[RTA_OIF, RTA_GATEWAY, RTA_VIA, RTA_MULTIPATH]);
        }
        let flags = entry.bytes[8] & SETTABLE_FLAGS;
        entry.bytes[8..12].copy_from_slice(&u32::from(flags).to_ne_bytes());
        for hop in hops(&entry) {
            entry.bytes[hop.at + 2] &= SETTABLE_FLAGS;
        }
        Ok(entry.saved(words))
    }

    fn words(&self, entry: &Entry) -> Result<String> {
        let any = if entry.is_ipv6() { "::" } else { "0.0.0.0" };
        let to = entry.address(RTA_DST).map_or(any.to_owned(), |address| address.to_string());
        let mut words = format!("route add {to}/{}", entry.bytes[1]);
        words += &self.way(entry)?;
        words += &format!(" table {}", entry.number(RTA_TABLE).unwrap_or(entry.bytes[4].into()));
        words += &entry.number(RTA_PRIORITY).map(|metric| format!(" metric {metric}")).unwrap_or_default();
        Ok(words)
    }

    fn way(&self, entry: &Entry) -> Result<String> {
        if let Some(id) = entry.number(RTA_NH_ID) {
            return Ok(format!(" nhid {id}"));
        }
        let hops = hops(entry);
        if hops.is_empty() {
            return Ok(format!("{} dev {}", via(entry.address(RTA_GATEWAY)), self.interface));
        }
        let mut words = String::new();
        for hop in hops {
            let name = if hop.index == self.index { self.interface.clone() } else { link::name_of(hop.index)? };
            words += &format!(" nexthop{} dev {name} weight {}", via(hop.gateway), hop.weight);
        }
        Ok(words)
    }
}

fn via(gateway: Option<IpAddr>) -> String {
    gateway.map(|gateway| format!(" via {gateway}")).unwrap_or_default()
}

/// Routes through an interface in words, and whether each is a default route.
pub fn routes(interface: &str, index: u32) -> Result<Vec<(String, bool)>> {
    let through = RoutesThrough::read(interface, index)?;
    let entry = ROUTES.all()?.into_iter().filter(|entry| through.takes(entry) && is_relied_on(entry));
    entry.map(|entry| Ok((through.words(&entry)?, entry.bytes[1] == 0))).collect()
}

/// An IPv6 multipath route loses only some hops; the saved route replaces the rest.
pub(super) fn replaces(saved: &Saved) -> bool {
    let entry = Entry { bytes: saved.message.clone(), head: ROUTES.head };
    entry.is_ipv6() && entry.value(RTA_MULTIPATH).is_some()
}

/// A saved multipath route with another index of an interface.
pub(super) fn renumbered(saved: &Saved, from: u32, to: u32) -> Saved {
    let mut entry = Entry { bytes: saved.message.clone(), head: ROUTES.head };
    for hop in hops(&entry).iter().filter(|hop| hop.index == from) {
        entry.bytes[hop.at + 4..hop.at + 8].copy_from_slice(&to.to_ne_bytes());
    }
    entry.saved(saved.words.clone())
}

/// Whether a route was configured, or came with an address. Instead of the latter, programs may add their own
/// (noprefixroute).
///
/// `struct rtmsg`: the protocol is at offset 5, the type at 7.
fn is_given_route(entry: &Entry) -> bool {
    let with_address = || entry.bytes[7] == UNICAST && !is_link_local(entry) && !ends(entry);
    entry.is_ip() && !BY_ROUTERS.contains(&entry.bytes[5]) && (entry.bytes[5] != KERNEL || with_address())
}

fn is_link_local(entry: &Entry) -> bool {
    matches!(entry.address(RTA_DST), Some(IpAddr::V6(to)) if to.is_unicast_link_local() || to.is_multicast())
}

/// Whether a route expires, because it came with a router-announced address. `struct rta_cacheinfo`: the time is at
/// offset 8.
fn ends(entry: &Entry) -> bool {
    entry.place(RTA_CACHEINFO).is_some_and(|place| entry.is_ipv6() && entry.head_number(place.start + 8) != 0)
}

/// Whether the route is in use; router-announced routes count too.
fn is_relied_on(entry: &Entry) -> bool {
    const ANNOUNCED: u8 = 9;
    entry.is_ip() && (entry.bytes[5] == ANNOUNCED || (entry.bytes[5] != KERNEL && is_given_route(entry)))
}

/// A hop of a multipath route.
#[derive(Debug, PartialEq, Eq)]
struct Hop {
    /// Offset in the message.
    at: usize,
    index: u32,
    weight: u32,
    gateway: Option<IpAddr>,
}

/// Hops of a multipath route: `struct rtnexthop`, each followed by attributes.
fn hops(entry: &Entry) -> Vec<Hop> {
    const HEAD: usize = 8;
    let Some(place) = entry.place(RTA_MULTIPATH) else { return Vec::new() };
    let (mut at, mut hops) = (place.start, Vec::new());
    while at + HEAD <= place.end {
        let length = usize::from(u16::from_ne_bytes([entry.bytes[at], entry.bytes[at + 1]])).max(HEAD);
        let end = (at + length).min(place.end);
        let own = Entry { bytes: entry.bytes[at..end].to_vec(), head: HEAD };
        let weight = u32::from(entry.bytes[at + 3]) + 1;
        hops.push(Hop { at, index: own.head_number(4), weight, gateway: own.address(RTA_GATEWAY) });
        at += length.next_multiple_of(4);
    }
    hops
}

fn ids(objects: &[Entry]) -> Vec<u32> {
    objects.iter().filter_map(|entry| entry.number(NHA_ID)).collect()
}

/// Members of a group with their weights: `struct nexthop_grp`.
fn members(entry: &Entry) -> Vec<(u32, u32)> {
    let members = entry.value(NHA_GROUP).unwrap_or_default().chunks_exact(8);
    let member = |raw: &[u8]| (u32::from_ne_bytes([raw[0], raw[1], raw[2], raw[3]]), u32::from(raw[4]) + 1);
    members.map(member).collect()
}

/// `struct nhmsg`: the scope is at offset 1, and not writable; flags at 4.
fn saved_nexthop(entry: &Entry, interface: &str) -> Saved {
    let mut entry = entry.only(&MADE_OF);
    let members: Vec<_> = members(&entry).iter().map(|(id, weight)| format!("{id},{weight}")).collect();
    let way = match members.as_slice() {
        [] => format!("{} dev {interface}", via(entry.address(NHA_GATEWAY))),
        members => format!(" group {}", members.join("/")),
    };
    let words = format!("nexthop replace id {}{way}", entry.number(NHA_ID).unwrap_or_default());
    entry.bytes[1] = 0;
    let flags = entry.bytes[4] & SETTABLE_FLAGS;
    entry.bytes[4..8].copy_from_slice(&u32::from(flags).to_ne_bytes());
    entry.saved(words)
}

#[cfg(test)]
mod tests;
