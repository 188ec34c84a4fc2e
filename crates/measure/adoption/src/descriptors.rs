//! The kind of each descriptor, found out when it is first used for data, and kept right while descriptors come and go.

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

/// The socket behind a descriptor, if it is bypassed.
#[inline]
pub fn live(fd: c_int) -> Option<SocketId> {
    let seen = table()?.look(fd)?;
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
        // It is another one by now.
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

/// What a UDP socket is from now on; none where that is to be asked again.
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

/// A descriptor that was just made.
pub fn is_made(fd: c_int) {
    // libc may have closed what had this number before without our seeing it.
    forget(fd);
    if is_own() {
        process::set_made_here(fd, true);
    }
}

/// Its number may mean something else from now on: what had it until now was closed, also where nobody saw that.
pub fn forget(fd: c_int) {
    if process::is_made_here(fd) && is_own() {
        process::set_made_here(fd, false);
    }
    match kind(fd) {
        None | Some(Kind::Unknown) => {}
        // A child of `vfork` has numbers of its own.
        Some(_) if !is_own() => {}
        Some(_) => became(fd, Kind::Unknown),
    }
}

/// Its entry says this from now on, and what it stood for has one name less.
fn became(fd: c_int, now: Kind) {
    match table().and_then(|table| table.replace(fd, now)) {
        Some(Kind::Live(id)) => _ = with_bypass(|bypass| release(SocketId(id), bypass)),
        Some(Kind::Set | Kind::EmptySet) => epoll_members::set_is_closed(fd),
        _ => {}
    }
}

/// Closes a descriptor by a call of the kernel's. Whoever uses it meanwhile has what the kernel has.
pub fn closing<T>(fd: c_int, call: impl FnOnce() -> T) -> T {
    let closing = begins_to_close(fd);
    let result = call();
    if let Some(closing) = closing {
        is_closed(fd, closing);
    }
    result
}

/// Its entry while it is being closed, where that is of importance.
fn begins_to_close(fd: c_int) -> Option<Entry> {
    let table = table()?;
    let kind = kind(fd)?;
    // Our own code closes what is its own; what a signal handler closes meanwhile is found later.
    if kind == Kind::Foreign || is_inside() {
        // What has this number next is no UDP socket, unless a call that makes one says so (`socket`, `dup2`, a message with descriptors).
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
    table.look(fd).filter(|seen| seen.kind() == Kind::Closing)
}

/// Nothing is known of its number from now on, unless another thread has got that by now, for what may be past the kernel already.
fn is_closed(fd: c_int, closing: Entry) {
    table().map(|table| table.settle(fd, closing, Kind::Unknown));
}

/// The same for all between these, both with it.
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
    let closing = |fd: &c_int| Some(table()?.look(*fd)?).filter(|seen| seen.kind() == Kind::Closing);
    all.for_each(|fd| _ = closing(&fd).map(|closing| is_closed(fd, closing)));
    result
}

/// To be called when a descriptor became another name of what an older one is.
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

/// A socket is left to the kernel from now on.
pub fn leave_to_kernel(fd: c_int, why: Reason) {
    leave_if_live(fd, why);
    let Some(seen) = table().and_then(|table| table.look(fd)) else { return };
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

/// The same for one that was past it.
pub fn leave_if_live(fd: c_int, why: Reason) {
    match kind(fd) {
        Some(Kind::Live(id)) if is_own() => _ = with_bypass(|bypass| leave(SocketId(id), fd, why, bypass)),
        _ => {}
    }
}

/// Something about it was changed: what it is may be seen otherwise now.
pub fn changed(fd: c_int) {
    match kind(fd) {
        Some(Kind::Live(id)) if is_own() => _ = with_bypass(|bypass| refresh(SocketId(id), fd, bypass)),
        Some(Kind::Kernel | Kind::Refused) => forget(fd),
        _ => {}
    }
}

/// The same after it was bound or connected. One that has the port of a socket past the kernel goes past it at once, as it hears from now on what
/// that one would take from it otherwise.
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

/// To be called before a thread waits in the kernel for a datagram of a socket that another thread may take past it meanwhile, or has just taken:
/// one that is bound to no port is bound to one, as sending would do; one that is left to the kernel for now stays with it.
#[cold]
pub fn binds(fd: c_int) -> Option<SocketId> {
    let may_wait_in_vain = matches!(kind(fd)?, Kind::Unknown | Kind::Kernel | Kind::Refused | Kind::Live(_));
    if is_single_threaded() || !may_wait_in_vain || is_nonblocking(fd) {
        return None;
    }
    if kind(fd) == Some(Kind::Unknown) {
        match classify(fd) {
            Class::Unbound => bind_to_any(fd)?,
            // Another thread has sent by it since we looked.
            Class::Udp => {}
            _ => return None,
        }
        live(fd);
    }
    let seen = table()?.look(fd)?;
    match seen.kind() {
        Kind::Live(id) => Some(SocketId(id)),
        // Who waits for it in the kernel would wait in vain once it went past it after all.
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

/// It is left to the kernel for good, unless it is something else by now.
#[cold]
fn stays(fd: c_int, seen: Entry) -> Option<SocketId> {
    if !is_own() || table()?.settle(fd, seen, Kind::Never) {
        epoll_members::is_closed(fd);
        return None;
    }
    live(fd)
}

/// Whether it is a UDP socket that is bound to no port.
pub fn is_unbound(fd: c_int) -> bool {
    matches!(classify(fd), Class::Unbound)
}

/// Whether it is the same socket as before, past the kernel or left to it since.
pub fn is_still(fd: c_int, id: SocketId) -> bool {
    matches!(kind(fd), Some(Kind::Kernel | Kind::Never | Kind::Refused)) || kind(fd) == Some(Kind::Live(id.0))
}

/// One descriptor less stands for a socket; with the last one it is closed.
pub(crate) fn release(id: SocketId, bypass: &Bypass) {
    match bypass.released(id) {
        None => {}
        Some(0) => {
            epoll_members::is_gone(id, bypass);
            bypass.stack.close(id);
        }
        // Others may have been closed behind our back, too.
        Some(_) => {
            if let Some(other) = descriptors_of(id).find(|fd| bypass.is_still(id, *fd)) {
                refresh(id, other, bypass);
            }
        }
    }
}

/// Looks at a socket again, after something about it was changed.
fn refresh(id: SocketId, fd: c_int, bypass: &Bypass) {
    // SAFETY: the program's own descriptor, which it uses right now.
    match bypass.stack.refresh(id, unsafe { BorrowedFd::borrow_raw(fd) }) {
        Ok(()) => {}
        // `connect` may take the port away that it was given; it is looked at when it has one again.
        Err(Reason::NotBound) => is_left(id, fd, Kind::Unknown, bypass),
        Err(_) => is_left(id, fd, Kind::Kernel, bypass),
    }
}

/// Leaves a socket to the kernel for good.
fn leave(id: SocketId, fd: c_int, why: Reason, bypass: &Bypass) {
    is_left(id, fd, Kind::Never, bypass);
    bypass.stack.leave(id, why);
}

/// A socket is left to the kernel; this is one of its descriptors.
fn is_left(id: SocketId, fd: c_int, now: Kind, bypass: &Bypass) {
    let count = bypass.forget(id);
    let first = [fd].into_iter().filter(|fd| kind(*fd) == Some(Kind::Live(id.0)));
    // Most sockets have this one alone: the others are not looked for then.
    for fd in first.chain(descriptors_of(id)).take(count) {
        table().map(|table| table.replace(fd, now));
    }
    epoll_members::is_left(id, bypass);
}

/// All descriptors that stand for a socket.
fn descriptors_of(id: SocketId) -> impl Iterator<Item = c_int> {
    (0..process::used()).filter(move |fd| kind(*fd) == Some(Kind::Live(id.0)))
}
