//! Rings with one producer and one consumer, one of which is the kernel (linux/if_xdp.h).
//!
//! Each side counts its work in a number that only it writes, and that wraps at 2³².
//!
//! The producer writes entries before its number (release), and the consumer reads them after that number (acquire).
//! Freed entries work the same way in the other direction.

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

/// Pointers into a mapped ring, valid as long as `mapping`.
struct Ring<T> {
    producer: NonNull<AtomicU32>,
    consumer: NonNull<AtomicU32>,
    flags: NonNull<AtomicU32>,
    entries: NonNull<T>,
    size: u32,
    mapping: Mapping,
}

// SAFETY: the ring belongs to no thread. It is not `Sync`: our side has one user at a time.
unsafe impl<T: Send> Send for Ring<T> {}

impl<T: Copy> Ring<T> {
    /// Maps a socket's ring of `size` entries, a power of two.
    fn map(fd: &impl AsFd, at: u64, offsets: &XdpRingOffset, size: u32) -> io::Result<Self> {
        let flags = offsets.flags.ok_or(io::Errno::NOSYS)?;
        let mapping = Mapping::of_kernel(fd, at, offsets.desc as usize + size as usize * size_of::<T>())?;
        // SAFETY: the kernel gives these offsets in the mapping, with the alignment of its types.
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
        // SAFETY: it points into the mapping, to a number that both sides access atomically.
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

    /// The entry of this number. The mask keeps it inside the ring, whatever the other side wrote.
    fn entry(&self, number: u32) -> NonNull<T> {
        // SAFETY: the ring has `size` entries.
        unsafe { self.entries.add((number & (self.size - 1)) as usize) }
    }
}

/// A ring that we write to.
pub(super) struct Producer<T> {
    ring: Ring<T>,
    /// Entries written, announced or not.
    written: u32,
    /// Entries taken by the kernel, as last read.
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

    /// Free entries; reads the kernel's number only if fewer than `wanted` are known to be free.
    #[inline]
    pub(super) fn room(&mut self, wanted: u32) -> u32 {
        if self.free() < wanted {
            self.taken = self.ring.consumer().load(Acquire);
        }
        self.free()
    }

    fn free(&self) -> u32 {
        // The kernel cannot have taken more than was written: whatever it says, this does not exceed the ring.
        self.ring.size.saturating_sub(self.written.wrapping_sub(self.taken))
    }

    /// Writes an entry; returns whether there was room.
    #[inline]
    pub(super) fn put(&mut self, entry: T) -> bool {
        if self.room(1) == 0 {
            return false;
        }
        // SAFETY: the entry lies in the ring, is aligned and free: the kernel does not read it before its announcement.
        unsafe { self.ring.entry(self.written).write(entry) };
        self.written = self.written.wrapping_add(1);
        true
    }

    /// Announces all written entries to the kernel.
    #[inline]
    pub(super) fn tell(&self) {
        self.ring.producer().store(self.written, Release);
    }

    /// Entries announced to the kernel and not yet taken.
    pub(super) fn waiting(&self) -> u32 {
        self.written.wrapping_sub(self.ring.consumer().load(Acquire))
    }

    pub(super) fn needs_wakeup(&self) -> bool {
        self.ring.needs_wakeup()
    }
}

/// A ring that we read from.
pub(super) struct Consumer<T> {
    ring: Ring<T>,
    /// Entries that we have read.
    read: u32,
    /// Entries written by the kernel, as last read.
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

    /// Number of entries of the ring.
    pub(super) fn size(&self) -> u32 {
        self.ring.size
    }

    /// Whether an entry is available.
    #[inline]
    pub(super) fn has_any(&mut self) -> bool {
        if self.written == self.read {
            self.written = self.ring.producer().load(Acquire);
        }
        self.written != self.read
    }

    /// Passes up to `most` entries to `each`, then frees them for the kernel; returns their number.
    #[inline]
    pub(super) fn take(&mut self, most: u32, mut each: impl FnMut(T)) -> u32 {
        self.has_any();
        let count = self.written.wrapping_sub(self.read).min(self.ring.size).min(most);
        for number in 0..count {
            // SAFETY: the entry lies in the ring and is aligned, the kernel wrote it before announcing it, and any
            // bytes are a `T`.
            each(unsafe { self.ring.entry(self.read.wrapping_add(number)).read() });
        }
        if count > 0 {
            self.read = self.read.wrapping_add(count);
            self.ring.consumer().store(self.read, Release);
        }
        count
    }
}
