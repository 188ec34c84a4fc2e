//! What belongs to this process alone: memory that a child of `fork` finds empty, so that it knows nothing of its parent's sockets.

use std::{
    ffi::{CStr, c_int},
    ptr,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicI32, AtomicPtr, AtomicU32, AtomicU64, Ordering},
    },
};

use super::{
    call::{raw, uncancelled},
    family,
    past::Past,
    sets::Sets,
    table::{ENTRIES, Table},
};
use crate::{Control, aside::make_room, launch::LAUNCHER_VARIABLE, mapping::Shared, wiped::Wiped};

/// What each child begins anew.
#[repr(C)]
struct Memory {
    /// Process that it belongs to; 0 until somebody asks.
    owner: AtomicU32,
    /// One more than the highest number that was ever written to the table.
    used: AtomicI32,
    /// Whether a thread asks the launcher just now.
    asking: AtomicU32,
    /// What goes past the kernel; null until something does.
    past: AtomicPtr<Past>,
    /// Where sockets are written down as long as nothing does; null until one is, and dangling where that cannot be had.
    page: AtomicPtr<Control>,
    /// Its epoll sets; null until it has one.
    sets: AtomicPtr<Mutex<Sets>>,
    table: Table,
    /// Descriptors that it made itself: bits, by their numbers.
    made: [AtomicU64; ENTRIES / 64],
}

// SAFETY: atomics all over, zeros of which are a process that has nothing yet.
unsafe impl Shared for Memory {}

/// Between two looks whether another thread has been answered.
static MOMENT: libc::timespec = libc::timespec { tv_sec: 0, tv_nsec: 100_000 };
static MEMORY: AtomicPtr<Memory> = AtomicPtr::new(ptr::null_mut());

/// The table of descriptors; none where nobody launched this program to be taken past the kernel.
#[inline]
pub fn table() -> Option<&'static Table> {
    memory().map(|memory| &memory.table)
}

/// What goes past the kernel in this process.
#[inline]
pub fn past() -> Option<&'static Past> {
    // SAFETY: null, or a box that was leaked.
    memory().and_then(|memory| unsafe { memory.past.load(Ordering::Acquire).as_ref() })
}

/// Makes it what goes past the kernel.
pub(crate) fn set_past(past: Past) {
    if let Some(memory) = memory() {
        first(&memory.past, past);
    }
}

/// The epoll sets; none before there is one.
pub(crate) fn sets() -> Option<MutexGuard<'static, Sets>> {
    // SAFETY: null, or a box that was leaked.
    let sets = unsafe { memory()?.sets.load(Ordering::Acquire).as_ref() }?;
    Some(sets.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Whether there may be one.
pub(crate) fn has_sets() -> bool {
    memory().is_some_and(|memory| !memory.sets.load(Ordering::Relaxed).is_null())
}

/// The same for who has one.
pub(crate) fn some_sets() -> Option<MutexGuard<'static, Sets>> {
    let place = &memory()?.sets;
    if place.load(Ordering::Acquire).is_null() {
        first(place, Mutex::default());
    }
    sets()
}

/// Puts a value where there is none, unless another thread was first.
fn first<T>(place: &AtomicPtr<T>, value: T) {
    let value = Box::into_raw(Box::new(value));
    if place.compare_exchange(ptr::null_mut(), value, Ordering::AcqRel, Ordering::Acquire).is_err() {
        // SAFETY: the box of two lines above, which nobody else has seen.
        drop(unsafe { Box::from_raw(value) });
    }
}

/// Where sockets are written down as long as nothing goes past the kernel: asked for once, by whoever needs it first.
pub(crate) fn page(ask: impl FnOnce() -> Option<Control>) -> Option<&'static Control> {
    const NOT_TO_BE_HAD: *mut Control = ptr::without_provenance_mut(align_of::<Control>());
    let place = &memory()?.page;
    if place.load(Ordering::Acquire).is_null() {
        alone(|| {
            if place.load(Ordering::Acquire).is_null() {
                let page = ask().map_or(NOT_TO_BE_HAD, |page| Box::into_raw(Box::new(page)));
                place.store(page, Ordering::Release);
            }
        });
    }
    let page = place.load(Ordering::Acquire);
    if page == NOT_TO_BE_HAD {
        return None;
    }
    // SAFETY: null, or a box that was leaked.
    unsafe { page.as_ref() }
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

/// To be called once, before the program runs: where a launcher is named, the program's sockets may go past the kernel from now on.
pub fn begin() {
    // SAFETY: a name that ends with NUL; nobody else runs yet who could change the environment.
    let launcher = unsafe { libc::getenv(LAUNCHER_VARIABLE.as_ptr()) };
    if launcher.is_null() {
        return;
    }
    family::starts();
    // SAFETY: getenv gave a text that ends with NUL.
    super::claim::remember(unsafe { CStr::from_ptr(launcher) });
    super::call::find_single_threaded();
    make_room();
    // Without it everything is the kernel's.
    if let Ok(memory) = Wiped::<Memory>::new() {
        MEMORY.store(ptr::from_ref(&**Box::leak(Box::new(memory))).cast_mut(), Ordering::Release);
        is_own();
        // The first to ask in a child may be one that it has made by `vfork`. Without memory for it, whoever asks first is taken for the child.
        // SAFETY: the function takes nothing, and is there as long as the program.
        unsafe { libc::pthread_atfork(None, None, Some(own_child)) };
    }
}

/// Runs in each child of `fork`, before anything else of it; `vfork` calls nobody.
extern "C" fn own_child() {
    is_own();
    family::begins();
}
