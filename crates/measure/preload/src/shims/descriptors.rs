//! Calls that open and close descriptors.

use std::ffi::{c_int, c_long, c_uint};

use model::bypass::Reason;

use crate::{
    call::{answer, kernel, raw, set_errno, waiting},
    descriptors::{changed, closing, closing_all, is_copy, leave_if_live},
    reserved_fds,
};

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn close(fd: c_int) -> c_int {
    // SAFETY: it takes no pointer.
    closes(fd, || unsafe { waiting!(SYS_close, fd) })
}

fn closes(fd: c_int, call: impl FnOnce() -> c_int) -> c_int {
    if reserved_fds::is_reserved(fd) { is_not_there() } else { closing(fd, call) }
}

/// For libc's `syscall`, which is no cancellation point.
pub(super) fn close_at_once(fd: c_int) -> c_int {
    // SAFETY: it takes no pointer.
    closes(fd, || unsafe { kernel!(SYS_close, fd) })
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C-unwind" fn close_range(first: c_uint, last: c_uint, flags: c_int) -> c_int {
    if flags as c_uint & libc::CLOSE_RANGE_CLOEXEC != 0 || first > last {
        // SAFETY: it takes no pointer.
        return unsafe { kernel!(SYS_close_range, first, last, flags) };
    }
    closing_all(first, last, || {
        reserved_fds::others(first, last).fold(0, |result, (first, last)| {
            // SAFETY: as above.
            match unsafe { kernel!(SYS_close_range, first, last, flags) } {
                0 => result,
                failed => failed,
            }
        })
    })
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn closefrom(first: c_int) {
    let first = c_uint::try_from(first).unwrap_or(0);
    closing_all(first, c_uint::MAX, || {
        for (first, last) in reserved_fds::others(first, c_uint::MAX) {
            // SAFETY: it takes no pointer. It cannot fail on Linux 5.9 or newer; a failure is ignored.
            unsafe { raw(libc::SYS_close_range, [first as usize, last as usize, 0]) };
        }
    });
}

/// Reserved descriptors do not exist for the program.
fn is_not_there() -> c_int {
    set_errno(libc::EBADF);
    -1
}

/// A copy onto a number that may be in use.
fn onto(old: c_int, new: c_int, copy: impl FnOnce() -> c_int) -> c_int {
    if reserved_fds::is_reserved(new) || reserved_fds::is_reserved(old) {
        return is_not_there();
    }
    // SAFETY: it takes no pointer.
    let is_there = || unsafe { raw(libc::SYS_fcntl, [old as usize, libc::F_GETFD as usize]) } >= 0;
    if old != new {
        becomes(old, new);
    }
    let new = if old == new || !is_there() { copy() } else { closing(new, copy) };
    copied(old, new)
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn dup(old: c_int) -> c_int {
    // SAFETY: it takes no pointer.
    copied(old, unsafe { kernel!(SYS_dup, old) })
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C-unwind" fn dup2(old: c_int, new: c_int) -> c_int {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: it takes no pointer.
    return onto(old, new, || unsafe { kernel!(SYS_dup2, old, new) });
    #[cfg(not(target_arch = "x86_64"))]
    // SAFETY: it takes no pointer.
    unsafe {
        match old == new {
            true if kernel!(SYS_fcntl, old, libc::F_GETFD) < 0 => -1,
            true => new,
            false => dup3(old, new, 0),
        }
    }
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C-unwind" fn dup3(old: c_int, new: c_int, flags: c_int) -> c_int {
    // SAFETY: it takes no pointer.
    onto(old, new, || unsafe { kernel!(SYS_dup3, old, new, flags) })
}

/// Variadic in C: a missing third argument is an arbitrary register value, which the kernel ignores then.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn fcntl(fd: c_int, command: c_int, argument: usize) -> c_int {
    // SAFETY: the caller's argument, as libc takes it.
    unsafe {
        match command {
            libc::F_GETOWN => owner(fd),
            libc::F_SETLKW | libc::F_OFD_SETLKW => waiting!(SYS_fcntl, fd, command, argument),
            libc::F_DUPFD | libc::F_DUPFD_CLOEXEC => copied(fd, kernel!(SYS_fcntl, fd, command, argument)),
            libc::F_SETFL => {
                let result = kernel!(SYS_fcntl, fd, command, argument);
                changed(fd);
                result
            }
            _ => kernel!(SYS_fcntl, fd, command, argument),
        }
    }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn fcntl64(fd: c_int, command: c_int, argument: usize) -> c_int {
    // SAFETY: the caller's argument, as libc takes it.
    unsafe { fcntl(fd, command, argument) }
}

/// Reads and writes of stdio on a standard descriptor are not intercepted.
fn becomes(old: c_int, new: c_int) {
    if (0..=libc::STDERR_FILENO).contains(&new) {
        leave_if_live(old, Reason::Stdio);
    }
}

fn copied(old: c_int, new: c_int) -> c_int {
    if new >= 0 && new != old {
        becomes(old, new);
        is_copy(old, new);
    }
    new
}

/// Like libc, distinguishes a process group from an error by its number.
fn owner(fd: c_int) -> c_int {
    const F_GETOWN_EX: c_int = 16;
    const F_OWNER_PGRP: c_int = 2;
    let mut owner = [0 as c_int; 2];
    // SAFETY: room for a kind and a number.
    let asked =
        unsafe { raw(libc::SYS_fcntl as c_long, [fd as usize, F_GETOWN_EX as usize, owner.as_mut_ptr() as usize]) };
    match (answer(asked), owner) {
        (0, [F_OWNER_PGRP, group]) => -group,
        (0, [_, process]) => process,
        _ => -1,
    }
}
