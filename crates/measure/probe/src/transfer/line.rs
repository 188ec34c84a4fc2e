//! The connection over which the ends of a transfer talk: lines of text.

use std::{
    io::{Read, Write},
    net::{SocketAddr, TcpStream},
    thread,
    time::{Duration, Instant},
};

use socket2::Type;

use super::said::Lines;
use crate::{
    Control, ProbeError,
    error::socket_error,
    greeting::{greet, peer_of},
    socket::{STOP_CHECK, bound, is_nothing_yet},
};

/// Time that the other end has to tell its own failure, which explains a closed connection better.
const EXPLAINED: Duration = Duration::from_secs(2);

/// Time limit to connect.
const CONNECT: Duration = Duration::from_secs(10);

/// One end of it.
pub(super) struct Line {
    stream: TcpStream,
    peer: SocketAddr,
    unread: Lines,
}

impl Line {
    /// Takes an accepted connection.
    pub(super) fn new(stream: TcpStream) -> Result<Self, ProbeError> {
        let peer = peer_of(&stream)?;
        stream.set_nonblocking(false).map_err(socket_error("clear O_NONBLOCK for", peer))?;
        stream.set_nodelay(true).map_err(socket_error("set TCP_NODELAY for", peer))?;
        stream.set_read_timeout(Some(STOP_CHECK)).map_err(socket_error("set SO_RCVTIMEO for", peer))?;
        Ok(Self { stream, peer, unread: Lines::default() })
    }

    pub(super) fn say(&mut self, words: &str) -> Result<(), ProbeError> {
        let sent = self.stream.write_all(format!("{words}\n").as_bytes());
        sent.map_err(socket_error("send to", self.peer))
    }

    /// The next line. `check` is asked now and then meanwhile.
    pub(super) fn hear(
        &mut self,
        control: &Control,
        mut check: impl FnMut() -> Result<(), ProbeError>,
    ) -> Result<String, ProbeError> {
        loop {
            if let Some(line) = self.unread.next() {
                return Ok(line);
            }
            if control.stopped() {
                return Err(ProbeError::Cancelled);
            }
            check()?;
            let mut room = [0; 4096];
            match self.stream.read(&mut room) {
                Ok(length @ 1..) if self.unread.take(&room[..length]) => {}
                Err(error) if is_nothing_yet(&error) => {}
                Ok(_) | Err(_) => return Err(explained(control, ProbeError::PeerClosed { peer: self.peer })),
            }
        }
    }
}

/// An error that the other end's failure may explain: that one is told first, and stops this side.
pub(super) fn explained(control: &Control, error: ProbeError) -> ProbeError {
    let began = Instant::now();
    while began.elapsed() < EXPLAINED {
        if control.stopped() {
            return ProbeError::Cancelled;
        }
        thread::sleep(Duration::from_millis(10));
    }
    error
}

/// A connection to the far end's socket, with its purpose told.
pub(super) fn connect(local: SocketAddr, to: SocketAddr, token: u32, purpose: u32) -> Result<TcpStream, ProbeError> {
    let socket = bound(local, Type::STREAM)?;
    socket.connect_timeout(&to.into(), CONNECT).map_err(socket_error("connect to", to))?;
    let stream = TcpStream::from(socket);
    greet(&stream, token, purpose).map_err(socket_error("send to", to))?;
    Ok(stream)
}
