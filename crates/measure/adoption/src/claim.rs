//! Asks the launcher for a grant, when the first socket could make use of it.

use std::{
    ffi::{CStr, c_int},
    sync::{
        OnceLock,
        atomic::{AtomicU32, AtomicU64, Ordering},
    },
};

use grant::{
    Control, Grant, NoGrant,
    launch::{self, WAIT_VARIABLE},
};
use model::bypass::{Reason, Wait};
use stack::Stack;

use super::{
    bypass::{self, Bypass},
    process::{self, PerProcess, Place, now},
    reserved_fds,
    table::Kind,
};

/// Between two times that it is asked, where another process has what there is: at first, and how often that is doubled.
const AGAIN_MS: u64 = 100;
const DOUBLED: u32 = 6;

static NAME: OnceLock<String> = OnceLock::new();
// SAFETY: nothing else has this place. None where the page cannot be had.
static PAGE: PerProcess<Option<Control>> = unsafe { PerProcess::at(Place::Page) };
/// The process that was told that there is nobody to ask.
static HOPELESS: AtomicU32 = AtomicU32::new(0);
/// The process that was given what it could not use.
static UNABLE: AtomicU32 = AtomicU32::new(0);
/// When the launcher last refused; 0 for never.
static REFUSED_AT: AtomicU64 = AtomicU64::new(0);
/// How often it did so, one after the other.
static REFUSALS: AtomicU32 = AtomicU32::new(0);

/// Keeps the launcher's name, as the program may change its environment.
pub(crate) fn remember(name: &CStr) {
    if let Ok(name) = name.to_str() {
        // It is called once.
        let _ = NAME.set(name.to_owned());
    }
}

/// The bypassed sockets, for which the launcher is asked if need be. A thread that comes while another one asks waits for the answer.
pub(crate) fn bypass() -> Option<&'static Bypass> {
    if bypass::get().is_none() {
        process::alone(|| {
            if bypass::get().is_none() && may_ask() {
                ask();
            }
        });
    }
    bypass::get()
}

fn ask() {
    match NAME.get().map(|name| grant::claim(name)) {
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

/// Why nothing is bypassed.
pub(crate) fn why_not() -> Reason {
    let is_unable = UNABLE.load(Ordering::Relaxed) == std::process::id();
    if is_unable { Reason::Unusable } else { Reason::NoGrant }
}

/// The page for records of sockets as long as nothing is bypassed: asked for once.
pub(crate) fn page() -> Option<&'static Control> {
    if PAGE.get().is_none() {
        process::alone(|| {
            if PAGE.get().is_none() {
                PAGE.set(NAME.get().and_then(|name| launch::page(name).ok()));
            }
        });
    }
    PAGE.get()?.as_ref()
}

/// The kind of a socket that no grant is there for.
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

fn take(grant: Grant) {
    let mut ours: Vec<c_int> = grant.descriptors().collect();
    match Stack::new(grant, wait()) {
        Ok(stack) => {
            ours.extend(stack.own_descriptors());
            REFUSALS.store(0, Ordering::Relaxed);
            reserved_fds::keep(&ours);
            bypass::set(stack);
        }
        Err(_) => unable(),
    }
}

fn wait() -> Wait {
    let name = WAIT_VARIABLE.to_str().unwrap_or_default();
    std::env::var(name).map_or_else(|_| Wait::default(), |word| Wait::of(&word))
}
