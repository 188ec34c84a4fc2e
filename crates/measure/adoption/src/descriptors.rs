//! The kind of each descriptor: determined on first use for data, and updated as descriptors open and close.

use std::{ffi::c_int, os::fd::BorrowedFd};

use model::bypass::Reason;
use stack::{Class, SocketId, classify, cookie, is_nonblocking, is_v6, port};

use super::{
    bypass::{self, Bypass},
    call::{is_inside, is_single_threaded, raw, uncancelled},
    claim, corked, epoll_members, epoll_sets, inherited,
    inside::{inside, with_bypass},
    note::{self, note},
    process::{self, is_own, kind, table},
    table::{Entry, Kind},
};

/// The bypassed socket behind a descriptor.
#[inline]
pub fn live(fd: c_int) -> Option<SocketId> {
    let seen = table()?.load(fd)?;
    match seen.kind() {
        Kind::Live(id) => Some(SocketId(id)),
        Kind::Unknown => settle(fd, seen),
        Kind::Refused if claim::is_time() && inherited::is_time() => settle(fd, seen),
        _ => None,
    }
}

#[cold]
fn settle(fd: c_int, seen: Entry) -> Option<SocketId> {
    let class = classify(fd);
    let kind = match class {
        Class::Nothing | Class::Unbound => return None,
        Class::Foreign => Kind::Foreign,
        Class::Other(_) => Kind::Never,
        Class::Udp => inside(|| uncancelled(|| adopt(fd)))??,
    };
    if let Class::Other(why) = class {
        note(fd, why);
    }
    process::uses(fd);
    let is_settled = table()?.settle(fd, seen, kind);
    let id = match kind {
        Kind::Live(id) => SocketId(id),
        _ if is_settled => return None,
        _ => return live_now(fd),
    };
    match is_settled {
        true => with_bypass(|bypass| epoll_members::is_live(cookie(fd), id, bypass)),
        // The descriptor stands for another file by now.
        false => with_bypass(|bypass| release(id, bypass)),
    };
    // Another thread may have been first.
    live_now(fd)
}

fn live_now(fd: c_int) -> Option<SocketId> {
    match kind(fd) {
        Some(Kind::Live(id)) => Some(SocketId(id)),
        _ => None,
    }
}

/// Classifies a UDP socket; `None` if it has to be classified again later.
fn adopt(fd: c_int) -> Option<Kind> {
    if !is_own() {
        return None;
    }
    if inherited::is_shared(fd) {
        note::write(fd, Reason::Inherited);
        return Some(Kind::Refused);
    }
    let Some(bypass) = claim::bypass() else {
        note::write(fd, claim::why_not());
        return Some(claim::kind_without());
    };
    match bypass.adopt(fd) {
        Ok(id) => Some(Kind::Live(id.0)),
        Err(Reason::NotBound) => None,
        Err(_) => Some(Kind::Kernel),
    }
}

/// Registers a new descriptor.
pub fn is_made(fd: c_int) {
    // A close inside libc may have freed this number unnoticed.
    forget(fd);
    if is_own() {
        process::set_made_here(fd, true);
    }
}

/// Forgets the file behind a number that is about to be reused, also if its close went unnoticed.
pub fn forget(fd: c_int) {
    if process::is_made_here(fd) && is_own() {
        process::set_made_here(fd, false);
    }
    match kind(fd) {
        None | Some(Kind::Unknown) => {}
        // A child of `vfork` has its own descriptor table.
        Some(_) if !is_own() => {}
        Some(_) => became(fd, Kind::Unknown),
    }
}

/// Replaces a descriptor's entry; the previous socket loses a descriptor.
fn became(fd: c_int, now: Kind) {
    match table().and_then(|table| table.replace(fd, now)) {
        Some(Kind::Live(id)) => _ = with_bypass(|bypass| release(SocketId(id), bypass)),
        Some(Kind::Set | Kind::EmptySet) => epoll_members::set_is_closed(fd),
        _ => {}
    }
}

/// Closes a descriptor with a call to the kernel. Concurrent users get the kernel's answers.
pub fn closing<T>(fd: c_int, call: impl FnOnce() -> T) -> T {
    let closing = begins_to_close(fd);
    let result = call();
    if let Some(closing) = closing {
        is_closed(fd, closing);
    }
    result
}

/// Marks its entry as closing; `None` if that makes no difference.
fn begins_to_close(fd: c_int) -> Option<Entry> {
    let table = table()?;
    let kind = kind(fd)?;
    // Our own code closes its own descriptors; those of a signal handler are found later.
    if kind == Kind::Foreign || is_inside() {
        // The number's next file is no UDP socket, unless a shim that makes one reports it (`socket`, `dup2`, a message
        // with descriptors).
        return None;
    }
    corked::forget(fd);
    if !matches!(kind, Kind::Live(_) | Kind::Set | Kind::EmptySet) {
        if kind != Kind::Never && epoll_sets::has_sets() && is_own() {
            epoll_members::is_closed(fd);
        }
        forget(fd);
        return None;
    }
    if !is_own() {
        return None;
    }
    became(fd, Kind::Closing);
    table.load(fd).filter(|seen| seen.kind() == Kind::Closing)
}

/// Forgets a closed number, unless another thread has reused it for a socket that may already be bypassed.
fn is_closed(fd: c_int, closing: Entry) {
    table().map(|table| table.settle(fd, closing, Kind::Unknown));
}

/// The same for a range of descriptors, both ends included.
pub fn closing_all<T>(first: u32, last: u32, call: impl FnOnce() -> T) -> T {
    if !is_own() {
        return call();
    }
    let end = process::used().min(c_int::try_from(last).unwrap_or(c_int::MAX).saturating_add(1));
    let all = c_int::try_from(first).unwrap_or(c_int::MAX)..end;
    for fd in all.clone() {
        begins_to_close(fd);
    }
    let result = call();
    let closing = |fd: &c_int| Some(table()?.load(*fd)?).filter(|seen| seen.kind() == Kind::Closing);
    all.for_each(|fd| _ = closing(&fd).map(|closing| is_closed(fd, closing)));
    result
}

/// Registers a copy of a descriptor.
pub fn is_copy(old: c_int, new: c_int) {
    let (Some(table), Some(kind)) = (table(), kind(old)) else { return };
    if !is_own() {
        return;
    }
    forget(new);
    match kind {
        Kind::Live(id) => _ = with_bypass(|bypass| bypass.copied(SocketId(id))),
        Kind::Set | Kind::EmptySet => epoll_members::set_is_copied(old, new),
        _ => epoll_members::is_copied(old),
    }
    process::set_made_here(new, process::is_made_here(old));
    process::uses(new);
    let is_told = !matches!(kind, Kind::Unknown | Kind::Closing);
    table.replace(new, if is_told { kind } else { Kind::Unknown });
}

/// Leaves a socket to the kernel from now on.
pub fn leave_to_kernel(fd: c_int, why: Reason) {
    leave_if_live(fd, why);
    let Some(seen) = table().and_then(|table| table.load(fd)) else { return };
    if !matches!(seen.kind(), Kind::Unknown | Kind::Kernel | Kind::Refused) {
        return;
    }
    let kind = match classify(fd) {
        Class::Nothing => return,
        Class::Foreign => Kind::Foreign,
        Class::Other(what) => {
            note(fd, what);
            Kind::Never
        }
        Class::Unbound | Class::Udp => {
            note(fd, why);
            Kind::Never
        }
    };
    process::uses(fd);
    table().map(|table| table.settle(fd, seen, kind));
}

/// The same for a bypassed socket only.
pub fn leave_if_live(fd: c_int, why: Reason) {
    match kind(fd) {
        Some(Kind::Live(id)) if is_own() => _ = with_bypass(|bypass| leave(SocketId(id), fd, why, bypass)),
        _ => {}
    }
}

/// Registers a change to a socket, which may change its kind.
pub fn changed(fd: c_int) {
    match kind(fd) {
        Some(Kind::Live(id)) if is_own() => _ = with_bypass(|bypass| refresh(SocketId(id), fd, bypass)),
        Some(Kind::Kernel | Kind::Refused) => forget(fd),
        _ => {}
    }
}

/// The same after `bind` or `connect`. A socket on the port of a bypassed one is bypassed at once: the other would take
/// its datagrams otherwise.
pub fn bound(fd: c_int) {
    changed(fd);
    if let Some(bypass) = bypass::get()
        && kind(fd) == Some(Kind::Unknown)
        && is_own()
        && inside(|| port(fd).is_some_and(|port| bypass.stack.has_port(port))) == Some(true)
    {
        live(fd);
    }
}

/// Call it before a thread waits in the kernel for a datagram of a socket that another thread may bypass.
///
/// An unbound socket is bound, as sending would do; one that is left to the kernel for now stays there.
#[cold]
pub fn binds(fd: c_int) -> Option<SocketId> {
    let may_wait_in_vain = matches!(kind(fd)?, Kind::Unknown | Kind::Kernel | Kind::Refused | Kind::Live(_));
    if is_single_threaded() || !may_wait_in_vain || is_nonblocking(fd) {
        return None;
    }
    if kind(fd) == Some(Kind::Unknown) {
        match classify(fd) {
            Class::Unbound => bind_to_any(fd)?,
            // Another thread has sent by it since the check.
            Class::Udp => {}
            _ => return None,
        }
        live(fd);
    }
    let seen = table()?.load(fd)?;
    match seen.kind() {
        Kind::Live(id) => Some(SocketId(id)),
        // A thread that waits in the kernel would wait in vain if it were bypassed later.
        Kind::Kernel | Kind::Refused => stays(fd, seen),
        _ => None,
    }
}

fn bind_to_any(fd: c_int) -> Option<()> {
    let is_v6 = is_v6(fd).ok()?;
    let (family, length) = if is_v6 { (libc::AF_INET6, 28) } else { (libc::AF_INET, 16) };
    let mut name = [0_u8; 28];
    name[..2].copy_from_slice(&(family as u16).to_ne_bytes());
    // SAFETY: a name of this frame.
    unsafe { raw(libc::SYS_bind, [fd as usize, name.as_ptr() as usize, length]) };
    Some(())
}

/// Leaves it to the kernel for good, unless its entry has changed.
#[cold]
fn stays(fd: c_int, seen: Entry) -> Option<SocketId> {
    if !is_own() || table()?.settle(fd, seen, Kind::Never) {
        epoll_members::is_closed(fd);
        return None;
    }
    live(fd)
}

/// The bypassed socket behind a descriptor by which the program is about to send.
///
/// An unbound socket is bound as the kernel would bind it now, so that its first datagram is bypassed too.
#[inline]
pub fn sends(fd: c_int) -> Option<SocketId> {
    live(fd).or_else(|| if kind(fd) == Some(Kind::Unknown) { bind_to_send(fd) } else { None })
}

#[cold]
fn bind_to_send(fd: c_int) -> Option<SocketId> {
    if !is_own() || is_inside() || !is_unbound(fd) {
        return None;
    }
    bind_to_any(fd)?;
    live(fd)
}

/// Whether it is a UDP socket without a port.
pub fn is_unbound(fd: c_int) -> bool {
    matches!(classify(fd), Class::Unbound)
}

/// Whether it is still the same socket, bypassed or left to the kernel since.
pub fn is_still(fd: c_int, id: SocketId) -> bool {
    matches!(kind(fd), Some(Kind::Kernel | Kind::Never | Kind::Refused)) || kind(fd) == Some(Kind::Live(id.0))
}

/// Removes a descriptor of a socket, and closes the socket with its last one.
pub(crate) fn release(id: SocketId, bypass: &Bypass) {
    match bypass.released(id) {
        None => {}
        Some(0) => {
            epoll_members::is_gone(id, bypass);
            bypass.stack.close(id);
        }
        // Other descriptors may have been closed unnoticed, too.
        Some(_) => {
            if let Some(other) = descriptors_of(id).find(|fd| bypass.is_still(id, *fd)) {
                refresh(id, other, bypass);
            }
        }
    }
}

/// Updates a bypassed socket after a change.
fn refresh(id: SocketId, fd: c_int, bypass: &Bypass) {
    // SAFETY: the program's own descriptor, in use at the moment.
    match bypass.stack.refresh(id, unsafe { BorrowedFd::borrow_raw(fd) }) {
        Ok(()) => {}
        // `connect` may remove an automatic port; the socket is classified again once it has one.
        Err(Reason::NotBound) => is_left(id, fd, Kind::Unknown, bypass),
        Err(_) => is_left(id, fd, Kind::Kernel, bypass),
    }
}

/// Leaves a socket to the kernel for good.
fn leave(id: SocketId, fd: c_int, why: Reason, bypass: &Bypass) {
    is_left(id, fd, Kind::Never, bypass);
    bypass.stack.leave(id, why);
}

/// Updates all descriptors of a socket that is left to the kernel; `fd` is one of them.
fn is_left(id: SocketId, fd: c_int, now: Kind, bypass: &Bypass) {
    let count = bypass.forget(id);
    let first = [fd].into_iter().filter(|fd| kind(*fd) == Some(Kind::Live(id.0)));
    // Most sockets have only this one, which saves the search.
    for fd in first.chain(descriptors_of(id)).take(count) {
        table().map(|table| table.replace(fd, now));
    }
    epoll_members::is_left(id, bypass);
}

/// All descriptors of a socket.
fn descriptors_of(id: SocketId) -> impl Iterator<Item = c_int> {
    (0..process::used()).filter(move |fd| kind(*fd) == Some(Kind::Live(id.0)))
}
