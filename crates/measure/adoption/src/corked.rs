//! Sockets with a part of a datagram in the kernel (`MSG_MORE`), which needs the rest too.

use std::{
    ffi::c_int,
    sync::atomic::{AtomicI32, AtomicU32, Ordering},
};

/// Limit of such sockets; beyond it, parts of a datagram may be sent separately.
const MOST: usize = 64;

static DESCRIPTORS: [AtomicI32; MOST] = [const { AtomicI32::new(-1) }; MOST];
static COUNT: AtomicU32 = AtomicU32::new(0);

/// Whether data sent with these flags is a part of a datagram, or its end.
#[inline]
pub fn has_part(fd: c_int, flags: c_int) -> bool {
    let more = flags & libc::MSG_MORE != 0;
    (more || COUNT.load(Ordering::Relaxed) > 0) && takes(fd, more)
}

#[cold]
fn takes(fd: c_int, more: bool) -> bool {
    let order = Ordering::Relaxed;
    let change = |from, to| DESCRIPTORS.iter().any(|it| it.compare_exchange(from, to, order, order).is_ok());
    let has = DESCRIPTORS.iter().any(|it| it.load(order) == fd);
    if more && !has && change(-1, fd) {
        COUNT.fetch_add(1, order);
    }
    if !more && has && change(fd, -1) {
        COUNT.fetch_sub(1, order);
    }
    more || has
}

/// Forgets a closed descriptor with its partial datagram.
#[inline]
pub fn forget(fd: c_int) {
    if COUNT.load(Ordering::Relaxed) > 0 {
        takes(fd, false);
    }
}
