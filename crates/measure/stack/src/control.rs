//! The page that launcher and program share: what has changed in the kernel, and what became of each socket.

use std::{
    io,
    net::{IpAddr, Ipv6Addr, SocketAddr},
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    process,
    sync::atomic::{
        AtomicU8, AtomicU32, AtomicU64,
        Ordering::{Acquire, Relaxed, Release},
    },
};

use crate::{
    Reason,
    mapping::{Shared, SharedMapping},
};

/// Sockets that are written down one by one. Those beyond share a place.
pub const SOCKETS: usize = 1024;

/// The page. Clones of its descriptor are the same page.
pub struct Control(SharedMapping<Page>);

#[repr(C)]
struct Page {
    generation: AtomicU64,
    gone: [AtomicU32; xdp::steer::MOST_INTERFACES],
    opened: AtomicU32,
    /// Sockets that are not UDP, as far as the library looked at them.
    others: AtomicU32,
    slots: [Slot; SOCKETS + 1],
}

// SAFETY: atomics all over, zeros of which are a page where nothing happened yet.
unsafe impl Shared for Page {}

/// Where a socket is written down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlotId(u32);

/// What is written down of one socket. It has one writer at a time.
#[repr(C, align(64))]
#[derive(Default)]
pub struct Slot {
    descriptor: AtomicU32,
    process: AtomicU32,
    /// 0: nothing known; 1: past the kernel; others: 1 more than the number of a [`Reason`].
    fate: AtomicU32,
    closed: AtomicU32,
    local: Ends,
    peer: Ends,
    /// Datagrams that went past the kernel.
    pub past: Traffic,
    /// Datagrams that went through it.
    pub through: Traffic,
    /// Datagrams that came past the kernel and found the socket's queue full.
    pub dropped: Counter,
}

#[repr(C)]
#[derive(Default)]
struct Ends {
    address: [AtomicU8; 16],
    /// The port; with bit 16 set where there is an end at all, with bit 17 where its address is of IPv4.
    port: AtomicU32,
}

/// Datagrams of one way, each direction, with their bytes of payload.
#[repr(C)]
#[derive(Default)]
pub struct Traffic {
    received: Counter,
    received_bytes: Counter,
    sent: Counter,
    sent_bytes: Counter,
}

/// A number that one writer at a time adds to, and anybody reads.
#[repr(transparent)]
#[derive(Default)]
pub struct Counter(AtomicU64);

impl Counter {
    /// Adds to it. Of two threads that do so at the same moment one may go uncounted; it costs no locked instruction for that.
    #[inline]
    pub fn add(&self, count: u64) {
        self.0.store(self.0.load(Relaxed).wrapping_add(count), Relaxed);
    }

    /// What it is now.
    pub fn get(&self) -> u64 {
        self.0.load(Relaxed)
    }
}

impl Traffic {
    /// Counts a datagram that came, with so many bytes of payload.
    #[inline]
    pub fn received(&self, bytes: usize) {
        self.received.add(1);
        self.received_bytes.add(bytes as u64);
    }

    /// Counts a datagram that went, with so many bytes of payload.
    #[inline]
    pub fn sent(&self, bytes: usize) {
        self.sent.add(1);
        self.sent_bytes.add(bytes as u64);
    }

    fn read(&self) -> Counted {
        Counted {
            received: self.received.get(),
            received_bytes: self.received_bytes.get(),
            sent: self.sent.get(),
            sent_bytes: self.sent_bytes.get(),
        }
    }
}

/// What [`Traffic`] counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counted {
    /// Datagrams that came.
    pub received: u64,
    /// Their bytes of payload.
    pub received_bytes: u64,
    /// Datagrams that went.
    pub sent: u64,
    /// Their bytes of payload.
    pub sent_bytes: u64,
}

/// What a [`Slot`] says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// The descriptor that it had when it was first looked at.
    pub descriptor: i32,
    /// The process, as it numbers itself.
    pub process: u32,
    /// Past the kernel, or why not.
    pub fate: Result<(), Reason>,
    /// Whether it was closed.
    pub closed: bool,
    /// Its own end, where it has one.
    pub local: Option<SocketAddr>,
    /// The end that it is connected to.
    pub peer: Option<SocketAddr>,
    /// What went past the kernel.
    pub past: Counted,
    /// What went through it.
    pub through: Counted,
    /// What came past the kernel and found its queue full.
    pub dropped: u64,
}

impl Control {
    /// A new page.
    pub fn new() -> io::Result<Self> {
        SharedMapping::new("wireproof-control").map(Self)
    }

    /// The page that another process made.
    pub fn open(file: OwnedFd) -> io::Result<Self> {
        SharedMapping::open(file).map(Self)
    }

    /// Changes with whatever changes in links, addresses, routes and neighbours of the network namespace.
    #[inline]
    pub fn generation(&self) -> u64 {
        self.0.generation.load(Acquire)
    }

    /// Says that something has changed.
    pub fn change(&self) {
        self.0.generation.fetch_add(1, Release);
    }

    /// Whether an interface of the grant, by its number in it, cannot be used: it is gone, down, or has lost its program. Its sockets go through
    /// the kernel as long.
    #[inline]
    pub fn is_gone(&self, interface: usize) -> bool {
        self.0.gone[interface].load(Acquire) != 0
    }

    /// Says whether an interface of the grant cannot be used; counts as a change.
    pub fn set_gone(&self, interface: usize, gone: bool) {
        self.0.gone[interface].store(gone.into(), Release);
        self.change();
    }

    /// Begins to write down a UDP socket, which has this descriptor in this process.
    pub fn add(&self, descriptor: i32) -> SlotId {
        let number = self.0.opened.fetch_add(1, Relaxed);
        let id = SlotId(number.min(SOCKETS as u32));
        let slot = self.slot(id);
        slot.process.store(process::id(), Relaxed);
        slot.descriptor.store(descriptor.cast_unsigned(), Relaxed);
        id
    }

    /// What is written down of a socket.
    #[inline]
    pub fn slot(&self, id: SlotId) -> &Slot {
        &self.0.slots[id.0 as usize]
    }

    /// Counts a socket that is not UDP.
    pub fn add_other(&self) {
        self.0.others.fetch_add(1, Relaxed);
    }

    /// Sockets that were looked at and are not UDP.
    pub fn others(&self) -> u32 {
        self.0.others.load(Relaxed)
    }

    /// All sockets that are written down one by one, in the order of their coming.
    pub fn records(&self) -> Vec<Record> {
        let count = (self.0.opened.load(Acquire) as usize).min(SOCKETS);
        self.0.slots[..count].iter().map(Slot::record).collect()
    }

    /// How many sockets came after those, and what went past the kernel and through it of all of them together.
    pub fn beyond(&self) -> (u32, Counted, Counted) {
        let slot = &self.0.slots[SOCKETS];
        let count = self.0.opened.load(Acquire).saturating_sub(SOCKETS as u32);
        (count, slot.past.read(), slot.through.read())
    }
}

/// The descriptor that another process maps the page by.
impl AsFd for Control {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl Slot {
    /// Says whether it goes past the kernel, or why not.
    pub fn set_fate(&self, fate: Result<(), Reason>) {
        self.fate.store(fate.map_or_else(|reason| reason as u32 + 1, |()| 1), Release);
    }

    /// Says which ends it has.
    pub fn set_ends(&self, local: Option<SocketAddr>, peer: Option<SocketAddr>) {
        self.local.write(local);
        self.peer.write(peer);
    }

    /// Says that it was closed.
    pub fn set_closed(&self) {
        self.closed.store(1, Relaxed);
    }

    /// All that it says.
    pub fn record(&self) -> Record {
        let fate = match self.fate.load(Acquire) {
            1 => Ok(()),
            number => Err(Reason::of(number.wrapping_sub(1)).unwrap_or(Reason::NotBound)),
        };
        Record {
            descriptor: self.descriptor.load(Relaxed).cast_signed(),
            process: self.process.load(Relaxed),
            fate,
            closed: self.closed.load(Relaxed) != 0,
            local: self.local.read(),
            peer: self.peer.read(),
            past: self.past.read(),
            through: self.through.read(),
            dropped: self.dropped.get(),
        }
    }
}

impl Ends {
    const THERE: u32 = 1 << 16;
    const V4: u32 = 1 << 17;

    fn write(&self, end: Option<SocketAddr>) {
        let (bytes, version) = match end.map(|end| end.ip()) {
            None => ([0; 16], 0),
            Some(IpAddr::V4(address)) => (address.to_ipv6_mapped().octets(), Self::V4),
            Some(IpAddr::V6(address)) => (address.octets(), 0),
        };
        for (there, byte) in self.address.iter().zip(bytes) {
            there.store(byte, Relaxed);
        }
        let port = end.map_or(0, |end| u32::from(end.port()) | Self::THERE);
        self.port.store(port | version, Release);
    }

    fn read(&self) -> Option<SocketAddr> {
        let port = self.port.load(Acquire);
        let address = Ipv6Addr::from(std::array::from_fn(|number| self.address[number].load(Relaxed)));
        let address = if port & Self::V4 != 0 { address.to_canonical() } else { address.into() };
        (port & Self::THERE != 0).then(|| SocketAddr::new(address, port as u16))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn other_mapping(of: &Control) -> Control {
        Control::open(of.as_fd().try_clone_to_owned().expect("dup")).expect("the same page")
    }

    #[test]
    fn what_one_side_writes_the_other_reads() {
        let launcher = Control::new().expect("memory");
        let program = other_mapping(&launcher);
        let id = program.add(7);
        let ends = ["198.18.0.1:7", "[2001:2::1]:8"].map(|end| end.parse().expect("an address"));
        let slot = program.slot(id);
        slot.set_fate(Ok(()));
        slot.set_ends(Some(ends[0]), Some(ends[1]));
        slot.past.received(18);
        slot.through.sent(20);
        let [record] = &launcher.records()[..] else { panic!("one") };
        let past = Counted { received: 1, received_bytes: 18, ..Counted::default() };
        let through = Counted { sent: 1, sent_bytes: 20, ..Counted::default() };
        assert_eq!((record.descriptor, record.process, record.fate), (7, process::id(), Ok(())));
        assert_eq!((record.local, record.peer), (Some(ends[0]), Some(ends[1])));
        assert_eq!((record.past, record.through, record.closed), (past, through, false));
        slot.set_fate(Err(Reason::Cork));
        slot.set_ends(None, None);
        slot.set_closed();
        let [record] = &launcher.records()[..] else { panic!("one") };
        assert_eq!((record.fate, record.local, record.closed), (Err(Reason::Cork), None, true));
    }

    #[test]
    fn changes_are_seen_and_so_is_an_interface_that_comes_and_goes() {
        let launcher = Control::new().expect("memory");
        let program = other_mapping(&launcher);
        let before = program.generation();
        launcher.set_gone(1, true);
        assert!(program.generation() != before && program.is_gone(1) && !program.is_gone(0));
        launcher.set_gone(1, false);
        assert!(!program.is_gone(1));
    }

    #[test]
    fn sockets_beyond_the_room_are_counted_together() {
        let control = Control::new().expect("memory");
        for descriptor in 0..SOCKETS as i32 + 3 {
            let id = control.add(descriptor);
            control.slot(id).past.sent(10);
        }
        let (count, past, _) = control.beyond();
        assert_eq!((control.records().len(), count, past.sent, past.sent_bytes), (SOCKETS, 3, 3, 30));
    }

    #[test]
    fn a_file_that_is_too_small_is_no_page() {
        let file = rustix::fs::memfd_create("small", rustix::fs::MemfdFlags::CLOEXEC).expect("memory");
        assert!(Control::open(file).is_err());
    }
}
