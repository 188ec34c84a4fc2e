//! A connection of the client, and the transaction on it.

use std::{
    io::{self, Read, Write},
    os::fd::AsFd,
};

use kernel::socket::set_option;
use model::{FailureKind, Nanos, WaitMode};
use rustix::{
    event::epoll::{self, EventData, EventFlags},
    fd::OwnedFd,
};
use socket2::{Domain, Socket, Type};

use crate::transactions::{
    label,
    reply::{Outstanding, Progress},
    setting::{Request, Setting},
};

/// Level and name of the option that leaves the choice of a port to connect(2), which knows the peer.
const SOL_IP: i32 = 0;
const IP_BIND_ADDRESS_NO_PORT: i32 = 24;

/// State of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// It is to be opened after a pause.
    Closed,
    /// It is being opened.
    Opening,
    /// It is open (or opened when it is needed), and nothing was asked.
    Idle,
    /// A request is on its way, or its response.
    Asking,
    /// The response came, and the server is about to end the connection.
    Ending,
}

/// A connection of the client.
pub(super) struct Connection {
    socket: Option<Socket>,
    pub(super) state: State,
    /// When the transaction began, or was to begin.
    pub(super) begun: Option<Nanos>,
    /// When the state began.
    pub(super) since: Nanos,
    /// The request that was sent.
    pub(super) request: usize,
    /// Part of it that was sent.
    sent: usize,
    awaited: Outstanding,
    /// Number of the last datagram.
    datagram: u32,
}

impl Default for Connection {
    fn default() -> Self {
        Self {
            socket: None,
            state: State::Closed,
            begun: None,
            since: Nanos(0),
            request: 0,
            sent: 0,
            awaited: Outstanding::Bytes { left: 0, closes: false },
            datagram: 0,
        }
    }
}

impl Connection {
    pub(super) fn is_open(&self) -> bool {
        self.socket.is_some()
    }

    pub(super) fn socket(&self) -> Option<&Socket> {
        self.socket.as_ref()
    }

    /// Since when it has waited for its opening without a transaction, or for its end.
    #[inline]
    pub(super) fn waits_since(&self) -> Option<Nanos> {
        let waits = match self.state {
            State::Opening => self.begun.is_none(),
            State::Ending => true,
            State::Closed | State::Idle | State::Asking => false,
        };
        waits.then_some(self.since)
    }

    /// Whether a part of a request of this length is not sent yet.
    #[inline]
    pub(super) fn is_sending(&self, length: usize) -> bool {
        self.sent < length
    }

    /// Begins to open a connection, or opens a socket for datagrams.
    pub(super) fn open(&mut self, setting: &Setting<'_>, epoll: &OwnedFd, index: u32, is_udp: bool) -> io::Result<()> {
        let kind = if is_udp { Type::DGRAM } else { Type::STREAM };
        let socket = Socket::new(Domain::for_address(setting.peer), kind.nonblocking(), None)?;
        // Nagle's algorithm holds back no segment that is the first on its connection.
        let is_first_alone = setting.spec.exchange.connects_each_time() && setting.are_requests_short();
        if !is_udp && !is_first_alone {
            socket.set_tcp_nodelay(true)?;
        }
        if let Some(local) = setting.local {
            set_option(&socket, SOL_IP, IP_BIND_ADDRESS_NO_PORT, 1)?;
            socket.bind(&local.into())?;
        }
        if setting.spec.mode == WaitMode::BusyPoll {
            crate::socket::busy_poll(&socket).map_err(io::Error::other)?;
        }
        match socket.connect(&setting.peer.into()) {
            Err(error) if error.raw_os_error() != Some(rustix::io::Errno::INPROGRESS.raw_os_error()) => {
                return Err(error);
            }
            _ => {}
        }
        // Datagrams are received one at a time, and the rest of them told of again.
        let of_stream = EventFlags::IN | EventFlags::OUT | EventFlags::RDHUP | EventFlags::ET;
        let flags = if is_udp { EventFlags::IN } else { of_stream };
        epoll::add(epoll, socket.as_fd(), EventData::new_u64(index.into()), flags)?;
        self.socket = Some(socket);
        Ok(())
    }

    pub(super) fn close(&mut self) {
        self.socket = None;
    }

    /// The pending error of the socket (SO_ERROR).
    pub(super) fn error(&self) -> Option<io::Error> {
        self.socket.as_ref()?.take_error().ok().flatten()
    }

    /// Makes ready for the response to a request.
    #[inline]
    pub(super) fn ask(&mut self, request: &Request, number: usize, is_http: bool) {
        (self.request, self.sent) = (number, 0);
        if is_http {
            self.awaited.head(request.answer);
        } else {
            self.awaited = Outstanding::Bytes { left: request.answer, closes: false };
        }
    }

    /// Writes the next number into a datagram, and the token that identifies this trial.
    pub(super) fn label(&mut self, token: u32, datagram: &mut [u8]) {
        self.datagram = self.datagram.wrapping_add(1);
        label::put(token, self.datagram, datagram);
    }

    /// Whether a datagram answers the last one.
    pub(super) fn is_labelled(&self, token: u32, datagram: &[u8]) -> bool {
        label::is(token, self.datagram, datagram)
    }

    /// Sends the rest of a request, as far as there is room.
    #[inline]
    pub(super) fn send(&mut self, request: &[u8]) -> io::Result<()> {
        let Some(mut socket) = self.socket.as_ref() else { return Ok(()) };
        while self.sent < request.len() {
            match socket.write(&request[self.sent..]) {
                Ok(length) => self.sent += length,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    #[inline]
    pub(super) fn receive(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.socket.as_ref() {
            Some(mut socket) => socket.read(buffer),
            None => Err(io::ErrorKind::WouldBlock.into()),
        }
    }

    /// Takes bytes of the response.
    #[inline]
    pub(super) fn take(&mut self, bytes: &[u8]) -> Result<Progress, FailureKind> {
        self.awaited.take(bytes)
    }
}
