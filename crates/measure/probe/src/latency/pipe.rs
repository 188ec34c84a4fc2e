//! The near side's socket, message by message.

use std::{
    io::{self, Read, Write},
    net::{IpAddr, SocketAddr, TcpStream},
    os::fd::{AsFd, BorrowedFd},
    time::Duration,
};

use kernel::stamp::{self, Stamps};
use model::{LatencySpec, PayloadSize, Protocol, SideSetup};
use socket2::{SockRef, Socket, Type};

use super::make_room;
use crate::{
    ProbeError,
    datagrams::{Carrier, Datagrams},
    error::socket_error,
    far_address,
    greeting::greet,
    socket::{STOP_CHECK, bound, connect_to_program, is_nothing_yet, is_refused, set_wait, set_wait_between_sends},
};

/// A connection that is not made within this time is not made.
const CONNECT: Duration = Duration::from_secs(10);

/// Takes the largest datagram, and many small messages of a stream at once.
const INBOX: usize = 65_536;

/// Bytes to ask a stream for at once. In ping-pong one message is all that can come, and a call that gets all it asked for
/// is a little quicker; under load several may be there.
pub(super) fn stream_buffer(spec: &LatencySpec, length: usize) -> usize {
    if spec.rate.is_some() { INBOX.max(length) } else { length }
}

/// Sends and receives messages of one length.
pub(super) struct Pipe {
    line: Line,
    peer: SocketAddr,
    length: usize,
    inbox: Vec<u8>,
    /// Segments with a greeting: a program of the far host gets none.
    greetings: u64,
    /// Stamps of the latest datagram's arrival.
    came: Stamps,
}

enum Line {
    Udp { socket: Datagrams, is_stamped: bool },
    Tcp(Stream),
}

/// A stream with its partly received message.
struct Stream {
    stream: TcpStream,
    /// Bytes of the current message that the socket has taken.
    offered: usize,
    /// Bytes in the inbox: messages that were handed out, and the beginning of the next.
    have: usize,
    handed_out: usize,
}

impl Pipe {
    /// Connects to the far side. `length` says how long messages are, once the connection is known to carry TCP timestamps
    /// or not.
    pub(super) fn connect(
        spec: &LatencySpec,
        carrier: &Carrier,
        setup: &SideSetup,
        length: impl FnOnce(bool) -> Result<PayloadSize, ProbeError>,
    ) -> Result<Self, ProbeError> {
        let (local, peer, greetings) = (setup.local, far_address(setup)?, u64::from(!setup.agentless_peer));
        let (line, timestamps) = match spec.protocol {
            Protocol::Udp => (Line::Udp { socket: connect_udp(spec, carrier, local, peer)?, is_stamped: false }, false),
            Protocol::Tcp => {
                let stream = connect_tcp(spec, setup, peer)?;
                let timestamps = kernel::socket::tcp_state(&stream)?.timestamps;
                (Line::Tcp(Stream { stream, offered: 0, have: 0, handed_out: 0 }), timestamps)
            }
        };
        let length = length(timestamps)?.0 as usize;
        let inbox = match spec.protocol {
            Protocol::Udp => INBOX,
            Protocol::Tcp => stream_buffer(spec, length),
        };
        Ok(Self { line, peer, length, inbox: vec![0; inbox], greetings, came: Stamps::default() })
    }

    /// Has each datagram stamped from now on, by the card as well where that is worth asking for.
    pub(super) fn stamp(&mut self, hardware: bool) -> Result<(), ProbeError> {
        if let Line::Udp { socket, is_stamped } = &mut self.line {
            stamp::enable(socket.socket(), hardware)?;
            *is_stamped = true;
        }
        Ok(())
    }

    /// Sends a message. `false` where the socket has not taken all of it: the same message has to be offered again.
    #[inline]
    pub(super) fn offer(&mut self, message: &[u8]) -> Result<bool, ProbeError> {
        let is_sent = match &mut self.line {
            Line::Udp { socket, .. } => match socket.send(message) {
                // The kernel hands an earlier datagram's ICMP error to this call; this one was not sent yet.
                Err(error) if is_nothing_yet(&error) || is_refused(&error) => Ok(false),
                other => other.map(|_| true),
            },
            Line::Tcp(stream) => stream.offer(message),
        };
        is_sent.map_err(socket_error("send to", self.peer))
    }

    /// Receives whole messages: one datagram, or as many as came on the stream; `None` where there is nothing yet.
    #[inline]
    pub(super) fn take(&mut self) -> Result<Option<&[u8]>, ProbeError> {
        let taken = match &mut self.line {
            Line::Udp { socket, is_stamped: false } => socket.recv(&mut self.inbox),
            Line::Udp { socket, is_stamped: true } => {
                stamp::receive(socket.socket(), &mut self.inbox).map(|(length, came)| {
                    self.came = came;
                    length
                })
            }
            Line::Tcp(stream) => match stream.take(&mut self.inbox, self.length) {
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                    return Err(ProbeError::PeerClosed { peer: self.peer });
                }
                taken => taken,
            },
        };
        match taken {
            Ok(length) => Ok(Some(&self.inbox[..length])),
            Err(error) if is_nothing_yet(&error) || is_refused(&error) => Ok(None),
            Err(error) => Err(socket_error("receive from", self.peer)(error)),
        }
    }

    /// Stamps of the latest datagram's arrival.
    pub(super) fn came(&self) -> Stamps {
        self.came
    }

    /// Departure stamps of the datagram with this number, as far as they have arrived; stamps of others are discarded.
    pub(super) fn left(&self, number: u32) -> Result<Stamps, ProbeError> {
        let mut left = Stamps::default();
        let Line::Udp { socket, is_stamped: true } = &self.line else { return Ok(left) };
        loop {
            match stamp::next_departure(socket.socket()) {
                Ok((id, stamps)) if id == number => {
                    left.software = left.software.or(stamps.software);
                    left.hardware = left.hardware.or(stamps.hardware);
                }
                Ok(_) => {}
                Err(error) if is_nothing_yet(&error) => return Ok(left),
                Err(error) => return Err(socket_error("read the stamps of what was sent to", self.peer)(error)),
            }
        }
    }

    /// The stream, where it is one: all that is sent on it comes, or it ends.
    #[inline]
    pub(super) fn stream(&self) -> Option<&TcpStream> {
        match &self.line {
            Line::Udp { .. } => None,
            Line::Tcp(stream) => Some(&stream.stream),
        }
    }

    /// Segments with messages that have left; `None` where it is no stream. The greeting had one of its own.
    pub(super) fn segments(&self) -> Result<Option<u64>, ProbeError> {
        let progress = self.stream().map(kernel::socket::tcp_progress).transpose()?;
        Ok(progress.map(|progress| progress.segments.saturating_sub(self.greetings)))
    }

    /// Datagrams that the full socket buffer dropped.
    pub(super) fn overflowed(&self) -> Result<u64, ProbeError> {
        match &self.line {
            Line::Udp { socket, .. } => Ok(socket.overflowed()?),
            Line::Tcp(_) => Ok(0),
        }
    }

    /// Whether the card reads and writes the memory of the datagrams itself; `None` where the kernel's stack does.
    pub(super) fn is_zero_copy(&self) -> Option<bool> {
        match &self.line {
            Line::Udp { socket, .. } => socket.is_zero_copy(),
            Line::Tcp(_) => None,
        }
    }

    /// Datagrams that went through the kernel, where they were to go past it.
    pub(super) fn through_kernel(&self) -> Option<u64> {
        match &self.line {
            Line::Udp { socket, .. } => socket.through_kernel(),
            Line::Tcp(_) => None,
        }
    }

    pub(super) fn peer(&self) -> SocketAddr {
        self.peer
    }

    #[inline]
    pub(super) fn length(&self) -> usize {
        self.length
    }
}

impl AsFd for Pipe {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match &self.line {
            Line::Udp { socket, .. } => socket.as_fd(),
            Line::Tcp(stream) => stream.stream.as_fd(),
        }
    }
}

impl Stream {
    fn offer(&mut self, message: &[u8]) -> io::Result<bool> {
        match self.stream.write(&message[self.offered..]) {
            Ok(0) => Err(io::ErrorKind::WriteZero.into()),
            Ok(length) => {
                self.offered = (self.offered + length) % message.len();
                Ok(self.offered == 0)
            }
            Err(error) if is_nothing_yet(&error) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Gives the length of the whole messages at the beginning of the inbox.
    fn take(&mut self, inbox: &mut [u8], length: usize) -> io::Result<usize> {
        inbox.copy_within(self.handed_out..self.have, 0);
        self.have -= self.handed_out;
        self.handed_out = 0;
        match self.stream.read(&mut inbox[self.have..])? {
            0 => Err(io::ErrorKind::UnexpectedEof.into()),
            received => {
                self.have += received;
                self.handed_out = self.have - self.have % length;
                Ok(self.handed_out)
            }
        }
    }
}

fn connect_udp(
    spec: &LatencySpec,
    carrier: &Carrier,
    local: IpAddr,
    peer: SocketAddr,
) -> Result<Datagrams, ProbeError> {
    let socket = bound(SocketAddr::new(local, 0), Type::DGRAM)?;
    make_room(&socket, spec)?;
    socket.connect(&peer.into()).map_err(socket_error("connect to", peer))?;
    // A sleeping receive wakes by itself to see the timeout or a wish to stop.
    wait_as_asked(&socket, spec, Some(Duration::from(spec.timeout).min(STOP_CHECK)), peer)?;
    carrier.carry(socket.into())
}

fn connect_tcp(spec: &LatencySpec, setup: &SideSetup, peer: SocketAddr) -> Result<TcpStream, ProbeError> {
    let open = || bound(SocketAddr::new(setup.local, 0), Type::STREAM);
    let socket = match setup.agentless_peer {
        true => connect_to_program(peer, CONNECT, open)?,
        false => {
            let socket = open()?;
            socket.connect_timeout(&peer.into(), CONNECT).map_err(socket_error("connect to", peer))?;
            socket
        }
    };
    socket.set_tcp_nodelay(true).map_err(socket_error("set TCP_NODELAY for", peer))?;
    let stream = TcpStream::from(socket);
    if !setup.agentless_peer {
        greet(&stream, setup.token, 0).map_err(socket_error("send to", peer))?;
    }
    // TCP brings every byte or ends, so that no timeout is needed to notice a loss.
    wait_as_asked(&SockRef::from(&stream), spec, None, peer)?;
    Ok(stream)
}

fn wait_as_asked(
    socket: &Socket,
    spec: &LatencySpec,
    patience: Option<Duration>,
    peer: SocketAddr,
) -> Result<(), ProbeError> {
    match spec.rate {
        None => set_wait(socket, spec.mode, patience, peer),
        Some(_) => set_wait_between_sends(socket, spec.mode, peer),
    }
}
