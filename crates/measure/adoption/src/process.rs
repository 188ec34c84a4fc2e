//! Memory of this process alone: a child of `fork` finds it empty, so that it knows nothing of its parent's sockets.

use std::{
    ffi::c_int,
    marker::PhantomData,
    ptr,
    sync::atomic::{AtomicI32, AtomicPtr, AtomicU32, AtomicU64, Ordering},
};

use grant::Shared;
use stack::wipe_on_fork::WipeOnFork;

use super::{
    call::{raw, uncancelled},
    table::{ENTRIES, Kind, Table},
};

/// Memory that each child begins anew.
#[repr(C)]
struct Memory {
    /// The process that it belongs to; 0 until somebody asks.
    owner: AtomicU32,
    /// One more than the highest number that was ever written to the table.
    used: AtomicI32,
    /// Whether a thread asks the launcher just now.
    asking: AtomicU32,
    /// Values that are made once; null until then.
    values: [AtomicPtr<()>; 3],
    table: Table,
    /// Descriptors that it made itself: bits, by their numbers.
    made: [AtomicU64; ENTRIES / 64],
}

// SAFETY: atomics all over, zeros of which are a process that has nothing yet.
unsafe impl Shared for Memory {}

/// Between two looks whether another thread has been answered.
static MOMENT: libc::timespec = libc::timespec { tv_sec: 0, tv_nsec: 100_000 };
static MEMORY: AtomicPtr<Memory> = AtomicPtr::new(ptr::null_mut());

/// Where a [`PerProcess`] lies.
#[derive(Clone, Copy)]
pub(crate) enum Place {
    Sets,
    Bypass,
    Page,
}

/// A value that is made once in each process, and stays until its end.
pub(crate) struct PerProcess<T>(Place, PhantomData<fn() -> T>);

impl<T: Sync + 'static> PerProcess<T> {
    /// Without a value.
    ///
    /// # Safety
    /// No other type has this place.
    pub(crate) const unsafe fn at(place: Place) -> Self {
        Self(place, PhantomData)
    }

    fn place(&self) -> Option<&'static AtomicPtr<()>> {
        Some(&memory()?.values[self.0 as usize])
    }

    /// The value; none before it is made.
    #[inline]
    pub(crate) fn get(&self) -> Option<&'static T> {
        let value = self.place()?.load(Ordering::Acquire).cast::<T>();
        // SAFETY: null, or a box that was leaked, of the place's type.
        unsafe { value.as_ref() }
    }

    /// Sets the value, unless another thread was first.
    pub(crate) fn set(&self, value: T) {
        let Some(place) = self.place() else { return };
        let value = Box::into_raw(Box::new(value));
        if place.compare_exchange(ptr::null_mut(), value.cast(), Ordering::AcqRel, Ordering::Acquire).is_err() {
            // SAFETY: the box of above, which nobody else has seen.
            drop(unsafe { Box::from_raw(value) });
        }
    }
}

/// Makes the memory. Without it everything is the kernel's.
pub(crate) fn begin() {
    if let Ok(memory) = WipeOnFork::<Memory>::new() {
        MEMORY.store(ptr::from_ref(&**Box::leak(Box::new(memory))).cast_mut(), Ordering::Release);
    }
}

/// The table of descriptors; none where nobody launched this program to be bypassed.
#[inline]
pub fn table() -> Option<&'static Table> {
    memory().map(|memory| &memory.table)
}

/// Knowledge about a descriptor.
#[inline]
pub fn kind(fd: c_int) -> Option<Kind> {
    Some(table()?.look(fd)?.kind())
}

/// Runs this in one thread at a time. A child of a process in which a thread was in it begins anew.
pub(crate) fn alone(work: impl FnOnce()) {
    let Some(memory) = memory() else { return };
    while memory.asking.compare_exchange(0, 1, Ordering::AcqRel, Ordering::Acquire).is_err() {
        // SAFETY: a time that is always there. libc's own function would be a cancellation point.
        unsafe { raw(libc::SYS_nanosleep, [&raw const MOMENT as usize, 0]) };
    }
    uncancelled(work);
    memory.asking.store(0, Ordering::Release);
}

#[inline]
fn memory() -> Option<&'static Memory> {
    // SAFETY: null, or a mapping that is never taken away.
    unsafe { MEMORY.load(Ordering::Acquire).as_ref() }
}

/// Whether this is the process whose memory it is, and not one that `vfork` lets use it for a while.
pub fn is_own() -> bool {
    // SAFETY: it takes nothing.
    let pid = unsafe { raw(libc::SYS_getpid, []) } as u32;
    memory().is_some_and(|memory| {
        let owner = memory.owner.compare_exchange(0, pid, Ordering::AcqRel, Ordering::Acquire);
        owner.is_ok() || owner == Err(pid)
    })
}

/// Milliseconds of a clock that all processes share, and that costs little to read; never 0.
pub(crate) fn now() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: a time of this frame.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC_COARSE, &mut time) };
    (time.tv_sec * 1000 + time.tv_nsec / 1_000_000 + 1) as u64
}

/// One more than the highest descriptor that the table may know something of.
pub(crate) fn used() -> c_int {
    memory().map_or(0, |memory| memory.used.load(Ordering::Acquire))
}

/// To be called before something is written to a descriptor's entry.
pub(crate) fn uses(fd: c_int) {
    if let Some(memory) = memory()
        && memory.used.load(Ordering::Relaxed) <= fd
    {
        memory.used.fetch_max(fd.saturating_add(1), Ordering::AcqRel);
    }
}

/// Takes down whether this process made a descriptor itself.
pub(crate) fn set_made_here(fd: c_int, is_made: bool) {
    let Some((bits, bit)) = made(fd) else { return };
    match is_made {
        true => bits.fetch_or(bit, Ordering::Relaxed),
        false => bits.fetch_and(!bit, Ordering::Relaxed),
    };
}

/// Whether it did.
pub(crate) fn is_made_here(fd: c_int) -> bool {
    made(fd).is_some_and(|(bits, bit)| bits.load(Ordering::Relaxed) & bit != 0)
}

fn made(fd: c_int) -> Option<(&'static AtomicU64, u64)> {
    let fd = usize::try_from(fd).ok()?;
    Some((memory()?.made.get(fd / 64)?, 1 << (fd % 64)))
}
