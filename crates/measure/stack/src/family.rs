//! Whether this is the process that began it, or a child of that.

use std::{
    io,
    ptr::{NonNull, null_mut},
    sync::atomic::{AtomicU8, Ordering::Relaxed},
};

use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous, munmap};

const LENGTH: usize = 4096;

/// A page that children find wiped.
pub(crate) struct Family {
    page: NonNull<AtomicU8>,
}

// SAFETY: the page has an atomic number in it, and belongs to no thread.
unsafe impl Send for Family {}
// SAFETY: as above.
unsafe impl Sync for Family {}

impl Family {
    /// Begins with this process.
    pub(crate) fn found() -> io::Result<Self> {
        // SAFETY: without MAP_FIXED the kernel takes a place where nothing is.
        let start =
            unsafe { mmap_anonymous(null_mut(), LENGTH, ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE) }?;
        // SAFETY: it is the page that was just made.
        unsafe { madvise(start, LENGTH, Advice::LinuxWipeOnFork) }?;
        let page = NonNull::new(start.cast::<AtomicU8>()).ok_or(io::ErrorKind::OutOfMemory)?;
        let family = Self { page };
        family.mark().store(1, Relaxed);
        Ok(family)
    }

    /// Whether this is a child.
    #[inline]
    pub(crate) fn is_child(&self) -> bool {
        self.mark().load(Relaxed) == 0
    }

    fn mark(&self) -> &AtomicU8 {
        // SAFETY: the page is there as long as this is, and any byte is a number.
        unsafe { self.page.as_ref() }
    }
}

impl Drop for Family {
    fn drop(&mut self) {
        // SAFETY: the page is ours, and nobody has a reference to it any more.
        let _ = unsafe { munmap(self.page.as_ptr().cast(), LENGTH) };
    }
}
