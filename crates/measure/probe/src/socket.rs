//! Waiting on sockets the two ways a program can: asking again and again, or sleeping in the call.

use std::{
    io,
    net::{IpAddr, SocketAddr, UdpSocket},
    os::fd::AsFd,
    thread,
    time::{Duration, Instant},
};

use model::WaitMode;
use rustix::{
    fd::OwnedFd,
    io::Errno,
    net::{SocketFlags, accept_with},
};
use socket2::{Domain, Socket, Type};

use crate::error::{ProbeError, socket_error};

/// A sleeping call looks this often whether it should stop.
pub(crate) const STOP_CHECK: Duration = Duration::from_millis(100);

/// A program of the far host was started a moment ago, and may not listen yet.
const FAR_PROGRAM: Duration = Duration::from_secs(5);

/// Connects to a program of the far host: again and again while it refuses, for a few seconds.
pub(crate) fn connect_to_program(
    peer: SocketAddr,
    within: Duration,
    open: impl Fn() -> Result<Socket, ProbeError>,
) -> Result<Socket, ProbeError> {
    let began = Instant::now();
    loop {
        let socket = open()?;
        match socket.connect_timeout(&peer.into(), within) {
            Ok(()) => return Ok(socket),
            Err(error) if is_refused(&error) && began.elapsed() < FAR_PROGRAM => {
                thread::sleep(Duration::from_millis(50));
            }
            Err(error) => return Err(socket_error("connect to", peer)(error)),
        }
    }
}

/// Connections that wait to be accepted, as far as the kernel allows.
pub(crate) const BACKLOG: u32 = 4096;

/// A socket bound to this address.
pub(crate) fn bound(local: SocketAddr, kind: Type) -> Result<Socket, ProbeError> {
    bind(open(local, kind)?, local)
}

/// A socket that is not bound yet.
pub(crate) fn open(local: SocketAddr, kind: Type) -> Result<Socket, ProbeError> {
    Socket::new(Domain::for_address(local), kind, None).map_err(socket_error("open a socket for", local))
}

/// Binds a socket to this address.
pub(crate) fn bind(socket: Socket, local: SocketAddr) -> Result<Socket, ProbeError> {
    socket.set_reuse_address(true).map_err(socket_error("set SO_REUSEADDR for", local))?;
    socket.bind(&local.into()).map_err(|error| match error.kind() {
        io::ErrorKind::AddrNotAvailable => ProbeError::Unable {
            what: format!("address {}", local.ip()),
            why: "this end does not have it any more (\"ip addr\"; IPv6 addresses go with a link that goes down); take the bed down and \
                  up again"
                .to_owned(),
        },
        _ => socket_error("bind to", local)(error),
    })?;
    Ok(socket)
}

/// A UDP socket for messages on a free port of this address, and its address.
pub(crate) fn open_for_messages(local: IpAddr) -> Result<(UdpSocket, SocketAddr), ProbeError> {
    let any_port = SocketAddr::new(local, 0);
    let socket: UdpSocket = bound(any_port, Type::DGRAM)?.into();
    let local = socket.local_addr().map_err(socket_error("ask the port of", any_port))?;
    Ok((socket, local))
}

/// Sends a message; one that finds no way is lost.
pub(crate) fn send_or_lose(socket: &UdpSocket, message: &[u8], to: SocketAddr) -> Result<(), ProbeError> {
    match socket.send_to(message, to) {
        Err(error) if !is_lost(&error) => Err(socket_error("send to", to)(error)),
        _ => Ok(()),
    }
}

/// The message is lost, as by a link that is down or a neighbour that does not answer, and may be sent again.
pub(crate) fn is_lost(error: &io::Error) -> bool {
    use io::ErrorKind::{HostUnreachable, NetworkDown, NetworkUnreachable};
    let is_way_gone = matches!(error.kind(), HostUnreachable | NetworkDown | NetworkUnreachable);
    is_way_gone || is_nothing_yet(error) || is_refused(error)
}

/// The next connection, which does not block; `None` where there is none to be had now.
pub(crate) fn accept(door: impl AsFd) -> io::Result<Option<OwnedFd>> {
    match accept_with(door, SocketFlags::NONBLOCK | SocketFlags::CLOEXEC) {
        Ok(accepted) => Ok(Some(accepted)),
        Err(error @ (Errno::BADF | Errno::INVAL | Errno::NOTSOCK | Errno::FAULT)) => Err(error.into()),
        // They wait in the queue until a descriptor is free.
        Err(Errno::MFILE | Errno::NFILE | Errno::NOBUFS | Errno::NOMEM) => {
            thread::sleep(Duration::from_millis(1));
            Ok(None)
        }
        // Nobody, or the error of a connection that ended again (accept(2)).
        Err(_) => Ok(None),
    }
}

/// Time for which a receive call lets the kernel poll the card's queue before it sleeps: the lower end of what the kernel's
/// documentation proposes for many sockets (net.core.busy_read).
const BUSY_POLL: Duration = Duration::from_micros(50);

/// Makes the socket wait as asked; a sleeping call returns after `patience` at the latest, or never without.
pub(crate) fn set_wait(
    socket: &Socket,
    mode: WaitMode,
    patience: Option<Duration>,
    on: SocketAddr,
) -> Result<(), ProbeError> {
    if mode == WaitMode::BusyPoll {
        busy_poll(socket)?;
    }
    match mode {
        WaitMode::Spin => socket.set_nonblocking(true).map_err(socket_error("set O_NONBLOCK for", on)),
        WaitMode::Block | WaitMode::BusyPoll => {
            socket.set_read_timeout(patience).map_err(socket_error("set SO_RCVTIMEO for", on))
        }
    }
}

/// Makes the socket wait as asked for a program that has to send in time: no call on it sleeps.
pub(crate) fn set_wait_between_sends(socket: &Socket, mode: WaitMode, on: SocketAddr) -> Result<(), ProbeError> {
    if mode == WaitMode::BusyPoll {
        busy_poll(socket)?;
    }
    socket.set_nonblocking(true).map_err(socket_error("set O_NONBLOCK for", on))
}

pub(crate) fn busy_poll(socket: &Socket) -> Result<(), ProbeError> {
    kernel::stamp::busy_poll(socket, BUSY_POLL).map_err(|error| match error.io_kind() {
        io::ErrorKind::PermissionDenied => ProbeError::Unable {
            what: "busy-poll".to_owned(),
            why: format!("{error}; run wireproof as root (not in a user namespace), or measure spin or block instead"),
        },
        _ => error.into(),
    })
}

/// The same for an epoll set; nothing on kernels before 6.9.
pub(crate) fn busy_poll_set(set: &impl AsFd) -> Result<(), ProbeError> {
    kernel::stamp::busy_poll_set(set, BUSY_POLL).map(drop).map_err(ProbeError::from)
}

/// Error of a call that would have to wait.
pub(crate) const WOULD_BLOCK: io::ErrorKind = io::ErrorKind::WouldBlock;

/// Nothing there yet: the call would block, waited as long as the socket may, or a signal came. A connection that the kernel gave up
/// (ETIMEDOUT) says so once, and then looks like one that its peer ended.
pub(crate) fn is_nothing_yet(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
}

/// A UDP socket reports that nobody listened at the other end (ICMP port unreachable); the datagram is simply lost.
pub(crate) fn is_refused(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::ConnectionRefused
}
