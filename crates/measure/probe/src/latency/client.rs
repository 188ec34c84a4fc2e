//! The side that sends first and holds the clock.

use std::{
    io::Read,
    net::{IpAddr, SocketAddr, TcpStream, UdpSocket},
    time::Duration,
};

use kernel::clock;
use model::{LatencyResult, LatencySpec, Mtu, Nanos, PayloadSize, Protocol};
use socket2::Type;

use super::{
    book::{Arrival, Book},
    payload_of,
};
use crate::{
    Control, ProbeError, Window,
    error::socket_error,
    socket::{STOP_CHECK, bound, is_nothing_yet, is_refused, send_all, set_wait},
};

/// A peer that answers nothing for this long is gone. Longer than the silence after which the controller gives an agent
/// up, so that an agent that hangs is named as such.
const GONE: Duration = Duration::from_secs(15);

/// A prepared client: connected, with its message at hand.
pub struct Client {
    spec: LatencySpec,
    pipe: Pipe,
    peer: SocketAddr,
    payload: PayloadSize,
    tcp_timestamps: bool,
    message: Vec<u8>,
}

enum Pipe {
    Udp(UdpSocket),
    Tcp(TcpStream),
}

/// How waiting for one reply ended.
enum Wait {
    Reply,
    TimedOut,
    Stopped,
}

impl Client {
    /// Connects to the server. `mtu` is that of the interface it leaves by.
    pub fn prepare(spec: &LatencySpec, local: IpAddr, peer: SocketAddr, mtu: Mtu) -> Result<Self, ProbeError> {
        let (pipe, tcp_timestamps) = match spec.protocol {
            Protocol::Udp => (Pipe::Udp(connect_udp(spec, local, peer)?), false),
            Protocol::Tcp => {
                let stream = connect_tcp(spec, local, peer)?;
                let timestamps = kernel::socket::tcp_info(&stream)?.timestamps;
                (Pipe::Tcp(stream), timestamps)
            }
        };
        let payload = payload_of(spec, tcp_timestamps, mtu)?;
        let message = vec![0; payload.0 as usize];
        Ok(Self { spec: spec.clone(), pipe, peer, payload, tcp_timestamps, message })
    }

    /// Makes all round trips, warm-up first.
    pub fn run(mut self, control: &Control, window: &dyn Window) -> Result<LatencyResult, ProbeError> {
        let clock_cost_ns = clock::cost();
        control.expect(self.spec.warmup + self.spec.count);
        let _wakeable = match &self.pipe {
            Pipe::Tcp(stream) => {
                let stream = stream.try_clone().map_err(socket_error("duplicate the stream to", self.peer))?;
                Some(control.wakes(stream))
            }
            Pipe::Udp(_) => None,
        };
        let (mut warm_up, mut book) = (Book::new(), Book::new());
        self.round_trips(0..self.spec.warmup, &mut warm_up, control)?;
        window.opened();
        let began = clock::now();
        self.round_trips(self.spec.warmup..self.spec.warmup + self.spec.count, &mut book, control)?;
        let seconds = Nanos(clock::now().0 - began.0).as_secs_f64();
        window.closed();
        let (sample, lost, late, reordered) = book.close();
        Ok(LatencyResult {
            payload_size: self.payload,
            tcp_timestamps: self.tcp_timestamps,
            sent: self.spec.count,
            lost,
            late,
            reordered,
            rtt_ns: sample.summary(),
            achieved_pps: (self.spec.count - lost) as f64 / seconds,
            clock_cost_ns,
            histogram: sample.encode(),
        })
    }

    fn round_trips(
        &mut self,
        numbers: std::ops::Range<u64>,
        book: &mut Book,
        control: &Control,
    ) -> Result<(), ProbeError> {
        let mut heard = clock::now();
        for number in numbers {
            if control.stopped() {
                return Err(ProbeError::Cancelled);
            }
            // The message has room for 32 bits; over 4 billion round trips the number comes round, long after any reply.
            let short = number as u32;
            self.message[..4].copy_from_slice(&short.to_be_bytes());
            let sent = clock::now();
            self.send()?;
            match self.wait(short, sent, book, control)? {
                Wait::Reply => {
                    heard = clock::now();
                    self.note(heard.0 - sent.0, book);
                }
                Wait::TimedOut => {
                    book.gave_up(short);
                    self.check_alive(heard)?;
                }
                Wait::Stopped => return Err(ProbeError::Cancelled),
            }
            control.reached(number + 1);
        }
        Ok(())
    }

    fn check_alive(&self, heard: Nanos) -> Result<(), ProbeError> {
        let waited = Duration::from_nanos(clock::now().0 - heard.0);
        if waited > GONE.max(3 * Duration::from(self.spec.timeout)) {
            return Err(ProbeError::NoAnswer { peer: self.peer, waited });
        }
        Ok(())
    }

    fn note(&self, rtt: u64, book: &mut Book) {
        if rtt <= self.spec.timeout.0 { book.record(rtt) } else { book.record_late() }
    }

    fn send(&mut self) -> Result<(), ProbeError> {
        let sent = match &mut self.pipe {
            Pipe::Udp(socket) => match socket.send(&self.message) {
                // The kernel hands an earlier datagram's ICMP error to this call; this one was not sent yet.
                Err(error) if is_refused(&error) => socket.send(&self.message).map(|_| ()),
                other => other.map(|_| ()),
            },
            Pipe::Tcp(stream) => send_all(stream, &self.message),
        };
        sent.map_err(socket_error("send to", self.peer))
    }

    /// Waits for the reply to `number`; replies to others are entered in the book on the way.
    fn wait(&mut self, number: u32, sent: Nanos, book: &mut Book, control: &Control) -> Result<Wait, ProbeError> {
        match &mut self.pipe {
            Pipe::Udp(socket) => loop {
                match socket.recv(&mut self.message) {
                    Ok(4..) if book.arrived(number_in(&self.message), number) == Arrival::Awaited => {
                        return Ok(Wait::Reply);
                    }
                    Ok(_) => {}
                    Err(error) if is_nothing_yet(&error) || is_refused(&error) => {}
                    Err(error) => return Err(socket_error("receive from", self.peer)(error)),
                }
                if clock::now().0 - sent.0 > self.spec.timeout.0 {
                    return Ok(Wait::TimedOut);
                }
                if control.stopped() {
                    return Ok(Wait::Stopped);
                }
            },
            Pipe::Tcp(stream) => {
                let mut have = 0;
                while have < self.message.len() {
                    match stream.read(&mut self.message[have..]) {
                        Ok(0) if control.stopped() => return Ok(Wait::Stopped),
                        Ok(0) => return Err(ProbeError::PeerClosed { peer: self.peer }),
                        Ok(length) => have += length,
                        Err(error) if is_nothing_yet(&error) => {
                            if control.stopped() {
                                return Ok(Wait::Stopped);
                            }
                            // TCP brings every byte or ends: a reply can be late here, never lost.
                            let waited = Duration::from_nanos(clock::now().0 - sent.0);
                            if waited > GONE.max(3 * Duration::from(self.spec.timeout)) {
                                return Err(ProbeError::NoAnswer { peer: self.peer, waited });
                            }
                        }
                        Err(error) => return Err(socket_error("receive from", self.peer)(error)),
                    }
                }
                Ok(Wait::Reply)
            }
        }
    }
}

fn number_in(message: &[u8]) -> u32 {
    u32::from_be_bytes([message[0], message[1], message[2], message[3]])
}

/// A sleeping receive wakes by itself to see the timeout or a wish to stop.
fn patience(spec: &LatencySpec) -> Duration {
    Duration::from(spec.timeout).min(STOP_CHECK)
}

fn connect_udp(spec: &LatencySpec, local: IpAddr, peer: SocketAddr) -> Result<UdpSocket, ProbeError> {
    let socket = bound(SocketAddr::new(local, 0), Type::DGRAM)?;
    socket.connect(&peer.into()).map_err(socket_error("connect to", peer))?;
    set_wait(&socket, spec.mode, Some(patience(spec)), peer)?;
    Ok(socket.into())
}

fn connect_tcp(spec: &LatencySpec, local: IpAddr, peer: SocketAddr) -> Result<TcpStream, ProbeError> {
    let socket = bound(SocketAddr::new(local, 0), Type::STREAM)?;
    socket.connect_timeout(&peer.into(), GONE).map_err(socket_error("connect to", peer))?;
    socket.set_tcp_nodelay(true).map_err(socket_error("set TCP_NODELAY for", peer))?;
    // TCP brings every byte or ends, so that no timeout is needed to notice a loss.
    set_wait(&socket, spec.mode, None, peer)?;
    Ok(socket.into())
}
