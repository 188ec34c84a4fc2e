//! What waits for sets of descriptors that the kernel keeps.

use std::{ffi::c_int, ptr};

use libc::{epoll_event, sigset_t, timespec};

use super::wait::SIGNALS;
use crate::{
    call::{kernel, waiting},
    descriptors::live,
};

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn epoll_ctl(set: c_int, operation: c_int, fd: c_int, event: *mut epoll_event) -> c_int {
    let _ = live(fd);
    // SAFETY: the caller's pointers, as libc takes them.
    unsafe { kernel!(SYS_epoll_ctl, set, operation, fd, event) }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn epoll_wait(set: c_int, events: *mut epoll_event, most: c_int, timeout: c_int) -> c_int {
    // SAFETY: the caller's pointers, as libc takes them.
    unsafe { epoll_pwait(set, events, most, timeout, ptr::null()) }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn epoll_pwait(
    set: c_int,
    events: *mut epoll_event,
    most: c_int,
    timeout: c_int,
    mask: *const sigset_t,
) -> c_int {
    // SAFETY: the caller's pointers, as libc takes them.
    unsafe { waiting!(SYS_epoll_pwait, set, events, most, timeout, mask, SIGNALS) }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn epoll_pwait2(
    set: c_int,
    events: *mut epoll_event,
    most: c_int,
    timeout: *const timespec,
    mask: *const sigset_t,
) -> c_int {
    // SAFETY: the caller's pointers, as libc takes them.
    unsafe { waiting!(SYS_epoll_pwait2, set, events, most, timeout, mask, SIGNALS) }
}
