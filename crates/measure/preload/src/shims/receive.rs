//! What receives.

use std::ffi::{c_int, c_uint, c_void};

use libc::{iovec, mmsghdr, msghdr, size_t, sockaddr, socklen_t, ssize_t, timespec};

use crate::{
    call::waiting,
    descriptors::{forget, live},
};

#[unsafe(no_mangle)]
pub(super) unsafe extern "C-unwind" fn recv(fd: c_int, bytes: *mut c_void, length: size_t, flags: c_int) -> ssize_t {
    // SAFETY: the caller's pointers, as libc takes them.
    unsafe { recvfrom(fd, bytes, length, flags, std::ptr::null_mut(), std::ptr::null_mut()) }
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C-unwind" fn recvfrom(
    fd: c_int,
    bytes: *mut c_void,
    length: size_t,
    flags: c_int,
    from: *mut sockaddr,
    from_length: *mut socklen_t,
) -> ssize_t {
    let _ = live(fd);
    // SAFETY: the caller's pointers, as libc takes them.
    unsafe { waiting!(SYS_recvfrom, fd, bytes, length, flags, from, from_length) }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn recvmsg(fd: c_int, message: *mut msghdr, flags: c_int) -> ssize_t {
    let _ = live(fd);
    // SAFETY: the caller's pointers, as libc takes them; what the kernel filled in where it succeeded.
    unsafe {
        let received: ssize_t = waiting!(SYS_recvmsg, fd, message, flags);
        if received >= 0 {
            came_along(message);
        }
        received
    }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn recvmmsg(
    fd: c_int,
    messages: *mut mmsghdr,
    count: c_uint,
    flags: c_int,
    timeout: *mut timespec,
) -> c_int {
    let _ = live(fd);
    // SAFETY: the caller's pointers, as libc takes them; what the kernel filled in where it succeeded.
    unsafe {
        let received: c_int = waiting!(SYS_recvmmsg, fd, messages, count, flags, timeout);
        (0..received).for_each(|index| came_along(&raw mut (*messages.offset(index as isize)).msg_hdr));
        received
    }
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C-unwind" fn read(fd: c_int, bytes: *mut c_void, length: size_t) -> ssize_t {
    let _ = live(fd);
    // SAFETY: the caller's pointers, as libc takes them.
    unsafe { waiting!(SYS_read, fd, bytes, length) }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn readv(fd: c_int, pieces: *const iovec, count: c_int) -> ssize_t {
    let _ = live(fd);
    // SAFETY: the caller's pointers, as libc takes them.
    unsafe { waiting!(SYS_readv, fd, pieces, count) }
}

/// Descriptors that came with a message have numbers that may have meant something else.
///
/// # Safety
/// The message is one that the kernel filled in.
unsafe fn came_along(message: *mut msghdr) {
    // SAFETY: a header that the kernel just read and wrote, and control messages as it lays them out.
    unsafe {
        if (*message).msg_control.is_null() || (*message).msg_controllen == 0 {
            return;
        }
        let mut control = libc::CMSG_FIRSTHDR(message);
        while let Some(header) = control.as_ref() {
            if (header.cmsg_level, header.cmsg_type) == (libc::SOL_SOCKET, libc::SCM_RIGHTS) {
                let count = (header.cmsg_len - libc::CMSG_LEN(0) as usize) / size_of::<c_int>();
                let descriptors = libc::CMSG_DATA(control).cast::<c_int>();
                (0..count).for_each(|index| forget(descriptors.add(index).read_unaligned()));
            }
            control = libc::CMSG_NXTHDR(message, control);
        }
    }
}
