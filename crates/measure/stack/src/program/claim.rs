//! Asks the launcher for a grant, when the first socket could make use of it.

use std::{
    ffi::{CStr, c_int},
    sync::{
        OnceLock,
        atomic::{AtomicU32, AtomicU64, Ordering},
    },
};

use crate::{Control, Grant, NoGrant, Reason, Stack, Wait, launch::WAIT_VARIABLE};

use super::{own, past::Past, process, table::Kind};

/// Between two times that it is asked, where another process has what there is: at first, and how often that is doubled.
const AGAIN_MS: u64 = 100;
const DOUBLED: u32 = 6;

static NAME: OnceLock<String> = OnceLock::new();
/// The process that was told that there is nobody to ask.
static HOPELESS: AtomicU32 = AtomicU32::new(0);
/// The process that was given what it could not use.
static UNABLE: AtomicU32 = AtomicU32::new(0);
/// When the launcher last refused; 0 for never.
static REFUSED_AT: AtomicU64 = AtomicU64::new(0);
/// How often it did so, one after the other.
static REFUSALS: AtomicU32 = AtomicU32::new(0);

/// Takes down the launcher's name, as the program may change its environment.
pub(crate) fn remember(name: &CStr) {
    if let Ok(name) = name.to_str() {
        // It is called once.
        let _ = NAME.set(name.to_owned());
    }
}

/// What goes past the kernel, asked for if need be. Who comes while another thread asks waits for the answer.
pub(crate) fn past() -> Option<&'static Past> {
    if process::past().is_none() {
        process::alone(|| {
            if process::past().is_none() && may_ask() {
                ask();
            }
        });
    }
    process::past()
}

fn ask() {
    match NAME.get().map(|name| Grant::claim(name)) {
        Some(Ok(grant)) => take(grant),
        // Another process has it, and may give it back.
        Some(Err(NoGrant::Refused(_))) => {
            REFUSALS.fetch_add(1, Ordering::Relaxed);
            REFUSED_AT.store(now(), Ordering::Relaxed);
        }
        Some(Err(NoGrant::Unusable(_))) => unable(),
        _ => HOPELESS.store(std::process::id(), Ordering::Relaxed),
    }
}

fn unable() {
    let own = std::process::id();
    [&UNABLE, &HOPELESS].iter().for_each(|place| place.store(own, Ordering::Relaxed));
}

/// Why nothing goes past the kernel.
pub(crate) fn why_not() -> Reason {
    let is_unable = UNABLE.load(Ordering::Relaxed) == std::process::id();
    if is_unable { Reason::Unusable } else { Reason::NoGrant }
}

/// Where sockets are written down as long as nothing does.
pub(crate) fn page() -> Option<&'static Control> {
    process::page(|| crate::launch::page(NAME.get()?).ok())
}

/// What a socket is for which there is nothing.
pub(crate) fn kind_without() -> Kind {
    if is_hopeless() { Kind::Kernel } else { Kind::Refused }
}

fn may_ask() -> bool {
    is_time() && !is_hopeless()
}

fn is_hopeless() -> bool {
    HOPELESS.load(Ordering::Relaxed) == std::process::id()
}

/// Whether the launcher's refusal, if there was one, is old enough to ask again.
pub(crate) fn is_time() -> bool {
    let refused_at = REFUSED_AT.load(Ordering::Relaxed);
    let doubled = REFUSALS.load(Ordering::Relaxed).saturating_sub(1).min(DOUBLED);
    refused_at == 0 || now().saturating_sub(refused_at) >= AGAIN_MS << doubled
}

/// Milliseconds of a clock that all processes share, and that costs little to read; never 0.
pub(super) fn now() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: a time of this frame.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC_COARSE, &mut time) };
    (time.tv_sec * 1000 + time.tv_nsec / 1_000_000 + 1) as u64
}

fn take(grant: Grant) {
    let mut ours: Vec<c_int> = grant.descriptors().collect();
    match Stack::new(grant, wait()) {
        Ok(stack) => {
            ours.extend(stack.own_descriptors());
            REFUSALS.store(0, Ordering::Relaxed);
            own::keep(&ours);
            process::set_past(Past::new(stack));
        }
        Err(_) => unable(),
    }
}

fn wait() -> Wait {
    let name = WAIT_VARIABLE.to_str().unwrap_or_default();
    std::env::var(name).map_or_else(|_| Wait::default(), |word| Wait::of(&word))
}
