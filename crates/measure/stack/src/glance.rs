//! What a descriptor that may be anything is, at the first glance.

use std::{
    net::SocketAddr,
    os::fd::{BorrowedFd, RawFd},
};

use rustix::net::{getpeername, getsockname};

use crate::{Reason, calls::option, look::kind};

/// What a descriptor is.
#[derive(Clone, Copy)]
pub(crate) enum Told {
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

/// Looks at a descriptor that may be anything.
pub(crate) fn glance(fd: RawFd) -> Told {
    match option::<4>(fd, libc::SOL_SOCKET, libc::SO_DOMAIN) {
        Ok((domain, _)) if [libc::AF_INET, libc::AF_INET6].contains(&i32::from_ne_bytes(domain)) => {}
        Err(libc::EBADF) => return Told::Nothing,
        _ => return Told::Foreign,
    }
    match kind(fd) {
        Err(why) => Told::Other(why),
        Ok(_) if is_bound(fd) => Told::Udp,
        Ok(_) => Told::Unbound,
    }
}

fn is_bound(fd: RawFd) -> bool {
    port(fd).is_some()
}

/// The port that a socket is bound to.
pub(crate) fn port(fd: RawFd) -> Option<u16> {
    // SAFETY: the program's own descriptor, which it uses right now.
    let fd = unsafe { BorrowedFd::borrow_raw(fd) };
    local(fd).map(|local| local.port()).filter(|port| *port != 0)
}

/// Where a socket is bound and where it is connected to, as far as the kernel says.
pub(crate) fn ends(fd: BorrowedFd<'_>) -> (Option<SocketAddr>, Option<SocketAddr>) {
    let peer = getpeername(fd).ok().flatten().and_then(|peer| SocketAddr::try_from(peer).ok());
    (local(fd), peer.map(canonical))
}

fn local(fd: BorrowedFd<'_>) -> Option<SocketAddr> {
    getsockname(fd).ok().and_then(|local| SocketAddr::try_from(local).ok()).map(canonical)
}

fn canonical(end: SocketAddr) -> SocketAddr {
    SocketAddr::new(end.ip().to_canonical(), end.port())
}
