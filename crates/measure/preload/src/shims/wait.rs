//! Calls that wait for several descriptors: poll and select.

use std::{
    ffi::{c_int, c_long},
    ptr,
    time::{Duration, Instant},
};

use libc::{fd_set, nfds_t, pollfd, sigset_t, timespec, timeval};
use stack::patience::SIGNALS;

use crate::{
    call::{set_errno, waiting},
    memory::are_writable,
    messages::{is_there, some_mut},
    poll::wait_for,
    process,
    select::{Selected, within_table},
};

const NANOSECONDS: c_long = 1_000_000_000;

#[unsafe(no_mangle)]
pub(super) unsafe extern "C-unwind" fn poll(fds: *mut pollfd, count: nfds_t, timeout: c_int) -> c_int {
    let limit = u64::try_from(timeout).ok().map(Duration::from_millis);
    // SAFETY: the caller's pointers, as libc takes them.
    if let Some(ready) = unsafe { past_kernel(fds, count, limit, ptr::null()) } {
        return ready;
    }
    #[cfg(target_arch = "x86_64")]
    // SAFETY: the caller's pointers, as libc takes them.
    return unsafe { waiting!(SYS_poll, fds, count as usize, timeout) };
    #[cfg(not(target_arch = "x86_64"))]
    // SAFETY: the caller's pointers, as libc takes them.
    unsafe {
        let mut left = timespec { tv_sec: (timeout / 1000).into(), tv_nsec: c_long::from(timeout % 1000) * 1_000_000 };
        let left = if timeout < 0 { ptr::null_mut() } else { &raw mut left };
        waiting!(SYS_ppoll, fds, count as usize, left, ptr::null::<sigset_t>(), SIGNALS)
    }
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C-unwind" fn ppoll(
    fds: *mut pollfd,
    count: nfds_t,
    timeout: *const timespec,
    mask: *const sigset_t,
) -> c_int {
    // SAFETY: the caller's pointers, as libc takes them. The kernel writes the time left, which libc's callers do not
    // expect.
    unsafe {
        if let Ok(limit) = timeout.as_ref().map(span).transpose()
            && let Some(ready) = past_kernel(fds, count, limit, mask)
        {
            return ready;
        }
        let mut left = timeout.as_ref().copied();
        waiting!(SYS_ppoll, fds, count as usize, place(&mut left), mask, SIGNALS)
    }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn select(
    count: c_int,
    readable: *mut fd_set,
    writable: *mut fd_set,
    exceptional: *mut fd_set,
    timeout: *mut timeval,
) -> c_int {
    // SAFETY: the caller's pointers, as libc takes them.
    unsafe {
        let mut left = match timeout.as_ref().map(duration) {
            Some(None) => {
                set_errno(libc::EINVAL);
                return -1;
            }
            Some(Some(duration)) => Some(duration),
            None => None,
        };
        if let Ok(limit) = left.as_ref().map(span).transpose()
            && let Some(mut sets) = selected(count, [readable, writable, exceptional])
            && sets.concern_us()
        {
            let begun = Instant::now();
            if let Some(chosen) = sets.select(limit, ptr::null()) {
                if let (Some(timeout), Some(limit)) = (timeout.as_mut(), limit) {
                    let left = limit.saturating_sub(begun.elapsed());
                    *timeout = timeval { tv_sec: left.as_secs() as i64, tv_usec: left.subsec_micros().into() };
                }
                return chosen;
            }
        }
        let chosen =
            waiting!(SYS_pselect6, count, readable, writable, exceptional, place(&mut left), ptr::null::<usize>());
        if let (Some(timeout), Some(left)) = (timeout.as_mut(), left) {
            *timeout = timeval { tv_sec: left.tv_sec, tv_usec: left.tv_nsec / 1000 };
        }
        chosen
    }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn pselect(
    count: c_int,
    readable: *mut fd_set,
    writable: *mut fd_set,
    exceptional: *mut fd_set,
    timeout: *const timespec,
    mask: *const sigset_t,
) -> c_int {
    // SAFETY: the caller's pointers, as libc takes them. The kernel takes the mask and its length behind one pointer.
    unsafe {
        if let Ok(limit) = timeout.as_ref().map(span).transpose()
            && let Some(mut sets) = selected(count, [readable, writable, exceptional])
            && sets.concern_us()
            && let Some(chosen) = sets.select(limit, mask)
        {
            return chosen;
        }
        let mut left = timeout.as_ref().copied();
        let mask = [mask as usize, SIGNALS];
        waiting!(SYS_pselect6, count, readable, writable, exceptional, place(&mut left), mask.as_ptr())
    }
}

/// poll over descriptors with a bypassed one among them; `None` without one.
unsafe fn past_kernel(
    fds: *mut pollfd,
    count: nfds_t,
    limit: Option<Duration>,
    mask: *const sigset_t,
) -> Option<c_int> {
    if process::table().is_none() || !are_writable(fds, (count as usize).saturating_mul(size_of::<pollfd>())) {
        return None;
    }
    // SAFETY: the caller's.
    wait_for(unsafe { std::slice::from_raw_parts_mut(fds, count as usize) }, limit, mask)
}

/// The sets of a call; a null set is empty.
///
/// # Safety
/// Sets as select(2) takes them: with at least `count` bits.
unsafe fn selected<'a>(count: c_int, sets: [*mut fd_set; 3]) -> Option<Selected<'a>> {
    let count = usize::try_from(count).ok().filter(|_| process::table().is_some()).and_then(within_table)?;
    if !sets.into_iter().all(is_there) {
        return None;
    }
    let words = count.div_ceil(u64::BITS as usize);
    // SAFETY: the caller's.
    let sets = sets.map(|set| unsafe { some_mut(set.cast(), if set.is_null() { 0 } else { words }) });
    Some(Selected { count, sets })
}

/// A time as the kernel takes it.
pub(super) fn spec(time: Duration) -> timespec {
    timespec { tv_sec: time.as_secs() as i64, tv_nsec: time.subsec_nanos().into() }
}

/// A time that the kernel would accept.
pub(super) fn span(time: &timespec) -> Result<Duration, ()> {
    match (u64::try_from(time.tv_sec), u32::try_from(time.tv_nsec)) {
        (Ok(seconds), Ok(nanoseconds)) if c_long::from(nanoseconds) < NANOSECONDS => {
            Ok(Duration::new(seconds, nanoseconds))
        }
        _ => Err(()),
    }
}

fn place(time: &mut Option<timespec>) -> *mut timespec {
    time.as_mut().map_or(ptr::null_mut(), ptr::from_mut)
}

/// Converts like glibc: the microseconds may exceed a second.
fn duration(time: &timeval) -> Option<timespec> {
    let nanoseconds = i128::from(time.tv_usec) * 1000;
    let second = i128::from(NANOSECONDS);
    if time.tv_sec < 0 || nanoseconds < 0 {
        return None;
    }
    let seconds = i128::from(time.tv_sec) + nanoseconds / second;
    let tv_sec = seconds.min(i64::MAX.into()) as i64;
    Some(timespec { tv_sec, tv_nsec: (nanoseconds % second) as c_long })
}
