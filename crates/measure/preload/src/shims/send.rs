//! What sends.

use std::ffi::{c_int, c_uint, c_void};

use libc::{iovec, mmsghdr, msghdr, size_t, sockaddr, socklen_t, ssize_t};

use crate::{call::waiting, descriptors::live};

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn send(fd: c_int, bytes: *const c_void, length: size_t, flags: c_int) -> ssize_t {
    // SAFETY: the caller's pointers, as libc takes them.
    unsafe { sendto(fd, bytes, length, flags, std::ptr::null(), 0) }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn sendto(
    fd: c_int,
    bytes: *const c_void,
    length: size_t,
    flags: c_int,
    to: *const sockaddr,
    to_length: socklen_t,
) -> ssize_t {
    let _ = live(fd);
    // SAFETY: the caller's pointers, as libc takes them.
    unsafe { waiting!(SYS_sendto, fd, bytes, length, flags, to, to_length) }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn sendmsg(fd: c_int, message: *const msghdr, flags: c_int) -> ssize_t {
    let _ = live(fd);
    // SAFETY: the caller's pointers, as libc takes them.
    unsafe { waiting!(SYS_sendmsg, fd, message, flags) }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn sendmmsg(fd: c_int, messages: *mut mmsghdr, count: c_uint, flags: c_int) -> c_int {
    let _ = live(fd);
    // SAFETY: the caller's pointers, as libc takes them.
    unsafe { waiting!(SYS_sendmmsg, fd, messages, count, flags) }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn write(fd: c_int, bytes: *const c_void, length: size_t) -> ssize_t {
    let _ = live(fd);
    // SAFETY: the caller's pointers, as libc takes them.
    unsafe { waiting!(SYS_write, fd, bytes, length) }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn writev(fd: c_int, pieces: *const iovec, count: c_int) -> ssize_t {
    let _ = live(fd);
    // SAFETY: the caller's pointers, as libc takes them.
    unsafe { waiting!(SYS_writev, fd, pieces, count) }
}
