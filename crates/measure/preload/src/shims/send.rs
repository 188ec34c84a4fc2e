//! Calls that send.

use std::ffi::{c_int, c_uint, c_void};

use adoption::reap_closed::with_bypass;
use libc::{iovec, mmsghdr, msghdr, size_t, sockaddr, socklen_t, ssize_t};
use stack::SocketId;

use crate::{
    call::{errno, set_errno, waiting},
    corked,
    descriptors::{live, sends},
    memory::{is_writable, lend},
    messages::{self, Sent, header, some, some_mut},
    process::kind,
    table::Kind,
};

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn send(fd: c_int, bytes: *const c_void, length: size_t, flags: c_int) -> ssize_t {
    // SAFETY: the caller's pointers, as libc takes them.
    unsafe { sendto(fd, bytes, length, flags, std::ptr::null(), 0) }
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C-unwind" fn sendto(
    fd: c_int,
    bytes: *const c_void,
    length: size_t,
    flags: c_int,
    to: *const sockaddr,
    to_length: socklen_t,
) -> ssize_t {
    // SAFETY: the caller's pointers, as libc takes them.
    unsafe {
        let id = live_for(fd, flags);
        if let Some(id) = id
            && let Some(sent) =
                messages::send(id, &Sent { name: (to, to_length), ..Sent::alone(&[piece(bytes, length)]) }, flags)
        {
            return sent;
        }
        by_kernel(fd, id, waiting!(SYS_sendto, fd, bytes, length, flags, to, to_length))
    }
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C-unwind" fn sendmsg(fd: c_int, message: *const msghdr, flags: c_int) -> ssize_t {
    // SAFETY: the caller's pointers, as libc takes them.
    unsafe {
        let id = live_for(fd, flags);
        if let Some(id) = id
            && let Some(header) = header(message)
            && let Some(pieces) = messages::pieces(header.msg_iov, header.msg_iovlen)
        {
            let control = (header.msg_control.cast_const(), header.msg_controllen);
            let name = (header.msg_name.cast_const().cast(), header.msg_namelen);
            if let Some(sent) = messages::send(id, &Sent { pieces, name, control }, flags) {
                return sent;
            }
        }
        by_kernel(fd, id, waiting!(SYS_sendmsg, fd, message, flags))
    }
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C-unwind" fn sendmmsg(
    fd: c_int,
    messages: *mut mmsghdr,
    count: c_uint,
    flags: c_int,
) -> c_int {
    // SAFETY: the caller's pointers, as libc takes them.
    unsafe {
        match live_for(fd, flags) {
            Some(id) if is_writable(messages) => send_all(fd, id, some_mut(messages, count as usize), flags),
            _ => {
                let sent: c_int = waiting!(SYS_sendmmsg, fd, messages, count, flags);
                for message in some(messages, usize::try_from(sent).unwrap_or(0)) {
                    by_kernel(fd, None, message.msg_len as ssize_t);
                }
                sent
            }
        }
    }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn write(fd: c_int, bytes: *const c_void, length: size_t) -> ssize_t {
    // SAFETY: the caller's pointers, as libc takes them.
    unsafe {
        let id = if length > 0 { live_for(fd, 0) } else { None };
        if let Some(id) = id
            && let Some(sent) = messages::send(id, &Sent::alone(&[piece(bytes, length)]), 0)
        {
            return sent;
        }
        by_kernel(fd, id, waiting!(SYS_write, fd, bytes, length))
    }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn writev(fd: c_int, pieces: *const iovec, count: c_int) -> ssize_t {
    // SAFETY: the caller's pointers, as libc takes them.
    unsafe {
        let id = live_for(fd, 0);
        // The kernel defines the result of sending empty pieces.
        if let Some(id) = id
            && let Some(all) = usize::try_from(count).ok().and_then(|count| messages::pieces(pieces, count))
            && all.iter().any(|piece| piece.iov_len > 0)
            && let Some(sent) = messages::send(id, &Sent::alone(all), 0)
        {
            return sent;
        }
        by_kernel(fd, id, waiting!(SYS_writev, fd, pieces, count))
    }
}

/// The bypassed socket behind a descriptor, for sending with these flags.
#[inline]
fn live_for(fd: c_int, flags: c_int) -> Option<SocketId> {
    sends(fd).filter(|_| !corked::has_part(fd, flags))
}

/// Counts datagrams that the kernel sent for a bypassed socket, also the one that bound it; returns the call's result.
#[inline]
fn by_kernel(fd: c_int, id: Option<SocketId>, sent: ssize_t) -> ssize_t {
    let is_new = || kind(fd) == Some(Kind::Unknown);
    if sent >= 0
        && let Some(id) = id.or_else(|| if is_new() { live(fd) } else { None })
    {
        with_bypass(|bypass| bypass.stack.sent_by_kernel(id, sent as usize));
    }
    sent
}

fn piece(bytes: *const c_void, length: size_t) -> iovec {
    iovec { iov_base: bytes.cast_mut(), iov_len: length }
}

/// Sends through the stack while it accepts messages. The kernel sends the next one otherwise, and the stack tries
/// again after it.
///
/// # Safety
/// Messages as sendmmsg(2) takes them.
unsafe fn send_all(fd: c_int, id: SocketId, all: &mut [mmsghdr], flags: c_int) -> c_int {
    let (mut sent, errno_before) = (0, errno());
    while sent < all.len() {
        let lent = lend();
        // SAFETY: the caller's.
        let went = unsafe {
            let are_usable = messages::are_all_usable(&all[sent..]);
            match are_usable.then(|| messages::send_many(id, &mut all[sent..], flags, lent)) {
                Some(Some(Ok(count))) => count,
                Some(Some(Err(errno))) if sent == 0 => {
                    set_errno(errno);
                    return -1;
                }
                Some(Some(Err(_))) => break,
                _ => {
                    let one: c_int = waiting!(SYS_sendmmsg, fd, &raw mut all[sent], 1_u32, flags);
                    match one {
                        -1 if sent == 0 => return -1,
                        -1 => {
                            set_errno(errno_before);
                            break;
                        }
                        _ => {
                            by_kernel(fd, Some(id), all[sent].msg_len as ssize_t);
                            1
                        }
                    }
                }
            }
        };
        sent += went;
    }
    sent as c_int
}
