//! Epoll sets of the program that have sockets in them which go past the kernel.
//!
//! The program's set stays the kernel's. Beside the sockets themselves, which the kernel still watches for what comes through it, the
//! descriptor by which arrivals past the kernel are noticed rides in it, under a mark of its own that the program never sees.

use std::{ffi::c_int, os::fd::RawFd};

use crate::{SocketId, Stack};
use libc::epoll_event;

use super::{
    call::raw,
    process::{self, table},
    table::Kind,
};

/// What the kernel tells of ourselves: no pointer and no small number, and nothing that a program would come upon.
const RIDER: u64 = 0xb5fe_57a9_9e1d_c0d3;
const READABLE: u32 = (libc::EPOLLIN | libc::EPOLLRDNORM) as u32;
const WRITABLE: u32 = (libc::EPOLLOUT | libc::EPOLLWRNORM | libc::EPOLLWRBAND) as u32;
const EDGE: u32 = libc::EPOLLET as u32;
const ONCE: u32 = libc::EPOLLONESHOT as u32;

/// All of them.
#[derive(Default)]
pub struct Sets {
    all: Vec<Set>,
    /// Sets that have another name, or are in another set themselves: their sockets are the kernel's.
    barred: Vec<c_int>,
}

struct Set {
    fd: c_int,
    members: Vec<Member>,
    /// Whether the arrivals' descriptor is in it.
    rides: bool,
    /// Whether ours come first the next time, as they had no room the last time, and which of them.
    ours_first: bool,
    next: usize,
}

struct Member {
    fd: c_int,
    /// None as long as it is not past the kernel.
    id: Option<SocketId>,
    events: u32,
    data: u64,
    /// Arrivals that were told of, where only changes are; none where it was not asked since.
    told: Option<u64>,
    is_armed: bool,
}

impl Sets {
    /// A socket was added to a set, changed in it or taken out of it.
    pub fn control(&mut self, set: c_int, operation: c_int, fd: c_int, event: Option<epoll_event>, stack: &Stack) {
        let known = self.all.iter_mut().position(|it| it.fd == set);
        let at = known.unwrap_or_else(|| {
            self.all.push(Set { fd: set, members: Vec::new(), rides: false, ours_first: false, next: 0 });
            self.all.len() - 1
        });
        let it = &mut self.all[at];
        it.members.retain(|member| member.fd != fd);
        if let Some(event) = event.filter(|_| operation != libc::EPOLL_CTL_DEL) {
            let id = live_now(fd);
            it.members.push(Member { fd, id, events: event.events, data: event.u64, told: None, is_armed: true });
        }
        it.settle(stack.descriptors());
        if it.members.is_empty() {
            self.all.swap_remove(at);
        }
    }

    /// A descriptor is a socket that goes past the kernel from now on.
    pub fn is_live(&mut self, fd: c_int, id: SocketId, stack: &Stack) {
        for set in &mut self.all {
            let members = set.members.iter_mut().filter(|member| member.fd == fd && member.id.is_none());
            members.for_each(|member| member.id = Some(id));
            set.settle(stack.descriptors());
        }
    }

    /// A socket goes past the kernel no more.
    pub(crate) fn forget(&mut self, id: SocketId, riders: &[RawFd]) {
        for set in &mut self.all {
            set.members.retain(|member| member.id != Some(id));
            set.settle(riders);
        }
        self.all.retain(|set| !set.members.is_empty());
    }

    /// A set is closed.
    pub(crate) fn close(&mut self, fd: c_int) {
        self.all.retain(|set| set.fd != fd);
        self.barred.retain(|barred| *barred != fd);
    }

    /// A set has nothing in it that goes past the kernel from now on.
    pub(crate) fn bar(&mut self, set: c_int) {
        self.barred.push(set);
    }

    /// Whether it may have nothing in it that does.
    pub fn is_barred(&self, set: c_int) -> bool {
        self.barred.contains(&set)
    }

    /// Sockets in a set that go past the kernel.
    pub(crate) fn sockets_in(&self, set: c_int) -> Vec<SocketId> {
        self.all
            .iter()
            .filter(|it| it.fd == set)
            .flat_map(|it| it.members.iter().filter_map(|member| member.id))
            .collect()
    }

    /// Whether something is ready in a set that came past the kernel.
    pub(crate) fn is_ready(&self, set: c_int, stack: &Stack) -> bool {
        let members = self.all.iter().filter(|it| it.fd == set).flat_map(|it| &it.members);
        members.into_iter().any(|member| member.ready(stack).is_some())
    }

    /// Whether ours have to come first this time, for which there is room then.
    pub(crate) fn ours_first(&mut self, set: c_int) -> bool {
        self.find(set).is_some_and(|it| it.ours_first)
    }

    /// Takes out of what the kernel told what is ours alone; what the kernel has told of one-shot sockets is not told again by us.
    pub fn strip(&mut self, set: c_int, told: &mut [epoll_event], stack: &Stack) -> usize {
        let mut kept = 0;
        for at in 0..told.len() {
            if told[at].u64 != RIDER {
                told[kept] = told[at];
                kept += 1;
            }
        }
        if let Some(it) = self.find(set) {
            for member in &mut it.members {
                let data = member.data;
                if told[..kept].iter().any(|event| { event.u64 } == data) {
                    member.is_armed &= member.events & ONCE == 0;
                    member.id.into_iter().for_each(|id| stack.ask_soon(id));
                }
            }
        }
        kept
    }

    /// Adds what is ready past the kernel to what there is, `count` events; how many there are then.
    pub(crate) fn add(&mut self, set: c_int, events: &mut [epoll_event], mut count: usize, stack: &Stack) -> usize {
        let Some(it) = self.find(set) else { return count };
        it.ours_first = false;
        let members = it.members.len();
        for turn in 0..members {
            let member_at = (it.next + turn) % members;
            let member = &mut it.members[member_at];
            // What the kernel just told may have taken its one shot.
            let data = member.data;
            let same = events[..count].iter().position(|event| { event.u64 } == data);
            let Some((ready, arrivals)) = member.ready_beside(same.is_some(), stack) else { continue };
            match same {
                Some(at) => events[at].events |= ready,
                None if count < events.len() => {
                    events[count] = epoll_event { events: ready, u64: data };
                    count += 1;
                }
                None => {
                    (it.ours_first, it.next) = (true, member_at);
                    break;
                }
            }
            member.told = Some(arrivals);
            if member.events & ONCE != 0 && member.is_armed {
                member.is_armed = false;
                change(it.fd, libc::EPOLL_CTL_MOD, member.fd, ONCE, data);
            }
        }
        count
    }

    fn find(&mut self, set: c_int) -> Option<&mut Set> {
        self.all.iter_mut().find(|it| it.fd == set)
    }
}

impl Set {
    /// Lets the arrivals' descriptor ride where a socket is past the kernel, and only there.
    fn settle(&mut self, riders: &[RawFd]) {
        let needed = self.members.iter().any(|member| member.id.is_some());
        if needed == self.rides {
            return;
        }
        let operation = if needed { libc::EPOLL_CTL_ADD } else { libc::EPOLL_CTL_DEL };
        riders.iter().for_each(|rider| change(self.fd, operation, *rider, libc::EPOLLIN as u32, RIDER));
        self.rides = needed;
        if let Some(table) = table() {
            process::uses(self.fd);
            table.replace(self.fd, if needed { Kind::Set } else { Kind::Foreign });
        }
    }
}

impl Member {
    /// What it is ready for past the kernel, if the program wants to know.
    fn ready(&self, stack: &Stack) -> Option<(u32, u64)> {
        self.ready_beside(false, stack)
    }

    /// The same where the kernel has told of it already, by what may have been its one shot.
    fn ready_beside(&self, is_told: bool, stack: &Stack) -> Option<(u32, u64)> {
        let id = self.id.filter(|_| self.is_armed || is_told)?;
        if self.events & READABLE == 0 || !stack.readable(id) {
            return None;
        }
        let arrivals = stack.arrivals(id);
        let is_new = self.events & EDGE == 0 || is_told || self.told != Some(arrivals);
        is_new.then_some((self.events & (READABLE | WRITABLE), arrivals))
    }
}

fn live_now(fd: c_int) -> Option<SocketId> {
    match table()?.look(fd)?.kind() {
        Kind::Live(id) => Some(SocketId(id)),
        _ => None,
    }
}

fn change(set: c_int, operation: c_int, fd: c_int, events: u32, data: u64) {
    let mut event = epoll_event { events, u64: data };
    // SAFETY: an event of this frame. It fails where the program has just closed one of the two, which needs nothing any more.
    unsafe { raw(libc::SYS_epoll_ctl, [set as usize, operation as usize, fd as usize, &raw mut event as usize]) };
}
