//! Boundary between the program and our own code.

use std::{
    cell::Cell,
    panic::{AssertUnwindSafe, catch_unwind},
    ptr,
    sync::atomic::{AtomicBool, Ordering, compiler_fence},
};

use model::bypass::Reason;
use stack::patience::BlockedSignals;

use super::{
    bypass::{self, Bypass},
    call::{INSIDE, errno, raw, set_errno},
    memory::can_read,
    reserved_fds,
};

/// Set after a panic in our code or a jump out of it: the kernel handles everything from then on.
static IS_BROKEN: AtomicBool = AtomicBool::new(false);

/// Runs our own code, with errno preserved; `None` if this thread is already in it, or if it panics.
#[inline]
pub fn inside<T>(work: impl FnOnce() -> T) -> Option<T> {
    if IS_BROKEN.load(Ordering::Relaxed) {
        return None;
    }
    let mark = Cell::new(0_usize);
    let frame = ptr::from_ref(&mark) as usize;
    let before = INSIDE.get();
    if before != 0 {
        return is_entered_again(before, frame);
    }
    // SAFETY: a word of this frame, written so that its presence shows that the frame still exists.
    unsafe { mark.as_ptr().write_volatile(frame) };
    // A signal handler that sees the frame also sees its word.
    compiler_fence(Ordering::SeqCst);
    INSIDE.set(frame);
    let errno = errno();
    let result = catch_unwind(AssertUnwindSafe(work)).inspect_err(|_| fails(Reason::Fault));
    set_errno(errno);
    INSIDE.set(0);
    result.ok()
}

/// The same with the bypassed sockets; `None` without any.
#[inline]
pub(crate) fn with_bypass<T>(work: impl FnOnce(&'static Bypass) -> T) -> Option<T> {
    let bypass = bypass::get()?;
    inside(|| work(bypass))
}

/// Rejects a thread that is already in our code.
///
/// If a signal handler jumped out of it (`siglongjmp`), locks may stay held: the kernel handles everything then.
#[cold]
fn is_entered_again<T>(before: usize, frame: usize) -> Option<T> {
    // An outer frame that still exists has a higher address, unless a handler has its own stack; which may be unmapped by now.
    let is_there = (before > frame || is_on_other_stack()) && can_read(before);
    // SAFETY: the word can be read: it lies in this thread's stack above this frame, or in one that a handler has or had.
    if !is_there || unsafe { (before as *const usize).read_volatile() } != before {
        fails(Reason::Jump);
        INSIDE.set(0);
    }
    None
}

fn is_on_other_stack() -> bool {
    // SAFETY: zeros are a valid value.
    let mut stack: libc::stack_t = unsafe { std::mem::zeroed() };
    // SAFETY: nothing is set, and the kernel writes one `stack_t`.
    let asked = unsafe { raw(libc::SYS_sigaltstack, [0, &raw mut stack as usize]) };
    asked == 0 && stack.ss_flags & libc::SS_ONSTACK != 0
}

#[cold]
fn fails(why: Reason) {
    // Signals are blocked to complete this; a handler that jumps out earlier is found by the next call.
    let held = BlockedSignals::back();
    IS_BROKEN.store(true, Ordering::Relaxed);
    // Before the connection closes, because the launcher reads it then.
    if let Some(bypass) = bypass::get() {
        bypass.stack.record_all_left(why);
    }
    reserved_fds::give_up();
    held.release();
}
