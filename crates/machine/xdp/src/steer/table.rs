//! The flow table as its owner writes it.

use std::{
    io,
    net::{IpAddr, SocketAddr},
    os::fd::AsFd,
    ptr::{self, NonNull},
    sync::atomic::{
        AtomicU16, AtomicU32, AtomicU64,
        Ordering::{Relaxed, Release},
    },
};

use super::layout::{FLOWS, GONE, Key, LIVE, NEVER, PORTS, PROBES, place};
use crate::mapping::Mapping;

/// `struct wp_flow`.
#[repr(C)]
struct Place {
    local: [AtomicU64; 2],
    peer: [AtomicU64; 2],
    ports: AtomicU32,
    state: AtomicU32,
    users: AtomicU64,
}

/// `struct wp_table`.
#[repr(C)]
struct Table {
    ports: [AtomicU16; PORTS],
    flows: [Place; FLOWS],
    stamps: AtomicU32,
}

/// A flow to bypass the kernel. Its addresses are host addresses, never wildcards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flow {
    /// Local endpoint.
    pub local: SocketAddr,
    /// Peer; `None` matches any.
    pub peer: Option<SocketAddr>,
}

/// The table is full, or the part in which the flow could be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the table of flows has no room for one more")]
pub struct TableFull;

/// A flow in the table, for [`FlowTable::remove`].
#[derive(Debug, PartialEq, Eq)]
#[must_use = "the flow stays in the table until this is given back"]
pub struct FlowSlot(u16);

/// The flow table, written by one holder at a time.
pub struct FlowTable {
    mapping: Mapping,
}

impl FlowTable {
    /// Maps the table of a descriptor from [`super::Steer::table`]. Children do not inherit the mapping.
    pub fn map(table: &impl AsFd) -> io::Result<Self> {
        let mapping = Mapping::of_kernel(table, 0, size_of::<Table>().next_multiple_of(4096))?;
        mapping.keep_from_children()?;
        Ok(Self { mapping })
    }

    /// Adds a flow, which bypasses the kernel from now on. An existing one gets another user.
    pub fn insert(&mut self, flow: &Flow) -> Result<FlowSlot, TableFull> {
        let key = key(flow);
        let number = self.find(&key).or_else(|| self.free(&key)).ok_or(TableFull)?;
        let at = &self.table().flows[number];
        if at.state.load(Relaxed) == LIVE {
            at.users.fetch_add(1, Relaxed);
            return Ok(FlowSlot(number as u16));
        }
        // No reader looks at them before the state says so.
        for (there, word) in at.local.iter().zip(key.local).chain(at.peer.iter().zip(key.peer)) {
            there.store(word, Relaxed);
        }
        at.ports.store(key.ports, Relaxed);
        at.users.store(1, Relaxed);
        self.table().ports[usize::from(flow.local.port())].fetch_add(1, Relaxed);
        at.state.store(LIVE, Release);
        Ok(FlowSlot(number as u16))
    }

    /// Removes a flow with its last user: it goes to the kernel again.
    pub fn remove(&mut self, slot: FlowSlot) {
        let flows = &self.table().flows;
        let mut number = usize::from(slot.0);
        let at = &flows[number];
        if at.users.fetch_sub(1, Relaxed) > 1 {
            return;
        }
        let port = at.ports.load(Relaxed).to_ne_bytes();
        at.state.store(GONE, Release);
        self.table().ports[usize::from(u16::from_be_bytes([port[2], port[3]]))].fetch_sub(1, Relaxed);
        // With no flow behind it, the search may end here: the table stays fast.
        while flows[number].state.load(Relaxed) == GONE && flows[next(number)].state.load(Relaxed) == NEVER {
            flows[number].state.store(NEVER, Release);
            number = number.wrapping_sub(1) % FLOWS;
        }
    }

    /// Requests timestamps ([`super::came_at`]) of packets from now on. Earlier packets have none.
    pub fn stamp(&self) {
        self.table().stamps.store(1, Relaxed);
    }

    /// Number of flows.
    pub fn len(&self) -> usize {
        self.table().flows.iter().filter(|at| at.state.load(Relaxed) == LIVE).count()
    }

    /// Whether it has no flows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn table(&self) -> &Table {
        let table: NonNull<Table> = self.mapping.start().cast();
        // SAFETY: the mapping is as long as the table and page-aligned; it only holds atomics, for which any bytes are
        // valid.
        unsafe { table.as_ref() }
    }

    fn find(&self, key: &Key) -> Option<usize> {
        let is_it = |at: &Place| at.state.load(Relaxed) == LIVE && read(at) == *key;
        probes(key).find(|number| is_it(&self.table().flows[*number]))
    }

    fn free(&self, key: &Key) -> Option<usize> {
        probes(key).find(|number| self.table().flows[*number].state.load(Relaxed) != LIVE)
    }
}

fn next(number: usize) -> usize {
    (number + 1) % FLOWS
}

fn probes(key: &Key) -> impl Iterator<Item = usize> {
    let first = place(key);
    (first..first + PROBES).map(|number| number % FLOWS)
}

fn read(at: &Place) -> Key {
    let words = |two: &[AtomicU64; 2]| [two[0].load(Relaxed), two[1].load(Relaxed)];
    Key { local: words(&at.local), peer: words(&at.peer), ports: at.ports.load(Relaxed) }
}

fn key(flow: &Flow) -> Key {
    let [p, q] = flow.peer.map_or(0, |peer| peer.port()).to_be_bytes();
    let [l, m] = flow.local.port().to_be_bytes();
    Key {
        local: words(flow.local.ip()),
        peer: flow.peer.map_or([0; 2], |peer| words(peer.ip())),
        ports: u32::from_ne_bytes([p, q, l, m]),
    }
}

/// In memory order, IPv4 mapped.
fn words(address: IpAddr) -> [u64; 2] {
    let bytes = match address {
        IpAddr::V4(address) => address.to_ipv6_mapped().octets(),
        IpAddr::V6(address) => address.octets(),
    };
    // SAFETY: both are sixteen bytes, and any bytes are numbers.
    unsafe { ptr::read_unaligned(bytes.as_ptr().cast()) }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    fn table() -> FlowTable {
        FlowTable { mapping: Mapping::anonymous(size_of::<Table>()).expect("320 KiB") }
    }

    fn flow(local: &str, peer: Option<&str>) -> Flow {
        let address = |text: &str| text.parse().expect("an address");
        Flow { local: address(local), peer: peer.map(address) }
    }

    /// Searches like the BPF program.
    fn finds(table: &FlowTable, flow: &Flow) -> bool {
        let key = key(flow);
        let states = probes(&key).map(|number| &table.table().flows[number]);
        let mut seen = states.take_while(|at| at.state.load(Relaxed) != NEVER);
        table.table().ports[usize::from(flow.local.port())].load(Relaxed) > 0
            && seen.any(|at| at.state.load(Relaxed) == LIVE && read(at) == key)
    }

    #[test]
    fn a_flow_is_found_as_it_lies_in_packets() {
        let key = key(&flow("198.18.0.1:4660", Some("198.18.0.2:22136")));
        assert_eq!(key.local[1].to_ne_bytes(), [0, 0, 255, 255, 198, 18, 0, 1]);
        assert_eq!((key.local[0], key.ports.to_ne_bytes()), (0, [0x56, 0x78, 0x12, 0x34]));
        let key = super::key(&flow("[2001:2::1]:1", None));
        assert_eq!(key.local[0].to_ne_bytes(), [0x20, 1, 0, 2, 0, 0, 0, 0]);
        assert_eq!((key.peer, key.ports.to_ne_bytes()), ([0, 0], [0, 0, 0, 1]));
    }

    #[test]
    fn a_flow_of_two_users_stays_until_both_gave_it_back() {
        let mut table = table();
        let one = flow("198.18.0.1:7", None);
        let (first, second) = (table.insert(&one).expect("room"), table.insert(&one).expect("room"));
        table.remove(first);
        assert!(finds(&table, &one) && table.len() == 1);
        table.remove(second);
        assert!(!finds(&table, &one) && table.is_empty());
    }

    #[test]
    fn a_table_is_as_good_as_new_after_flows_came_and_went() {
        let mut table = table();
        let mut live: HashMap<u16, FlowSlot> = HashMap::new();
        let of = |number: u16| flow(&format!("198.18.0.1:{number}"), None);
        // Flows are added and removed in a pseudo-random order (Lehmer's generator).
        let mut number = 1_u64;
        for _ in 0..200_000 {
            number = number * 48_271 % 0x7fff_ffff;
            let port = 1 + (number % 1_000) as u16;
            match live.remove(&port) {
                Some(slot) => table.remove(slot),
                None => drop(live.insert(port, table.insert(&of(port)).expect("there is room for a thousand"))),
            }
        }
        assert!((1..=1_000).all(|port| finds(&table, &of(port)) == live.contains_key(&port)));
        assert_eq!(table.len(), live.len());
        live.into_values().for_each(|slot| table.remove(slot));
        assert!(table.table().flows.iter().all(|at| at.state.load(Relaxed) == NEVER));
        assert!(table.table().ports.iter().all(|port| port.load(Relaxed) == 0));
    }

    #[test]
    fn a_full_table_says_so_and_keeps_what_it_has() {
        let mut table = table();
        let flows: Vec<Flow> = (1..=5_000).map(|port| flow(&format!("[2001:2::1]:{port}"), None)).collect();
        let slot: Vec<_> = flows.iter().map(|flow| table.insert(flow)).collect();
        let kept = slot.iter().filter(|slot| slot.is_ok()).count();
        assert!((2_000..=FLOWS).contains(&kept), "{kept}");
        assert!(flows.iter().zip(&slot).all(|(flow, slot)| finds(&table, flow) == slot.is_ok()));
    }
}
