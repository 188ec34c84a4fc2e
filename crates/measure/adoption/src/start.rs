//! Start of a program, and of each child.

use std::ffi::CStr;

use grant::{high_fds::make_room, launch::LAUNCHER_VARIABLE};
use stack::system_call::find_single_threaded;

use super::{bypass, claim, inherited, inside::with_bypass, memory, process};

/// Call it once, before the program runs. If a launcher is named, sockets may be bypassed from now on.
pub fn begin() {
    // SAFETY: a name that ends with NUL; no other thread runs yet that could change the environment.
    let launcher = unsafe { libc::getenv(LAUNCHER_VARIABLE.as_ptr()) };
    if launcher.is_null() {
        return;
    }
    inherited::starts();
    // SAFETY: getenv returned a string that ends with NUL.
    claim::remember(unsafe { CStr::from_ptr(launcher) });
    find_single_threaded();
    make_room();
    process::begin();
    process::is_own();
    // The first query in a child may come from its own child by `vfork`. Without memory for this, that child counts as
    // the owner. SAFETY: the function takes no arguments, and stays loaded.
    unsafe { libc::pthread_atfork(Some(before_fork), None, Some(own_child)) };
}

/// Runs in the process that calls `fork`. A child of `vfork` has no sockets to share.
extern "C" fn before_fork() {
    if bypass::get().is_some() && process::is_own() {
        with_bypass(|bypass| bypass.stack.before_fork());
    }
}

/// Call it before this process executes another program, which may have the sockets still. A child of `vfork` leaves them alone.
pub fn before_exec() {
    if bypass::get().is_some() && process::is_own() {
        with_bypass(|bypass| bypass.stack.before_exec());
    }
}

/// Runs first in each child of `fork`; `vfork` calls no handlers.
extern "C" fn own_child() {
    process::is_own();
    memory::begin();
    inherited::begins();
}
