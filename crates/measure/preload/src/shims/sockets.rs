//! What makes sockets, and changes what they are.

use std::{
    ffi::{c_char, c_int, c_ulong, c_void},
    mem::transmute,
};

use adoption::reap_closed::with_bypass;
use libc::{FILE, sockaddr, socklen_t};
use model::bypass::Reason;
use stack::SocketId;

use crate::{
    call::{answer, kernel, raw, set_errno, waiting},
    descriptors::{bound, changed, forget, is_made, leave_to_kernel, live},
    process::kind,
    table::Kind,
};

/// `SIOCGSTAMP` and `SIOCGSTAMPNS`, in the older form and in the newer one, which are alike where a word has 64 bits.
const STAMPS: [c_ulong; 4] = [0x8906, 0x8907, 0x8010_8906, 0x8010_8907];
/// Options that give sockets of one port a program which chooses among them (`SO_ATTACH_REUSEPORT_CBPF`, `SO_ATTACH_REUSEPORT_EBPF`): the kernel tells
/// nobody later that there is one.
const CHOOSERS: [c_int; 2] = [51, 52];

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn socket(domain: c_int, kind: c_int, protocol: c_int) -> c_int {
    // SAFETY: it takes no pointer.
    let fd = unsafe { kernel!(SYS_socket, domain, kind, protocol) };
    is_made(fd);
    fd
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn accept(fd: c_int, from: *mut sockaddr, length: *mut socklen_t) -> c_int {
    // SAFETY: the caller's pointers, as libc takes them.
    let accepted = unsafe { waiting!(SYS_accept, fd, from, length) };
    forget(accepted);
    accepted
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn accept4(fd: c_int, from: *mut sockaddr, length: *mut socklen_t, flags: c_int) -> c_int {
    // SAFETY: the caller's pointers, as libc takes them.
    let accepted = unsafe { waiting!(SYS_accept4, fd, from, length, flags) };
    forget(accepted);
    accepted
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn connect(fd: c_int, to: *const sockaddr, length: socklen_t) -> c_int {
    // SAFETY: the caller's pointers, as libc takes them.
    let result = unsafe { waiting!(SYS_connect, fd, to, length) };
    bound(fd);
    result
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn bind(fd: c_int, to: *const sockaddr, length: socklen_t) -> c_int {
    // SAFETY: the caller's pointers, as libc takes them.
    let result = unsafe { kernel!(SYS_bind, fd, to, length) };
    bound(fd);
    result
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn setsockopt(
    fd: c_int,
    level: c_int,
    name: c_int,
    value: *const c_void,
    length: socklen_t,
) -> c_int {
    // SAFETY: the caller's pointers, as libc takes them.
    let result = unsafe { kernel!(SYS_setsockopt, fd, level, name, value, length) };
    if result == 0 && level == libc::SOL_SOCKET && CHOOSERS.contains(&name) {
        leave_to_kernel(fd, Reason::Filter);
    } else {
        changed(fd);
    }
    result
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn getsockopt(
    fd: c_int,
    level: c_int,
    name: c_int,
    value: *mut c_void,
    length: *mut socklen_t,
) -> c_int {
    // SAFETY: the caller's pointers, as libc takes them; what the kernel has just filled in.
    unsafe {
        let result = kernel!(SYS_getsockopt, fd, level, name, value, length);
        // The kernel says what it was when it last sent something itself.
        if result == 0
            && matches!((level, name), (libc::SOL_IP, libc::IP_MTU) | (libc::SOL_IPV6, libc::IPV6_MTU))
            && length.read_unaligned() as usize == size_of::<c_int>()
            && let Some(Kind::Live(id)) = kind(fd)
            && let Some(mtu) = with_bypass(|bypass| bypass.stack.path_mtu(SocketId(id))).flatten()
        {
            value.cast::<c_int>().write_unaligned(mtu as c_int);
        }
        result
    }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn shutdown(fd: c_int, how: c_int) -> c_int {
    // SAFETY: it takes no pointer.
    let result = unsafe { kernel!(SYS_shutdown, fd, how) };
    // The kernel knows what that means for those who wait.
    leave_to_kernel(fd, Reason::ShutDown);
    result
}

/// Variadic in C, as [`fcntl`](super::descriptors) is.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn ioctl(fd: c_int, request: c_ulong, argument: usize) -> c_int {
    // SAFETY: the caller's argument, as libc takes it.
    unsafe {
        if request == libc::FIONREAD
            && let Some(id) = live(fd)
            && let Some(waiting) = with_bypass(|bypass| bypass.stack.waiting(id)).flatten()
        {
            (argument as *mut c_int).write(waiting as c_int);
            return 0;
        }
        if STAMPS.contains(&request)
            && let Some(id) = live(fd)
        {
            return stamp(fd, id, request, argument);
        }
        let result = kernel!(SYS_ioctl, fd, request as usize, argument);
        if request == libc::FIONBIO || request == libc::FIOASYNC {
            changed(fd);
        }
        result
    }
}

/// As many microseconds or nanoseconds beside the seconds as `request` says.
///
/// # Safety
/// The argument is that of a call for a time.
unsafe fn stamp(fd: c_int, id: SocketId, request: c_ulong, argument: usize) -> c_int {
    // SAFETY: the caller's; the kernel keeps the times of what comes through it from now on.
    unsafe {
        let asked = raw(libc::SYS_ioctl, [fd as usize, request as usize, argument]);
        match with_bypass(|bypass| bypass.stack.stamp(id)).flatten() {
            Some(time) => {
                let parts = if request & 1 == 0 { time.subsec_micros() } else { time.subsec_nanos() };
                (argument as *mut [i64; 2]).write_unaligned([time.as_secs() as i64, parts.into()]);
                0
            }
            _ => answer(asked) as c_int,
        }
    }
}

/// What libc then does with the descriptor is not seen.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn fdopen(fd: c_int, mode: *const c_char) -> *mut FILE {
    leave_to_kernel(fd, Reason::Stdio);
    // SAFETY: libc's function of this name, which has this type; the caller's pointer, as it takes it.
    unsafe {
        let next = libc::dlsym(libc::RTLD_NEXT, c"fdopen".as_ptr());
        if next.is_null() {
            set_errno(libc::ENOSYS);
            return std::ptr::null_mut();
        }
        transmute::<*mut c_void, extern "C" fn(c_int, *const c_char) -> *mut FILE>(next)(fd, mode)
    }
}
