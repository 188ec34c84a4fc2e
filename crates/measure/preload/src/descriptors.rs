//! What a descriptor is, found out when it is first used for data, and kept right while descriptors come and go.

use std::{ffi::c_int, mem::size_of_val};

use crate::{
    call::raw,
    process::{self, is_own, table},
    table::{Kind, Seen},
};

/// What the kernel says of a descriptor.
enum Told {
    /// Nothing that could be taken past it.
    Foreign,
    /// A UDP socket that is bound to no port yet: its first datagram binds it.
    Unbound,
    /// A UDP socket.
    Udp,
    /// It is no descriptor.
    Nothing,
}

/// The socket behind a descriptor, if it goes past the kernel.
#[inline]
pub(crate) fn live(fd: c_int) -> Option<u32> {
    let seen = table()?.look(fd)?;
    match seen.kind() {
        Kind::Live(id) => Some(id),
        Kind::Unknown => classify(fd, seen),
        _ => None,
    }
}

#[cold]
fn classify(fd: c_int, seen: Seen) -> Option<u32> {
    let kind = match ask(fd) {
        Told::Nothing | Told::Unbound => return None,
        Told::Foreign => Kind::Foreign,
        Told::Udp => Kind::Kernel,
    };
    process::uses(fd);
    table()?.settle(fd, seen, kind);
    None
}

fn ask(fd: c_int) -> Told {
    match option(fd, libc::SO_DOMAIN) {
        Ok(libc::AF_INET | libc::AF_INET6) => {}
        Err(libc::EBADF) => return Told::Nothing,
        _ => return Told::Foreign,
    }
    let is_udp =
        option(fd, libc::SO_TYPE) == Ok(libc::SOCK_DGRAM) && option(fd, libc::SO_PROTOCOL) == Ok(libc::IPPROTO_UDP);
    match is_udp {
        false => Told::Foreign,
        true if is_bound(fd) => Told::Udp,
        true => Told::Unbound,
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
pub(crate) fn forget(fd: c_int) {
    if let Some(table) = table()
        && table.look(fd).is_some_and(|seen| seen.kind() != Kind::Unknown)
    {
        table.replace(fd, Kind::Unknown);
    }
}

/// To be called before a descriptor is closed.
pub(crate) fn closes(fd: c_int) {
    match kind(fd) {
        Some(Kind::Live(_) | Kind::Set(_)) if is_own() => {}
        Some(Kind::Foreign | Kind::Kernel) => forget(fd),
        _ => {}
    }
}

/// To be called before all descriptors between these, both with it, are closed.
pub(crate) fn closes_all(first: u32, last: u32) {
    if is_own() {
        let end = process::used().min(c_int::try_from(last).unwrap_or(c_int::MAX).saturating_add(1));
        (c_int::try_from(first).unwrap_or(c_int::MAX)..end).for_each(closes);
    }
}

/// To be called when a descriptor became another name of what an older one is.
pub(crate) fn is_copy(old: c_int, new: c_int) {
    if !is_own() {
        return;
    }
    let (Some(table), Some(kind)) = (table(), kind(old)) else { return };
    match kind {
        Kind::Foreign | Kind::Kernel => {
            process::uses(new);
            table.replace(new, kind);
        }
        _ => forget(new),
    }
}

/// A UDP socket that is left to the kernel from now on.
pub(crate) fn leave_to_kernel(fd: c_int) {
    if live(fd).is_some() && is_own() {}
}

fn kind(fd: c_int) -> Option<Kind> {
    Some(table()?.look(fd)?.kind())
}
