//! The edge between the program and our own code.

use std::{
    cell::Cell,
    panic::{AssertUnwindSafe, catch_unwind},
    ptr,
    sync::atomic::{AtomicBool, Ordering, compiler_fence},
};

use model::bypass::Reason;
use stack::patience::Held;

use super::{
    bypass::{self, Bypass},
    call::{INSIDE, errno, raw, set_errno},
    reserved_fds,
};

/// Set once something panicked, or was left by a jump: from then on everything goes to the kernel.
static IS_BROKEN: AtomicBool = AtomicBool::new(false);

/// Runs our own code, which leaves errno alone; none where this thread is in it already, or where it panics.
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
    // SAFETY: a word of this frame, written so that it is there for whoever looks whether this frame is.
    unsafe { mark.as_ptr().write_volatile(frame) };
    // A signal handler that sees the frame sees its word.
    compiler_fence(Ordering::SeqCst);
    INSIDE.set(frame);
    let errno = errno();
    let result = catch_unwind(AssertUnwindSafe(work)).inspect_err(|_| fails(Reason::Fault));
    set_errno(errno);
    INSIDE.set(0);
    result.ok()
}

/// The same with the bypassed sockets, if there are any.
#[inline]
pub(crate) fn with_bypass<T>(work: impl FnOnce(&'static Bypass) -> T) -> Option<T> {
    let bypass = bypass::get()?;
    inside(|| work(bypass))
}

/// Nothing for a thread that is in our code already. But where a signal handler jumped out of it (`siglongjmp`), locks may be taken for good: all
/// goes to the kernel then.
#[cold]
fn is_entered_again<T>(before: usize, frame: usize) -> Option<T> {
    // A frame that begun before us and is still there has a higher place, unless a handler has a stack of its own.
    let is_there = before > frame || is_on_other_stack();
    // SAFETY: the word is in this thread's stack above this frame, or in one that a handler has just left for its own.
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
    // Once begun it is done, whatever a handler does; one that jumps out before is found by the next call.
    let held = Held::back();
    IS_BROKEN.store(true, Ordering::Relaxed);
    // Before the connection closes, as the launcher reads it then.
    if let Some(bypass) = bypass::get() {
        bypass.stack.record_all_left(why);
    }
    reserved_fds::give_up();
    held.release();
}
