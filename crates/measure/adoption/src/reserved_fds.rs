//! Our own descriptors, which the program did not open and may not close.
//!
//! Their numbers are high, so the program gets the low ones that it expects. Shims hide them from the program.

use std::{
    ffi::c_int,
    sync::atomic::{AtomicI32, AtomicUsize, Ordering},
};

use super::call::raw;

const MOST: usize = 256;

static OWN: [AtomicI32; MOST] = [const { AtomicI32::new(-1) }; MOST];
static COUNT: AtomicUsize = AtomicUsize::new(0);
static LOWEST: AtomicI32 = AtomicI32::new(c_int::MAX);

/// Whether a descriptor is reserved.
#[inline]
pub fn is_reserved(fd: c_int) -> bool {
    fd >= LOWEST.load(Ordering::Relaxed) && all().any(|own| own == fd)
}

fn all() -> impl Iterator<Item = c_int> {
    OWN[..COUNT.load(Ordering::Acquire).min(MOST)].iter().map(|own| own.load(Ordering::Relaxed))
}

/// The parts of a range without reserved descriptors, both ends included.
pub fn others(first: u32, last: u32) -> impl Iterator<Item = (u32, u32)> {
    let mut next = Some(first).filter(|first| first <= &last);
    std::iter::from_fn(move || {
        let from = next?;
        let ours = all().filter_map(|fd| u32::try_from(fd).ok()).filter(|fd| (from..=last).contains(fd)).min();
        next = ours.and_then(|fd| fd.checked_add(1)).filter(|next| *next <= last);
        Some((from, ours))
    })
    .filter_map(move |(from, ours)| match ours {
        None => Some((from, last)),
        Some(fd) => (fd > from).then(|| (from, fd - 1)),
    })
}

/// Reserves these.
pub(crate) fn keep(ours: &[c_int]) {
    for (place, fd) in OWN.iter().zip(ours) {
        place.store(*fd, Ordering::Relaxed);
    }
    LOWEST.store(ours.iter().copied().min().unwrap_or(c_int::MAX), Ordering::Relaxed);
    COUNT.store(ours.len(), Ordering::Release);
    static ASKED: std::sync::Once = std::sync::Once::new();
    // SAFETY: a function that only makes system calls, as a child of a multi-threaded process may.
    ASKED.call_once(|| _ = unsafe { libc::pthread_atfork(None, None, Some(in_child)) });
}

/// A child that kept them would block the interfaces' queues.
unsafe extern "C" fn in_child() {
    give_up();
}

/// Releases closed descriptors: their numbers are the program's again.
pub(crate) fn forget(closed: &[c_int]) {
    for place in OWN.iter().filter(|place| closed.contains(&place.load(Ordering::Relaxed))) {
        place.store(-1, Ordering::Relaxed);
    }
}

/// Closes them all; the launcher then takes the grant back.
pub(crate) fn give_up() {
    for fd in OWN[..COUNT.swap(0, Ordering::AcqRel).min(MOST)].iter() {
        // SAFETY: descriptors that only we know.
        unsafe { raw(libc::SYS_close, [fd.swap(-1, Ordering::Relaxed) as usize]) };
    }
}
