//! What waits for sets of descriptors that the kernel keeps.

use std::{
    ffi::c_int,
    ptr,
    time::{Duration, Instant},
};

use libc::{epoll_event, sigset_t, timespec};
use stack::Reason;

use super::wait::span;
use crate::{
    call::{kernel, waiting},
    descriptors::{kind, leave_if_live, live, may_become_live, without},
    inside::with_past,
    patience::SIGNALS,
    process,
    table::Kind,
    waiting_sets,
};

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn epoll_ctl(set: c_int, operation: c_int, fd: c_int, event: *mut epoll_event) -> c_int {
    let before = kind(set) == Some(Kind::Set);
    let concerns_us = process::table().is_some() && (live(fd).is_some() || before || may_become_live(fd));
    // SAFETY: the caller's pointers, as libc takes them; an event that the kernel has read.
    unsafe {
        let result = kernel!(SYS_epoll_ctl, set, operation, fd, event);
        if result == 0 && kind(fd) == Some(Kind::Set) {
            without(fd);
        } else if result == 0 && concerns_us {
            in_set(set, operation, fd, event.as_ref().copied());
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
    // SAFETY: the caller's pointers, as libc takes them.
    unsafe {
        let limit = u64::try_from(timeout).ok().map(Duration::from_millis);
        match past_kernel(set, events, most, limit, mask) {
            Some(ready) => ready,
            None => {
                let begun = Instant::now();
                let ready = waiting!(SYS_epoll_pwait, set, events, most, timeout, mask, SIGNALS);
                meanwhile(set, events, most, ready, limit.map(|limit| limit.saturating_sub(begun.elapsed())), mask)
            }
        }
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
        let ready = match timeout.as_ref().map(span).transpose() {
            Ok(limit) => past_kernel(set, events, most, limit, mask),
            Err(()) => None,
        };
        match ready {
            Some(ready) => ready,
            None => {
                let begun = Instant::now();
                let ready = waiting!(SYS_epoll_pwait2, set, events, most, timeout, mask, SIGNALS);
                let limit = timeout.as_ref().and_then(|timeout| span(timeout).ok());
                meanwhile(set, events, most, ready, limit.map(|limit| limit.saturating_sub(begun.elapsed())), mask)
            }
        }
    }
}

/// epoll_wait on a set with sockets in it that go past the kernel; none where it has none.
unsafe fn past_kernel(
    set: c_int,
    events: *mut epoll_event,
    most: c_int,
    limit: Option<Duration>,
    mask: *const sigset_t,
) -> Option<c_int> {
    if !waiting_sets::concerns_us(set) || most <= 0 || events.is_null() {
        return None;
    }
    // SAFETY: the caller's.
    waiting_sets::wait(set, unsafe { std::slice::from_raw_parts_mut(events, most as usize) }, limit, mask)
}

/// What the kernel told of a set, into which another thread may have put meanwhile what goes past the kernel.
unsafe fn meanwhile(
    set: c_int,
    events: *mut epoll_event,
    most: c_int,
    ready: c_int,
    limit: Option<Duration>,
    mask: *const sigset_t,
) -> c_int {
    if ready <= 0 || !waiting_sets::concerns_us(set) {
        return ready;
    }
    // SAFETY: events that the kernel has just written.
    let told = unsafe { std::slice::from_raw_parts_mut(events, ready as usize) };
    match with_past(|past| past.sets().strip(set, told, &past.stack)) {
        // SAFETY: the caller's.
        Some(0) => unsafe { past_kernel(set, events, most, limit, mask) }.unwrap_or(0),
        Some(kept) => kept as c_int,
        None => ready,
    }
}

/// Takes down what the kernel has just been told.
fn in_set(set: c_int, operation: c_int, fd: c_int, event: Option<epoll_event>) {
    let is_barred = with_past(|past| {
        past.sets().control(set, operation, fd, event, &past.stack);
        past.sets().is_barred(set)
    });
    if is_barred == Some(true) {
        leave_if_live(fd, Reason::SharedSet);
    }
}
