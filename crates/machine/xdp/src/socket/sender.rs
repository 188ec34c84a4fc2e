//! The way out: TX ring and completion ring.

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
    /// Packets in the kernel's hands.
    pub(super) out: u32,
}

/// Has a driver send that was [left](Sender::is_left) out: poll(2) asks it, while calls that are to poll alone (`SO_PREFER_BUSY_POLL`) do not.
pub fn send_apart(socket: &impl AsFd) {
    const AT_ONCE: Timespec = Timespec { tv_sec: 0, tv_nsec: 0 };
    // It fails only for want of memory; the next call asks again.
    let _ = poll(&mut [PollFd::new(socket, PollFlags::OUT)], Some(&AT_ONCE));
}

/// What came of a call to the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Woken {
    /// All that was in the ring is taken, or the driver works on it.
    Well,
    /// The kernel did a part of it and wants another call: its share of a call was used up, or there is no memory just now.
    Again,
    /// In copy mode: the device dropped a packet, since what stands behind it was full. Its frame completes like any other, and
    /// the packets behind it still wait for another call.
    Dropped,
}

impl Sender {
    /// How many packets may be put now.
    #[inline]
    pub fn room(&mut self, wanted: u32) -> u32 {
        self.ring.room(wanted)
    }

    /// Puts a packet into the ring, or gives it back where the ring is full. The kernel sees it after [`tell`](Self::tell).
    ///
    /// # Panics
    /// Where it belongs to other memory or lies beyond its frame.
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

    /// Tells the kernel of all that was put. In copy mode it sends only when it is woken.
    #[inline]
    pub fn tell(&mut self) {
        self.ring.tell();
    }

    /// Whether the kernel is to be called for what was put ([`wake`](Self::wake)). Who has the socket's descriptor may do so too, by an empty
    /// `sendto` with `MSG_DONTWAIT`.
    #[inline]
    pub fn wants_waking(&self) -> bool {
        self.ring.needs_wakeup() || self.bound.polls_alone
    }

    /// Whether a call that polled the queue has sent nothing: the driver sends apart from what it receives, and has to be asked by
    /// [`send_apart`].
    pub fn is_left(&self) -> bool {
        self.bound.polls_alone && self.ring.waiting() > 0
    }

    /// Has the kernel send, where it wants to be called for that.
    pub fn wake(&mut self) -> Result<Woken, SocketError> {
        if !self.wants_waking() {
            return Ok(Woken::Well);
        }
        match send(&self.bound.fd, &[], SendFlags::DONTWAIT) {
            Ok(_) if self.is_left() => {
                send_apart(&self.bound.fd);
                Ok(Woken::Well)
            }
            Ok(_) => Ok(Woken::Well),
            Err(Errno::BUSY) if !self.bound.zero_copy => Ok(Woken::Dropped),
            Err(Errno::AGAIN | Errno::BUSY | Errno::NOBUFS | Errno::INTR) => Ok(Woken::Again),
            Err(error) => Err(failed("sendto", &self.bound.interface, self.bound.queue)(error)),
        }
    }

    /// Takes back the frames of packets that have left, and returns how many.
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

    /// Packets that were put and have not completed.
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

    /// What the kernel counts of this socket.
    pub fn statistics(&self) -> Result<Statistics, SocketError> {
        self.bound.statistics()
    }
}
