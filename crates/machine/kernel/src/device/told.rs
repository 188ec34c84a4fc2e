//! What the kernel tells of a port, kept as it told it, to be told back.

use model::port::Saved;

use super::message::{Kind, Told};
use crate::{error::Result, link::mac};

pub(super) const ADDRESSES: Kind = Kind { name: "addresses", new: 20, get: 22, head: 8, index_attribute: None };
pub(super) const ROUTES: Kind = Kind { name: "routes", new: 24, get: 26, head: 12, index_attribute: Some(RTA_OIF) };
pub(super) const NEIGHBOURS: Kind = Kind { name: "neighbours", new: 28, get: 30, head: 12, index_attribute: None };
pub(super) const QUEUEING: Kind =
    Kind { name: "queueing disciplines", new: 36, get: 38, head: 20, index_attribute: None };

const IFA_ADDRESS: u16 = 1;
const IFA_LOCAL: u16 = 2;
const IFA_LABEL: u16 = 3;
const IFA_CACHEINFO: u16 = 6;
const IFA_PROTO: u16 = 11;
/// `IFA_F_TEMPORARY`; of IPv4 the same bit says "secondary".
const TEMPORARY: u8 = 1;

const RTA_DST: u16 = 1;
const RTA_OIF: u16 = 4;
const RTA_GATEWAY: u16 = 5;
const RTA_PRIORITY: u16 = 6;
const RTA_MULTIPATH: u16 = 9;
const RTA_TABLE: u16 = 15;
const RTA_NH_ID: u16 = 30;
/// `RTNH_F_ONLINK` and `RTNH_F_PERVASIVE`: the others tell of a state, and are refused.
const SETTABLE_ROUTE_FLAGS: u8 = 4 | 2;
/// `RTPROT_REDIRECT`, `RTPROT_KERNEL`, `RTPROT_RA`: they come with addresses, or with the next word of a router.
const MADE_BY_KERNEL: [u8; 3] = [1, 2, 9];

const NDA_DST: u16 = 1;
const NDA_LLADDR: u16 = 2;
/// `NUD_PERMANENT` of linux/neighbour.h.
const PERMANENT: u8 = 0x80;

const TCA_KIND: u16 = 1;
const TCA_OPTIONS: u16 = 2;
/// `TC_H_ROOT` of linux/pkt_sched.h.
const ROOT: u32 = u32::MAX;
/// Disciplines without classes, whose options the kernel takes as it tells them.
const SIMPLE: [&str; 7] = ["bfifo", "cake", "codel", "fq", "fq_codel", "pfifo", "pie"];

/// Addresses of an interface, without those that the kernel makes by itself: link-local ones, and those that come of
/// what routers say.
pub(super) fn addresses(interface: &str, index: u32) -> Result<Vec<Saved>> {
    let is_given = |told: &Told| {
        let by_kernel = told.value(IFA_PROTO).is_some_and(|origin| (1..=3).contains(&origin[0]));
        told.is_ip() && !by_kernel && !(told.is_ipv6() && told.bytes[2] & TEMPORARY != 0)
    };
    let (mut v6, mut given): (Vec<_>, Vec<_>) =
        ADDRESSES.of(index)?.into_iter().filter(is_given).partition(Told::is_ipv6);
    // The kernel tells those of IPv6 the last one first.
    v6.reverse();
    given.append(&mut v6);
    Ok(given.into_iter().map(|told| saved_address(told, interface)).collect())
}

fn saved_address(told: Told, interface: &str) -> Saved {
    let own = told.address(IFA_LOCAL).or_else(|| told.address(IFA_ADDRESS));
    let own = own.map(|address| format!("{address}/{}", told.bytes[1])).unwrap_or_default();
    let label = told.text(IFA_LABEL).filter(|label| label != interface);
    let label = label.map(|label| format!(" label {label}")).unwrap_or_default();
    told.saved(format!("address add {own}{label} dev {interface}"))
}

/// Takes the time since then off the lifetimes of an address; `None` where it would be over.
pub(super) fn aged(message: &[u8], seconds: u64) -> Option<Vec<u8>> {
    const FOREVER: u32 = u32::MAX;
    let mut told = Told { bytes: message.to_vec(), head: ADDRESSES.head };
    let Some(place) = told.place(IFA_CACHEINFO) else { return Some(told.bytes) };
    // `struct ifa_cacheinfo`: preferred, valid, and two stamps.
    let (preferred, valid) = (told.head_number(place.start), told.head_number(place.start + 4));
    let left = |lifetime: u32| match lifetime {
        FOREVER => FOREVER,
        lifetime => lifetime.saturating_sub(u32::try_from(seconds).unwrap_or(FOREVER)),
    };
    told.bytes[place.start..place.start + 4].copy_from_slice(&left(preferred).to_ne_bytes());
    told.bytes[place.start + 4..place.start + 8].copy_from_slice(&left(valid).to_ne_bytes());
    (left(valid) > 0).then_some(told.bytes)
}

/// Whether a saved address is one of IPv6, which goes when its interface is down.
pub(super) fn is_ipv6(saved: &Saved) -> bool {
    saved.message.first().is_some_and(|family| i32::from(*family) == libc::AF_INET6)
}

/// Neighbours that somebody entered by hand.
pub(super) fn neighbours(interface: &str, index: u32) -> Result<Vec<Saved>> {
    // `struct ndmsg`: the state stands at 8.
    let is_by_hand = |told: &Told| told.is_ip() && told.bytes[8] & PERMANENT != 0;
    let saved = |told: Told| {
        let address = told.address(NDA_DST).map(|address| address.to_string()).unwrap_or_default();
        let lladdr = told.value(NDA_LLADDR).map(mac).unwrap_or_default();
        told.saved(format!("neighbour replace {address} lladdr {lladdr} nud permanent dev {interface}"))
    };
    Ok(NEIGHBOURS.of(index)?.into_iter().filter(is_by_hand).map(saved).collect())
}

/// Routes that leave through an interface, without those that the kernel makes.
pub(super) fn restorable_routes(interface: &str, index: u32) -> Result<Vec<Saved>> {
    let told = ROUTES.of(index)?.into_iter().filter(is_given_route);
    Ok(told.map(|told| saved_route(told, interface)).collect())
}

/// The same in words, and whether each is a default route.
pub fn routes(interface: &str, index: u32) -> Result<Vec<(String, bool)>> {
    let told = ROUTES.all()?.into_iter().filter(|told| leaves_through(told, index) && is_routing(told));
    let words = |told: Told| {
        let is_default = told.bytes[1] == 0;
        (saved_route(told, interface).words, is_default)
    };
    Ok(told.map(words).collect())
}

/// `struct rtmsg`: the protocol stands at 5.
fn is_given_route(told: &Told) -> bool {
    told.is_ip() && !MADE_BY_KERNEL.contains(&told.bytes[5])
}

/// Whether somebody relies on it: what routers announced counts too.
fn is_routing(told: &Told) -> bool {
    const ANNOUNCED: u8 = 9;
    is_given_route(told) || (told.is_ip() && told.bytes[5] == ANNOUNCED)
}

fn leaves_through(told: &Told, index: u32) -> bool {
    ROUTES.index(told) == Some(index) || hops(told).contains(&index)
}

/// Interfaces of a route's hops, where it has several: `struct rtnexthop`, each followed by attributes.
fn hops(told: &Told) -> Vec<u32> {
    let mut rest = told.value(RTA_MULTIPATH).unwrap_or_default();
    let mut hops = Vec::new();
    while let [low, high, _, _, a, b, c, d, ..] = *rest {
        hops.push(u32::from_ne_bytes([a, b, c, d]));
        let length = usize::from(u16::from_ne_bytes([low, high])).next_multiple_of(4).max(8);
        rest = rest.get(length..).unwrap_or_default();
    }
    hops
}

fn saved_route(mut told: Told, interface: &str) -> Saved {
    let any = if told.is_ipv6() { "::" } else { "0.0.0.0" };
    let to = told.address(RTA_DST).map_or(any.to_owned(), |address| address.to_string());
    let mut words = format!("route add {to}/{}", told.bytes[1]);
    words += &told.address(RTA_GATEWAY).map(|gateway| format!(" via {gateway}")).unwrap_or_default();
    words += &format!(" dev {interface} table {}", told.number(RTA_TABLE).unwrap_or(told.bytes[4].into()));
    words += &told.number(RTA_PRIORITY).map(|metric| format!(" metric {metric}")).unwrap_or_default();
    let flags = told.bytes[8] & SETTABLE_ROUTE_FLAGS;
    told.bytes[8..12].copy_from_slice(&u32::from(flags).to_ne_bytes());
    told.saved(words)
}

/// The queueing discipline that somebody chose: the kernel's own have no number.
pub(super) fn queueing(interface: &str, index: u32) -> Result<Vec<Saved>> {
    let chosen = QUEUEING.of(index)?.into_iter().filter(|told| is_chosen(told) && is_root(told));
    Ok(chosen.map(|told| saved_queueing(told, interface)).collect())
}

/// `struct tcmsg`: number, and what it hangs on.
fn is_chosen(told: &Told) -> bool {
    told.head_number(8) != 0
}

fn is_root(told: &Told) -> bool {
    told.head_number(12) == ROOT
}

/// What it counted so far is left out.
fn saved_queueing(told: Told, interface: &str) -> Saved {
    let kind = told.text(TCA_KIND).unwrap_or_default();
    let words = format!("qdisc replace dev {interface} root handle {:x}: {kind}", told.head_number(8) >> 16);
    let mut bytes = told.bytes[..told.head].to_vec();
    for (attribute, place) in told.attributes().filter(|(it, _)| [TCA_KIND, TCA_OPTIONS].contains(it)) {
        let raw = &told.bytes[place.start - 4..place.end];
        bytes.extend_from_slice(&raw[..2]);
        bytes.extend_from_slice(&attribute.to_ne_bytes());
        bytes.extend_from_slice(&raw[4..]);
        bytes.resize(bytes.len().next_multiple_of(4), 0);
    }
    Saved { words, message: bytes }
}

/// What there is at an interface that a move would take and nobody could put back, in words.
pub fn lasting(interface: &str, index: u32) -> Result<Vec<String>> {
    let mut found = Vec::new();
    for told in ROUTES.all()?.into_iter().filter(|told| told.is_ip() && leaves_through(told, index)) {
        let what = match (hops(&told).is_empty(), told.value(RTA_NH_ID)) {
            (false, _) => "a route of several hops",
            (true, Some(_)) => "a route of a nexthop object",
            (true, None) => continue,
        };
        found.push(format!("{what} (ip {})", saved_route(told, interface).words.replacen("add", "delete", 1)));
    }
    for told in QUEUEING.of(index)?.into_iter().filter(is_chosen) {
        let kind = told.text(TCA_KIND).unwrap_or_default();
        if !(is_root(&told) && SIMPLE.contains(&kind.as_str())) {
            let place = if is_root(&told) { "root" } else { &kind };
            found.push(format!("the queueing discipline {kind} (tc qdisc delete dev {interface} {place})"));
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests;
