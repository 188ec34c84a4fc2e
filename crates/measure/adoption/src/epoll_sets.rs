//! The program's epoll sets with sockets that are or may be bypassed, and sets of such sets.
//!
//! The program's set stays with the kernel, which watches the sockets for datagrams through the kernel.
//!
//! The descriptor that signals bypassed arrivals is added to the set as a *rider*, with a mark that the program never
//! sees.

mod ready;

use std::{
    ffi::c_int,
    os::fd::RawFd,
    sync::{Mutex, MutexGuard, PoisonError},
};

use libc::epoll_event;
use stack::SocketId;

use super::{
    call::raw,
    fdinfo::RIDER,
    process::{self, PerProcess, Place, table},
    table::Kind,
};

pub(crate) use ready::{is_readable, without_riders};

// SAFETY: no other value uses this place.
static SETS: PerProcess<Mutex<Sets>> = unsafe { PerProcess::at(Place::Sets) };

/// The epoll sets; `None` before the first.
pub(crate) fn sets() -> Option<MutexGuard<'static, Sets>> {
    Some(SETS.get()?.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Whether there may be a set.
pub(crate) fn has_sets() -> bool {
    SETS.get().is_some()
}

/// The same, creating the value if needed.
pub(crate) fn some_sets() -> Option<MutexGuard<'static, Sets>> {
    if !has_sets() {
        SETS.set(Mutex::default());
    }
    sets()
}

/// The kernel's limit of nested sets (`EP_MAX_NESTS`).
const DEEPEST: u32 = 5;

/// The sets of this process.
#[derive(Default)]
pub(crate) struct Sets {
    all: Vec<Set>,
    /// Number of the next set.
    next: u32,
}

struct Set {
    number: u32,
    /// Descriptors.
    names: Vec<c_int>,
    members: Vec<Member>,
    /// Number of its bypassed sockets, and of its sets.
    live: usize,
    inner: usize,
    /// Whether the rider is in it.
    rides: bool,
    /// Whether bypassed sockets come first next time, for lack of room the last time, and the first of them.
    ours_first: bool,
    next: usize,
}

struct Member {
    fd: c_int,
    what: EpollMember,
    events: u32,
    data: u64,
    /// Arrivals at the last report, for edge-triggered members; `None` if not reported since the last change.
    told: Option<u64>,
    is_armed: bool,
    /// Whether the socket has other descriptors, which keep the member when this one is closed.
    is_copied: bool,
}

/// A member of a set.
#[derive(Clone, Copy, Debug)]
pub(crate) enum EpollMember {
    /// A UDP socket: its cookie, and its number if it is bypassed.
    Socket { cookie: u64, id: Option<SocketId> },
    /// A set, by its number.
    Set(u32),
}

impl EpollMember {
    fn is_same(self, other: Self) -> bool {
        match (self, other) {
            (Self::Socket { cookie: one, .. }, Self::Socket { cookie: other, .. }) => one == other,
            (Self::Set(one), Self::Set(other)) => one == other,
            _ => false,
        }
    }

    fn id(self) -> Option<SocketId> {
        if let Self::Socket { id, .. } = self { id } else { None }
    }
}

impl Sets {
    /// The number of the set with this descriptor.
    pub(crate) fn number(&mut self, fd: c_int) -> u32 {
        if let Some(known) = self.find(fd) {
            return known.number;
        }
        let number = self.next;
        self.next += 1;
        let (names, members) = (vec![fd], Vec::new());
        self.all.push(Set { number, names, members, live: 0, inner: 0, rides: false, ours_first: false, next: 0 });
        number
    }

    /// Applies an addition, a change (with an event) or a removal.
    pub(crate) fn change(&mut self, set: c_int, fd: c_int, what: EpollMember, event: Option<epoll_event>) {
        self.number(set);
        let Some(set) = self.find_mut(set) else { return };
        let known = set.members.iter().position(|member| member.fd == fd && member.what.is_same(what));
        let known = known.map(|at| set.members.swap_remove(at));
        if let Some(event) = event {
            let is_copied = known.is_some_and(|known| known.is_copied);
            let (events, data) = (event.events, event.u64);
            set.members.push(Member { fd, what, events, data, told: None, is_armed: true, is_copied });
        }
        set.count();
    }

    /// A socket has been bypassed.
    pub(crate) fn is_live(&mut self, cookie: u64, now: SocketId) {
        self.each_member(|member| {
            if let EpollMember::Socket { cookie: of, id } = &mut member.what
                && *of == cookie
            {
                (*id, member.told) = (Some(now), None);
            }
            true
        });
    }

    /// A socket has returned to the kernel.
    pub(crate) fn is_left(&mut self, gone: SocketId) {
        self.each_member(|member| {
            if let EpollMember::Socket { id, .. } = &mut member.what
                && *id == Some(gone)
            {
                *id = None;
            }
            true
        });
    }

    /// A bypassed socket has been closed.
    pub(crate) fn is_gone(&mut self, id: SocketId) {
        self.each_member(|member| member.what.id() != Some(id));
    }

    /// A descriptor of a file that is not bypassed has been closed.
    pub(crate) fn is_closed(&mut self, fd: c_int) {
        self.each_resting(|member| member.fd != fd || member.is_copied);
    }

    /// A descriptor of such a file has been copied.
    pub(crate) fn is_copied(&mut self, fd: c_int) {
        self.each_resting(|member| {
            member.is_copied |= member.fd == fd;
            true
        });
    }

    /// A set's descriptor has been copied.
    pub(crate) fn set_is_copied(&mut self, old: c_int, new: c_int) {
        self.number(old);
        self.set_is_closed(new);
        if let Some(set) = self.find_mut(old) {
            set.names.push(new);
        }
    }

    /// A descriptor of a set has been closed; the last one closes the set.
    pub(crate) fn set_is_closed(&mut self, name: c_int) {
        let Some(set) = self.find_mut(name) else { return };
        set.names.retain(|known| *known != name);
        if set.names.is_empty() {
            let gone = set.number;
            self.all.retain(|set| set.number != gone);
            self.each_member(|member| !matches!(member.what, EpollMember::Set(number) if number == gone));
        }
    }

    /// Adds riders to sets with bypassed sockets and removes them from others; returns whether a set has gained
    /// bypassed sockets.
    #[must_use = "who waits in the kernel for a set that became ours has to be woken"]
    pub(crate) fn settle(&mut self, riders: &[RawFd]) -> bool {
        for set in &mut self.all {
            let needed = set.live > 0;
            if needed != set.rides {
                let operation = if needed { libc::EPOLL_CTL_ADD } else { libc::EPOLL_CTL_DEL };
                riders.iter().for_each(|rider| tell(set.names[0], operation, *rider, libc::EPOLLIN as u32, RIDER));
                set.rides = needed;
            }
        }
        let mut became_ours = false;
        let Some(table) = table() else { return false };
        for set in &self.all {
            let kind = if self.holds_ours(set, DEEPEST) { Kind::Set } else { Kind::EmptySet };
            for name in &set.names {
                if table.load(*name).is_some_and(|seen| seen.kind() != kind) {
                    process::uses(*name);
                    table.replace(*name, kind);
                    became_ours |= kind == Kind::Set;
                }
            }
        }
        became_ours
    }

    fn holds_ours(&self, set: &Set, depth: u32) -> bool {
        set.live > 0 || depth > 0 && self.inner(set).any(|inner| self.holds_ours(inner, depth - 1))
    }

    /// Sets in a set.
    fn inner<'a>(&'a self, set: &'a Set) -> impl Iterator<Item = &'a Set> {
        let members = if set.inner > 0 { &set.members[..] } else { &[] };
        members
            .iter()
            .filter_map(|member| if let EpollMember::Set(number) = member.what { self.numbered(number) } else { None })
    }

    fn each_member(&mut self, mut keep: impl FnMut(&mut Member) -> bool) {
        for set in &mut self.all {
            set.members.retain_mut(&mut keep);
            set.count();
        }
    }

    /// Visits each member that is not bypassed.
    fn each_resting(&mut self, mut keep: impl FnMut(&mut Member) -> bool) {
        for set in self.all.iter_mut().filter(|set| set.members.len() > set.live) {
            set.members.retain_mut(|member| member.what.id().is_some() || keep(member));
            set.count();
        }
    }

    fn numbered(&self, number: u32) -> Option<&Set> {
        self.all.iter().find(|set| set.number == number)
    }

    fn find(&self, name: c_int) -> Option<&Set> {
        self.all.iter().find(|set| set.names.contains(&name))
    }

    fn find_mut(&mut self, name: c_int) -> Option<&mut Set> {
        self.all.iter_mut().find(|set| set.names.contains(&name))
    }
}

impl Set {
    fn count(&mut self) {
        self.live = self.members.iter().filter(|member| member.what.id().is_some()).count();
        self.inner = self.members.iter().filter(|member| matches!(member.what, EpollMember::Set(_))).count();
    }
}

fn tell(set: c_int, operation: c_int, fd: c_int, events: u32, data: u64) {
    let mut event = epoll_event { events, u64: data };
    // SAFETY: an event of this frame. It fails if the program has just closed one of the two; then nothing is needed.
    unsafe { raw(libc::SYS_epoll_ctl, [set as usize, operation as usize, fd as usize, &raw mut event as usize]) };
}
