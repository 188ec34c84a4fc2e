//! Memory that belongs to this process alone: a child of `fork` finds it empty, and so knows that it is one.

use std::{
    io,
    marker::PhantomData,
    ops::Deref,
    ptr::{NonNull, null_mut},
    sync::atomic::{AtomicU8, Ordering::Relaxed},
};

use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous, munmap};

use crate::mapping::Shared;

/// A value that is zeros at first, and in each child.
pub(crate) struct Wiped<T: Shared> {
    start: NonNull<T>,
    _value: PhantomData<T>,
}

// SAFETY: the memory belongs to no thread, and what lies in it is `Sync`.
unsafe impl<T: Shared> Send for Wiped<T> {}
// SAFETY: as above.
unsafe impl<T: Shared> Sync for Wiped<T> {}

impl<T: Shared> Wiped<T> {
    /// A new one.
    pub(crate) fn new() -> io::Result<Self> {
        let (rights, kind) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE | MapFlags::NORESERVE);
        // SAFETY: without MAP_FIXED the kernel takes a place where nothing is.
        let start = unsafe { mmap_anonymous(null_mut(), size_of::<T>(), rights, kind) }?;
        let wiped = Self { start: NonNull::new(start.cast()).ok_or(io::ErrorKind::OutOfMemory)?, _value: PhantomData };
        // SAFETY: it is the memory that was just made.
        unsafe { madvise(start, size_of::<T>(), Advice::LinuxWipeOnFork) }?;
        Ok(wiped)
    }
}

impl<T: Shared> Deref for Wiped<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: the mapping is as long as the value and begins at a page; zeros are a valid `T` (Shared).
        unsafe { self.start.as_ref() }
    }
}

impl<T: Shared> Drop for Wiped<T> {
    fn drop(&mut self) {
        // SAFETY: the memory is ours, and nobody has a reference to it any more.
        let _ = unsafe { munmap(self.start.as_ptr().cast(), size_of::<T>()) };
    }
}

/// Whether this is the process that began it, or a child of that.
pub(crate) struct Family(Wiped<Mark>);

#[repr(transparent)]
struct Mark(AtomicU8);

// SAFETY: one atomic number, of which zero is the mark of a child.
unsafe impl Shared for Mark {}

impl Family {
    /// Begins with this process.
    pub(crate) fn found() -> io::Result<Self> {
        let mark = Wiped::<Mark>::new()?;
        mark.0.store(1, Relaxed);
        Ok(Self(mark))
    }

    /// Whether this is a child.
    #[inline]
    pub(crate) fn is_child(&self) -> bool {
        self.0.0.load(Relaxed) == 0
    }
}
