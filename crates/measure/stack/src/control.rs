//! The page that launcher and program share: what has changed in the kernel, and what became of each socket.

mod slot;

use std::{
    io,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    sync::atomic::{
        AtomicU32, AtomicU64,
        Ordering::{Acquire, Relaxed, Release},
    },
};

use crate::mapping::{Shared, SharedMapping};

pub use slot::{Counted, Counter, Record, Slot, Traffic};

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

    /// Whether an interface of the grant, by its number in it, cannot be used: it is gone, down, or has lost its
    /// program. Its sockets go through the kernel as long.
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
        self.slot(id).begin(descriptor);
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

#[cfg(test)]
mod tests {
    use std::process;

    use super::*;
    use crate::Reason;

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
