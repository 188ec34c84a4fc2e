//! A page of memory that processes share.

use std::{
    io,
    marker::PhantomData,
    ops::Deref,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    ptr::{NonNull, null_mut},
};

use rustix::{
    fs::{MemfdFlags, SealFlags, fcntl_add_seals, fstat, ftruncate, memfd_create},
    mm::{Advice, MapFlags, ProtFlags, madvise, mmap, munmap},
};

/// A type for memory that other processes may write to at any time.
///
/// # Safety
/// Any bytes are a valid value, zeros are a new one, and all changes go through atomics.
pub unsafe trait Shared: Sync {}

/// A value in an anonymous file, which other processes can map by its descriptor.
pub(crate) struct SharedMapping<T: Shared> {
    start: NonNull<T>,
    /// The file, for mapping by others, if it was created here.
    file: Option<OwnedFd>,
    _value: PhantomData<T>,
}

// SAFETY: the memory belongs to no thread, and its contents are `Sync`.
unsafe impl<T: Shared> Send for SharedMapping<T> {}
// SAFETY: as above.
unsafe impl<T: Shared> Sync for SharedMapping<T> {}

impl<T: Shared> SharedMapping<T> {
    /// A new value: zeros.
    pub(crate) fn new(name: &str) -> io::Result<Self> {
        let file = memfd_create(name, MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)?;
        ftruncate(&file, size_of::<T>() as u64)?;
        // A process with the descriptor could otherwise truncate the file under the others.
        fcntl_add_seals(&file, SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL)?;
        let mut mapping = Self::map(&file)?;
        mapping.file = Some(file);
        Ok(mapping)
    }

    /// Maps a value that another process created.
    pub(crate) fn open(file: OwnedFd) -> io::Result<Self> {
        if fstat(&file)?.st_size < size_of::<T>() as i64 {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "the file is smaller than what has to be in it"));
        }
        Self::map(&file)
    }

    /// The file for mapping by others, if it was created here.
    pub(crate) fn file(&self) -> Option<BorrowedFd<'_>> {
        self.file.as_ref().map(AsFd::as_fd)
    }

    /// Children do not inherit the mapping: they would write their sockets' state to ours.
    fn map(file: &OwnedFd) -> io::Result<Self> {
        let (length, rights) = (size_of::<T>(), ProtFlags::READ | ProtFlags::WRITE);
        // SAFETY: without MAP_FIXED the kernel takes an unused place.
        let start = unsafe { mmap(null_mut(), length, rights, MapFlags::SHARED, file, 0) }?;
        // SAFETY: it changes neither the memory nor the mapping here.
        unsafe { madvise(start, length, Advice::LinuxDontFork) }?;
        let start = NonNull::new(start.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Self { start, file: None, _value: PhantomData })
    }
}

impl<T: Shared> Deref for SharedMapping<T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: the mapping is as long as the value and begins at a page; any bytes are a valid `T` (Shared).
        unsafe { self.start.as_ref() }
    }
}

impl<T: Shared> Drop for SharedMapping<T> {
    fn drop(&mut self) {
        // SAFETY: start and length are those of our mapping, and no borrow is left. It fails only for an invalid range.
        let _ = unsafe { munmap(self.start.as_ptr().cast(), size_of::<T>()) };
    }
}
