//! State of a port as the kernel's own messages, for restoring it.

use model::nic::Saved;

use super::message::{Entry, Kind};
use crate::{error::Result, link::mac};

pub(super) const ADDRESSES: Kind = Kind { name: "addresses", new: 20, get: 22, head: 8, index_attribute: None };
pub(super) const NEIGHBOURS: Kind = Kind { name: "neighbours", new: 28, get: 30, head: 12, index_attribute: None };

const IFA_ADDRESS: u16 = 1;
const IFA_LOCAL: u16 = 2;
const IFA_LABEL: u16 = 3;
const IFA_CACHEINFO: u16 = 6;
const IFA_PROTO: u16 = 11;
/// `IFA_F_TEMPORARY`; for IPv4 the same bit means "secondary".
const TEMPORARY: u8 = 1;

const NDA_DST: u16 = 1;
const NDA_LLADDR: u16 = 2;
/// `NUD_PERMANENT` of linux/neighbour.h.
const PERMANENT: u8 = 0x80;

/// Addresses of an interface, without automatic ones: link-local addresses, and those from router announcements.
pub(super) fn addresses(interface: &str, index: u32) -> Result<Vec<Saved>> {
    let is_given = |entry: &Entry| {
        let by_kernel = entry.value(IFA_PROTO).is_some_and(|origin| (1..=3).contains(&origin[0]));
        entry.is_ip() && !by_kernel && !(entry.is_ipv6() && entry.bytes[2] & TEMPORARY != 0)
    };
    let (mut v6, mut given): (Vec<_>, Vec<_>) =
        ADDRESSES.of(index)?.into_iter().filter(is_given).partition(Entry::is_ipv6);
    // The kernel lists IPv6 addresses in reverse order.
    v6.reverse();
    given.append(&mut v6);
    Ok(given.into_iter().map(|entry| saved_address(entry, interface)).collect())
}

fn saved_address(entry: Entry, interface: &str) -> Saved {
    let own = entry.address(IFA_LOCAL).or_else(|| entry.address(IFA_ADDRESS));
    let own = own.map(|address| format!("{address}/{}", entry.bytes[1])).unwrap_or_default();
    let label = entry.text(IFA_LABEL).filter(|label| label != interface);
    let label = label.map(|label| format!(" label {label}")).unwrap_or_default();
    entry.saved(format!("address add {own}{label} dev {interface}"))
}

/// Reduces the lifetimes of an address by the time elapsed; `None` if it has expired.
pub(super) fn aged(message: &[u8], seconds: u64) -> Option<Vec<u8>> {
    const FOREVER: u32 = u32::MAX;
    let mut entry = Entry { bytes: message.to_vec(), head: ADDRESSES.head };
    let Some(place) = entry.place(IFA_CACHEINFO) else { return Some(entry.bytes) };
    // `struct ifa_cacheinfo`: preferred, valid, and two timestamps.
    let (preferred, valid) = (entry.head_number(place.start), entry.head_number(place.start + 4));
    let left = |lifetime: u32| match lifetime {
        FOREVER => FOREVER,
        lifetime => lifetime.saturating_sub(u32::try_from(seconds).unwrap_or(FOREVER)),
    };
    entry.bytes[place.start..place.start + 4].copy_from_slice(&left(preferred).to_ne_bytes());
    entry.bytes[place.start + 4..place.start + 8].copy_from_slice(&left(valid).to_ne_bytes());
    (left(valid) > 0).then_some(entry.bytes)
}

/// Whether a saved address is an IPv6 address, which is removed when its interface goes down.
pub(super) fn is_ipv6(saved: &Saved) -> bool {
    saved.message.first().is_some_and(|family| i32::from(*family) == libc::AF_INET6)
}

/// Manually added neighbours.
pub(super) fn neighbours(interface: &str, index: u32) -> Result<Vec<Saved>> {
    // `struct ndmsg`: the state is at offset 8.
    let is_by_hand = |entry: &Entry| entry.is_ip() && entry.bytes[8] & PERMANENT != 0;
    let saved = |entry: Entry| {
        let address = entry.address(NDA_DST).map(|address| address.to_string()).unwrap_or_default();
        let lladdr = entry.value(NDA_LLADDR).map(mac).unwrap_or_default();
        entry.saved(format!("neighbour replace {address} lladdr {lladdr} nud permanent dev {interface}"))
    };
    Ok(NEIGHBOURS.of(index)?.into_iter().filter(is_by_hand).map(saved).collect())
}

#[cfg(test)]
mod tests;
