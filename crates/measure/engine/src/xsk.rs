//! Frames sent by AF_XDP: zero-copy if the driver supports it, otherwise copy; one queue per core.

use std::{
    collections::VecDeque,
    sync::atomic::{AtomicBool, AtomicU64},
};

use kernel::link;
use xdp::socket::{Frame, FrameSize, Mode, Options, Packet, Sender as Ring, Socket, SocketError, Umem, WakeOutcome};

use crate::{
    EngineError, Job, Sender, Sent,
    pump::{self, Flushed, Port},
};

/// Entries of TX ring and completion ring.
const RING: u32 = 2048;

/// The largest MTU that every driver with AF_XDP accepts.
const ETHERNET_MTU: u32 = 1500;

/// Sends a job by AF_XDP sockets.
pub struct Xsk {
    job: Job,
    queues: Vec<Queue>,
}

impl Xsk {
    /// Opens the sockets on an interface of the caller's namespace: queue 0 for the job's first core, queue 1 for the
    /// second, and so on.
    pub fn open(job: Job, mode: Mode) -> Result<Self, EngineError> {
        let queues = pump::open_all(&job, |core| Queue::open(&job, core, mode))?;
        Ok(Self { job, queues })
    }
}

impl Sender for Xsk {
    fn send(&mut self, stop: &AtomicBool, progress: &AtomicU64) -> Result<Sent, EngineError> {
        pump::run(&self.job, &mut self.queues, stop, progress)
    }
}

/// One queue.
struct Queue {
    ring: Ring,
    umem: Umem,
    frames: Vec<Frame>,
    /// Buffer for a frame larger than those of the UMEM; empty if all fit.
    large: Vec<u8>,
    /// Entries put into the ring so far.
    entries: u64,
    /// Last entry of each frame not yet taken.
    ends: VecDeque<u64>,
}

impl Queue {
    fn open(job: &Job, queue: usize, mode: Mode) -> Result<Self, EngineError> {
        let longest = job.longest();
        let size = if longest <= FrameSize::Half.bytes() { FrameSize::Half } else { FrameSize::Page };
        let parts = longest > size.bytes();
        let (umem, frames) = Umem::new(2 * RING, size)?;
        let options =
            Options { mode, parts, receive: None, send: Some(RING), ..Options::new(&job.interface, queue as u32) };
        let socket = Socket::open(&umem, &options, &mut Vec::new());
        let socket = socket.map_err(|error| explained(error, mtu_of(&job.interface)))?;
        let ring = socket.sender.ok_or_else(|| EngineError::Unable {
            what: "an AF_XDP socket that sends".to_owned(),
            why: "it was opened without its ring".to_owned(),
        })?;
        let large = if parts { vec![0; longest] } else { Vec::new() };
        Ok(Self { ring, umem, frames, large, entries: 0, ends: VecDeque::new() })
    }

    /// UMEM frames for the longest frame.
    fn parts(&self) -> usize {
        self.large.len().div_ceil(self.umem.frame_size()).max(1)
    }

    fn put_part(&mut self, mut frame: Frame, more: bool, write: impl FnOnce(&mut [u8]) -> usize) {
        let length = write(self.umem.bytes_mut(&mut frame)) as u32;
        if let Err(packet) = self.ring.put(Packet { frame, offset: 0, length, more }) {
            // There was room, and nothing else fills the ring.
            self.frames.push(packet.frame);
            return;
        }
        self.entries += 1;
    }
}

/// The interface's MTU; 0 if it is unreadable.
fn mtu_of(interface: &str) -> u32 {
    let links = link::list().unwrap_or_default();
    links.iter().find(|link| link.name == interface).map_or(0, |link| link.mtu.0)
}

/// A driver that refuses the MTU only says `EINVAL`.
fn explained(error: SocketError, mtu: u32) -> EngineError {
    match error {
        SocketError::Call { call: "bind", interface, queue, io }
            if io.raw_os_error() == Some(libc::EINVAL) && mtu > ETHERNET_MTU =>
        {
            EngineError::SocketMtu { interface, queue, mtu }
        }
        other => other.into(),
    }
}

impl Port for Queue {
    fn room(&mut self, wanted: usize) -> usize {
        let parts = self.parts();
        if self.frames.len() < wanted * parts {
            self.ring.completed(&mut self.frames);
        }
        self.frames.len().min(self.ring.room((wanted * parts) as u32) as usize) / parts
    }

    fn put(&mut self, write: impl FnOnce(&mut [u8]) -> usize) {
        if self.large.is_empty() {
            if let Some(frame) = self.frames.pop() {
                self.put_part(frame, false, write);
            }
        } else {
            let mut large = std::mem::take(&mut self.large);
            let length = write(&mut large);
            let mut parts = large[..length].chunks(self.umem.frame_size()).peekable();
            while let (Some(part), Some(frame)) = (parts.next(), self.frames.pop()) {
                self.put_part(frame, parts.peek().is_some(), |bytes| {
                    bytes[..part.len()].copy_from_slice(part);
                    part.len()
                });
            }
            self.large = large;
        }
        self.ends.push_back(self.entries);
    }

    fn flush(&mut self) -> Result<Flushed, EngineError> {
        self.ring.tell();
        let woken = self.ring.wake()?;
        let done = self.entries - u64::from(self.ring.waiting());
        let taken = self.ends.partition_point(|end| *end <= done);
        self.ends.drain(..taken);
        // A full completion ring would stop the kernel.
        self.ring.completed(&mut self.frames);
        Ok(Flushed { taken, refused: woken == WakeOutcome::Dropped && taken > 0 })
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    #[test]
    fn a_driver_that_refuses_a_large_mtu_is_told_which_one_it_takes() {
        let refused = |errno| SocketError::Call {
            call: "bind",
            interface: "eth7".to_owned(),
            queue: 1,
            io: io::Error::from_raw_os_error(errno),
        };
        let large = explained(refused(libc::EINVAL), 9000).to_string();
        assert!(large.starts_with("queue 1 of interface eth7") && large.contains("9000; set it to 1500"), "{large}");
        for (errno, mtu) in [(libc::EINVAL, 1500), (libc::EIO, 9000)] {
            assert!(explained(refused(errno), mtu).to_string().starts_with("bind on queue 1"), "not the MTU");
        }
    }
}
