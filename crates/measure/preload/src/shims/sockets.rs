//! Calls that create and configure sockets.

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
    memory::is_writable,
    process::kind,
    table::Kind,
};

/// `SIOCGSTAMP` and `SIOCGSTAMPNS`, in their old and new forms, which are equal on 64-bit machines.
const STAMPS: [c_ulong; 4] = [0x8906, 0x8907, 0x8010_8906, 0x8010_8907];
/// Options that attach a program which selects among the sockets of a port (`SO_ATTACH_REUSEPORT_CBPF`,
/// `SO_ATTACH_REUSEPORT_EBPF`). The kernel does not tell later that a port has one.
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
    // SAFETY: the caller's pointers, as libc takes them; the kernel's output.
    unsafe {
        let result = kernel!(SYS_getsockopt, fd, level, name, value, length);
        // The kernel returns the value of its last own datagram.
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
    // The kernel implements the effect on waiting threads.
    leave_to_kernel(fd, Reason::ShutDown);
    result
}

/// Variadic in C, as [`fcntl`](super::descriptors) is.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn ioctl(fd: c_int, request: c_ulong, argument: usize) -> c_int {
    // SAFETY: the caller's argument, as libc takes it.
    unsafe {
        if request == libc::FIONREAD
            && is_writable(argument as *mut c_int)
            && let Some(id) = live(fd)
            && let Some(waiting) = with_bypass(|bypass| bypass.stack.waiting(id)).flatten()
        {
            (argument as *mut c_int).write(waiting as c_int);
            return 0;
        }
        if STAMPS.contains(&request)
            && is_writable(argument as *mut c_int)
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

/// Returns microseconds or nanoseconds, as `request` says.
///
/// # Safety
/// The argument is that of a timestamp request.
unsafe fn stamp(fd: c_int, id: SocketId, request: c_ulong, argument: usize) -> c_int {
    // SAFETY: the caller's; the kernel keeps timestamps of its datagrams from now on.
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

/// libc's later calls on the descriptor are not intercepted.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn fdopen(fd: c_int, mode: *const c_char) -> *mut FILE {
    leave_to_kernel(fd, Reason::Stdio);
    // SAFETY: libc's function of this name and type; the caller's pointer, as it takes it.
    unsafe {
        let next = libc::dlsym(libc::RTLD_NEXT, c"fdopen".as_ptr());
        if next.is_null() {
            set_errno(libc::ENOSYS);
            return std::ptr::null_mut();
        }
        transmute::<*mut c_void, extern "C" fn(c_int, *const c_char) -> *mut FILE>(next)(fd, mode)
    }
}
