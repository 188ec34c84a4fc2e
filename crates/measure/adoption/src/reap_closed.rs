//! Descriptors closed unnoticed, by system calls that bypass libc. Their sockets would keep flows that others need.
//!
//! Each check visits a few descriptors in turn, so its cost does not depend on their number.

use std::sync::atomic::{AtomicI32, Ordering};

use stack::SocketId;

use super::{
    bypass::Bypass,
    descriptors::release,
    inherited, inside,
    process::{self, is_own, table},
    reserved_fds,
    table::Kind,
};

/// Kernel queries per check, and entries read for them.
const ASKED: usize = 16;
const READ: i32 = 4096;

/// Start of the next check.
static NEXT: AtomicI32 = AtomicI32::new(0);

/// Runs `work` with the bypassed sockets, if any; then checks for closed descriptors, if due.
#[inline]
pub fn with_bypass<T>(work: impl FnOnce(&'static Bypass) -> T) -> Option<T> {
    inside::with_bypass(|bypass| {
        let result = work(bypass);
        if bypass.stack.is_housekeeping_due() {
            reap(bypass);
        }
        result
    })
}

/// Call it without locks.
#[cold]
fn reap(bypass: &Bypass) {
    // They could not be closed while reserved.
    bypass.stack.close_retired(reserved_fds::forget);
    // A child of `vfork` has closed a descriptor that its parent still has.
    if !is_own() {
        return;
    }
    let used = process::used().max(1);
    let first = NEXT.load(Ordering::Relaxed);
    let mut asked = 0;
    let mut next = first;
    for fd in (first..first.saturating_add(used.min(READ))).map(|number| number % used) {
        if asked == ASKED {
            break;
        }
        asked += usize::from(was_asked(fd, bypass));
        next = fd + 1;
    }
    NEXT.store(next, Ordering::Relaxed);
    inherited::recheck(bypass);
}

/// Whether it was a socket's descriptor; releases it if the kernel says that it no longer is.
fn was_asked(fd: i32, bypass: &Bypass) -> bool {
    let Some((table, seen)) = table().and_then(|table| Some((table, table.load(fd)?))) else { return false };
    let Kind::Live(id) = seen.kind() else { return false };
    // A thread that closes or replaces it changes its entry first.
    if !bypass.is_still(SocketId(id), fd) && table.settle(fd, seen, Kind::Unknown) {
        release(SocketId(id), bypass);
    }
    true
}
