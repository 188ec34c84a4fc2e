//! Records of sockets that stay with the kernel, with the reasons, for the launcher.

use std::{ffi::c_int, os::fd::BorrowedFd};

use model::bypass::Reason;

use super::{bypass, claim, inside::inside, process::is_own};

/// Records why a socket stays with the kernel.
#[cold]
pub(crate) fn note(fd: c_int, why: Reason) {
    if is_own() {
        inside(|| write(fd, why));
    }
}

/// The same from our own code.
pub(crate) fn write(fd: c_int, why: Reason) {
    match bypass::get() {
        // SAFETY: the program's own descriptor, in use at the moment.
        Some(bypass) => bypass.stack.note(unsafe { BorrowedFd::borrow_raw(fd) }, why),
        None => _ = claim::page().map(|page| stack::note(page, fd, why)),
    }
}
