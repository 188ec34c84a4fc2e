//! Updates the program's epoll sets when its descriptors change.

use std::ffi::c_int;

use stack::SocketId;

use super::{
    bypass::{self, Bypass},
    call::is_single_threaded,
    epoll_sets::{self, Sets},
    inside::inside,
};

/// A socket has been bypassed.
pub(crate) fn is_live(cookie: Option<u64>, id: SocketId, bypass: &Bypass) {
    if let (Some(cookie), Some(mut sets)) = (cookie, epoll_sets::sets()) {
        sets.is_live(cookie, id);
        settle_for(&mut sets, bypass);
    }
}

/// A socket has returned to the kernel.
pub(crate) fn is_left(id: SocketId, bypass: &Bypass) {
    if let Some(mut sets) = epoll_sets::sets() {
        sets.is_left(id);
        settle_for(&mut sets, bypass);
    }
}

/// A bypassed socket has been closed.
pub(crate) fn is_gone(id: SocketId, bypass: &Bypass) {
    if let Some(mut sets) = epoll_sets::sets() {
        sets.is_gone(id);
        settle_for(&mut sets, bypass);
    }
}

/// A descriptor of a file that is not bypassed has been closed.
pub(crate) fn is_closed(fd: c_int) {
    with_sets(|sets| sets.is_closed(fd));
}

/// A descriptor of such a file has been copied.
pub(crate) fn is_copied(fd: c_int) {
    with_sets(|sets| sets.is_copied(fd));
}

/// A descriptor of a set has been closed.
pub(crate) fn set_is_closed(set: c_int) {
    with_sets(|sets| sets.set_is_closed(set));
}

/// A set's descriptor has been copied.
pub(crate) fn set_is_copied(old: c_int, new: c_int) {
    inside(|| {
        if let Some(mut sets) = epoll_sets::some_sets() {
            sets.set_is_copied(old, new);
        }
    });
}

fn with_sets(work: impl FnOnce(&mut Sets)) {
    if epoll_sets::has_sets() {
        inside(|| {
            if let Some(mut sets) = epoll_sets::sets() {
                work(&mut sets);
                settle(&mut sets);
            }
        });
    }
}

pub(crate) fn settle(sets: &mut Sets) {
    match bypass::get() {
        Some(bypass) => settle_for(sets, bypass),
        None => _ = sets.settle(&[]),
    }
}

fn settle_for(sets: &mut Sets, bypass: &Bypass) {
    // Another thread may already be waiting for it in the kernel.
    if sets.settle(bypass.stack.descriptors()) && !is_single_threaded() {
        bypass.stack.rouse();
    }
}
