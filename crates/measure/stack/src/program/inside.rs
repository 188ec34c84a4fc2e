//! The edge between the program and our own code.

use std::{
    cell::Cell,
    panic::{AssertUnwindSafe, catch_unwind},
    ptr,
    sync::atomic::{AtomicBool, Ordering, compiler_fence},
};

use super::{
    call::{errno, raw, set_errno},
    gone,
    past::Past,
    patience::Held,
    process,
};
use crate::Reason;

thread_local! {
    /// Where this thread's frame is that is in our code already; 0 for nowhere. A signal handler, or a call that our code makes, goes to the
    /// kernel.
    static INSIDE: Cell<usize> = const { Cell::new(0) };
}

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
    let result = catch_unwind(AssertUnwindSafe(work));
    set_errno(errno);
    INSIDE.set(0);
    result.inspect_err(|_| fails(Reason::Fault)).ok()
}

/// The same with what goes past the kernel, if anything does.
#[inline]
pub fn with_past<T>(work: impl FnOnce(&'static Past) -> T) -> Option<T> {
    let past = process::past()?;
    inside(|| {
        let result = work(past);
        gone::look_if_it_is_time(past);
        result
    })
}

/// Whether this thread is in our own code.
#[inline]
pub(crate) fn is_inside() -> bool {
    INSIDE.get() != 0
}

/// Nothing for who is in our code already. But where a signal handler jumped out of it (`siglongjmp`), locks may be taken for good: all goes to the
/// kernel then.
#[cold]
fn is_entered_again<T>(before: usize, frame: usize) -> Option<T> {
    // What begun before us and is still there has a higher place, unless a handler has a stack of its own.
    let is_there = before > frame || is_on_other_stack();
    // SAFETY: the word is in this thread's stack above this frame, or in one that a handler has just left for its own.
    if !is_there || unsafe { (before as *const usize).read_volatile() } != before {
        INSIDE.set(0);
        fails(Reason::Jump);
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
    IS_BROKEN.store(true, Ordering::Relaxed);
    // Once begun it is done, whatever a handler does.
    let held = Held::new();
    // Before the launcher is told, who reads it then.
    if let Some(past) = process::past() {
        past.stack.says_all_left(why);
    }
    super::own::give_up();
    held.release();
}
