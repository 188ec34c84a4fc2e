//! The program's epoll sets: created, changed, or received from another process.

use std::ffi::c_int;

use libc::epoll_event;
use stack::{Class, SocketId, classify, cookie};

use super::{
    bypass,
    call::is_single_threaded,
    descriptors::{forget, live},
    epoll_members::{self, settle},
    epoll_sets::{self, EpollMember, Sets},
    fdinfo::{self, Entry},
    inside::inside,
    process::{self, is_own, kind, table},
    table::Kind,
};

/// Call it before a wait on a descriptor: classifies a socket or a set that this process did not create.
pub fn is_used(fd: c_int) {
    let is_new = kind(fd) == Some(Kind::Unknown);
    live(fd);
    if is_new && kind(fd) == Some(Kind::Foreign) {
        look_at(fd);
    }
}

/// Registers a new set.
pub fn set_is_made(set: c_int) {
    if set >= 0 && is_own() {
        forget(set);
        epoll_members::set_is_closed(set);
        table().map(|table| table.replace(set, Kind::EmptySet));
        process::uses(set);
    }
}

/// Follows a successful epoll_ctl(2).
pub fn control(set: c_int, operation: c_int, fd: c_int, event: Option<epoll_event>) {
    if matches!(kind(fd), None | Some(Kind::Foreign | Kind::Never)) || !is_own() {
        return;
    }
    if !is_known(set) {
        look_at(set);
    }
    let event = event.filter(|_| operation != libc::EPOLL_CTL_DEL);
    inside(|| {
        let (Some(what), Some(mut sets)) = (what(fd), epoll_sets::some_sets()) else { return };
        sets.change(set, fd, what, event);
        // Another thread may have bypassed it since the check.
        if let (EpollMember::Socket { cookie, id: None }, Some(Kind::Live(id))) = (what, kind(fd)) {
            sets.is_live(cookie, SocketId(id));
        }
        settle(&mut sets);
        if event.is_some() && !is_single_threaded() {
            wakes(&sets, set, fd);
        }
    });
}

/// Wakes threads that sleep on a set whose new or changed member is already ready, which nothing else reports.
fn wakes(sets: &Sets, set: c_int, fd: c_int) {
    if let Some(bypass) = bypass::get()
        && sets.has_ready_member(set, fd, &bypass.stack)
    {
        bypass.stack.wake_sleepers();
    }
}

/// Whether it is a set with bypassed sockets. A set from another process is read first.
pub fn concerns_us(set: c_int) -> bool {
    if !is_known(set) && is_own() {
        look_at(set);
    }
    kind(set) == Some(Kind::Set)
}

fn is_known(set: c_int) -> bool {
    !matches!(kind(set), Some(Kind::Unknown | Kind::Foreign))
}

/// Reads the members of a set, if it is one.
#[cold]
fn look_at(set: c_int) {
    if !fdinfo::is_set(set) {
        return;
    }
    let entries = inside(|| fdinfo::entries(set)).unwrap_or_default();
    process::uses(set);
    table().map(|table| table.replace(set, Kind::EmptySet));
    for entry in &entries {
        is_used(entry.fd);
    }
    inside(|| {
        let found: Vec<(EpollMember, Entry)> =
            entries.into_iter().filter_map(|entry| Some((what(entry.fd)?, entry))).collect();
        let Some(mut sets) = epoll_sets::some_sets() else { return };
        for (what, Entry { fd, events, data, .. }) in found {
            sets.change(set, fd, what, Some(epoll_event { events, u64: data }));
        }
        settle(&mut sets);
    });
}

/// The kind of a member; `None` if it can never be bypassed.
fn what(fd: c_int) -> Option<EpollMember> {
    let cookie = || cookie(fd);
    match kind(fd)? {
        Kind::Live(id) => Some(EpollMember::Socket { cookie: cookie()?, id: Some(SocketId(id)) }),
        Kind::Kernel | Kind::Refused => Some(EpollMember::Socket { cookie: cookie()?, id: None }),
        Kind::Unknown if matches!(classify(fd), Class::Unbound | Class::Udp) => {
            Some(EpollMember::Socket { cookie: cookie()?, id: None })
        }
        Kind::Set | Kind::EmptySet => Some(EpollMember::Set(epoll_sets::some_sets()?.number(fd))),
        _ => None,
    }
}
