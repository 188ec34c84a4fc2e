//! Queues of the interfaces.

use std::os::fd::{AsFd, AsRawFd, RawFd};

use datagram::Sums;
use grant::Granted;
use xdp::socket::{Frame, Packet, Receiver, Sender};

/// Frames returned to the kernel at once.
const BACK: usize = 16;
/// Reads without a packet until a queue is polled less often, and the interval of polls then.
///
/// Such a queue is also served by its interrupts or by the kernel's timer.
const WARM: u32 = 4096;
const SELDOM: u32 = 64;

/// One queue.
pub(super) struct Ring {
    sender: Sender,
    receiver: Receiver,
    /// Index of its interface in the namespace.
    pub(super) interface: u32,
    pub(super) sums: Sums,
    fd: RawFd,
    /// Frames for the kernel to fill, with the packets not yet taken.
    filling: usize,
    /// Whether the card sends asynchronously and may need a moment for packets in the ring.
    pub(super) is_zero_copy: bool,
    /// Whether we poll the card's queue, and for how many reads no packet has arrived.
    pub(super) is_polled: bool,
    idle: u32,
}

impl Ring {
    /// All queues of an interface.
    pub(super) fn of(granted: Granted) -> impl Iterator<Item = Self> {
        let sums = if granted.partial_checksums { Sums::PartialToo } else { Sums::Whole };
        granted.queues.into_iter().filter_map(move |queue| {
            let fd = queue.as_fd().as_raw_fd();
            let (is_zero_copy, is_polled) = (queue.is_zero_copy(), queue.is_busy_polled());
            let (sender, receiver) = (queue.sender?, queue.receiver?);
            // The ring was opened with as many frames as it takes.
            let filling = receiver.size() as usize;
            Some(Self {
                sender,
                receiver,
                interface: granted.index,
                sums,
                fd,
                filling,
                is_zero_copy,
                is_polled,
                idle: 0,
            })
        })
    }

    /// Whether a packet has arrived.
    #[inline]
    pub(super) fn has_any(&mut self) -> bool {
        self.receiver.has_any()
    }

    /// Polls the card's queue if its turn has come at this read; returns whether a packet is there.
    pub(super) fn poll(&mut self, look: u32) -> bool {
        if !self.is_polled || self.idle >= WARM && !look.is_multiple_of(SELDOM) {
            return false;
        }
        // With the link down it fails, and no packets arrive.
        let _ = self.receiver.poll();
        // Until a packet is taken.
        self.idle = self.idle.saturating_add(1);
        self.receiver.has_any()
    }

    /// The next packet.
    #[inline]
    pub(super) fn next(&mut self) -> Option<Packet> {
        let mut next = None;
        while next.is_none() && self.receiver.receive(1, |packet| next = Some(packet)) > 0 {}
        if next.is_some() {
            self.filling = self.filling.saturating_sub(1);
            self.idle = 0;
        }
        next
    }

    /// Gives the kernel frames if it has fewer than `wanted`, in batches. The fewer frames circulate, the more of them
    /// stay in the caches.
    #[inline]
    pub(super) fn refill(&mut self, free: &mut Vec<Frame>, wanted: usize) {
        if self.filling + BACK <= wanted {
            self.filling += self.receiver.refill_some(free, wanted - self.filling) as usize;
            // A card without frames waits for this call; with the link down it fails.
            let _ = self.receiver.wake();
        }
    }

    /// Whether the ring has room for `count` packets.
    #[inline]
    pub(super) fn has_room(&mut self, count: usize) -> bool {
        self.sender.room(count as u32) as usize >= count
    }

    /// Descriptor for polling and for system calls.
    pub(super) fn fd(&self) -> RawFd {
        self.fd
    }

    /// Puts a packet into the ring after reclaiming sent ones; returns it if there is no room.
    #[inline]
    pub(super) fn put(&mut self, packet: Packet) -> Result<(), Packet> {
        self.sender.put(packet)
    }

    /// Reclaims frames of sent packets.
    #[inline]
    pub(super) fn reclaim(&mut self, free: &mut Vec<Frame>) {
        if self.sender.out() > 0 {
            self.sender.completed(free);
        }
    }

    /// Announces new packets to the kernel; returns whether it needs a system call.
    #[inline]
    pub(super) fn tell(&mut self) -> bool {
        self.sender.tell();
        self.sender.wants_waking()
    }

    /// Whether packets are left after that call, so that the driver has to be called again.
    #[inline]
    pub(super) fn is_left(&self) -> bool {
        self.sender.is_left()
    }
}
