//! Memory shared with the kernel, unmapped when dropped.

use std::{os::fd::AsFd, ptr::NonNull};

use rustix::{
    io,
    mm::{Advice, MapFlags, ProtFlags, madvise, mmap, mmap_anonymous, munmap},
};

/// A readable and writable mapping.
pub(crate) struct Mapping {
    start: NonNull<u8>,
    length: usize,
}

// SAFETY: the memory belongs to no thread; the mapping's owners coordinate access to its bytes.
unsafe impl Send for Mapping {}
// SAFETY: as above.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// Anonymous memory, populated at once rather than on first use.
    pub(crate) fn anonymous(length: usize) -> io::Result<Self> {
        // SAFETY: without MAP_FIXED the kernel takes an unused place.
        let start = unsafe {
            let null = std::ptr::null_mut();
            mmap_anonymous(null, length, ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE | MapFlags::POPULATE)
        }?;
        Self::of(start.cast(), length)
    }

    /// Memory of the kernel or of a file, by a descriptor.
    pub(crate) fn of_kernel(fd: &impl AsFd, at: u64, length: usize) -> io::Result<Self> {
        // SAFETY: as above.
        let start = unsafe {
            let null = std::ptr::null_mut();
            mmap(null, length, ProtFlags::READ | ProtFlags::WRITE, MapFlags::SHARED | MapFlags::POPULATE, fd, at)
        }?;
        Self::of(start.cast(), length)
    }

    fn of(start: *mut u8, length: usize) -> io::Result<Self> {
        NonNull::new(start).map(|start| Self { start, length }).ok_or(io::Errno::NOMEM)
    }

    /// Keeps the mapping out of child processes.
    pub(crate) fn keep_from_children(&self) -> io::Result<()> {
        // SAFETY: it changes neither the memory nor the mapping here.
        unsafe { madvise(self.start.as_ptr().cast(), self.length, Advice::LinuxDontFork) }
    }

    /// Start, which is page-aligned.
    pub(crate) fn start(&self) -> NonNull<u8> {
        self.start
    }

    /// Length in bytes.
    pub(crate) fn length(&self) -> usize {
        self.length
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: start and length are those of our mapping; pointers into it end with its owner. It fails only for an
        // invalid range.
        let _ = unsafe { munmap(self.start.as_ptr().cast(), self.length) };
    }
}
