//! What a descriptor is, found out when it is first used for data, and kept right while descriptors come and go.

use std::ffi::c_int;

use super::{
    call::{is_single_threaded, raw, uncancelled},
    claim, corked, family,
    inside::{inside, is_inside, with_past},
    noted::{self, note},
    process::{self, is_own, table},
    table::{Kind, Seen},
    watched,
};
use crate::{
    Reason, SocketId,
    calls::{cookie, is_nonblocking},
    glance::{Told, glance, port},
    look,
};

/// The socket behind a descriptor, if it goes past the kernel.
#[inline]
pub fn live(fd: c_int) -> Option<SocketId> {
    let seen = table()?.look(fd)?;
    match seen.kind() {
        Kind::Live(id) => Some(SocketId(id)),
        Kind::Unknown => classify(fd, seen),
        Kind::Refused if claim::is_time() && family::is_time() => classify(fd, seen),
        _ => None,
    }
}

#[cold]
fn classify(fd: c_int, seen: Seen) -> Option<SocketId> {
    let told = glance(fd);
    let kind = match told {
        Told::Nothing | Told::Unbound => return None,
        Told::Foreign => Kind::Foreign,
        Told::Other(_) => Kind::Never,
        Told::Udp => inside(|| uncancelled(|| adopt(fd)))??,
    };
    if let Told::Other(why) = told {
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
        true => with_past(|past| watched::is_live(cookie(fd), id, past)),
        // It is another one by now.
        false => with_past(|past| past.released(id)),
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
    if family::is_shared(fd) {
        noted::write(fd, Reason::Inherited);
        return Some(Kind::Refused);
    }
    let Some(past) = claim::past() else {
        noted::write(fd, claim::why_not());
        return Some(claim::kind_without());
    };
    match past.adopt(fd) {
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
        Some(Kind::Live(id)) => _ = with_past(|past| past.released(SocketId(id))),
        Some(Kind::Set | Kind::EmptySet) => watched::set_is_closed(fd),
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
fn begins_to_close(fd: c_int) -> Option<Seen> {
    let table = table()?;
    let kind = kind(fd)?;
    // Our own code closes what is its own; what a signal handler closes meanwhile is found later.
    if kind == Kind::Foreign || is_inside() {
        // What has this number next is no UDP socket, unless a call that makes one says so (`socket`, `dup2`, a message with descriptors).
        return None;
    }
    corked::forget(fd);
    if !matches!(kind, Kind::Live(_) | Kind::Set | Kind::EmptySet) {
        if kind != Kind::Never && process::has_sets() && is_own() {
            watched::is_closed(fd);
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
fn is_closed(fd: c_int, closing: Seen) {
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
        Kind::Live(id) => _ = with_past(|past| past.copied(SocketId(id))),
        Kind::Set | Kind::EmptySet => watched::set_is_copied(old, new),
        _ => watched::is_copied(old),
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
    let kind = match glance(fd) {
        Told::Nothing => return,
        Told::Foreign => Kind::Foreign,
        Told::Other(what) => {
            note(fd, what);
            Kind::Never
        }
        Told::Unbound | Told::Udp => {
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
        Some(Kind::Live(id)) if is_own() => _ = with_past(|past| past.leave(SocketId(id), fd, why)),
        _ => {}
    }
}

/// Something about it was changed: what it is may be seen otherwise now.
pub fn changed(fd: c_int) {
    match kind(fd) {
        Some(Kind::Live(id)) if is_own() => _ = with_past(|past| past.refresh(SocketId(id), fd)),
        Some(Kind::Kernel | Kind::Refused) => forget(fd),
        _ => {}
    }
}

/// The same after it was bound or connected. One that has the port of a socket past the kernel goes past it at once, as it hears from now on what
/// that one would take from it otherwise.
pub fn bound(fd: c_int) {
    changed(fd);
    if let Some(past) = process::past()
        && kind(fd) == Some(Kind::Unknown)
        && is_own()
        && inside(|| port(fd).is_some_and(|port| past.stack.has_port(port))) == Some(true)
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
        match glance(fd) {
            Told::Unbound => bind_to_any(fd)?,
            // Another thread has sent by it since we looked.
            Told::Udp => {}
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
    let is_v6 = look::kind(fd).ok()?;
    let (family, length) = if is_v6 { (libc::AF_INET6, 28) } else { (libc::AF_INET, 16) };
    let mut name = [0_u8; 28];
    name[..2].copy_from_slice(&(family as u16).to_ne_bytes());
    // SAFETY: a name of this frame.
    unsafe { raw(libc::SYS_bind, [fd as usize, name.as_ptr() as usize, length]) };
    Some(())
}

/// It is left to the kernel for good, unless it is something else by now.
#[cold]
fn stays(fd: c_int, seen: Seen) -> Option<SocketId> {
    if !is_own() || table()?.settle(fd, seen, Kind::Never) {
        watched::is_closed(fd);
        return None;
    }
    live(fd)
}

/// Whether it is a UDP socket that is bound to no port.
pub fn is_unbound(fd: c_int) -> bool {
    matches!(glance(fd), Told::Unbound)
}

/// Whether it is the same socket as before, past the kernel or left to it since.
pub fn is_still(fd: c_int, id: SocketId) -> bool {
    matches!(kind(fd), Some(Kind::Kernel | Kind::Never | Kind::Refused)) || kind(fd) == Some(Kind::Live(id.0))
}

/// What is known of a descriptor.
pub fn kind(fd: c_int) -> Option<Kind> {
    Some(table()?.look(fd)?.kind())
}
