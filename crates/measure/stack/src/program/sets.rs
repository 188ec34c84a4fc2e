//! Epoll sets of the program that have sockets in them which go past the kernel, or may some day, and such sets.
//!
//! The program's set stays the kernel's. Beside the sockets themselves, which the kernel still watches for what comes through it, the
//! descriptor by which arrivals past the kernel are noticed rides in it, under a mark of its own that the program never sees.

use std::{ffi::c_int, os::fd::RawFd};

use libc::epoll_event;

use super::{
    call::raw,
    process::{self, table},
    table::Kind,
};
use crate::{SocketId, Stack};

/// What the kernel tells of ourselves: no pointer and no small number, and nothing that a program would come upon.
pub(crate) const RIDER: u64 = 0xb5fe_57a9_9e1d_c0d3;
const READABLE: u32 = (libc::EPOLLIN | libc::EPOLLRDNORM) as u32;
const WRITABLE: u32 = (libc::EPOLLOUT | libc::EPOLLWRNORM | libc::EPOLLWRBAND) as u32;
const EDGE: u32 = libc::EPOLLET as u32;
const ONCE: u32 = libc::EPOLLONESHOT as u32;
/// Sets within sets: the kernel takes no more (`EP_MAX_NESTS`).
const DEEPEST: u32 = 5;

/// All of them.
#[derive(Default)]
pub(crate) struct Sets {
    all: Vec<Set>,
    /// The number of the next one.
    next: u32,
}

struct Set {
    number: u32,
    /// Descriptors that stand for it.
    names: Vec<c_int>,
    members: Vec<Member>,
    /// How many of them go past the kernel, and how many are sets.
    live: usize,
    inner: usize,
    /// Whether the arrivals' descriptor is in it.
    rides: bool,
    /// Whether ours come first the next time, as they had no room the last time, and which of them.
    ours_first: bool,
    next: usize,
}

struct Member {
    fd: c_int,
    what: What,
    events: u32,
    data: u64,
    /// Arrivals that were told of, where only changes are; none where it was not asked since.
    told: Option<u64>,
    is_armed: bool,
    /// Whether it has other names, by which it stays when this one is closed.
    is_copied: bool,
}

/// What is in a set.
#[derive(Clone, Copy, Debug)]
pub(crate) enum What {
    /// A UDP socket by the kernel's own number of it, and by ours where it is past the kernel.
    Socket { cookie: u64, id: Option<SocketId> },
    /// A set by its number.
    Set(u32),
}

impl What {
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
    /// The number of a set that has this descriptor.
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

    /// Something was put into a set, changed in it (an event), or taken out.
    pub(crate) fn change(&mut self, set: c_int, fd: c_int, what: What, event: Option<epoll_event>) {
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

    /// A socket goes past the kernel from now on.
    pub(crate) fn is_live(&mut self, cookie: u64, now: SocketId) {
        self.each_member(|member| {
            if let What::Socket { cookie: of, id } = &mut member.what
                && *of == cookie
            {
                (*id, member.told) = (Some(now), None);
            }
            true
        });
    }

    /// A socket goes past the kernel no more.
    pub(crate) fn is_left(&mut self, gone: SocketId) {
        self.each_member(|member| {
            if let What::Socket { id, .. } = &mut member.what
                && *id == Some(gone)
            {
                *id = None;
            }
            true
        });
    }

    /// A socket that went past the kernel is closed.
    pub(crate) fn is_gone(&mut self, id: SocketId) {
        self.each_member(|member| member.what.id() != Some(id));
    }

    /// A descriptor of something that does not go past the kernel is closed.
    pub(crate) fn is_closed(&mut self, fd: c_int) {
        self.each_resting(|member| member.fd != fd || member.is_copied);
    }

    /// A descriptor of such a thing has another name.
    pub(crate) fn is_copied(&mut self, fd: c_int) {
        self.each_resting(|member| {
            member.is_copied |= member.fd == fd;
            true
        });
    }

    /// A set has another name.
    pub(crate) fn set_is_copied(&mut self, old: c_int, new: c_int) {
        self.number(old);
        self.set_is_closed(new);
        if let Some(set) = self.find_mut(old) {
            set.names.push(new);
        }
    }

    /// A name of a set is closed, and the set with its last one.
    pub(crate) fn set_is_closed(&mut self, name: c_int) {
        let Some(set) = self.find_mut(name) else { return };
        set.names.retain(|known| *known != name);
        if set.names.is_empty() {
            let gone = set.number;
            self.all.retain(|set| set.number != gone);
            self.each_member(|member| !matches!(member.what, What::Set(number) if number == gone));
        }
    }

    /// Lets the arrivals' descriptor ride where a socket is past the kernel, and only there, and says which sets are ours.
    pub(crate) fn settle(&mut self, riders: &[RawFd]) {
        for set in &mut self.all {
            let needed = set.live > 0;
            if needed != set.rides {
                let operation = if needed { libc::EPOLL_CTL_ADD } else { libc::EPOLL_CTL_DEL };
                riders.iter().for_each(|rider| tell(set.names[0], operation, *rider, libc::EPOLLIN as u32, RIDER));
                set.rides = needed;
            }
        }
        let Some(table) = table() else { return };
        for set in &self.all {
            let kind = if self.holds_ours(set, DEEPEST) { Kind::Set } else { Kind::EmptySet };
            for name in &set.names {
                if table.look(*name).is_some_and(|seen| seen.kind() != kind) {
                    process::uses(*name);
                    table.replace(*name, kind);
                }
            }
        }
    }

    fn holds_ours(&self, set: &Set, depth: u32) -> bool {
        set.live > 0 || depth > 0 && self.inner(set).any(|inner| self.holds_ours(inner, depth - 1))
    }

    /// Sets in a set.
    fn inner<'a>(&'a self, set: &'a Set) -> impl Iterator<Item = &'a Set> {
        let members = if set.inner > 0 { &set.members[..] } else { &[] };
        members
            .iter()
            .filter_map(|member| if let What::Set(number) = member.what { self.numbered(number) } else { None })
    }

    fn each_member(&mut self, mut keep: impl FnMut(&mut Member) -> bool) {
        for set in &mut self.all {
            set.members.retain_mut(&mut keep);
            set.count();
        }
    }

    /// Each that does not go past the kernel.
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

/// What is ready.
impl Sets {
    /// Whether something is ready in a set that came past the kernel.
    pub(crate) fn is_ready(&self, name: c_int, stack: &Stack) -> bool {
        self.find(name).is_some_and(|set| self.has_ready(set, stack, DEEPEST))
    }

    fn has_ready(&self, set: &Set, stack: &Stack, depth: u32) -> bool {
        set.members.iter().any(|member| self.ready(member, false, stack, depth).is_some())
    }

    /// What a member is ready for past the kernel, if the program wants to know, and how much came for it. Where the kernel has told of it already, that
    /// may have been its one shot.
    fn ready(&self, member: &Member, is_told: bool, stack: &Stack, depth: u32) -> Option<(u32, u64)> {
        if member.events & READABLE == 0 || !(member.is_armed || is_told) {
            return None;
        }
        let (kinds, arrivals) = match member.what {
            What::Socket { id, .. } => {
                let id = id.filter(|id| stack.readable(*id))?;
                (READABLE | WRITABLE, stack.arrivals(id))
            }
            What::Set(number) => {
                let inner =
                    self.numbered(number).filter(|inner| depth > 0 && self.has_ready(inner, stack, depth - 1))?;
                (READABLE, self.arrivals(inner, stack, depth - 1))
            }
        };
        let is_new = member.events & EDGE == 0 || is_told || member.told != Some(arrivals);
        is_new.then_some((member.events & kinds, arrivals))
    }

    fn arrivals(&self, set: &Set, stack: &Stack, depth: u32) -> u64 {
        let own = set.members.iter().filter_map(|member| member.what.id()).map(|id| stack.arrivals(id));
        let inner = self.inner(set).filter(|_| depth > 0).map(|inner| self.arrivals(inner, stack, depth - 1));
        own.chain(inner).fold(0, u64::wrapping_add)
    }

    /// Whether ours have to come first this time, for which there is room then.
    pub(crate) fn ours_first(&self, name: c_int) -> bool {
        self.find(name).is_some_and(|set| set.ours_first)
    }

    /// Takes out of what the kernel told what is ours alone; what the kernel has told of one-shot sockets is not told again by us. How many are left.
    pub(crate) fn strip(&mut self, name: c_int, told: &mut [epoll_event], stack: &Stack) -> usize {
        let mut kept = without_riders(told);
        let Some(at) = self.all.iter().position(|set| set.names.contains(&name)) else { return kept };
        for member_at in 0..self.all[at].members.len() {
            let member = &self.all[at].members[member_at];
            let (data, once) = (member.data, member.events & ONCE != 0);
            let Some(place) = told[..kept].iter().position(|event| { event.u64 } == data) else { continue };
            match member.what {
                What::Set(number) if !self.is_the_kernels(number, stack.descriptors()) => {
                    told.copy_within(place + 1..kept, place);
                    kept -= 1;
                    if once && member.is_armed {
                        tell(name, libc::EPOLL_CTL_MOD, member.fd, member.events, data);
                    }
                    continue;
                }
                What::Set(_) => {}
                What::Socket { id, .. } => id.into_iter().for_each(|id| stack.ask_soon(id)),
            }
            self.all[at].members[member_at].is_armed &= !once;
        }
        kept
    }

    /// Whether the kernel has something of what is in a set, other than what tells of arrivals.
    fn is_the_kernels(&self, number: u32, riders: &[RawFd]) -> bool {
        let Some(set) = self.numbered(number) else { return true };
        if !self.holds_ours(set, DEEPEST) {
            return true;
        }
        self.let_ride(set, 0, riders, DEEPEST);
        let is_ready = is_readable(set.names[0]);
        self.let_ride(set, libc::EPOLLIN as u32, riders, DEEPEST);
        is_ready
    }

    fn let_ride(&self, set: &Set, events: u32, riders: &[RawFd], depth: u32) {
        if set.rides {
            riders.iter().for_each(|rider| tell(set.names[0], libc::EPOLL_CTL_MOD, *rider, events, RIDER));
        }
        if depth > 0 {
            self.inner(set).for_each(|inner| self.let_ride(inner, events, riders, depth - 1));
        }
    }

    /// The same of a set that poll(2) or select(2) was told of.
    pub(crate) fn is_the_kernels_too(&self, name: c_int, riders: &[RawFd]) -> bool {
        self.find(name).is_none_or(|set| self.is_the_kernels(set.number, riders))
    }

    /// Adds what is ready past the kernel to what there is, `count` events; how many there are then.
    pub(crate) fn add(&mut self, name: c_int, events: &mut [epoll_event], mut count: usize, stack: &Stack) -> usize {
        let Some(at) = self.all.iter().position(|set| set.names.contains(&name)) else { return count };
        self.all[at].ours_first = false;
        let members = self.all[at].members.len();
        for turn in 0..members {
            let member_at = (self.all[at].next + turn) % members;
            let member = &self.all[at].members[member_at];
            // What the kernel just told may have taken its one shot.
            let data = member.data;
            let same = events[..count].iter().position(|event| { event.u64 } == data);
            let Some((ready, arrivals)) = self.ready(member, same.is_some(), stack, DEEPEST) else { continue };
            match same {
                Some(at) => events[at].events |= ready,
                None if count < events.len() => {
                    events[count] = epoll_event { events: ready, u64: data };
                    count += 1;
                }
                None => {
                    (self.all[at].ours_first, self.all[at].next) = (true, member_at);
                    break;
                }
            }
            let member = &mut self.all[at].members[member_at];
            member.told = Some(arrivals);
            if member.events & ONCE != 0 && member.is_armed {
                member.is_armed = false;
                tell(name, libc::EPOLL_CTL_MOD, member.fd, ONCE, data);
            }
        }
        count
    }
}

impl Set {
    fn count(&mut self) {
        self.live = self.members.iter().filter(|member| member.what.id().is_some()).count();
        self.inner = self.members.iter().filter(|member| matches!(member.what, What::Set(_))).count();
    }
}

/// Takes out of what the kernel told of a set what is ours, or a relative's with the same set; how many are left.
pub(crate) fn without_riders(told: &mut [epoll_event]) -> usize {
    let mut kept = 0;
    for at in 0..told.len() {
        if told[at].u64 != RIDER {
            told[kept] = told[at];
            kept += 1;
        }
    }
    kept
}

/// Whether something waits to be read now.
pub(crate) fn is_readable(fd: c_int) -> bool {
    let mut one = libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
    // SAFETY: one descriptor of this frame, and the time that is none.
    let told =
        unsafe { raw(libc::SYS_ppoll, [&raw mut one as usize, 1, &raw const super::patience::NOW as usize, 0, 0]) };
    told > 0
}

fn tell(set: c_int, operation: c_int, fd: c_int, events: u32, data: u64) {
    let mut event = epoll_event { events, u64: data };
    // SAFETY: an event of this frame. It fails where the program has just closed one of the two, which needs nothing any more.
    unsafe { raw(libc::SYS_epoll_ctl, [set as usize, operation as usize, fd as usize, &raw mut event as usize]) };
}
