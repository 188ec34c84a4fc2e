//! Descriptors that were closed behind our back, by system calls that go around libc: their sockets would keep what they have, and others would
//! not get it.
//!
//! They are looked for in turn and a few at a time, so that a look costs the same however many there are.

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

/// Descriptors that the kernel is asked about in one look, and entries that are read for that.
const ASKED: usize = 16;
const READ: i32 = 4096;

/// Where the next look begins.
static NEXT: AtomicI32 = AtomicI32::new(0);

/// Runs this with the bypassed sockets, if there are any; then looks for closed descriptors, if it is time.
#[inline]
pub fn with_bypass<T>(work: impl FnOnce(&'static Bypass) -> T) -> Option<T> {
    inside::with_bypass(|bypass| {
        let result = work(bypass);
        if bypass.stack.is_housekeeping_due() {
            look(bypass);
        }
        result
    })
}

/// To be called without locks.
#[cold]
fn look(bypass: &Bypass) {
    // They could not be closed as long as they are reserved.
    bypass.stack.close_retired(reserved_fds::forget);
    // A child of `vfork` has closed what is still its parent's.
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
    inherited::look(bypass);
}

/// Whether it stood for a socket, of which it is a name no more where the kernel says so.
fn was_asked(fd: i32, bypass: &Bypass) -> bool {
    let Some((table, seen)) = table().and_then(|table| Some((table, table.look(fd)?))) else { return false };
    let Kind::Live(id) = seen.kind() else { return false };
    // Whoever closes it or gives it another meaning just now writes that down first.
    if !bypass.is_still(SocketId(id), fd) && table.settle(fd, seen, Kind::Unknown) {
        release(SocketId(id), bypass);
    }
    true
}
