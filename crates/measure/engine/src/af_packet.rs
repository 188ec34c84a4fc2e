//! Frames sent by AF_PACKET, many per call and past the queueing disciplines; one socket per core. Works on any
//! interface.

use std::sync::atomic::{AtomicBool, AtomicU64};

use kernel::{datagram::Outgoing, packet::FrameSender};

use crate::{
    EngineError, Job, Sender, Sent,
    pump::{self, Flushed, Port},
};

/// Frames per call.
const MESSAGES: usize = 64;

/// Errors for a full ring behind the interface: the frame was not sent, and may be retried.
const FULL: [i32; 3] = [libc::ENOBUFS, libc::EAGAIN, libc::EINTR];

/// Sends a job by AF_PACKET sockets.
pub struct AfPacket {
    job: Job,
    outboxes: Vec<Outbox>,
}

impl AfPacket {
    /// Opens the sockets on any interface of the caller's namespace.
    pub fn open(job: Job) -> Result<Self, EngineError> {
        let outboxes = pump::open_all(&job, |_| Outbox::open(&job))?;
        Ok(Self { job, outboxes })
    }
}

impl Sender for AfPacket {
    fn send(&mut self, stop: &AtomicBool, progress: &AtomicU64) -> Result<Sent, EngineError> {
        pump::run(&self.job, &mut self.outboxes, stop, progress)
    }
}

/// Frames queued for one socket.
struct Outbox {
    outlet: FrameSender,
    frames: Outgoing,
    /// Frames written and not yet taken, as a half-open range.
    waiting: (usize, usize),
    interface: String,
}

impl Outbox {
    fn open(job: &Job) -> Result<Self, EngineError> {
        let outlet = FrameSender::open(&job.interface)?;
        let frames = Outgoing::new(MESSAGES, job.longest());
        Ok(Self { outlet, frames, waiting: (0, 0), interface: job.interface.clone() })
    }
}

impl Port for Outbox {
    fn room(&mut self, _wanted: usize) -> usize {
        MESSAGES - self.waiting.1
    }

    fn put(&mut self, write: impl FnOnce(&mut [u8]) -> usize) {
        let index = self.waiting.1;
        let length = write(self.frames.message(index));
        self.frames.cut(index, length);
        self.waiting.1 += 1;
    }

    fn flush(&mut self) -> Result<Flushed, EngineError> {
        let (first, end) = self.waiting;
        let taken = match self.frames.send(&self.outlet, first..end) {
            Ok(taken) => taken,
            Err(error) if error.raw_os_error().is_some_and(|number| FULL.contains(&number)) => 0,
            Err(io) => return Err(EngineError::Io { what: format!("sendmmsg on interface {}", self.interface), io }),
        };
        self.waiting = if first + taken == end { (0, 0) } else { (first + taken, end) };
        Ok(Flushed { taken, refused: false })
    }
}
