//! The queues of the interfaces: where packets come from and go to.

use std::os::fd::{AsFd, AsRawFd, RawFd};

use datagram::Sums;
use grant::Granted;
use xdp::socket::{Frame, Packet, Receiver, Sender};

/// Frames that go back to the kernel at a time.
const BACK: usize = 16;
/// Looks for which a queue without packets is polled at each, and how seldom it is then: its interrupts come as well, or the kernel's timer.
const WARM: u32 = 4096;
const SELDOM: u32 = 64;

/// One queue.
pub(super) struct Ring {
    sender: Sender,
    receiver: Receiver,
    /// The number of its interface in the namespace.
    pub(super) interface: u32,
    pub(super) sums: Sums,
    fd: RawFd,
    /// Frames that the kernel has to fill, with packets that have come and were not taken.
    filling: usize,
    /// Whether the card sends by itself, and may need a moment for what is in the ring.
    pub(super) is_zero_copy: bool,
    /// Whether the card's queue is polled by us; then, for how many looks nothing has come.
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
            // It was opened with as many as it takes.
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

    /// Whether one has come.
    #[inline]
    pub(super) fn has_any(&mut self) -> bool {
        self.receiver.has_any()
    }

    /// Has the card's queue polled, if its turn has come at this look; whether there is something then.
    pub(super) fn poll(&mut self, look: u32) -> bool {
        if !self.is_polled || self.idle >= WARM && !look.is_multiple_of(SELDOM) {
            return false;
        }
        // Where the link is down it fails, and nothing comes.
        let _ = self.receiver.poll();
        // Until a packet is taken.
        self.idle = self.idle.saturating_add(1);
        self.receiver.has_any()
    }

    /// The next packet that has come.
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

    /// Gives the kernel frames where it has fewer than `wanted` to fill, once that is worth while. The fewer go round, the more of them stay in
    /// the caches.
    #[inline]
    pub(super) fn refill(&mut self, free: &mut Vec<Frame>, wanted: usize) {
        if self.filling + BACK <= wanted {
            self.filling += self.receiver.refill_some(free, wanted - self.filling) as usize;
            // A card that ran out of them waits to be told; where the link is down it fails.
            let _ = self.receiver.wake();
        }
    }

    /// Whether so many packets can be put.
    #[inline]
    pub(super) fn has_room(&mut self, count: usize) -> bool {
        self.sender.room(count as u32) as usize >= count
    }

    /// By which it is polled, and called.
    pub(super) fn fd(&self) -> RawFd {
        self.fd
    }

    /// Puts a packet into the ring, once those that left are taken back; gives it back where there is no room.
    #[inline]
    pub(super) fn put(&mut self, packet: Packet) -> Result<(), Packet> {
        self.sender.put(packet)
    }

    /// Takes back frames of packets that left.
    #[inline]
    pub(super) fn reclaim(&mut self, free: &mut Vec<Frame>) {
        if self.sender.out() > 0 {
            self.sender.completed(free);
        }
    }

    /// Tells the kernel of what was put; whether it wants to be called.
    #[inline]
    pub(super) fn tell(&mut self) -> bool {
        self.sender.tell();
        self.sender.wants_waking()
    }

    /// Whether something waits still after such a call, and the driver has to be asked.
    #[inline]
    pub(super) fn is_left(&self) -> bool {
        self.sender.is_left()
    }
}
