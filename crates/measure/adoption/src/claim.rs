//! Requests a grant from the launcher when the first socket could use it.

use std::{
    ffi::{CStr, c_int},
    sync::{
        OnceLock,
        atomic::{AtomicU32, AtomicU64, Ordering},
    },
};

use grant::{
    Control, Grant, NoGrant, is_launcher_silent,
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

/// First interval between requests while another process has the grant; it doubles.
const AGAIN_MS: u64 = 100;
const DOUBLED: u32 = 6;

static NAME: OnceLock<String> = OnceLock::new();
// SAFETY: no other value uses this place. `None` if the page is unavailable.
static PAGE: PerProcess<Option<Control>> = unsafe { PerProcess::at(Place::Page) };
/// The process that found no launcher.
static HOPELESS: AtomicU32 = AtomicU32::new(0);
/// The process that received an unusable grant.
static UNABLE: AtomicU32 = AtomicU32::new(0);
/// Time of the launcher's last refusal; 0: never.
static REFUSED_AT: AtomicU64 = AtomicU64::new(0);
/// Number of consecutive refusals.
static REFUSALS: AtomicU32 = AtomicU32::new(0);

/// Keeps the launcher's name, because the program may change its environment.
pub(crate) fn remember(name: &CStr) {
    if let Ok(name) = name.to_str() {
        // Called once.
        let _ = NAME.set(name.to_owned());
    }
}

/// The bypassed sockets; requests a grant if needed. Concurrent threads wait for the answer.
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
        // Another process has the grant, and may return it.
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

/// The reason for having no grant.
pub(crate) fn why_not() -> Reason {
    let is_unable = UNABLE.load(Ordering::Relaxed) == std::process::id();
    if is_unable { Reason::Unusable } else { Reason::NoGrant }
}

/// The page for records of sockets without a grant; requested once.
pub(crate) fn page() -> Option<&'static Control> {
    if PAGE.get().is_none() {
        process::alone(|| {
            if PAGE.get().is_none() {
                PAGE.set(lent());
            }
        });
    }
    PAGE.get()?.as_ref()
}

/// A launcher that did not answer once is not waited for again, in forked children either.
fn lent() -> Option<Control> {
    launch::page(NAME.get().filter(|_| !is_launcher_silent())?).ok()
}

/// The kind of a UDP socket without a grant.
pub(crate) fn kind_without() -> Kind {
    if is_hopeless() { Kind::Kernel } else { Kind::Refused }
}

fn may_ask() -> bool {
    is_time() && !is_hopeless()
}

fn is_hopeless() -> bool {
    is_launcher_silent() || HOPELESS.load(Ordering::Relaxed) == std::process::id()
}

/// Whether the last refusal is old enough for another request.
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
