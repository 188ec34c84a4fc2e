//! Packets sent by UDP sockets without privilege, one per core. The kernel writes the headers, so each core has a
//! single flow.

use std::{
    io,
    net::{IpAddr, SocketAddr, UdpSocket},
    sync::atomic::{AtomicBool, AtomicU64},
};

use kernel::datagram::Outgoing;

use crate::{
    EngineError, Job, Sender, Sent,
    pump::{self, Flushed, Port},
};

/// Packets per call.
const MESSAGES: usize = 64;

/// Errors for an unsent packet, which may be retried, or for an earlier one without a receiver.
const AGAIN: [i32; 4] = [libc::ENOBUFS, libc::EAGAIN, libc::EINTR, libc::ECONNREFUSED];

/// Sends a job by UDP sockets.
pub struct Udp {
    job: Job,
    outboxes: Vec<Outbox>,
}

impl Udp {
    /// Opens the sockets, from any port of a local address to the receiver. They send each frame's payload.
    pub fn open(job: Job, from: IpAddr, to: SocketAddr) -> Result<Self, EngineError> {
        let outboxes = pump::open_all(&job, |_| Outbox::open(&job, from, to))?;
        Ok(Self { job, outboxes })
    }
}

impl Sender for Udp {
    fn send(&mut self, stop: &AtomicBool, progress: &AtomicU64) -> Result<Sent, EngineError> {
        pump::run(&self.job, &mut self.outboxes, stop, progress)
    }
}

/// Packets queued for one socket.
struct Outbox {
    socket: UdpSocket,
    to: SocketAddr,
    packets: Outgoing,
    /// Packets written and not yet taken, as a half-open range.
    waiting: (usize, usize),
    /// Buffer for a whole frame.
    frame: Vec<u8>,
    /// Length of the part that the kernel writes: everything before the tag.
    headers: usize,
}

impl Outbox {
    fn open(job: &Job, from: IpAddr, to: SocketAddr) -> Result<Self, EngineError> {
        let socket = UdpSocket::bind((from, 0)).map_err(failed("bind a UDP socket to", from))?;
        socket.connect(to).map_err(failed("connect a UDP socket to", to))?;
        let headers = job.streams.iter().map(|stream| stream.offsets.tag).max().unwrap_or(0);
        let packets = Outgoing::new(MESSAGES, job.longest() - headers);
        Ok(Self { socket, to, packets, waiting: (0, 0), frame: vec![0; job.longest()], headers })
    }
}

impl Port for Outbox {
    fn room(&mut self, _wanted: usize) -> usize {
        MESSAGES - self.waiting.1
    }

    fn put(&mut self, write: impl FnOnce(&mut [u8]) -> usize) {
        let payload = self.headers..write(&mut self.frame);
        let index = self.waiting.1;
        self.packets.message(index)[..payload.len()].copy_from_slice(&self.frame[payload.clone()]);
        self.packets.cut(index, payload.len());
        self.waiting.1 += 1;
    }

    fn flush(&mut self) -> Result<Flushed, EngineError> {
        let (first, end) = self.waiting;
        let taken = match self.packets.send(&self.socket, first..end) {
            Ok(taken) => taken,
            Err(error) if error.raw_os_error().is_some_and(|number| AGAIN.contains(&number)) => 0,
            Err(error) => return Err(failed("send to", self.to)(error)),
        };
        self.waiting = if first + taken == end { (0, 0) } else { (first + taken, end) };
        Ok(Flushed { taken, refused: false })
    }
}

fn failed(what: &'static str, on: impl std::fmt::Display) -> impl FnOnce(io::Error) -> EngineError {
    move |io| EngineError::Io { what: format!("{what} {on}"), io }
}
