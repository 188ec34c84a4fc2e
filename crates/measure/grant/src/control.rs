//! Shared page of launcher and program: the generation of the kernel's state, and the records of sockets.

mod slot;

use std::{
    io,
    net::SocketAddr,
    os::fd::{BorrowedFd, OwnedFd},
    process,
    sync::atomic::{
        AtomicU32, AtomicU64,
        Ordering::{AcqRel, Acquire, Release},
    },
};

use model::bypass::{Reason, Record, UnlistedSockets};

use crate::mapping::{Shared, SharedMapping};

pub use slot::{Counter, Slot, Traffic};

/// Local and peer address of a socket, if set.
pub type Ends = (Option<SocketAddr>, Option<SocketAddr>);

/// Sockets with a slot of their own. Later ones share one slot.
pub const SOCKETS: usize = 1024;

/// The page. Mappings of the same file share it.
pub struct Control(SharedMapping<Page>);

#[repr(C)]
struct Page {
    generation: AtomicU64,
    gone: [AtomicU32; xdp::steer::MOST_INTERFACES],
    opened: AtomicU32,
    /// Frames that arrived for its flows but were incomplete or for none of its sockets.
    refused: Counter,
    /// The socket of each slot, apart from the slots: searched for each new socket.
    cookies: [AtomicU64; SOCKETS],
    slots: [Slot; SOCKETS + 1],
}

// SAFETY: only atomics; zeros are a page without events.
unsafe impl Shared for Page {}

/// Index of a socket's slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlotId(u32);

impl Control {
    /// A new page.
    pub fn new() -> io::Result<Self> {
        SharedMapping::new("wireproof-control").map(Self)
    }

    /// Maps a page that another process created.
    pub fn open(file: OwnedFd) -> io::Result<Self> {
        SharedMapping::open(file).map(Self)
    }

    /// The file for mapping it in another process, if it was created here.
    pub fn file(&self) -> Option<BorrowedFd<'_>> {
        self.0.file()
    }

    /// Number that changes with links, addresses, routes and neighbours of the network namespace.
    #[inline]
    pub fn generation(&self) -> u64 {
        self.0.generation.load(Acquire)
    }

    /// Announces a change.
    pub fn change(&self) {
        self.0.generation.fetch_add(1, Release);
    }

    /// Whether an interface of the grant, by its index there, is unusable: deleted, down, or without its program.
    /// Meanwhile its sockets go through the kernel.
    #[inline]
    pub fn is_gone(&self, interface: usize) -> bool {
        self.0.gone[interface].load(Acquire) != 0
    }

    /// Sets whether an interface of the grant is unusable; counts as a change.
    pub fn set_gone(&self, interface: usize, gone: bool) {
        self.0.gone[interface].store(gone.into(), Release);
        self.change();
    }

    /// Finds or starts the slot of a socket, which the kernel's number of it (`SO_COOKIE`) identifies.
    pub fn add(&self, descriptor: i32, cookie: u64) -> SlotId {
        let key = key(cookie, process::id());
        // One of several concurrent threads claims the slot, and the others find it there.
        for (number, place) in self.0.cookies.iter().enumerate() {
            let id = SlotId(number as u32);
            let claimed = match place.load(Acquire) {
                0 => place.compare_exchange(0, key, AcqRel, Acquire),
                known => Err(known),
            };
            match claimed {
                Ok(_) => {
                    self.slot(id).begin(descriptor);
                    self.0.opened.fetch_add(1, Release);
                    return id;
                }
                Err(known) if known == key => return id,
                Err(_) => {}
            }
        }
        self.0.opened.fetch_add(1, Release);
        let id = SlotId(SOCKETS as u32);
        self.slot(id).begin(descriptor);
        id
    }

    /// A socket's slot.
    #[inline]
    pub fn slot(&self, id: SlotId) -> &Slot {
        &self.0.slots[id.0 as usize]
    }

    /// Records a socket that stays with the kernel, with the reason.
    pub fn note(&self, descriptor: i32, cookie: u64, (local, peer): Ends, why: Reason) {
        let id = self.add(descriptor, cookie);
        self.slot(id).set_ends(local, peer);
        self.slot(id).set_fate(Err(why));
    }

    /// Records that all bypassed sockets of this process go through the kernel from now on, with the reason.
    pub fn says_all_left(&self, why: Reason) {
        let own = process::id();
        let is_past = |slot: &&Slot| slot.process() == own && slot.is_past();
        self.0.slots[..SOCKETS].iter().filter(is_past).for_each(|slot| slot.set_fate(Err(why)));
    }

    /// Counts a frame that no socket took: incomplete, with a wrong checksum, or for a closed socket.
    pub fn refuse(&self) {
        self.0.refused.add(1);
    }

    /// Number of such frames.
    pub fn refused(&self) -> u64 {
        self.0.refused.get()
    }

    /// The record of a socket.
    pub fn record(&self, id: SlotId) -> Record {
        let slot = self.slot(id);
        // The shared slot belongs to no particular socket.
        let cookie = self.0.cookies.get(id.0 as usize).map(|place| key(place.load(Acquire), slot.process()));
        slot.record(cookie.unwrap_or_default())
    }

    /// Records of the sockets with slots of their own, in order of appearance.
    pub fn records(&self) -> Vec<Record> {
        // A slot may have been claimed just now, and not yet written to.
        let ids = (0..SOCKETS as u32).map(SlotId).filter(|id| self.slot(*id).process() != 0);
        ids.map(|id| self.record(id)).collect()
    }

    /// Number of sockets without a slot of their own, and their total traffic.
    pub fn beyond(&self) -> UnlistedSockets {
        let slot = &self.0.slots[SOCKETS];
        let count = self.0.opened.load(Acquire).saturating_sub(SOCKETS as u32);
        UnlistedSockets { count, past: slot.past.read(), through: slot.through.read(), dropped: slot.dropped.get() }
    }
}

/// Combines a socket's cookie and its process into a number other than 0; the function is its own inverse.
fn key(cookie: u64, process: u32) -> u64 {
    // Process numbers have 22 bits, and cookies do not grow large enough to need these.
    const SHIFT: u32 = 42;
    cookie ^ u64::from(process) << SHIFT
}

#[cfg(test)]
mod tests {
    use model::bypass::Counted;

    use super::*;

    fn other_mapping(of: &Control) -> Control {
        Control::open(of.file().expect("made here").try_clone_to_owned().expect("dup")).expect("the same page")
    }

    #[test]
    fn what_one_side_writes_the_other_reads() {
        let launcher = Control::new().expect("memory");
        let program = other_mapping(&launcher);
        let id = program.add(7, 70);
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
            let id = control.add(descriptor, descriptor as u64);
            control.slot(id).past.sent(10);
        }
        let UnlistedSockets { count, past, .. } = control.beyond();
        assert_eq!((control.records().len(), count, past.sent, past.sent_bytes), (SOCKETS, 3, 3, 30));
    }

    #[test]
    fn a_socket_that_changes_stays_in_its_place() {
        let control = Control::new().expect("memory");
        let [one, other] = ["198.18.0.1:7", "198.18.0.1:8"].map(|local| (local.parse().ok(), None));
        for descriptor in 3..6 {
            control.note(descriptor, 1, one, Reason::Cork);
            control.note(9, 2, other, Reason::Tcp);
            control.note(descriptor + 10, 1, one, Reason::ShutDown);
        }
        let records = control.records();
        let said: Vec<_> = records.iter().map(|it| (it.descriptor, it.fate, it.local)).collect();
        assert_eq!(said, [(3, Err(Reason::ShutDown), one.0), (9, Err(Reason::Tcp), other.0)]);
    }

    #[test]
    fn each_reason_is_read_as_it_was_written() {
        let control = Control::new().expect("memory");
        let id = control.add(3, 1);
        for reason in Reason::ALL {
            control.slot(id).set_fate(Err(*reason));
            assert_eq!(control.record(id).fate, Err(*reason));
        }
    }

    #[test]
    fn what_is_past_the_kernel_is_left_to_it_at_once() {
        let control = Control::new().expect("memory");
        let fates = [Ok(()), Err(Reason::Cork), Ok(())];
        for (cookie, fate) in (1..).zip(fates) {
            control.slot(control.add(3, cookie)).set_fate(fate);
        }
        control.slot(control.add(3, 3)).set_closed();
        control.says_all_left(Reason::Fault);
        let said: Vec<_> = control.records().iter().map(|record| record.fate).collect();
        assert_eq!(said, [Err(Reason::Fault), Err(Reason::Cork), Ok(())], "what was closed before went well");
    }

    #[test]
    fn threads_that_add_a_socket_at_once_have_one_place() {
        let control = Control::new().expect("memory");
        for cookie in 1..=200 {
            let both = std::sync::Barrier::new(2);
            let add = || {
                both.wait();
                control.add(3, cookie)
            };
            let [one, other] = std::thread::scope(|scope| {
                let threads = [scope.spawn(add), scope.spawn(add)];
                threads.map(|thread| thread.join().expect("no panic"))
            });
            assert_eq!(one, other);
        }
        let cookies: Vec<u64> = control.records().iter().map(|record| record.cookie).collect();
        assert_eq!(cookies, (1..=200).collect::<Vec<_>>());
    }

    #[test]
    fn a_file_that_is_too_small_is_no_page() {
        let file = rustix::fs::memfd_create("small", rustix::fs::MemfdFlags::CLOEXEC).expect("memory");
        assert!(Control::open(file).is_err());
    }
}
