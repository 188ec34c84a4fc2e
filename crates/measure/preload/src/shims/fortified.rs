//! Functions for programs compiled with `_FORTIFY_SOURCE`: the same, after a check of the buffer's size.

use std::ffi::{c_int, c_void};

use libc::{nfds_t, pollfd, sigset_t, size_t, sockaddr, socklen_t, ssize_t, timespec};

use super::{
    receive::{read, recv, recvfrom},
    wait::{poll, ppoll},
};

unsafe extern "C" {
    /// libc's termination of a program after a buffer overflow.
    fn __chk_fail() -> !;
}

fn holds(asked: size_t, room: size_t) {
    if asked > room {
        // SAFETY: it takes nothing and does not return.
        unsafe { __chk_fail() }
    }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn __read_chk(fd: c_int, bytes: *mut c_void, length: size_t, room: size_t) -> ssize_t {
    holds(length, room);
    // SAFETY: the caller's pointers, as libc takes them.
    unsafe { read(fd, bytes, length) }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn __recv_chk(
    fd: c_int,
    bytes: *mut c_void,
    length: size_t,
    room: size_t,
    flags: c_int,
) -> ssize_t {
    holds(length, room);
    // SAFETY: the caller's pointers, as libc takes them.
    unsafe { recv(fd, bytes, length, flags) }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn __recvfrom_chk(
    fd: c_int,
    bytes: *mut c_void,
    length: size_t,
    room: size_t,
    flags: c_int,
    from: *mut sockaddr,
    from_length: *mut socklen_t,
) -> ssize_t {
    holds(length, room);
    // SAFETY: the caller's pointers, as libc takes them.
    unsafe { recvfrom(fd, bytes, length, flags, from, from_length) }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn __poll_chk(fds: *mut pollfd, count: nfds_t, timeout: c_int, room: size_t) -> c_int {
    holds(count as size_t, room / size_of::<pollfd>());
    // SAFETY: the caller's pointers, as libc takes them.
    unsafe { poll(fds, count, timeout) }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn __ppoll_chk(
    fds: *mut pollfd,
    count: nfds_t,
    timeout: *const timespec,
    mask: *const sigset_t,
    room: size_t,
) -> c_int {
    holds(count as size_t, room / size_of::<pollfd>());
    // SAFETY: the caller's pointers, as libc takes them.
    unsafe { ppoll(fds, count, timeout, mask) }
}
