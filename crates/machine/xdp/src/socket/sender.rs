//! The sending side: TX ring and completion ring.

use std::{os::fd::AsFd, sync::Arc};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::Errno,
    net::{
        SendFlags, send,
        xdp::{XdpDesc, XdpDescOptions},
    },
};

use super::{
    Bound, Frame, Packet, SocketError, Statistics, Umem,
    error::failed,
    ring::{Consumer, Producer},
};

/// Sends packets on a queue.
pub struct Sender {
    pub(super) bound: Arc<Bound>,
    pub(super) ring: Producer<XdpDesc>,
    pub(super) completion: Consumer<u64>,
    /// Packets owned by the kernel.
    pub(super) out: u32,
}

/// Makes the driver send [leftover](Sender::is_left) packets by poll(2).
///
/// Calls with exclusive busy polling (`SO_PREFER_BUSY_POLL`) do not make it send.
pub fn send_apart(socket: &impl AsFd) {
    const AT_ONCE: Timespec = Timespec { tv_sec: 0, tv_nsec: 0 };
    // It fails only for lack of memory; the next call retries.
    let _ = poll(&mut [PollFd::new(socket, PollFlags::OUT)], Some(&AT_ONCE));
}

/// The outcome of a wake-up call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WakeOutcome {
    /// The ring is empty, or the driver works on it.
    Well,
    /// The kernel needs another call: its budget was used up, or memory was short.
    Again,
    /// In copy mode: the device dropped a packet because its queue was full.
    ///
    /// Its frame completes like any other, and the packets behind it wait for another call.
    Dropped,
}

impl Sender {
    /// Number of packets that the ring has room for.
    #[inline]
    pub fn room(&mut self, wanted: u32) -> u32 {
        self.ring.room(wanted)
    }

    /// Puts a packet into the ring, or returns it if the ring is full. The kernel sees it after [`tell`](Self::tell).
    ///
    /// # Panics
    /// If it belongs to other memory or lies beyond its frame.
    #[inline]
    pub fn put(&mut self, packet: Packet) -> Result<(), Packet> {
        let more = if packet.more { XdpDescOptions::XDP_PKT_CONTD } else { XdpDescOptions::empty() };
        let entry = XdpDesc { addr: self.bound.umem.address(&packet), len: packet.length, options: more };
        if !self.ring.put(entry) {
            return Err(packet);
        }
        self.out += 1;
        Ok(())
    }

    /// Announces all new packets to the kernel. In copy mode, they are sent by the next wake-up call.
    #[inline]
    pub fn tell(&mut self) {
        self.ring.tell();
    }

    /// Whether the kernel needs a call for new packets ([`wake`](Self::wake)).
    ///
    /// Another holder of the socket's descriptor may make it, too: an empty `sendto` with `MSG_DONTWAIT`.
    #[inline]
    pub fn wants_waking(&self) -> bool {
        self.ring.needs_wakeup() || self.bound.polls_alone
    }

    /// Whether a call that polled the queue has sent nothing: the driver sends separately and needs [`send_apart`].
    pub fn is_left(&self) -> bool {
        self.bound.polls_alone && self.ring.waiting() > 0
    }

    /// Makes the kernel send, if it needs a call for that.
    pub fn wake(&mut self) -> Result<WakeOutcome, SocketError> {
        if !self.wants_waking() {
            return Ok(WakeOutcome::Well);
        }
        match send(&self.bound.fd, &[], SendFlags::DONTWAIT) {
            Ok(_) if self.is_left() => {
                send_apart(&self.bound.fd);
                Ok(WakeOutcome::Well)
            }
            Ok(_) => Ok(WakeOutcome::Well),
            Err(Errno::BUSY) if !self.bound.zero_copy => Ok(WakeOutcome::Dropped),
            Err(Errno::AGAIN | Errno::BUSY | Errno::NOBUFS | Errno::INTR) => Ok(WakeOutcome::Again),
            Err(error) => Err(failed("sendto", &self.bound.interface, self.bound.queue)(error)),
        }
    }

    /// Takes back the frames of sent packets; returns their number.
    #[inline]
    pub fn completed(&mut self, frames: &mut Vec<Frame>) -> u32 {
        let umem = &self.bound.umem;
        let mut back = 0;
        let count = self.completion.take(u32::MAX, |address| {
            if let Some((frame, _)) = umem.frame_at(address) {
                frames.push(frame);
                back += 1;
            }
        });
        self.out = self.out.saturating_sub(count);
        back
    }

    /// Packets in the ring or with the kernel, not yet completed.
    pub fn out(&self) -> u32 {
        self.out
    }

    /// Packets that the kernel has not yet taken from the ring.
    pub fn waiting(&self) -> u32 {
        self.ring.waiting()
    }

    /// The memory that it sends from.
    pub fn umem(&self) -> &Umem {
        &self.bound.umem
    }

    /// The kernel's counters of this socket.
    pub fn statistics(&self) -> Result<Statistics, SocketError> {
        self.bound.statistics()
    }
}
