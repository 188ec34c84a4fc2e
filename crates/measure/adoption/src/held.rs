//! Sockets of calls that wait. As in the kernel, a call goes on with its socket when another thread closes the descriptor meanwhile, whose
//! number may then stand for another file.

use std::cell::Cell;

use super::call::{is_single_threaded, raw};

/// Above the numbers that programs expect to be given.
const LOWEST: usize = 512;

thread_local! {
    /// This thread's copy of the descriptor that it waits for; -1 if none. A thread that was cancelled, or that jumped out of its wait,
    /// left its own.
    static HELD: Cell<i32> = const { Cell::new(-1) };
}

/// A copy of this descriptor until [`release`]; itself where nobody else can close it, or where there are too many.
pub(crate) fn hold(fd: i32) -> i32 {
    release();
    if is_single_threaded() {
        return fd;
    }
    // SAFETY: it takes no pointer.
    let copy = unsafe { raw(libc::SYS_fcntl, [fd as usize, libc::F_DUPFD_CLOEXEC as usize, LOWEST]) } as i32;
    if copy < 0 {
        return fd;
    }
    HELD.set(copy);
    copy
}

/// The descriptor that this thread held while it waited.
pub fn held() -> Option<i32> {
    Some(HELD.get()).filter(|fd| *fd >= 0)
}

/// The end of a call.
#[inline]
pub fn release() {
    let fd = HELD.replace(-1);
    if fd >= 0 {
        // SAFETY: a descriptor that only this thread knows.
        unsafe { raw(libc::SYS_close, [fd as usize]) };
    }
}
