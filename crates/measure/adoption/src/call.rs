//! System calls as libc makes them, with errno and cancellation; and whether this thread is in our own code.

use std::{
    cell::Cell,
    ffi::{c_int, c_long},
    ptr,
};

use stack::system_call::raw_cancellable;
pub use stack::system_call::{Argument, is_single_threaded, raw};

unsafe extern "C-unwind" {
    fn pthread_setcancelstate(state: c_int, old: *mut c_int) -> c_int;
}

const PTHREAD_CANCEL_DISABLE: c_int = 1;

thread_local! {
    /// Address of this thread's outermost frame in our code; 0 outside.
    ///
    /// From inside, calls of a signal handler and of our own code go to the kernel.
    pub(crate) static INSIDE: Cell<usize> = const { Cell::new(0) };
}

/// Whether this thread is in our own code.
#[inline]
pub(crate) fn is_inside() -> bool {
    INSIDE.get() != 0
}

/// A system call whose libc function is a cancellation point. From our own code it is none, as that may not be unwound.
///
/// # Safety
/// Result of the system call; the frames above may hold nothing to drop.
#[inline(always)]
pub unsafe fn raw_waiting<const N: usize>(number: c_long, arguments: [usize; N]) -> isize {
    // SAFETY: the caller's.
    unsafe { if is_inside() { raw(number, arguments) } else { raw_cancellable(number, arguments) } }
}

/// Runs code that calls cancellation points of libc, such as `open`, with cancellation disabled.
pub(crate) fn uncancelled<T>(work: impl FnOnce() -> T) -> T {
    let mut old = 0;
    // SAFETY: `old` is a place of this frame.
    unsafe { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &mut old) };
    let result = work();
    // SAFETY: the previous state.
    unsafe { pthread_setcancelstate(old, ptr::null_mut()) };
    result
}

/// Return value of libc's function: -1 with errno for an error.
#[inline(always)]
pub fn answer(result: isize) -> isize {
    // The kernel's errors are -4095 to -1.
    if result as usize > -4096_isize as usize {
        set_errno(-result as c_int);
        return -1;
    }
    result
}

/// Sets errno.
pub fn set_errno(errno: c_int) {
    // SAFETY: libc's own place for this thread's errno.
    unsafe { *libc::__errno_location() = errno };
}

/// This thread's errno.
pub fn errno() -> c_int {
    // SAFETY: as above.
    unsafe { *libc::__errno_location() }
}
