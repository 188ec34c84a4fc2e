//! Descriptors that were closed behind our back, by system calls that go around libc: their sockets would keep what they have, and others would
//! not get it.
//!
//! They are looked for in turn and a few at a time, so that a look costs the same however many there are.

use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};

use super::{
    family,
    past::Past,
    process::{self, is_own, table},
    table::Kind,
};
use crate::SocketId;

/// Descriptors that the kernel is asked about in one look, and entries that are read for that.
const ASKED: usize = 16;
const READ: i32 = 4096;

static IS_TIME: AtomicBool = AtomicBool::new(false);
/// Where the next look begins.
static NEXT: AtomicI32 = AtomicI32::new(0);

/// Has the next one look who holds no locks.
pub(crate) fn is_time() {
    IS_TIME.store(true, Ordering::Relaxed);
}

/// To be called without locks.
#[inline]
pub(crate) fn look_if_it_is_time(past: &Past) {
    if IS_TIME.load(Ordering::Relaxed) {
        look(past);
    }
}

#[cold]
fn look(past: &Past) {
    // A child of `vfork` has closed what is still its parent's.
    if !IS_TIME.swap(false, Ordering::Relaxed) || !is_own() {
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
        asked += usize::from(was_asked(fd, past));
        next = fd + 1;
    }
    NEXT.store(next, Ordering::Relaxed);
    family::look(past);
}

/// Whether it stood for a socket, of which it is a name no more where the kernel says so.
fn was_asked(fd: i32, past: &Past) -> bool {
    let Some((table, seen)) = table().and_then(|table| Some((table, table.look(fd)?))) else { return false };
    let Kind::Live(id) = seen.kind() else { return false };
    // Whoever closes it or gives it another meaning just now writes that down first.
    if !past.is_still(SocketId(id), fd) && table.settle(fd, seen, Kind::Unknown) {
        past.released(SocketId(id));
    }
    true
}
