//! Memory of this process only: a child of `fork` finds it zeroed, without its parent's sockets.

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

/// Memory that is zero at the start of each child.
#[repr(C)]
struct Memory {
    /// Process; 0 before the first query.
    owner: AtomicU32,
    /// One more than the highest number written to the table.
    used: AtomicI32,
    /// Whether a thread requests a grant at the moment.
    asking: AtomicU32,
    /// Values created once; null until then.
    values: [AtomicPtr<()>; 3],
    table: Table,
    /// Bits of the descriptors that this process opened.
    made: [AtomicU64; ENTRIES / 64],
}

// SAFETY: only atomics; zeros are a process without sockets.
unsafe impl Shared for Memory {}

/// Interval between checks whether another thread has its answer.
static MOMENT: libc::timespec = libc::timespec { tv_sec: 0, tv_nsec: 100_000 };
static MEMORY: AtomicPtr<Memory> = AtomicPtr::new(ptr::null_mut());

/// Index of a [`PerProcess`] value.
#[derive(Clone, Copy)]
pub(crate) enum Place {
    Sets,
    Bypass,
    Page,
}

/// A value created once in each process, which lives until the process ends.
pub(crate) struct PerProcess<T>(Place, PhantomData<fn() -> T>);

impl<T: Sync + 'static> PerProcess<T> {
    /// An empty place.
    ///
    /// # Safety
    /// No other type uses this place.
    pub(crate) const unsafe fn at(place: Place) -> Self {
        Self(place, PhantomData)
    }

    fn place(&self) -> Option<&'static AtomicPtr<()>> {
        Some(&memory()?.values[self.0 as usize])
    }

    /// The value; `None` before its creation.
    #[inline]
    pub(crate) fn get(&self) -> Option<&'static T> {
        let value = self.place()?.load(Ordering::Acquire).cast::<T>();
        // SAFETY: null, or a leaked box of the place's type.
        unsafe { value.as_ref() }
    }

    /// Sets the value, unless another thread was first.
    pub(crate) fn set(&self, value: T) {
        let Some(place) = self.place() else { return };
        let value = Box::into_raw(Box::new(value));
        if place.compare_exchange(ptr::null_mut(), value.cast(), Ordering::AcqRel, Ordering::Acquire).is_err() {
            // SAFETY: the box created above, which no other thread has seen.
            drop(unsafe { Box::from_raw(value) });
        }
    }
}

/// Maps the memory. Without it, the kernel handles everything.
pub(crate) fn begin() {
    if let Ok(memory) = WipeOnFork::<Memory>::new() {
        MEMORY.store(ptr::from_ref(&**Box::leak(Box::new(memory))).cast_mut(), Ordering::Release);
    }
}

/// The table of descriptors; `None` if the program was not launched for bypassing.
#[inline]
pub fn table() -> Option<&'static Table> {
    memory().map(|memory| &memory.table)
}

/// The kind of a descriptor, as far as known.
#[inline]
pub fn kind(fd: c_int) -> Option<Kind> {
    Some(table()?.load(fd)?.kind())
}

/// Runs `work` in one thread at a time. A child that is forked meanwhile starts unlocked.
pub(crate) fn alone(work: impl FnOnce()) {
    let Some(memory) = memory() else { return };
    while memory.asking.compare_exchange(0, 1, Ordering::AcqRel, Ordering::Acquire).is_err() {
        // SAFETY: a static time. libc's own function would be a cancellation point.
        unsafe { raw(libc::SYS_nanosleep, [&raw const MOMENT as usize, 0]) };
    }
    uncancelled(work);
    memory.asking.store(0, Ordering::Release);
}

#[inline]
fn memory() -> Option<&'static Memory> {
    // SAFETY: null, or a mapping that is never unmapped.
    unsafe { MEMORY.load(Ordering::Acquire).as_ref() }
}

/// Whether this process owns the memory; a child of `vfork` borrows it.
pub fn is_own() -> bool {
    // SAFETY: it takes nothing.
    let pid = unsafe { raw(libc::SYS_getpid, []) } as u32;
    memory().is_some_and(|memory| {
        let owner = memory.owner.compare_exchange(0, pid, Ordering::AcqRel, Ordering::Acquire);
        owner.is_ok() || owner == Err(pid)
    })
}

/// Milliseconds of a cheap clock that all processes share; never 0.
pub(crate) fn now() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: a time of this frame.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC_COARSE, &mut time) };
    (time.tv_sec * 1000 + time.tv_nsec / 1_000_000 + 1) as u64
}

/// One more than the highest descriptor with an entry in the table.
pub(crate) fn used() -> c_int {
    memory().map_or(0, |memory| memory.used.load(Ordering::Acquire))
}

/// Call it before writing a descriptor's entry.
pub(crate) fn uses(fd: c_int) {
    if let Some(memory) = memory()
        && memory.used.load(Ordering::Relaxed) <= fd
    {
        memory.used.fetch_max(fd.saturating_add(1), Ordering::AcqRel);
    }
}

/// Records whether this process opened a descriptor.
pub(crate) fn set_made_here(fd: c_int, is_made: bool) {
    let Some((bits, bit)) = made(fd) else { return };
    match is_made {
        true => bits.fetch_or(bit, Ordering::Relaxed),
        false => bits.fetch_and(!bit, Ordering::Relaxed),
    };
}

/// Whether this process opened it.
pub(crate) fn is_made_here(fd: c_int) -> bool {
    made(fd).is_some_and(|(bits, bit)| bits.load(Ordering::Relaxed) & bit != 0)
}

fn made(fd: c_int) -> Option<(&'static AtomicU64, u64)> {
    let fd = usize::try_from(fd).ok()?;
    Some((memory()?.made.get(fd / 64)?, 1 << (fd % 64)))
}
