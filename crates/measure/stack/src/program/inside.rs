//! The edge between the program and our own code.

use std::{
    cell::Cell,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::atomic::{AtomicBool, Ordering},
};

use super::{
    call::{errno, set_errno},
    past::Past,
    process,
};

thread_local! {
    /// Whether this thread is in our code already: a signal handler, or a call that our code makes, goes to the kernel.
    static INSIDE: Cell<bool> = const { Cell::new(false) };
}

/// Set once something panicked: from then on everything goes to the kernel.
static IS_BROKEN: AtomicBool = AtomicBool::new(false);

/// Runs our own code, which leaves errno alone; none where this thread is in it already, or where it panics.
pub fn inside<T>(work: impl FnOnce() -> T) -> Option<T> {
    if IS_BROKEN.load(Ordering::Relaxed) || INSIDE.replace(true) {
        return None;
    }
    let errno = errno();
    let result = catch_unwind(AssertUnwindSafe(work));
    set_errno(errno);
    INSIDE.set(false);
    result.inspect_err(|_| fails()).ok()
}

/// The same with what goes past the kernel, if anything does.
#[inline]
pub fn with_past<T>(work: impl FnOnce(&'static Past) -> T) -> Option<T> {
    let past = process::past()?;
    inside(|| work(past))
}

#[cold]
fn fails() {
    IS_BROKEN.store(true, Ordering::Relaxed);
    super::own::give_up();
}
