//! The page that launcher and program share: what has changed in the kernel, and what became of each socket.

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

use model::bypass::{Beyond, Reason, Record};

use crate::mapping::{Shared, SharedMapping};

pub use slot::{Counter, Slot, Traffic};

/// The two ends of a socket, as far as it has them.
pub type Ends = (Option<SocketAddr>, Option<SocketAddr>);

/// Sockets that are written down one by one. Those beyond share a place.
pub const SOCKETS: usize = 1024;

/// The page. Those that are mapped by its file are the same page.
pub struct Control(SharedMapping<Page>);

#[repr(C)]
struct Page {
    generation: AtomicU64,
    gone: [AtomicU32; xdp::steer::MOST_INTERFACES],
    opened: AtomicU32,
    /// Frames that came for its flows and were for none of its sockets, or not whole.
    refused: Counter,
    /// Which socket each slot is of, apart from the slots: looked through for each new one.
    cookies: [AtomicU64; SOCKETS],
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

    /// The file that another process maps it by, where it was made here.
    pub fn file(&self) -> Option<BorrowedFd<'_>> {
        self.0.file()
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

    /// Begins to write down a socket, which has this descriptor in this process; or goes on, where it is written down already, as the kernel's
    /// own number of it (`SO_COOKIE`) tells.
    pub fn add(&self, descriptor: i32, cookie: u64) -> SlotId {
        let key = key(cookie, process::id());
        // Of threads that come at the same moment one has the place, and the others find it there.
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

    /// What is written down of a socket.
    #[inline]
    pub fn slot(&self, id: SlotId) -> &Slot {
        &self.0.slots[id.0 as usize]
    }

    /// Writes down a socket that stays with the kernel, and why.
    pub fn note(&self, descriptor: i32, cookie: u64, (local, peer): Ends, why: Reason) {
        let id = self.add(descriptor, cookie);
        self.slot(id).set_ends(local, peer);
        self.slot(id).set_fate(Err(why));
    }

    /// Writes down of all sockets of this process that are past the kernel that they go through it from now on, and why.
    pub fn says_all_left(&self, why: Reason) {
        let own = process::id();
        let is_past = |slot: &&Slot| slot.process() == own && slot.is_past();
        self.0.slots[..SOCKETS].iter().filter(is_past).for_each(|slot| slot.set_fate(Err(why)));
    }

    /// Counts a frame that came past the kernel and was taken by no socket: not whole, with a wrong checksum, or for one that is closed.
    pub fn refuse(&self) {
        self.0.refused.add(1);
    }

    /// How many those are.
    pub fn refused(&self) -> u64 {
        self.0.refused.get()
    }

    /// All that is written down of a socket.
    pub fn record(&self, id: SlotId) -> Record {
        let slot = self.slot(id);
        // Those beyond are of no socket in particular.
        let cookie = self.0.cookies.get(id.0 as usize).map(|place| key(place.load(Acquire), slot.process()));
        slot.record(cookie.unwrap_or_default())
    }

    /// All sockets that are written down one by one, in the order of their coming.
    pub fn records(&self) -> Vec<Record> {
        // One may have been taken this moment, and not been written to yet.
        let ids = (0..SOCKETS as u32).map(SlotId).filter(|id| self.slot(*id).process() != 0);
        ids.map(|id| self.record(id)).collect()
    }

    /// How many sockets came after those, and what went past the kernel and through it of all of them together.
    pub fn beyond(&self) -> Beyond {
        let slot = &self.0.slots[SOCKETS];
        let count = self.0.opened.load(Acquire).saturating_sub(SOCKETS as u32);
        Beyond { count, past: slot.past.read(), through: slot.through.read() }
    }
}

/// Which socket it is, and of which process, as a number that is never 0; and the one from the other.
fn key(cookie: u64, process: u32) -> u64 {
    // Process numbers have 22 bits, and no machine makes so many sockets that their numbers would need them.
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
        let Beyond { count, past, .. } = control.beyond();
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
