//! Rules for a card's choice of receive queue (`ethtool -N`, linux/ethtool.h).

use std::{
    mem::{offset_of, zeroed},
    net::{IpAddr, SocketAddr},
};

use super::{ask, shown};
use crate::error::{On, Result, invalid};

const COUNT: u32 = 0x2e;
const RULE: u32 = 0x2f;
const ALL: u32 = 0x30;
const DELETE: u32 = 0x31;
const INSERT: u32 = 0x32;
const UDP_V4: u32 = 0x02;
const UDP_V6: u32 = 0x06;
/// `RX_CLS_LOC_SPECIAL`, in the answer to [`COUNT`]: the driver accepts [`ANY_PLACE`].
const TAKES_SPECIAL: u64 = 1 << 31;
/// `RX_CLS_LOC_ANY`: the driver chooses.
const ANY_PLACE: u32 = 0xffff_ffff;
/// More locations than any card has.
const ROOM: usize = 1 << 16;

/// `struct ethtool_rx_flow_spec`.
#[repr(C)]
#[derive(Clone, Copy)]
struct Flow {
    kind: u32,
    values: [u8; 52],
    more_values: [u8; 20],
    masks: [u8; 52],
    more_masks: [u8; 20],
    queue: u64,
    place: u32,
}

/// `struct ethtool_rxnfc`, without its variable part.
#[repr(C)]
#[derive(Clone, Copy)]
struct Question {
    command: u32,
    kind: u32,
    data: u64,
    flow: Flow,
    count: u32,
}

const _: () = assert!(size_of::<Flow>() == 168 && size_of::<Question>() == 192 && offset_of!(Flow, queue) == 152);

/// Steers UDP for a local address and port to a queue, from 0.
pub fn steer(interface: &str, to: SocketAddr, queue: u32) -> Result<()> {
    let mut question = question(INSERT);
    question.flow = flow(to, queue);
    let place = free_place(&table(interface)?).ok_or_else(|| invalid("the card has no room for another rule"));
    question.flow.place = place.on("ethtool -N", shown(interface))?;
    put(interface, "ioctl(ETHTOOL_SRXCLSRLINS)", &mut question)
}

/// Whether there is such a rule.
pub fn is_steered(interface: &str, to: SocketAddr, queue: u32) -> Result<bool> {
    Ok(place_of(interface, to, queue)?.is_some())
}

/// Removes such a rule, if present.
pub fn unsteer(interface: &str, to: SocketAddr, queue: u32) -> Result<()> {
    let Some(place) = place_of(interface, to, queue)? else { return Ok(()) };
    let mut question = question(DELETE);
    question.flow.place = place;
    put(interface, "ioctl(ETHTOOL_SRXCLSRLDEL)", &mut question)
}

fn question(command: u32) -> Question {
    // SAFETY: numbers, for which zeros are valid.
    Question { command, ..unsafe { zeroed() } }
}

fn put(interface: &str, call: &'static str, question: &mut Question) -> Result<()> {
    // SAFETY: a `struct ethtool_rxnfc` without a variable part, which these commands do not use.
    unsafe { ask(interface, call, (&raw mut *question).cast()) }
}

/// As in linux/ethtool.h: `tcp_ip4_spec` begins with source and destination of 4 bytes, and both ports; `tcp_ip6_spec`
/// likewise with 16 bytes.
fn flow(to: SocketAddr, queue: u32) -> Flow {
    let Question { mut flow, .. } = question(0);
    let (kind, address) = match to.ip() {
        IpAddr::V4(address) => (UDP_V4, address.octets().to_vec()),
        IpAddr::V6(address) => (UDP_V6, address.octets().to_vec()),
    };
    let (first, port) = (address.len(), 2 * address.len() + 2);
    flow.values[first..][..address.len()].copy_from_slice(&address);
    flow.masks[first..][..address.len()].fill(0xff);
    flow.values[port..][..2].copy_from_slice(&to.port().to_be_bytes());
    flow.masks[port..][..2].fill(0xff);
    Flow { kind, queue: queue.into(), ..flow }
}

/// Drivers normalise rules, so other fields may differ.
fn is_same(one: &Flow, other: &Flow) -> bool {
    const BOTH_PORTS: usize = 4;
    let end = if one.kind == UDP_V4 { 2 * 4 } else { 2 * 16 } + BOTH_PORTS;
    (one.kind, one.queue, &one.values[..end], &one.masks[..end])
        == (other.kind, other.queue, &other.values[..end], &other.masks[..end])
}

fn place_of(interface: &str, to: SocketAddr, queue: u32) -> Result<Option<u32>> {
    let wanted = flow(to, queue);
    for place in table(interface)?.taken {
        let mut question = question(RULE);
        question.flow.place = place;
        put(interface, "ioctl(ETHTOOL_GRXCLSRULE)", &mut question)?;
        if is_same(&question.flow, &wanted) {
            return Ok(Some(place));
        }
    }
    Ok(None)
}

/// The last free location, if the driver does not choose one.
///
/// In many cards the first matching rule decides, and other users' rules take precedence over ours.
fn free_place(table: &Table) -> Option<u32> {
    if table.driver_chooses {
        return Some(ANY_PLACE);
    }
    (0..table.size).rev().find(|place| !table.taken.contains(place))
}

/// A card's rules.
struct Table {
    size: u32,
    driver_chooses: bool,
    /// Locations with a rule.
    taken: Vec<u32>,
}

fn table(interface: &str) -> Result<Table> {
    /// Index of the locations behind `struct ethtool_rxnfc` in 32-bit numbers; they begin before its padding.
    const DATA: usize = offset_of!(Question, data) / 4;
    const COUNT_AT: usize = offset_of!(Question, count) / 4;
    let mut count = question(COUNT);
    put(interface, "ioctl(ETHTOOL_GRXCLSRLCNT)", &mut count)?;
    // Another process may add some meanwhile.
    let room = (count.count as usize + 64).min(ROOM);
    let mut answer = vec![0_u32; COUNT_AT + 1 + room];
    (answer[0], answer[COUNT_AT]) = (ALL, room as u32);
    // SAFETY: there is room for the given number of locations.
    unsafe { ask(interface, "ioctl(ETHTOOL_GRXCLSRLALL)", answer.as_mut_ptr().cast()) }?;
    let taken = answer[COUNT_AT + 1..].iter().take(answer[COUNT_AT] as usize).copied().collect();
    Ok(Table { size: answer[DATA], driver_chooses: count.data & TAKES_SPECIAL != 0, taken })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn to(text: &str) -> SocketAddr {
        text.parse().expect("an address")
    }

    /// Type, offsets and values of non-zero bytes, masked offsets, and the queue.
    fn told(flow: &Flow) -> (u32, Vec<(usize, u8)>, Vec<usize>, u64) {
        let values = flow.values.iter().copied().enumerate().filter(|(_, value)| *value != 0).collect();
        let decide = (0..52).filter(|at| flow.masks[*at] == 0xff).collect();
        assert!(flow.masks.iter().all(|mask| [0, 0xff].contains(mask)));
        assert!(flow.more_values == [0; 20] && flow.more_masks == [0; 20]);
        (flow.kind, values, decide, flow.queue)
    }

    /// `struct ethtool_tcpip4_spec`: ip4src, ip4dst, psrc, pdst. `struct ethtool_tcpip6_spec` likewise.
    #[test]
    fn a_rule_says_destination_and_port_and_nothing_else() {
        let v4 = vec![(4, 198), (5, 18), (7, 1), (10, 0x2b), (11, 0x67)];
        assert_eq!(told(&flow(to("198.18.0.1:11111"), 3)), (UDP_V4, v4, vec![4, 5, 6, 7, 10, 11], 3));
        let v6 = vec![(16, 0x20), (17, 1), (19, 2), (31, 9), (35, 53)];
        let decide: Vec<usize> = (16..32).chain(34..36).collect();
        assert_eq!(told(&flow(to("[2001:2::9]:53"), 0)), (UDP_V6, v6, decide, 0));
    }

    #[test]
    fn a_rule_is_known_again_whatever_the_driver_adds_behind_the_ports() {
        let ours = flow(to("198.18.0.1:7"), 1);
        let mut told = ours;
        (told.values[12], told.place, told.more_masks[3]) = (1, 5, 2);
        assert!(is_same(&told, &ours));
        assert!(!is_same(&flow(to("198.18.0.1:7"), 2), &ours) && !is_same(&flow(to("198.18.0.1:8"), 1), &ours));
        told.masks[0] = 0xff;
        assert!(!is_same(&told, &ours), "it is for one sender alone");
    }

    #[test]
    fn rules_of_others_come_first_and_a_full_table_has_no_place() {
        let of =
            |size, driver_chooses, taken: &[u32]| free_place(&Table { size, driver_chooses, taken: taken.to_vec() });
        assert_eq!([of(8, false, &[]), of(8, false, &[7, 6, 0]), of(2, false, &[0, 1])], [Some(7), Some(5), None]);
        assert_eq!(of(8, true, &[7]), Some(ANY_PLACE));
    }

    #[test]
    fn loopback_takes_no_rules() {
        let error = steer("lo", to("127.0.0.1:7"), 0).expect_err("it has no queues to choose from").to_string();
        assert!(error.starts_with("ioctl(ETHTOOL_GRXCLSRLCNT) on interface lo: Operation not supported"), "{error}");
    }
}
