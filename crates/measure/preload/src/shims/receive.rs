//! Calls that receive.

use std::{
    ffi::{c_int, c_uint, c_void},
    time::Instant,
};

use libc::{iovec, mmsghdr, msghdr, size_t, sockaddr, socklen_t, ssize_t, timespec};
use stack::SocketId;

use super::wait::span;
use crate::{
    call::{errno, set_errno, waiting},
    descriptors::{binds, forget, live},
    memory::{are_writable, is_writable},
    messages::{self, OutputArgs, header, is_there, receive, some_mut},
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
    // SAFETY: the caller's pointers, as libc takes them.
    unsafe {
        if let Some(id) = receiver(fd, flags) {
            let outputs = OutputArgs { name: from, name_length: from_length, ..OutputArgs::NOTHING };
            if let Some(received) = receive(fd, id, &[piece(bytes, length)], &outputs, flags) {
                return received;
            }
        }
        waiting!(SYS_recvfrom, fd, bytes, length, flags, from, from_length)
    }
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C-unwind" fn recvmsg(fd: c_int, message: *mut msghdr, flags: c_int) -> ssize_t {
    // SAFETY: the caller's pointers, as libc takes them; on success, the kernel's output.
    unsafe {
        if let Some(id) = receiver(fd, flags)
            && let Some(received) = receive_message(fd, id, message, flags)
        {
            return received;
        }
        let received: ssize_t = waiting!(SYS_recvmsg, fd, message, flags);
        if received >= 0 {
            came_along(message);
        }
        received
    }
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C-unwind" fn recvmmsg(
    fd: c_int,
    messages: *mut mmsghdr,
    count: c_uint,
    flags: c_int,
    timeout: *mut timespec,
) -> c_int {
    // SAFETY: the caller's pointers, as libc takes them; on success, the kernel's output.
    unsafe {
        if is_writable(messages)
            && is_there(timeout)
            && let Some(id) = receiver(fd, flags)
        {
            let messages = some_mut(messages, count as usize);
            return receive_many(fd, id, messages, flags, timeout.as_mut());
        }
        let received: c_int = waiting!(SYS_recvmmsg, fd, messages, count, flags, timeout);
        (0..received).for_each(|index| came_along(&raw mut (*messages.offset(index as isize)).msg_hdr));
        received
    }
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C-unwind" fn read(fd: c_int, bytes: *mut c_void, length: size_t) -> ssize_t {
    // SAFETY: the caller's pointers, as libc takes them.
    unsafe {
        if length > 0
            && let Some(id) = receiver(fd, 0)
            && let Some(received) = receive(fd, id, &[piece(bytes, length)], &OutputArgs::NOTHING, 0)
        {
            return received;
        }
        waiting!(SYS_read, fd, bytes, length)
    }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn readv(fd: c_int, pieces: *const iovec, count: c_int) -> ssize_t {
    // SAFETY: the caller's pointers, as libc takes them.
    unsafe {
        if let Some(id) = receiver(fd, 0)
            && let Some(all) = usize::try_from(count).ok().and_then(|count| messages::pieces(pieces, count))
            && all.iter().any(|piece| piece.iov_len > 0)
            && let Some(received) = receive(fd, id, all, &OutputArgs::NOTHING, 0)
        {
            return received;
        }
        waiting!(SYS_readv, fd, pieces, count)
    }
}

/// The bypassed socket behind a descriptor, for receiving.
#[inline]
fn receiver(fd: c_int, flags: c_int) -> Option<SocketId> {
    match live(fd) {
        None if flags & libc::MSG_DONTWAIT == 0 => binds(fd),
        id => id,
    }
}

fn piece(bytes: *mut c_void, length: size_t) -> iovec {
    iovec { iov_base: bytes, iov_len: length }
}

/// # Safety
/// A message as recvmsg(2) takes it.
unsafe fn receive_message(fd: c_int, id: SocketId, message: *mut msghdr, flags: c_int) -> Option<ssize_t> {
    // SAFETY: the caller's.
    unsafe {
        let header = header(message).filter(|_| are_writable(message, size_of::<msghdr>()))?;
        let pieces = messages::pieces(header.msg_iov, header.msg_iovlen)?;
        let outputs = OutputArgs { name: header.msg_name.cast(), header: message, ..OutputArgs::NOTHING };
        receive(fd, id, pieces, &outputs, flags)
    }
}

/// Like the kernel, checks the time after each message, and returns an error only before the first one.
///
/// # Safety
/// Messages as recvmmsg(2) takes them.
unsafe fn receive_many(
    fd: c_int,
    id: SocketId,
    messages: &mut [mmsghdr],
    flags: c_int,
    mut timeout: Option<&mut timespec>,
) -> c_int {
    let (begun, errno_before) = (Instant::now(), errno());
    let Ok(limit) = timeout.as_deref().map(span).transpose() else {
        set_errno(libc::EINVAL);
        return -1;
    };
    let mut flags_of_each = flags & !libc::MSG_WAITFORONE;
    let count = messages.len() as c_int;
    for (index, message) in (0..).zip(messages) {
        let header = &raw mut message.msg_hdr;
        // SAFETY: the caller's.
        let received = unsafe {
            match receive_message(fd, id, header, flags_of_each) {
                Some(received) => received,
                None => waiting!(SYS_recvmsg, fd, header, flags_of_each),
            }
        };
        if received < 0 && index > 0 {
            set_errno(errno_before);
            return index;
        }
        if received < 0 {
            return -1;
        }
        message.msg_len = received as c_uint;
        if flags & libc::MSG_WAITFORONE != 0 {
            flags_of_each |= libc::MSG_DONTWAIT;
        }
        if let (Some(limit), Some(timeout)) = (limit, timeout.as_mut()) {
            let left = limit.saturating_sub(begun.elapsed());
            **timeout = timespec { tv_sec: left.as_secs() as i64, tv_nsec: left.subsec_nanos().into() };
            if left.is_zero() {
                return index + 1;
            }
        }
    }
    count
}

/// Forgets the numbers of descriptors received with a message: they may have been used before.
///
/// # Safety
/// The kernel has filled in the message.
unsafe fn came_along(message: *mut msghdr) {
    // SAFETY: a header that the kernel has just read and written, with control messages in its layout.
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
