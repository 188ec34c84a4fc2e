//! Memory that is shared with the kernel, given back when it is dropped.

use std::{os::fd::AsFd, ptr::NonNull};

use rustix::{
    io,
    mm::{Advice, MapFlags, ProtFlags, madvise, mmap, mmap_anonymous, munmap},
};

/// A mapping that may be read and written.
pub(crate) struct Mapping {
    start: NonNull<u8>,
    length: usize,
}

// SAFETY: memory belongs to no thread; who may touch which bytes of it is for those who hold the mapping to say.
unsafe impl Send for Mapping {}
// SAFETY: as above.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// Memory of our own, which is there at once and not only when it is first written to.
    pub(crate) fn anonymous(length: usize) -> io::Result<Self> {
        // SAFETY: without MAP_FIXED the kernel takes a place where nothing is.
        let start = unsafe {
            let null = std::ptr::null_mut();
            mmap_anonymous(null, length, ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE | MapFlags::POPULATE)
        }?;
        Self::of(start.cast(), length)
    }

    /// Memory of the kernel, or of a file, behind a descriptor.
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

    /// Has children of this process go without it.
    pub(crate) fn keep_from_children(&self) -> io::Result<()> {
        // SAFETY: it changes nothing of the memory, nor of the mapping here.
        unsafe { madvise(self.start.as_ptr().cast(), self.length, Advice::LinuxDontFork) }
    }

    /// Where it begins. Mappings begin at a page.
    pub(crate) fn start(&self) -> NonNull<u8> {
        self.start
    }

    /// Its length in bytes.
    pub(crate) fn length(&self) -> usize {
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
