//! Asks the launcher for a grant, when the first socket could make use of it.

use std::{
    ffi::{CStr, c_int},
    sync::{
        Mutex, OnceLock,
        atomic::{AtomicU32, Ordering},
    },
    time::{Duration, Instant},
};

use stack::{Grant, NoGrant, Stack, Wait};

use crate::{own, past::Past, process};

/// Between two times that it is asked, where another process has what there is.
const AGAIN: Duration = Duration::from_millis(100);

static NAME: OnceLock<String> = OnceLock::new();
/// The process that was told that there is nobody to ask.
static HOPELESS: AtomicU32 = AtomicU32::new(0);
static ASKED: Mutex<Option<Instant>> = Mutex::new(None);

/// Takes down the launcher's name, as the program may change its environment.
pub(crate) fn remember(name: &CStr) {
    if let Ok(name) = name.to_str() {
        // It is called once.
        let _ = NAME.set(name.to_owned());
    }
}

/// What goes past the kernel, asked for if need be.
pub(crate) fn past() -> Option<&'static Past> {
    if process::past().is_none() && may_ask() {
        let before = own::high();
        match NAME.get().map(|name| Grant::claim(name)) {
            Some(Ok(grant)) => take(grant, &before),
            Some(Err(NoGrant::Refused(_))) => {}
            _ => HOPELESS.store(std::process::id(), Ordering::Relaxed),
        }
    }
    process::past()
}

fn may_ask() -> bool {
    // In a child of a parent that was just asking it is held by nobody; that one goes by the kernel.
    let Ok(mut asked) = ASKED.try_lock() else { return false };
    let is_early = asked.is_some_and(|at| at.elapsed() < AGAIN);
    if is_early || HOPELESS.load(Ordering::Relaxed) == std::process::id() {
        return false;
    }
    *asked = Some(Instant::now());
    true
}

fn take(grant: Grant, before: &[c_int]) {
    match Stack::new(grant, wait()) {
        Ok(stack) => process::set_past(Past::new(stack)),
        Err(_) => HOPELESS.store(std::process::id(), Ordering::Relaxed),
    }
    own::keep(before);
}

fn wait() -> Wait {
    match std::env::var("WIREPROOF_BYPASS_WAIT").as_deref() {
        Ok("spin") => Wait::Spin,
        Ok("sleep") => Wait::Sleep,
        _ => Wait::Auto,
    }
}
