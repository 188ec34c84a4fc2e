//! Rings of one producer and one consumer, one of whom is the kernel (linux/if_xdp.h).
//!
//! Each counts what it has done in a number that only it writes, and that wraps at 2³². What is counted is what was done before:
//! entries are written before the producer's number is (release), and read after it was read (acquire); likewise the other way
//! round for entries that are free again.

use std::{
    os::fd::AsFd,
    ptr::NonNull,
    sync::atomic::{
        AtomicU32,
        Ordering::{Acquire, Relaxed, Release},
    },
};

use rustix::{io, net::xdp::XdpRingOffset};

use crate::mapping::Mapping;

/// `XDP_RING_NEED_WAKEUP`.
const NEED_WAKEUP: u32 = 1;

/// Where things are in a mapped ring. What the kernel maps stays where it is as long as `mapping` does.
struct Ring<T> {
    producer: NonNull<AtomicU32>,
    consumer: NonNull<AtomicU32>,
    flags: NonNull<AtomicU32>,
    entries: NonNull<T>,
    size: u32,
    mapping: Mapping,
}

// SAFETY: the ring belongs to no thread. It is not `Sync`: of our side there is one user at a time.
unsafe impl<T: Send> Send for Ring<T> {}

impl<T: Copy> Ring<T> {
    /// Maps a ring of `size` entries, a power of two, that the socket has.
    fn map(fd: &impl AsFd, at: u64, offsets: &XdpRingOffset, size: u32) -> io::Result<Self> {
        let flags = offsets.flags.ok_or(io::Errno::NOSYS)?;
        let mapping = Mapping::of_kernel(fd, at, offsets.desc as usize + size as usize * size_of::<T>())?;
        // SAFETY: the kernel says where in the mapping these are; they are aligned there as its own types want.
        let place = |offset: u64| unsafe { mapping.start().add(offset as usize) };
        Ok(Self {
            producer: place(offsets.producer).cast(),
            consumer: place(offsets.consumer).cast(),
            flags: place(flags).cast(),
            entries: place(offsets.desc).cast(),
            size,
            mapping,
        })
    }

    fn producer(&self) -> &AtomicU32 {
        // SAFETY: it points into the mapping, to a number that both sides use as an atomic one.
        unsafe { self.producer.as_ref() }
    }

    fn consumer(&self) -> &AtomicU32 {
        // SAFETY: as above.
        unsafe { self.consumer.as_ref() }
    }

    fn needs_wakeup(&self) -> bool {
        // SAFETY: as above.
        unsafe { self.flags.as_ref() }.load(Relaxed) & NEED_WAKEUP != 0
    }

    /// The entry of this number. The mask keeps it inside of the ring, whatever the other side wrote.
    fn entry(&self, number: u32) -> NonNull<T> {
        // SAFETY: there are `size` entries behind the first one.
        unsafe { self.entries.add((number & (self.size - 1)) as usize) }
    }
}

/// A ring that we put things into.
pub(super) struct Producer<T> {
    ring: Ring<T>,
    /// Entries that were written, told or not.
    written: u32,
    /// Entries that the kernel had taken when we last looked.
    taken: u32,
}

impl<T: Copy> Producer<T> {
    pub(super) fn map(fd: &impl AsFd, at: u64, offsets: &XdpRingOffset, size: u32) -> io::Result<Self> {
        let ring = Ring::map(fd, at, offsets, size)?;
        let (written, taken) = (ring.producer().load(Relaxed), ring.consumer().load(Relaxed));
        Ok(Self { ring, written, taken })
    }

    pub(super) fn keep_from_children(&self) -> io::Result<()> {
        self.ring.mapping.keep_from_children()
    }

    /// How many more can be put; looks at what the kernel has taken only where it is less than wanted.
    #[inline]
    pub(super) fn room(&mut self, wanted: u32) -> u32 {
        if self.free() < wanted {
            self.taken = self.ring.consumer().load(Acquire);
        }
        self.free()
    }

    fn free(&self) -> u32 {
        // The kernel can have taken no more than was written: whatever stands there, this does not exceed the ring.
        self.ring.size.saturating_sub(self.written.wrapping_sub(self.taken))
    }

    /// Puts one; whether there was room for it.
    #[inline]
    pub(super) fn put(&mut self, entry: T) -> bool {
        if self.room(1) == 0 {
            return false;
        }
        // SAFETY: the entry is in the ring and aligned, and free: the kernel does not read it before it is told.
        unsafe { self.ring.entry(self.written).write(entry) };
        self.written = self.written.wrapping_add(1);
        true
    }

    /// Tells the kernel of all that was put.
    #[inline]
    pub(super) fn tell(&self) {
        self.ring.producer().store(self.written, Release);
    }

    /// Entries that the kernel has been given and has not taken yet.
    pub(super) fn waiting(&self) -> u32 {
        self.written.wrapping_sub(self.ring.consumer().load(Acquire))
    }

    pub(super) fn needs_wakeup(&self) -> bool {
        self.ring.needs_wakeup()
    }
}

/// A ring that we take things from.
pub(super) struct Consumer<T> {
    ring: Ring<T>,
    /// Entries that we have read.
    read: u32,
    /// Entries that the kernel had written when we last looked.
    written: u32,
}

impl<T: Copy> Consumer<T> {
    pub(super) fn map(fd: &impl AsFd, at: u64, offsets: &XdpRingOffset, size: u32) -> io::Result<Self> {
        let ring = Ring::map(fd, at, offsets, size)?;
        let (read, written) = (ring.consumer().load(Relaxed), ring.producer().load(Relaxed));
        Ok(Self { ring, read, written })
    }

    pub(super) fn keep_from_children(&self) -> io::Result<()> {
        self.ring.mapping.keep_from_children()
    }

    /// Entries that it has.
    pub(super) fn size(&self) -> u32 {
        self.ring.size
    }

    /// Whether there is one to be read.
    #[inline]
    pub(super) fn has_any(&mut self) -> bool {
        if self.written == self.read {
            self.written = self.ring.producer().load(Acquire);
        }
        self.written != self.read
    }

    /// Hands over up to `most` entries, and returns how many there were. The kernel may use their places again afterwards.
    #[inline]
    pub(super) fn take(&mut self, most: u32, mut each: impl FnMut(T)) -> u32 {
        self.has_any();
        let count = self.written.wrapping_sub(self.read).min(self.ring.size).min(most);
        for number in 0..count {
            // SAFETY: the entry is in the ring and aligned, the kernel wrote it before it said so, and any bytes are a `T`.
            each(unsafe { self.ring.entry(self.read.wrapping_add(number)).read() });
        }
        if count > 0 {
            self.read = self.read.wrapping_add(count);
            self.ring.consumer().store(self.read, Release);
        }
        count
    }
}
