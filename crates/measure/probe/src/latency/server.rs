//! The side that answers each message with itself.

use std::{
    io::{self, Read, Write},
    net::{SocketAddr, TcpListener, TcpStream, UdpSocket},
};

use kernel::clock;
use model::{LatencySpec, Protocol, Side, SideFigures, SideSetup, WaitMode, probe::ONE_WAY_LEAST_PAYLOAD};
use socket2::{SockRef, Type};

use super::{background::Background, carries_stamps, frame_of, make_room, message, pipe::stream_buffer};
use crate::{
    Control, Prepared, ProbeError, Window,
    datagrams::{Carrier, Datagrams},
    error::socket_error,
    greeting::{PendingConnections, peer_of},
    socket::{BACKLOG, STOP_CHECK, bound, is_nothing_yet, is_refused, set_wait},
};

/// Larger than any payload.
const BUFFER: usize = 65_536;

/// Ports that are tried where one number is needed twice.
const PORTS: usize = 8;

/// A prepared server.
pub(super) struct Server {
    spec: LatencySpec,
    setup: SideSetup,
    address: SocketAddr,
    carrier: Carrier,
    listening: Listening,
    load: Option<Background>,
}

enum Listening {
    Udp(UdpSocket),
    Tcp(PendingConnections),
}

/// Counts of a server.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Served {
    /// Messages answered.
    pub(super) answered: u64,
    /// Datagrams that its socket's full buffer dropped.
    overflowed: u64,
    /// Datagrams that went through the kernel, where they were to go past it.
    through_kernel: Option<u64>,
    /// Whether its card read and wrote their memory itself, where they were to go past the kernel.
    zero_copy: Option<bool>,
}

/// Socket and state for answering datagrams.
struct Answering<'a> {
    socket: &'a Datagrams,
    peer: SocketAddr,
    with_stamps: bool,
    control: &'a Control,
}

impl Answering<'_> {
    /// Sends a message back. Gives the number of messages answered: 1, or 0 when the server shall stop.
    #[inline]
    fn answer(&self, message: &mut [u8]) -> Result<u64, ProbeError> {
        loop {
            stamp(message, self.with_stamps);
            match self.socket.send(message) {
                Ok(_) => return Ok(1),
                // No room, or an earlier datagram's ICMP error: this one is sent again.
                Err(error) if is_nothing_yet(&error) || is_refused(&error) => {
                    if self.control.stopped() {
                        return Ok(0);
                    }
                }
                Err(error) => return Err(socket_error("send to", self.peer)(error)),
            }
        }
    }
}

impl Server {
    /// Listens on a free port of this address. A load is accepted on the TCP port of the same number, which may be taken.
    pub(super) fn prepare(spec: &LatencySpec, setup: &SideSetup) -> Result<Self, ProbeError> {
        let attempts = if spec.tcp_load.is_some() { PORTS } else { 1 };
        let ready = (1..attempts).find_map(|_| Self::at_any_port(spec, setup).ok());
        ready.map_or_else(|| Self::at_any_port(spec, setup), Ok)
    }

    fn at_any_port(spec: &LatencySpec, setup: &SideSetup) -> Result<Self, ProbeError> {
        let any_port = SocketAddr::new(setup.local, 0);
        let carrier = Carrier::prepare(spec.stack, spec.mode, setup)?;
        let unknown = socket_error("ask the port of", any_port);
        let (listening, address) = match spec.protocol {
            Protocol::Udp => {
                let socket = bound(any_port, Type::DGRAM)?;
                make_room(&socket, spec)?;
                set_wait(&socket, spec.mode, Some(STOP_CHECK), any_port)?;
                let socket = UdpSocket::from(socket);
                let address = socket.local_addr().map_err(unknown)?;
                (Listening::Udp(socket), address)
            }
            Protocol::Tcp => {
                let socket = bound(any_port, Type::STREAM)?;
                socket.listen(BACKLOG as i32).map_err(socket_error("listen on", any_port))?;
                socket.set_nonblocking(true).map_err(socket_error("set O_NONBLOCK for", any_port))?;
                let listener = TcpListener::from(socket);
                let address = listener.local_addr().map_err(unknown)?;
                (Listening::Tcp(PendingConnections::new(listener, address, setup.token)), address)
            }
        };
        let load = Background::prepare(spec, Side::Far, setup, address.port())?;
        Ok(Self { spec: spec.clone(), setup: setup.clone(), address, carrier, listening, load })
    }

    /// Answers until stopped, or until a TCP client hangs up.
    pub(super) fn serve(mut self, control: &Control) -> Result<Served, ProbeError> {
        let stream = match &mut self.listening {
            Listening::Udp(_) => None,
            Listening::Tcp(pending) => client(pending, control)?,
        };
        match (&self.listening, stream) {
            (Listening::Udp(socket), _) => self.serve_udp(socket, control),
            (Listening::Tcp(_), Some(stream)) => {
                Ok(Served { answered: self.serve_tcp(stream, control)?, ..Served::default() })
            }
            (Listening::Tcp(_), None) => Ok(Served::default()),
        }
    }

    fn serve_udp(&self, socket: &UdpSocket, control: &Control) -> Result<Served, ProbeError> {
        let payload = self.payload(false)?;
        let with_stamps = carries_stamps(&self.setup, payload);
        let mut buffer = vec![0; BUFFER];
        let Some((length, peer)) = self.first_message(socket, &mut buffer, payload, control)? else {
            return Ok(Served { overflowed: kernel::socket::drops(socket)?, ..Served::default() });
        };
        // A connected socket saves a route look-up for each answer, and lets nobody else in.
        socket.connect(peer).map_err(socket_error("connect to", peer))?;
        let listening = socket.try_clone().map_err(socket_error("duplicate the socket to", peer))?;
        let socket = &self.carrier.carry(listening)?;
        let answering = Answering { socket, peer, with_stamps, control };
        let mut answered = answering.answer(&mut buffer[..length])?;
        answered += self.answer_queued(&answering, &mut buffer)?;
        while !control.stopped() {
            match socket.recv(&mut buffer) {
                Ok(length) => answered += answering.answer(&mut buffer[..length])?,
                Err(error) if is_nothing_yet(&error) || is_refused(&error) => {}
                Err(error) => return Err(socket_error("receive from", peer)(error)),
            }
        }
        let (overflowed, through_kernel) = (socket.overflowed()?, socket.through_kernel());
        Ok(Served { answered, overflowed, through_kernel, zero_copy: socket.is_zero_copy() })
    }

    /// Waits for the first message of this trial. Anybody can send to the port: messages of others are not answered.
    fn first_message(
        &self,
        socket: &UdpSocket,
        buffer: &mut [u8],
        payload: usize,
        control: &Control,
    ) -> Result<Option<(usize, SocketAddr)>, ProbeError> {
        while !control.stopped() {
            match socket.recv_from(buffer) {
                Ok((length, peer)) if message::begins(&buffer[..length], self.setup.token, payload) => {
                    return Ok(Some((length, peer)));
                }
                Ok(_) => {}
                Err(error) if is_nothing_yet(&error) || is_refused(&error) => {}
                Err(error) => return Err(socket_error("receive on", self.address)(error)),
            }
        }
        Ok(None)
    }

    /// Answers messages queued before the socket was connected; strangers may have sent them. Returns the number answered.
    fn answer_queued(&self, answering: &Answering<'_>, buffer: &mut [u8]) -> Result<u64, ProbeError> {
        let Answering { peer, control, .. } = *answering;
        let socket = answering.socket.socket();
        let waits = self.spec.mode != WaitMode::Spin;
        socket.set_nonblocking(true).map_err(socket_error("set O_NONBLOCK for", peer))?;
        let mut answered = 0;
        while !control.stopped() {
            match socket.recv_from(buffer) {
                Ok((length, from)) if from == peer => answered += answering.answer(&mut buffer[..length])?,
                Ok(_) => {}
                Err(error) if is_refused(&error) => {}
                Err(error) if is_nothing_yet(&error) => break,
                Err(error) => return Err(socket_error("receive from", peer)(error)),
            }
        }
        socket.set_nonblocking(!waits).map_err(socket_error("clear O_NONBLOCK for", peer))?;
        Ok(answered)
    }

    fn serve_tcp(&self, mut stream: TcpStream, control: &Control) -> Result<u64, ProbeError> {
        let peer = peer_of(&stream)?;
        let socket = SockRef::from(&stream);
        socket.set_nonblocking(false).map_err(socket_error("clear O_NONBLOCK for", peer))?;
        socket.set_tcp_nodelay(true).map_err(socket_error("set TCP_NODELAY for", peer))?;
        set_wait(&socket, self.spec.mode, None, peer)?;
        let payload = self.payload(kernel::socket::tcp_state(&stream)?.timestamps)?;
        let with_stamps = carries_stamps(&self.setup, payload);
        let copy = stream.try_clone().map_err(socket_error("duplicate the stream to", peer))?;
        let _wakeable = control.wakes(copy);
        let mut buffer = vec![0; stream_buffer(&self.spec, payload)];
        let (mut have, mut answered) = (0, 0);
        loop {
            match receive(&mut stream, &mut buffer[have..], control).map_err(socket_error("receive from", peer))? {
                0 => return Ok(answered),
                received => have += received,
            }
            let whole = have - have % payload;
            // Each by itself, so that each is a segment of its own.
            for message in buffer[..whole].chunks_exact_mut(payload) {
                stamp(message, with_stamps);
                if !send(&mut stream, message, control).map_err(socket_error("send to", peer))? {
                    return Ok(answered);
                }
                answered += 1;
            }
            buffer.copy_within(whole..have, 0);
            have -= whole;
        }
    }

    fn payload(&self, tcp_timestamps: bool) -> Result<usize, ProbeError> {
        Ok(frame_of(&self.spec, tcp_timestamps, self.setup.mtu)?.1.0 as usize)
    }
}

impl Prepared for Server {
    fn address(&self) -> Option<SocketAddr> {
        Some(self.address)
    }

    fn run(mut self: Box<Self>, control: &Control, _window: &dyn Window) -> Result<SideFigures, ProbeError> {
        let (served, load) = match self.load.take() {
            None => (self.serve(control)?, None),
            Some(load) => {
                let (served, side) = load.beside(control, |_| self.serve(control))?;
                (served, Some(side))
            }
        };
        let Served { answered, overflowed, through_kernel, zero_copy } = served;
        Ok(SideFigures::LatencyFar { answered, overflowed, through_kernel, zero_copy, load })
    }
}

/// The trial's connection.
fn client(pending: &mut PendingConnections, control: &Control) -> Result<Option<TcpStream>, ProbeError> {
    while !control.stopped() {
        if let Some((stream, _)) = pending.next()? {
            return Ok(Some(stream));
        }
    }
    Ok(None)
}

/// Puts the two stamps into a message that was received just now and is sent at once: one reading of the clock serves for
/// both, because a second one would take longer than all that happens between them.
#[inline]
fn stamp(message: &mut [u8], with_stamps: bool) {
    if with_stamps && message.len() >= ONE_WAY_LEAST_PAYLOAD.0 as usize {
        let now = clock::now();
        message::put_stamps(message, now, now);
    }
}

/// Receives what there is; 0 when the client hung up or the server shall stop.
fn receive(stream: &mut TcpStream, buffer: &mut [u8], control: &Control) -> io::Result<usize> {
    loop {
        match stream.read(buffer) {
            Err(error) if hung_up(&error) => return Ok(0),
            Err(error) if is_nothing_yet(&error) => {
                if control.stopped() {
                    return Ok(0);
                }
            }
            received => return received,
        }
    }
}

/// Sends all of a message; `false` when the client hung up or the server shall stop.
fn send(stream: &mut TcpStream, mut message: &[u8], control: &Control) -> io::Result<bool> {
    while !message.is_empty() {
        match stream.write(message) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(length) => message = &message[length..],
            Err(error) if is_nothing_yet(&error) && !control.stopped() => {}
            Err(error) if hung_up(&error) || control.stopped() => return Ok(false),
            Err(error) => return Err(error),
        }
    }
    Ok(true)
}

fn hung_up(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe)
}
