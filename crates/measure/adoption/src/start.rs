//! The start of a program, and of each of its children.

use std::ffi::CStr;

use grant::{high_fds::make_room, launch::LAUNCHER_VARIABLE};
use stack::system_call::find_single_threaded;

use super::{claim, inherited, process};

/// To be called once, before the program runs: where a launcher is named, the program's sockets may be bypassed from now on.
pub fn begin() {
    // SAFETY: a name that ends with NUL; nobody else runs yet who could change the environment.
    let launcher = unsafe { libc::getenv(LAUNCHER_VARIABLE.as_ptr()) };
    if launcher.is_null() {
        return;
    }
    inherited::starts();
    // SAFETY: getenv gave a text that ends with NUL.
    claim::remember(unsafe { CStr::from_ptr(launcher) });
    find_single_threaded();
    make_room();
    process::begin();
    process::is_own();
    // The first question in a child may come from one that it has made by `vfork`. Without memory for this, that child is taken for the owner.
    // SAFETY: the function takes nothing, and is there as long as the program.
    unsafe { libc::pthread_atfork(None, None, Some(own_child)) };
}

/// Runs in each child of `fork`, before anything else of it; `vfork` calls nobody.
extern "C" fn own_child() {
    process::is_own();
    inherited::begins();
}
