//! What belongs to this process alone: memory that a child of `fork` finds empty, so that it knows nothing of its parent's sockets.

use std::{
    ffi::c_int,
    mem::size_of,
    ptr,
    sync::atomic::{AtomicI32, AtomicPtr, AtomicU32, Ordering},
};

use crate::{call::raw, table::Table};

/// Where a launcher says what it is to be asked by.
pub(crate) const LAUNCHER: &std::ffi::CStr = c"WIREPROOF_BYPASS";

/// Zero in each child, by `MADV_WIPEONFORK`.
#[repr(C)]
pub(crate) struct Memory {
    /// Process that it belongs to; 0 until somebody asks.
    owner: AtomicU32,
    /// One more than the highest number that was ever written to the table.
    used: AtomicI32,
    table: Table,
}

static MEMORY: AtomicPtr<Memory> = AtomicPtr::new(ptr::null_mut());

/// The table of descriptors; none where nobody launched this program to be taken past the kernel.
#[inline]
pub(crate) fn table() -> Option<&'static Table> {
    memory().map(|memory| &memory.table)
}

#[inline]
fn memory() -> Option<&'static Memory> {
    // SAFETY: null, or a mapping that is never taken away.
    unsafe { MEMORY.load(Ordering::Acquire).as_ref() }
}

/// Whether this is the process whose memory it is, and not one that `vfork` lets use it for a while.
pub(crate) fn is_own() -> bool {
    // SAFETY: it takes nothing.
    let pid = unsafe { raw(libc::SYS_getpid, []) } as u32;
    memory().is_some_and(|memory| {
        let owner = memory.owner.compare_exchange(0, pid, Ordering::AcqRel, Ordering::Acquire);
        owner.is_ok() || owner == Err(pid)
    })
}

/// One more than the highest descriptor that the table may know something of.
pub(crate) fn used() -> c_int {
    memory().map_or(0, |memory| memory.used.load(Ordering::Acquire))
}

/// To be said before something is written to a descriptor's entry.
pub(crate) fn uses(fd: c_int) {
    if let Some(memory) = memory()
        && memory.used.load(Ordering::Relaxed) <= fd
    {
        memory.used.fetch_max(fd.saturating_add(1), Ordering::AcqRel);
    }
}

/// Run by the loader, before the program.
#[used]
#[unsafe(link_section = ".init_array")]
static START: extern "C" fn() = start;

extern "C" fn start() {
    // SAFETY: a name that ends with NUL; nobody else runs yet who could change the environment.
    if unsafe { libc::getenv(LAUNCHER.as_ptr()) }.is_null() {
        return;
    }
    crate::call::find_single_threaded();
    // SAFETY: without MAP_FIXED the kernel takes a place where nothing is.
    let place = unsafe {
        let (access, kind) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        libc::mmap(ptr::null_mut(), size_of::<Memory>(), access, kind | libc::MAP_NORESERVE, -1, 0)
    };
    if place == libc::MAP_FAILED {
        return;
    }
    // SAFETY: the mapping just made. Without this a child would take its parent's sockets for its own.
    if unsafe { libc::madvise(place, size_of::<Memory>(), libc::MADV_WIPEONFORK) } == 0 {
        MEMORY.store(place.cast(), Ordering::Release);
        is_own();
    }
}
