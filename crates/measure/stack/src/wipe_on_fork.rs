//! Memory that the kernel zeroes in a child of `fork` (`MADV_WIPEONFORK`), so that the child can tell that it is one.

use std::{
    io,
    marker::PhantomData,
    ops::Deref,
    ptr::{NonNull, null_mut},
    sync::atomic::{AtomicU8, Ordering::Relaxed},
};

use grant::Shared;
use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous, munmap};

/// A value that is zero at the start and in each child.
pub struct WipeOnFork<T: Shared> {
    start: NonNull<T>,
    _value: PhantomData<T>,
}

// SAFETY: the memory belongs to no thread, and its contents are `Sync`.
unsafe impl<T: Shared> Send for WipeOnFork<T> {}
// SAFETY: as above.
unsafe impl<T: Shared> Sync for WipeOnFork<T> {}

impl<T: Shared> WipeOnFork<T> {
    /// Maps a new value.
    ///
    /// # Errors
    /// Without memory for it.
    pub fn new() -> io::Result<Self> {
        let (rights, kind) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE | MapFlags::NORESERVE);
        // SAFETY: without MAP_FIXED the kernel takes an unused place.
        let start = unsafe { mmap_anonymous(null_mut(), size_of::<T>(), rights, kind) }?;
        let wiped = Self { start: NonNull::new(start.cast()).ok_or(io::ErrorKind::OutOfMemory)?, _value: PhantomData };
        // SAFETY: the memory was just mapped.
        unsafe { madvise(start, size_of::<T>(), Advice::LinuxWipeOnFork) }?;
        Ok(wiped)
    }
}

impl<T: Shared> Deref for WipeOnFork<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: the mapping is as long as the value and begins at a page; zeros are a valid `T` (Shared).
        unsafe { self.start.as_ref() }
    }
}

impl<T: Shared> Drop for WipeOnFork<T> {
    fn drop(&mut self) {
        // SAFETY: the memory is ours, and no reference to it is left.
        let _ = unsafe { munmap(self.start.as_ptr().cast(), size_of::<T>()) };
    }
}

/// Tells whether this process created the value, or is a child of that process.
pub(crate) struct Forked(WipeOnFork<Mark>);

#[repr(transparent)]
struct Mark(AtomicU8);

// SAFETY: one atomic number, of which zero is the mark of a child.
unsafe impl Shared for Mark {}

impl Forked {
    /// Marks this process as the parent.
    pub(crate) fn watch() -> io::Result<Self> {
        let mark = WipeOnFork::<Mark>::new()?;
        mark.0.store(1, Relaxed);
        Ok(Self(mark))
    }

    /// Whether this is a child.
    #[inline]
    pub(crate) fn is_child(&self) -> bool {
        self.0.0.load(Relaxed) == 0
    }
}
