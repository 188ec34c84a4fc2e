//! Whether a program's memory is there. For a bad pointer the kernel returns `EFAULT`, where our own access would be a
//! fault.
//!
//! The kernel is asked about each page once, and again after the program has called libc to unmap or protect it. What libc itself
//! unmaps is not noticed.
//!
//! Another thread may unmap a page between the look and the copy, or while a call waits. It then [changes](change) a counter first,
//! and a call whose counter has changed has the kernel copy.

use std::{
    ffi::c_void,
    ops::Range,
    ptr,
    sync::atomic::{
        AtomicU64, AtomicUsize,
        Ordering::{Acquire, Relaxed, Release},
    },
};

use stack::Lent;

use super::call::{is_single_threaded, raw};

/// Remembered pages, each at the place of its number.
const PAGES: usize = 4096;
/// Smallest page of any machine.
const PAGE: usize = 4096;

/// Numbers of pages, each twice, and 1 more if it is writable.
static KNOWN: [AtomicUsize; PAGES] = [const { AtomicUsize::new(usize::MAX) }; PAGES];

/// Calls that change the program's memory: in steps of [`BEGUN`] those that have begun, below it those under way.
static CHANGES: AtomicU64 = AtomicU64::new(0);
const BEGUN: u64 = 1 << 32;

/// The program's memory as it is now, before it is looked at.
#[inline]
pub fn lend() -> Lent {
    let changes = CHANGES.load(Acquire);
    // While a change is under way nothing is known to last.
    Lent::new(&CHANGES, if changes.is_multiple_of(BEGUN) { changes } else { u64::MAX })
}

/// Call it in a child of `fork`: threads that were changing the memory are not there.
pub(crate) fn begin() {
    CHANGES.fetch_and(!(BEGUN - 1), Relaxed);
}

/// Makes a call that unmaps or protects these bytes, while nothing of ours is copied to or from them: `wait` returns once copies under way
/// have ended.
pub fn change<T>(start: usize, length: usize, wait: impl FnOnce(), call: impl FnOnce() -> T) -> T {
    if is_single_threaded() {
        let result = call();
        forget(start, length);
        return result;
    }
    CHANGES.fetch_add(BEGUN + 1, Relaxed);
    wait();
    let result = call();
    forget(start, length);
    CHANGES.fetch_sub(1, Release);
    result
}

/// Writes bytes to the program's memory through the kernel; whether all of it was there.
///
/// # Safety
/// So many bytes to read, and a place that nobody else of us uses.
#[cold]
pub unsafe fn give(place: *mut c_void, bytes: *const c_void, length: usize) -> bool {
    if length == 0 {
        return true;
    }
    let (from, to) = ([bytes as usize, length], [place as usize, length]);
    // SAFETY: the caller's; the kernel writes to the place alone.
    let given = unsafe {
        let own = raw(libc::SYS_getpid, []) as usize;
        raw(libc::SYS_process_vm_writev, [own, from.as_ptr() as usize, 1, to.as_ptr() as usize, 1, 0])
    };
    // A kernel without this call, or a sandbox that forbids it.
    if given < 0 && given != -libc::EFAULT as isize && are_writable(place, length) {
        // SAFETY: the caller's, and the place is there; pieces of the program may overlap each other, but not our bytes.
        unsafe { ptr::copy_nonoverlapping(bytes.cast::<u8>(), place.cast(), length) };
        return true;
    }
    given == length as isize
}

/// Whether the first byte behind a pointer can be read.
#[inline]
pub fn is_readable<T>(pointer: *const T) -> bool {
    let page = pointer as usize / PAGE;
    KNOWN[page % PAGES].load(Relaxed) / 2 == page || is_found(page, 0, can_read)
}

/// Whether the first byte behind a pointer can be written.
#[inline]
pub fn is_writable<T>(pointer: *mut T) -> bool {
    let page = pointer as usize / PAGE;
    KNOWN[page % PAGES].load(Relaxed) == 2 * page + 1 || is_found(page, 1, can_write)
}

/// Whether these bytes can be read.
#[inline]
pub fn are_readable<T>(start: *const T, length: usize) -> bool {
    is_readable(start) && further_pages(start as usize, length).all(|page| is_readable((page * PAGE) as *const u8))
}

/// Whether these bytes can be written.
#[inline]
pub fn are_writable<T>(start: *mut T, length: usize) -> bool {
    is_writable(start) && further_pages(start as usize, length).all(|page| is_writable((page * PAGE) as *mut u8))
}

/// Number of these bytes that can be written, from the first one on.
#[cold]
pub fn writable_length<T>(start: *mut T, length: usize) -> usize {
    if length == 0 || !is_writable(start) {
        return 0;
    }
    let mut pages = further_pages(start as usize, length);
    let bad = pages.find(|page| !is_writable((page * PAGE) as *mut u8));
    bad.map_or(length, |page| page * PAGE - start as usize)
}

/// Numbers of the pages of these bytes after the first one.
#[inline]
fn further_pages(start: usize, length: usize) -> Range<usize> {
    let end = start.saturating_add(length.saturating_sub(1));
    start / PAGE + 1..end / PAGE + 1
}

/// Forgets pages that the program has unmapped or protected.
fn forget(start: usize, length: usize) {
    let pages = start / PAGE..further_pages(start, length).end;
    for page in pages.clone().take(PAGES) {
        let known = &KNOWN[page % PAGES];
        if pages.contains(&(known.load(Relaxed) / 2)) {
            known.store(usize::MAX, Relaxed);
        }
    }
}

#[cold]
fn is_found(page: usize, writable: usize, can: impl FnOnce(usize) -> bool) -> bool {
    // A null pointer has another meaning in these calls.
    const NOT_NULL: usize = 8;
    let found = can(page * PAGE + NOT_NULL);
    if found {
        KNOWN[page % PAGES].store(2 * page + writable, Relaxed);
    }
    found
}

/// Whether a word can be read now: the kernel reads a set of signals there before it refuses what to do with it.
pub(crate) fn can_read(place: usize) -> bool {
    const NOTHING_KNOWN: usize = usize::MAX;
    // SAFETY: it changes nothing.
    unsafe { raw(libc::SYS_rt_sigprocmask, [NOTHING_KNOWN, place, 0, 8]) != -libc::EFAULT as isize }
}

/// The kernel adds 0 to a number there, and wakes nobody.
fn can_write(place: usize) -> bool {
    const ADD_0_AND_FIND_LESS: usize = 1 << 28 | 2 << 24;
    let nobody = 0_u32;
    let operation = (libc::FUTEX_WAKE_OP | libc::FUTEX_PRIVATE_FLAG) as usize;
    let call = [&raw const nobody as usize, operation, 0, 0, place, ADD_0_AND_FIND_LESS];
    // SAFETY: a number of this frame, and one of the program that keeps its value.
    unsafe { raw(libc::SYS_futex, call) != -libc::EFAULT as isize }
}

#[cfg(test)]
mod tests {
    use std::ptr;

    use rustix::mm::{MapFlags, MprotectFlags, ProtFlags, mmap_anonymous, mprotect, munmap};

    use super::*;

    #[test]
    fn what_is_not_there_is_found() {
        let length = 3 * PAGE;
        let (rights, kind) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE);
        // SAFETY: an unused place, of which the second page can be read alone, and the third not at all.
        let start = unsafe { mmap_anonymous(ptr::null_mut(), length, rights, kind) }.expect("memory").cast::<u8>();
        let page = |number: usize| start.wrapping_add(number * PAGE + 7);
        for (number, rights) in [(1, MprotectFlags::READ), (2, MprotectFlags::empty())] {
            // SAFETY: as above.
            unsafe { mprotect(start.wrapping_add(number * PAGE).cast(), PAGE, rights) }.expect("it is ours");
        }
        // SAFETY: the page was mapped above.
        unsafe { page(0).write(9) };
        for _ in 0..2 {
            assert_eq!([0, 1, 2].map(|number| is_readable(page(number).cast_const())), [true, true, false]);
            assert_eq!([0, 1, 2].map(|number| is_writable(page(number))), [true, false, false]);
        }
        // SAFETY: the page was mapped above.
        assert_eq!(unsafe { page(0).read() }, 9);
        assert!(!is_readable(ptr::null::<u8>()) && !is_writable(usize::MAX as *mut u8));
        // SAFETY: the memory is ours, and no reference to it is left.
        unsafe { munmap(start.cast(), length) }.expect("it is ours");
    }

    #[test]
    fn what_was_looked_at_before_a_change_or_during_it_is_not_taken_for_intact() {
        let (before, unused) = (lend(), 1 << 40);
        assert!(before.is_intact());
        let during = change(unused, PAGE, || (), lend);
        assert!(!before.is_intact() && !during.is_intact());
        assert!(lend().is_intact());
    }

    #[test]
    fn the_kernel_gives_bytes_to_what_is_there_alone() {
        let (mut place, bytes) = ([0_u8; 4], [1_u8, 2, 3, 4]);
        let give = |place: *mut u8, length| {
            // SAFETY: bytes of this frame; the kernel looks at the place.
            unsafe { give(place.cast(), bytes.as_ptr().cast(), length) }
        };
        assert!(give(place.as_mut_ptr(), 3) && give(ptr::null_mut(), 0));
        assert_eq!(place, [1, 2, 3, 0]);
        assert!(!give(8 as *mut u8, 4));
    }

    #[test]
    fn each_page_of_a_piece_is_looked_at_and_what_is_protected_later_is_forgotten() {
        let (rights, kind) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE);
        // SAFETY: an unused place.
        let start = unsafe { mmap_anonymous(ptr::null_mut(), 4 * PAGE, rights, kind) }.expect("memory").cast::<u8>();
        let page = |number: usize| start.wrapping_add(number * PAGE);
        let protect = |number: usize| {
            // SAFETY: a page that was mapped above.
            unsafe { mprotect(page(number).cast(), PAGE, MprotectFlags::empty()) }.expect("it is ours");
        };
        let can_read = |start: *mut u8, length: usize| are_readable(start.cast_const(), length);
        protect(3);
        let before_end = page(3).wrapping_sub(5);
        assert!(are_writable(before_end, 5) && can_read(before_end, 5));
        assert!(!are_writable(before_end, 6) && !can_read(before_end, 6));
        assert!(are_writable(start, 3 * PAGE) && !are_writable(start, 3 * PAGE + 1) && !can_read(start, usize::MAX));
        assert!(are_writable(start, 0) && !are_writable(page(3), 0));
        assert_eq!([0, 5, 6, 9000].map(|length| writable_length(before_end, length)), [0, 5, 5, 5]);
        assert_eq!(writable_length(page(3), 9), 0);
        protect(1);
        assert!(can_read(start, 3 * PAGE), "it is not asked about again");
        forget(page(1) as usize, PAGE);
        assert!(!can_read(start, 3 * PAGE) && can_read(start, PAGE) && can_read(before_end, 5));
        protect(2);
        forget(0, usize::MAX);
        assert!(can_read(start, PAGE) && !can_read(before_end, 5));
        // SAFETY: the memory is ours, and no reference to it is left.
        unsafe { munmap(start.cast(), 4 * PAGE) }.expect("it is ours");
    }
}
