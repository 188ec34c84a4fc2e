//! Sockets that stay with the kernel are written down too, each with the reason: where the launcher reads it.

use std::{ffi::c_int, os::fd::BorrowedFd};

use crate::Reason;

use super::{
    claim,
    inside::inside,
    process::{self, is_own},
};

/// Writes down why a socket stays with the kernel.
#[cold]
pub(crate) fn note(fd: c_int, why: Reason) {
    if is_own() {
        inside(|| write(fd, why));
    }
}

/// The same for our own code.
pub(crate) fn write(fd: c_int, why: Reason) {
    // SAFETY: the program's own descriptor, which it uses right now.
    let fd = unsafe { BorrowedFd::borrow_raw(fd) };
    match process::past() {
        Some(past) => past.stack.note(fd, why),
        None => _ = claim::page().map(|page| page.note(fd, why)),
    }
}
