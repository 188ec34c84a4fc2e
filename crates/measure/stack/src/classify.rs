//! Kind of a program's descriptor.

use std::{
    net::SocketAddr,
    os::fd::{BorrowedFd, RawFd},
};

use grant::{Control, control::Ends};
use model::bypass::Reason;
use rustix::net::{getpeername, getsockname};

use crate::calls::{cookie, number, option};

/// The class of a descriptor.
#[derive(Clone, Copy)]
pub enum Class {
    /// No IP socket.
    Foreign,
    /// An IP socket other than UDP: its kind, as a reason.
    Other(Reason),
    /// A UDP socket without a port; its first datagram binds it.
    Unbound,
    /// A UDP socket.
    Udp,
    /// Not an open descriptor.
    Nothing,
}

/// Asks the kernel for the class of a descriptor.
pub fn classify(fd: RawFd) -> Class {
    match option::<4>(fd, libc::SOL_SOCKET, libc::SO_DOMAIN) {
        Ok((domain, _)) if [libc::AF_INET, libc::AF_INET6].contains(&i32::from_ne_bytes(domain)) => {}
        Err(libc::EBADF) => return Class::Nothing,
        _ => return Class::Foreign,
    }
    match is_v6(fd) {
        Err(why) => Class::Other(why),
        Ok(_) if port(fd).is_some() => Class::Udp,
        Ok(_) => Class::Unbound,
    }
}

/// Whether a UDP socket is an IPv6 socket.
///
/// # Errors
/// If it is no UDP socket: its kind.
pub fn is_v6(fd: RawFd) -> Result<bool, Reason> {
    let of = |name: i32| number(fd, libc::SOL_SOCKET, name);
    match [of(libc::SO_DOMAIN), of(libc::SO_TYPE), of(libc::SO_PROTOCOL)] {
        [domain @ (libc::AF_INET | libc::AF_INET6), libc::SOCK_DGRAM, libc::IPPROTO_UDP] => {
            Ok(domain == libc::AF_INET6)
        }
        [libc::AF_INET | libc::AF_INET6, libc::SOCK_STREAM, libc::IPPROTO_TCP] => Err(Reason::Tcp),
        _ => Err(Reason::NotUdp),
    }
}

/// Records a socket that stays with the kernel, with the reason.
pub fn note(page: &Control, fd: RawFd, why: Reason) {
    page.note(fd, cookie(fd).unwrap_or_default(), ends(fd), why);
}

/// The socket's local port.
pub fn port(fd: RawFd) -> Option<u16> {
    ends(fd).0.map(|local| local.port()).filter(|port| *port != 0)
}

/// Local and peer addresses of a socket, as far as the kernel tells.
pub(crate) fn ends(fd: RawFd) -> Ends {
    // SAFETY: the program's own descriptor, in use at the moment.
    let fd = unsafe { BorrowedFd::borrow_raw(fd) };
    let canonical = |end: SocketAddr| SocketAddr::new(end.ip().to_canonical(), end.port());
    let local = getsockname(fd).ok().and_then(|local| SocketAddr::try_from(local).ok());
    let peer = getpeername(fd).ok().flatten().and_then(|peer| SocketAddr::try_from(peer).ok());
    (local.map(canonical), peer.map(canonical))
}
