//! Steering: UDP of flows in a table goes to the AF_XDP socket of its queue, all else to the kernel.
//!
//! The BPF program reads the table, and a program writes it through a mapping ([`FlowTable::map`]), without system
//! calls. Mapping the table's descriptor needs no privileges.

mod layout;
mod table;

use std::{
    os::fd::{AsFd, AsRawFd, OwnedFd},
    time::Duration,
};

use aya::{EbpfLoader, Pod, include_bytes_aligned, maps::XskMap};
use model::stream::Mac;

use crate::{
    Error, Result, calls,
    load::{Loaded, failed},
    socket::{Packet, Umem},
};

pub use table::{Flow, FlowSlot, FlowTable, TableFull};

const OBJECT: &[u8] = include_bytes_aligned!(concat!(env!("OUT_DIR"), "/steer.bpf.o"));
const NAME: &str = "steer";

/// Limit of interfaces per table.
pub const MOST_INTERFACES: usize = layout::INTERFACES;

/// `struct place` of steer.bpf.c.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Place {
    interface: u32,
    first: u32,
    queues: u32,
    room: u32,
    mac: u64,
}

/// `struct counters` of steer.bpf.c: packets since the program was loaded first.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Directed to a socket.
    pub taken: u64,
    /// Passed to the kernel: its port is in the table, but no matching flow.
    pub no_flow: u64,
    /// Passed to the kernel: no socket on its queue.
    pub no_socket: u64,
    /// Passed to the kernel: larger than a frame.
    pub too_large: u64,
}

// SAFETY: plain integers without padding.
unsafe impl Pod for Place {}
// SAFETY: as above.
unsafe impl Pod for Counters {}

/// The steering program on some interfaces, until it is dropped or the process ends.
pub struct Steer {
    // Declared before the program: it is detached first.
    attached: Vec<Attached>,
    loaded: Loaded,
    places: [Place; MOST_INTERFACES],
    room_for: u32,
    /// Counters of programs before this one.
    before: Counters,
}

/// An interface with the program.
struct Attached {
    interface: String,
    index: u32,
    link: OwnedFd,
}

/// State of the program on an interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attachment {
    /// It is attached.
    There,
    /// The interface no longer exists, or is in another network namespace.
    Gone,
}

impl Steer {
    /// Loads the program, with room for `queues` queues of all interfaces together.
    pub fn load(queues: u32) -> Result<Self> {
        let (places, before) = (Default::default(), Counters::default());
        Ok(Self { attached: Vec::new(), loaded: loaded(queues)?, places, room_for: queues, before })
    }

    /// A new program in the place of this one, with an empty table and without sockets: whoever still has descriptors of the old ones
    /// steers and receives nothing any more.
    pub fn renew(&mut self) -> Result<()> {
        let new = loaded(self.room_for)?;
        new.set_values(".bss.places", &self.places)?;
        for Attached { interface, link, .. } in &self.attached {
            let replaced = new.with_program(|program| calls::replace(link.as_fd(), program))?;
            replaced.map_err(|io| Error::Call { call: "bpf(BPF_LINK_UPDATE)", what: interface.clone(), io })?;
        }
        self.before = self.counters()?;
        self.loaded = new;
        Ok(())
    }

    /// Attaches it to the driver of an interface of the caller's namespace. On failure, the other interfaces are
    /// unaffected.
    ///
    /// Packets longer than `room` bytes, and those for another MAC address, stay with the kernel.
    pub fn attach(&mut self, interface: &str, mac: Mac, queues: u32, room: u32) -> Result<()> {
        let number = self.attached.len();
        let taken: u32 = self.places[..number].iter().map(|place| place.queues).sum();
        fits("interfaces", number + 1, MOST_INTERFACES)?;
        fits("queues", (taken + queues) as usize, self.room_for as usize)?;
        let index = calls::index_of(interface)?;
        let link = self.loaded.with_program(|program| calls::attach(program, interface))??;
        self.attached.push(Attached { interface: interface.to_owned(), index, link });
        self.places[number] = Place { interface: index, first: taken, queues, room, mac: in_memory(mac) };
        self.loaded.set_values(".bss.places", &self.places)
    }

    /// Updates the MAC address of an interface.
    pub fn follow(&mut self, index: u32, mac: Mac) -> Result<()> {
        let mac = in_memory(mac);
        let changed = self.places.iter_mut().find(|place| place.interface == index && place.mac != mac);
        let Some(place) = changed else { return Ok(()) };
        place.mac = mac;
        self.loaded.set_values(".bss.places", &self.places)
    }

    /// Directs the flows of a queue to this socket, which has to be bound to it. It replaces the previous one.
    ///
    /// # Errors
    /// If the program is not attached to the interface, or the interface lacks the queue.
    pub fn add(&mut self, interface: &str, queue: u32, socket: &impl AsFd) -> Result<()> {
        let place = self.attached.iter().position(|it| it.interface == interface).map(|number| self.places[number]);
        let place = place.filter(|place| queue < place.queues);
        let place = place.ok_or_else(|| Error::NoInterface(format!("{interface} with queue {queue}")))?;
        let mut sockets = XskMap::try_from(self.loaded.map("sockets")?).map_err(|error| failed(NAME, &error))?;
        sockets.set(place.first + queue, socket.as_fd().as_raw_fd(), 0).map_err(|error| failed(NAME, &error))
    }

    /// The descriptor of the table, for [`FlowTable::map`].
    pub fn table(&self) -> Result<OwnedFd> {
        let data = self.loaded.array("table")?;
        let call = |io| Error::Call { call: "dup", what: "the flow table".to_owned(), io };
        data.fd().as_fd().try_clone_to_owned().map_err(call)
    }

    /// Counters for all interfaces, and those of programs before it.
    pub fn counters(&self) -> Result<Counters> {
        let cpus = self.loaded.of_cpus::<Counters>("counted", 0)?;
        Ok(cpus.iter().fold(self.before, |sum, cpu| Counters {
            taken: sum.taken + cpu.taken,
            no_flow: sum.no_flow + cpu.no_flow,
            no_socket: sum.no_socket + cpu.no_socket,
            too_large: sum.too_large + cpu.too_large,
        }))
    }

    /// Whether the program is still attached. While it is, no other program can be attached there.
    pub fn attachment(&self, interface: &str) -> Result<Attachment> {
        let attached = self.attached.iter().find(|it| it.interface == interface);
        let attached = attached.ok_or_else(|| Error::NoInterface(interface.to_owned()))?;
        let index = calls::interface_of_link(attached.link.as_fd());
        let index =
            index.map_err(|io| Error::Call { call: "bpf(BPF_OBJ_GET_INFO_BY_FD)", what: interface.into(), io })?;
        Ok(if index == attached.index { Attachment::There } else { Attachment::Gone })
    }
}

fn loaded(queues: u32) -> Result<Loaded> {
    let mut loader = EbpfLoader::new();
    loader.map_max_entries("sockets", queues.max(1));
    Loaded::new(NAME, &mut loader, OBJECT)
}

/// Time of arrival of a packet by the interface of this index, since boot (`CLOCK_MONOTONIC`).
///
/// `None` without a stamp ([`FlowTable::stamp`]), as from a driver without room for it.
#[inline]
pub fn came_at(umem: &Umem, packet: &Packet, interface: u32) -> Option<Duration> {
    let (mark, time) = umem.before(packet, 16)?.split_at(8);
    let number = |bytes: &[u8]| bytes.try_into().ok().map(u64::from_ne_bytes);
    (number(mark)? == layout::STAMP ^ u64::from(interface)).then(|| number(time).map(Duration::from_nanos)).flatten()
}

/// The bytes of an address in memory order, then zeros.
pub(crate) fn in_memory(Mac([a, b, c, d, e, f]): Mac) -> u64 {
    u64::from_ne_bytes([a, b, c, d, e, f, 0, 0])
}

fn fits(what: &'static str, asked: usize, most: usize) -> Result<()> {
    if asked > most { Err(Error::TooMany { what, asked, most }) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_section_of_another_length_is_neither_read_nor_written() {
        let steer = Steer::load(1).expect("root");
        let of_length = |length: usize| steer.loaded.set_values(".bss.places", &vec![0_u8; length]).is_ok();
        let length = size_of::<[Place; MOST_INTERFACES]>();
        assert_eq!([length - 1, length, length + 1].map(of_length), [false, true, false]);
        assert!(steer.loaded.values::<Place, MOST_INTERFACES>(".bss.places").is_ok());
        assert!(steer.loaded.values::<Place, { MOST_INTERFACES - 1 }>(".bss.places").is_err());
    }
}
