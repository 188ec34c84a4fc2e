//! Memory that is shared with the kernel, given back when it is dropped.

use std::{os::fd::AsFd, ptr::NonNull};

use rustix::{
    io,
    mm::{MapFlags, ProtFlags, mmap, mmap_anonymous, munmap},
};

/// A mapping that may be read and written.
pub(super) struct Mapping {
    start: NonNull<u8>,
    length: usize,
}

// SAFETY: memory belongs to no thread; who may touch which bytes of it is for those who hold the mapping to say.
unsafe impl Send for Mapping {}
// SAFETY: as above.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// Memory of our own, which is there at once and not only when it is first written to.
    pub(super) fn anonymous(length: usize) -> io::Result<Self> {
        // SAFETY: without MAP_FIXED the kernel takes a place where nothing is.
        let start = unsafe {
            let null = std::ptr::null_mut();
            mmap_anonymous(null, length, ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE | MapFlags::POPULATE)
        }?;
        Self::of(start.cast(), length)
    }

    /// Memory of the kernel behind a file descriptor.
    pub(super) fn of_kernel(fd: &impl AsFd, at: u64, length: usize) -> io::Result<Self> {
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

    /// Where it begins. Mappings begin at a page.
    pub(super) fn start(&self) -> NonNull<u8> {
        self.start
    }

    /// Its length in bytes.
    pub(super) fn length(&self) -> usize {
        self.length
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: start and length are those of a mapping of ours, and what pointed into it goes with whoever held it.
        // It fails only for what is no mapping.
        let _ = unsafe { munmap(self.start.as_ptr().cast(), self.length) };
    }
}
