//! What a descriptor is, found out when it is first used for data, and kept right while descriptors come and go.

use std::{ffi::c_int, mem::size_of_val};

use crate::{Reason, SocketId};

use super::{
    call::{is_single_threaded, raw},
    claim, corked,
    inside::{inside, with_past},
    noted::{self, note},
    process::{self, is_own, table},
    table::{Kind, Seen},
};

/// What the kernel says of a descriptor.
#[derive(Clone, Copy)]
enum Told {
    /// No socket of IP.
    Foreign,
    /// A socket of IP that is not UDP: what it is, as a reason.
    Other(Reason),
    /// A UDP socket that is bound to no port yet: its first datagram binds it.
    Unbound,
    /// A UDP socket.
    Udp,
    /// It is no descriptor.
    Nothing,
}

/// The socket behind a descriptor, if it goes past the kernel.
#[inline]
pub fn live(fd: c_int) -> Option<SocketId> {
    let seen = table()?.look(fd)?;
    match seen.kind() {
        Kind::Live(id) => Some(SocketId(id)),
        Kind::Unknown => classify(fd, seen),
        _ => None,
    }
}

#[cold]
fn classify(fd: c_int, seen: Seen) -> Option<SocketId> {
    let told = ask(fd);
    let kind = match told {
        Told::Nothing | Told::Unbound => return None,
        Told::Foreign => Kind::Foreign,
        Told::Other(_) => Kind::Never,
        Told::Udp => inside(|| adopt(fd))??,
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
        true => with_past(|past| past.sets().is_live(fd, id, &past.stack)),
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
    let Some(past) = claim::past() else {
        noted::write(fd, claim::why_not());
        return Some(Kind::Kernel);
    };
    match past.adopt(fd) {
        Ok(id) => Some(Kind::Live(id.0)),
        Err(Reason::NotBound) => None,
        Err(_) => Some(Kind::Kernel),
    }
}

fn ask(fd: c_int) -> Told {
    match option(fd, libc::SO_DOMAIN) {
        Ok(libc::AF_INET | libc::AF_INET6) => {}
        Err(libc::EBADF) => return Told::Nothing,
        _ => return Told::Foreign,
    }
    match [libc::SO_TYPE, libc::SO_PROTOCOL].map(|name| option(fd, name)) {
        [Ok(libc::SOCK_DGRAM), Ok(libc::IPPROTO_UDP)] if is_bound(fd) => Told::Udp,
        [Ok(libc::SOCK_DGRAM), Ok(libc::IPPROTO_UDP)] => Told::Unbound,
        [Ok(libc::SOCK_STREAM), Ok(libc::IPPROTO_TCP)] => Told::Other(Reason::Tcp),
        _ => Told::Other(Reason::NotUdp),
    }
}

fn option(fd: c_int, name: c_int) -> Result<c_int, c_int> {
    let (mut value, mut length) = (0 as c_int, size_of_val(&0_i32) as u32);
    let place =
        [fd as usize, libc::SOL_SOCKET as usize, name as usize, &raw mut value as usize, &raw mut length as usize];
    // SAFETY: a value of `length` bytes and the length, both of this frame.
    match unsafe { raw(libc::SYS_getsockopt, place) } {
        0 => Ok(value),
        error => Err(-error as c_int),
    }
}

fn is_bound(fd: c_int) -> bool {
    let (mut name, mut length) = ([0_u8; 28], 28_u32);
    let place = [fd as usize, name.as_mut_ptr() as usize, &raw mut length as usize];
    // SAFETY: room for `length` bytes and the length, both of this frame.
    let told = unsafe { raw(libc::SYS_getsockname, place) };
    // The port, in the same place in both versions of IP.
    told == 0 && name[2..4] != [0, 0]
}

/// Its number may mean something else from now on.
pub fn forget(fd: c_int) {
    if let Some(table) = table()
        && table.look(fd).is_some_and(|seen| seen.kind() != Kind::Unknown)
    {
        table.replace(fd, Kind::Unknown);
    }
}

/// Closes a descriptor by a call of the kernel's. Whoever uses it meanwhile has what the kernel has.
pub fn closing<T>(fd: c_int, call: impl FnOnce() -> T) -> T {
    let (Some(kind), Some(table)) = (kind(fd), table()) else { return call() };
    if kind == Kind::Foreign {
        // What has this number next is no UDP socket, unless a call that makes one says so (`socket`, `dup2`, a message with descriptors).
        return call();
    }
    corked::forget(fd);
    if !matches!(kind, Kind::Live(_) | Kind::Set) {
        forget(fd);
        return call();
    }
    if !is_own() {
        return call();
    }
    table.replace(fd, Kind::Closing);
    with_past(|past| match kind {
        Kind::Live(id) => past.released(SocketId(id)),
        _ => past.sets().close(fd),
    });
    let result = call();
    table.replace(fd, Kind::Unknown);
    result
}

/// The same for all between these, both with it.
pub fn closing_all<T>(first: u32, last: u32, call: impl FnOnce() -> T) -> T {
    if is_own() {
        let end = process::used().min(c_int::try_from(last).unwrap_or(c_int::MAX).saturating_add(1));
        (c_int::try_from(first).unwrap_or(c_int::MAX)..end).for_each(|fd| closing(fd, || ()));
    }
    call()
}

/// To be called when a descriptor became another name of what an older one is.
pub fn is_copy(old: c_int, new: c_int) {
    let (Some(table), Some(kind)) = (table(), kind(old)) else { return };
    if !is_own() {
        return;
    }
    match kind {
        Kind::Live(id) => {
            with_past(|past| past.copied(SocketId(id)));
        }
        Kind::Set => without(old),
        _ => {}
    }
    process::uses(new);
    let is_told = matches!(kind, Kind::Live(_) | Kind::Foreign | Kind::Kernel | Kind::Never);
    table.replace(new, if is_told { kind } else { Kind::Unknown });
}

/// A set has nothing in it from now on that goes past the kernel: it has several names, or is in another set.
pub fn without(set: c_int) {
    with_past(|past| {
        let inside = past.sets().sockets_in(set);
        past.sets().bar(set);
        inside.into_iter().for_each(|id| past.leave(id, Reason::SharedSet));
    });
}

/// A socket is left to the kernel from now on.
pub fn leave_to_kernel(fd: c_int, why: Reason) {
    leave_if_live(fd, why);
    let Some(seen) = table().and_then(|table| table.look(fd)) else { return };
    if !matches!(seen.kind(), Kind::Unknown | Kind::Kernel) {
        return;
    }
    let kind = match ask(fd) {
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
        Some(Kind::Live(id)) if is_own() => _ = with_past(|past| past.leave(SocketId(id), why)),
        _ => {}
    }
}

/// Something about it was changed: what it is may be seen otherwise now.
pub fn changed(fd: c_int) {
    match kind(fd) {
        Some(Kind::Live(id)) if is_own() => _ = with_past(|past| past.refresh(SocketId(id), fd)),
        Some(Kind::Kernel) => forget(fd),
        _ => {}
    }
}

/// To be called before a thread waits in the kernel for a datagram of a socket that another thread may take past it meanwhile: one that is bound to
/// no port is bound to one, as sending would do.
#[cold]
pub fn binds(fd: c_int) -> Option<SocketId> {
    let is_nonblocking = || {
        // SAFETY: it takes no pointer.
        let flags = unsafe { raw(libc::SYS_fcntl, [fd as usize, libc::F_GETFL as usize]) };
        flags as c_int & libc::O_NONBLOCK != 0
    };
    if is_single_threaded() || kind(fd) != Some(Kind::Unknown) || !is_unbound(fd) || is_nonblocking() {
        return None;
    }
    let family = option(fd, libc::SO_DOMAIN).ok()?;
    let mut name = [0_u8; 28];
    name[..2].copy_from_slice(&(family as u16).to_ne_bytes());
    let length = if family == libc::AF_INET { 16 } else { 28 };
    // SAFETY: a name of this frame.
    unsafe { raw(libc::SYS_bind, [fd as usize, name.as_ptr() as usize, length]) };
    live(fd)
}

/// Whether it is a UDP socket that is bound to no port.
pub fn is_unbound(fd: c_int) -> bool {
    matches!(ask(fd), Told::Unbound)
}

/// Whether it is a UDP socket that may go past the kernel once it is bound.
pub fn may_become_live(fd: c_int) -> bool {
    kind(fd) == Some(Kind::Unknown) && is_unbound(fd) && inside(claim::past).flatten().is_some()
}

/// Whether it is the same socket as before, past the kernel or left to it since.
pub fn is_still(fd: c_int, id: SocketId) -> bool {
    matches!(kind(fd), Some(Kind::Kernel | Kind::Never)) || kind(fd) == Some(Kind::Live(id.0))
}

/// What is known of a descriptor.
pub fn kind(fd: c_int) -> Option<Kind> {
    Some(table()?.look(fd)?.kind())
}
