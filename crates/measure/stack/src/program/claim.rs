//! Asks the launcher for a grant, when the first socket could make use of it.

use std::{
    ffi::{CStr, c_int},
    sync::{
        OnceLock,
        atomic::{AtomicU32, AtomicU64, Ordering},
    },
};

use crate::{Control, Grant, NoGrant, Reason, Stack, Wait, launch::WAIT_VARIABLE};

use super::{own, past::Past, process};

/// Between two times that it is asked, where another process has what there is.
const AGAIN_MS: u64 = 100;

static NAME: OnceLock<String> = OnceLock::new();
/// The process that was told that there is nobody to ask.
static HOPELESS: AtomicU32 = AtomicU32::new(0);
/// The process that was given what it could not use.
static UNABLE: AtomicU32 = AtomicU32::new(0);
/// When the launcher last refused; 0 for never.
static REFUSED_AT: AtomicU64 = AtomicU64::new(0);

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
    let before = own::high();
    match NAME.get().map(|name| Grant::claim(name)) {
        Some(Ok(grant)) => take(grant, &before),
        // Another process has it, and may give it back.
        Some(Err(NoGrant::Refused(_))) => REFUSED_AT.store(now(), Ordering::Relaxed),
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

fn may_ask() -> bool {
    let refused_at = REFUSED_AT.load(Ordering::Relaxed);
    let is_early = refused_at != 0 && now().saturating_sub(refused_at) < AGAIN_MS;
    !is_early && HOPELESS.load(Ordering::Relaxed) != std::process::id()
}

/// Milliseconds of a clock that all processes share; never 0.
fn now() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: a time of this frame.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut time) };
    (time.tv_sec * 1000 + time.tv_nsec / 1_000_000 + 1) as u64
}

fn take(grant: Grant, before: &[c_int]) {
    match Stack::new(grant, wait()) {
        Ok(stack) => process::set_past(Past::new(stack)),
        Err(_) => unable(),
    }
    own::keep(before);
}

fn wait() -> Wait {
    let name = WAIT_VARIABLE.to_str().unwrap_or_default();
    std::env::var(name).map_or_else(|_| Wait::default(), |word| Wait::of(&word))
}
