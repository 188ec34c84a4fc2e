//! Waiting on sockets the two ways a program can: asking again and again, or sleeping in the call.

use std::{
    io::{self, Write},
    net::{SocketAddr, TcpStream},
    time::Duration,
};

use model::WaitMode;
use socket2::{Domain, Socket, Type};

use crate::error::{ProbeError, socket_error};

/// A sleeping call looks this often whether it should stop.
pub(crate) const STOP_CHECK: Duration = Duration::from_millis(100);

/// A socket bound to this address.
pub(crate) fn bound(local: SocketAddr, kind: Type) -> Result<Socket, ProbeError> {
    let socket =
        Socket::new(Domain::for_address(local), kind, None).map_err(socket_error("open a socket for", local))?;
    socket.set_reuse_address(true).map_err(socket_error("set SO_REUSEADDR for", local))?;
    socket.bind(&local.into()).map_err(socket_error("bind to", local))?;
    Ok(socket)
}

/// Makes the socket wait as asked; a sleeping call returns after `patience` at the latest, or never without.
pub(crate) fn set_wait(
    socket: &Socket,
    mode: WaitMode,
    patience: Option<Duration>,
    on: SocketAddr,
) -> Result<(), ProbeError> {
    match mode {
        WaitMode::Spin => socket.set_nonblocking(true).map_err(socket_error("set O_NONBLOCK for", on)),
        WaitMode::Block => socket.set_read_timeout(patience).map_err(socket_error("set SO_RCVTIMEO for", on)),
    }
}

/// Nothing there yet: the call would block, timed out, or a signal came.
pub(crate) fn is_nothing_yet(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut | io::ErrorKind::Interrupted)
}

/// A UDP socket reports that nobody listened at the other end (ICMP port unreachable); the datagram is simply lost.
pub(crate) fn is_refused(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::ConnectionRefused
}

/// Writes all of a message, also where the socket does not wait and its buffer is full for a moment.
pub(crate) fn send_all(stream: &mut TcpStream, mut message: &[u8]) -> io::Result<()> {
    while !message.is_empty() {
        match stream.write(message) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(length) => message = &message[length..],
            Err(error) if is_nothing_yet(&error) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
