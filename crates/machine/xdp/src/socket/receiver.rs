//! The receiving side: fill ring and RX ring.

use std::{os::fd::AsFd, os::fd::BorrowedFd, sync::Arc, time::Duration};

use kernel::socket::wait_until_readable;
use rustix::{
    io::Errno,
    net::{
        RecvFlags, recv,
        xdp::{XdpDesc, XdpDescOptions},
    },
};

use super::{
    Bound, Frame, Packet, SocketError, Statistics, Umem,
    error::failed,
    ring::{Consumer, Producer},
};

/// Receives packets from a queue.
pub struct Receiver {
    pub(super) bound: Arc<Bound>,
    pub(super) fill: Producer<u64>,
    pub(super) ring: Consumer<XdpDesc>,
}

impl Receiver {
    /// Moves frames from the end of `frames` to the fill ring, as many as it has room for; returns their number.
    ///
    /// Without frames, packets are dropped, which [`Statistics::no_frame`] counts.
    #[inline]
    pub fn refill(&mut self, frames: &mut Vec<Frame>) -> u32 {
        self.refill_some(frames, frames.len())
    }

    /// The same for at most `most` frames.
    #[inline]
    pub fn refill_some(&mut self, frames: &mut Vec<Frame>, most: usize) -> u32 {
        let most = most.min(frames.len()) as u32;
        let count = self.fill.room(most).min(most);
        for frame in frames.drain(frames.len() - count as usize..) {
            // The ring has room for it.
            self.fill.put(self.bound.umem.frame_address(&frame));
        }
        if count > 0 {
            self.fill.tell();
        }
        count
    }

    /// Whether a packet has arrived.
    #[inline]
    pub fn has_any(&mut self) -> bool {
        self.ring.has_any()
    }

    /// Passes up to `most` received packets to `each`; returns their number.
    #[inline]
    pub fn receive(&mut self, most: u32, mut each: impl FnMut(Packet)) -> u32 {
        let umem = &self.bound.umem;
        self.ring.take(most, |entry| {
            if let Some((frame, offset)) = umem.frame_at(entry.addr) {
                // Limited to the frame, whatever the entry says.
                let length = entry.len.min(umem.frame_size() as u32 - offset);
                each(Packet { frame, offset, length, more: entry.options.contains(XdpDescOptions::XDP_PKT_CONTD) });
            }
        })
    }

    /// Makes a driver go on that stopped for lack of frames.
    pub fn wake(&mut self) -> Result<(), SocketError> {
        if self.fill.needs_wakeup() { self.call() } else { Ok(()) }
    }

    /// Polls the card's queue in this call if the socket is busy-polled; new packets are in the ring afterwards.
    #[inline]
    pub fn poll(&mut self) -> Result<(), SocketError> {
        if self.bound.polls { self.call() } else { Ok(()) }
    }

    fn call(&self) -> Result<(), SocketError> {
        match recv(&self.bound.fd, &mut [0_u8; 0][..], RecvFlags::DONTWAIT) {
            Ok(_) | Err(Errno::AGAIN | Errno::BUSY | Errno::NOBUFS | Errno::INTR) => Ok(()),
            Err(error) => Err(failed("recvfrom", &self.bound.interface, self.bound.queue)(error)),
        }
    }

    /// Sleeps until a packet arrives, or for `patience`.
    pub fn wait(&self, patience: Duration) -> Result<(), kernel::Error> {
        wait_until_readable(&self.bound.fd, patience)
    }

    /// Entries of its rings.
    pub fn size(&self) -> u32 {
        self.ring.size()
    }

    /// The memory that it receives into.
    pub fn umem(&self) -> &Umem {
        &self.bound.umem
    }

    /// The kernel's counters of this socket.
    pub fn statistics(&self) -> Result<Statistics, SocketError> {
        self.bound.statistics()
    }
}

/// For an `XSKMAP`, or for polling beside other descriptors.
impl AsFd for Receiver {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.bound.fd.as_fd()
    }
}
