//! Ready bypassed sockets of a set, beside the kernel's events.

use std::{
    ffi::{c_int, c_short},
    os::fd::RawFd,
};

use libc::epoll_event;
use stack::{Stack, patience::NOW};

use super::{
    super::{
        call::raw,
        fdinfo::{self, RIDER},
    },
    DEEPEST, EpollMember, Member, Set, Sets, tell,
};

const READABLE: u32 = (libc::EPOLLIN | libc::EPOLLRDNORM) as u32;
const WRITABLE: u32 = (libc::EPOLLOUT | libc::EPOLLWRNORM | libc::EPOLLWRBAND) as u32;
const EDGE: u32 = libc::EPOLLET as u32;
const ONCE: u32 = libc::EPOLLONESHOT as u32;

impl Sets {
    /// Whether a bypassed socket in a set is ready.
    pub(crate) fn is_ready(&self, name: c_int, stack: &Stack) -> bool {
        self.find(name).is_some_and(|set| self.has_ready(set, stack, DEEPEST))
    }

    /// Whether the member `fd` of a set is ready.
    pub(crate) fn has_ready_member(&self, name: c_int, fd: c_int, stack: &Stack) -> bool {
        let of = |set: &Set| {
            let mut those = set.members.iter().filter(|member| member.fd == fd);
            those.any(|member| self.ready(member, false, stack, DEEPEST).is_some())
        };
        self.find(name).is_some_and(of)
    }

    fn has_ready(&self, set: &Set, stack: &Stack, depth: u32) -> bool {
        set.members.iter().any(|member| self.ready(member, false, stack, depth).is_some())
    }

    /// A member's bypassed events that the program wants, and its number of arrivals.
    ///
    /// With `is_told`, the kernel has already reported it, which may have used up its one shot.
    fn ready(&self, member: &Member, is_told: bool, stack: &Stack, depth: u32) -> Option<(u32, u64)> {
        if member.events & READABLE == 0 || !(member.is_armed || is_told) {
            return None;
        }
        let (kinds, arrivals) = match member.what {
            EpollMember::Socket { id, .. } => {
                let id = id.filter(|id| stack.readable(*id))?;
                (READABLE | WRITABLE, stack.arrivals(id))
            }
            EpollMember::Set(number) => {
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

    /// Whether bypassed sockets come first this time; they have room then.
    pub(crate) fn ours_first(&self, name: c_int) -> bool {
        self.find(name).is_some_and(|set| set.ours_first)
    }

    /// Removes events caused only by riders, and marks one-shot members as used; returns the number of events left.
    pub(crate) fn strip(&mut self, name: c_int, told: &mut [epoll_event], stack: &Stack) -> usize {
        let mut kept = without_riders(told);
        if kept < told.len() {
            stack.signal_was_seen();
        }
        let Some(at) = self.all.iter().position(|set| set.names.contains(&name)) else { return kept };
        for member_at in 0..self.all[at].members.len() {
            let members = &self.all[at].members;
            let member = &members[member_at];
            let (data, once) = (member.data, member.events & ONCE != 0);
            let Some(place) = told[..kept].iter().position(|event| { event.u64 } == data) else { continue };
            // Several members may have the same data.
            let is_alone = members.iter().filter(|other| other.data == data).count() == 1;
            let is_not_told = match member.what {
                EpollMember::Set(number) => {
                    let is_ours = !self.is_the_kernels(number, stack.descriptors());
                    let is_ours = is_ours && (is_readable(member.fd) || !fdinfo::has_several(name, data));
                    if is_ours && once && member.is_armed {
                        tell(name, libc::EPOLL_CTL_MOD, member.fd, member.events, data);
                    }
                    is_ours
                }
                EpollMember::Socket { id, .. } => {
                    id.into_iter().for_each(|id| stack.ask_soon(id));
                    // Its one shot is used up: unrequested events of the kernel are dropped, too.
                    is_alone && once && !member.is_armed
                }
            };
            if is_not_told {
                told.copy_within(place + 1..kept, place);
                kept -= 1;
            } else if once && (is_alone || is_ready_for(member.fd, member.events as c_short)) {
                self.all[at].members[member_at].is_armed = false;
            }
        }
        kept
    }

    /// Whether the kernel has an event for a member other than the riders.
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

    /// The same for a set in poll(2) or select(2).
    pub(crate) fn is_the_kernels_too(&self, name: c_int, riders: &[RawFd]) -> bool {
        self.find(name).is_none_or(|set| self.is_the_kernels(set.number, riders))
    }

    /// Adds bypassed events to the `count` there are; returns their number.
    ///
    /// If bypassed ones come first this time, those without room wait for the next call.
    pub(crate) fn add(
        &mut self,
        name: c_int,
        events: &mut [epoll_event],
        mut count: usize,
        come_first: bool,
        stack: &Stack,
    ) -> usize {
        let Some(at) = self.all.iter().position(|set| set.names.contains(&name)) else { return count };
        self.all[at].ours_first = false;
        let members = self.all[at].members.len();
        for turn in 0..members {
            let member_at = (self.all[at].next + turn) % members;
            let member = &self.all[at].members[member_at];
            // The kernel's event may have used up its one shot.
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
                    (self.all[at].ours_first, self.all[at].next) = (!come_first, member_at);
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

/// Removes riders from a set's events, also those of a related process with the same set; returns the number left.
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

/// Whether a descriptor is readable now.
pub(crate) fn is_readable(fd: c_int) -> bool {
    is_ready_for(fd, libc::POLLIN)
}

fn is_ready_for(fd: c_int, events: c_short) -> bool {
    let mut one = libc::pollfd { fd, events, revents: 0 };
    // SAFETY: one descriptor of this frame, and a time of zero.
    let told = unsafe { raw(libc::SYS_ppoll, [&raw mut one as usize, 1, &raw const NOW as usize, 0, 0]) };
    told > 0
}
