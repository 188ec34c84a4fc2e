//! Calls on epoll sets.

use std::{ffi::c_int, ptr, time::Duration};

use libc::{epoll_event, sigset_t, timespec};
use stack::patience::SIGNALS;

use super::wait::{span, spec};
use crate::{
    call::{kernel, waiting},
    epoll_control, epoll_wait as sets, process,
};

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn epoll_create(size: c_int) -> c_int {
    // Like libc: the size has no meaning, but has to be positive.
    if size <= 0 {
        crate::call::set_errno(libc::EINVAL);
        return -1;
    }
    // SAFETY: it takes no pointer.
    unsafe { epoll_create1(0) }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn epoll_create1(flags: c_int) -> c_int {
    // SAFETY: it takes no pointer.
    let set = unsafe { kernel!(SYS_epoll_create1, flags) };
    epoll_control::set_is_made(set);
    set
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn epoll_ctl(set: c_int, operation: c_int, fd: c_int, event: *mut epoll_event) -> c_int {
    if process::table().is_some() {
        epoll_control::is_used(fd);
    }
    // SAFETY: the caller's pointers, as libc takes them; an event that the kernel has read.
    unsafe {
        let result = kernel!(SYS_epoll_ctl, set, operation, fd, event);
        if result == 0 && process::table().is_some() {
            epoll_control::control(set, operation, fd, event.as_ref().copied());
        }
        result
    }
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
    let limit = u64::try_from(timeout).ok().map(Duration::from_millis);
    // SAFETY: the caller's pointers, as libc takes them.
    unsafe {
        sets::wait(set, events, most, limit, mask, |left| {
            let left = left.map_or(-1, |left| left.as_nanos().div_ceil(1_000_000) as c_int);
            waiting!(SYS_epoll_pwait, set, events, most, left, mask, SIGNALS)
        })
    }
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
    unsafe {
        match timeout.as_ref().map(span).transpose() {
            Ok(limit) => sets::wait(set, events, most, limit, mask, |left| {
                let left = left.map(spec);
                let left = left.as_ref().map_or(ptr::null(), ptr::from_ref);
                waiting!(SYS_epoll_pwait2, set, events, most, left, mask, SIGNALS)
            }),
            Err(()) => waiting!(SYS_epoll_pwait2, set, events, most, timeout, mask, SIGNALS),
        }
    }
}
