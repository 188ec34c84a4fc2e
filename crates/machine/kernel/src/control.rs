//! Control messages: the kernel's metadata of received data (cmsg(3)).

use std::{
    io, iter,
    marker::PhantomData,
    os::fd::{AsFd, AsRawFd},
};

/// Room for more control messages than any socket here receives; of 64-bit words for alignment.
pub(crate) type Room = [u64; 64];

/// One control message.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Control<'a> {
    /// Protocol level, like `SOL_UDP`.
    pub(crate) level: libc::c_int,
    /// Kind within that level.
    pub(crate) kind: libc::c_int,
    /// Contents.
    pub(crate) data: &'a [u8],
}

impl Control<'_> {
    /// The `N` bytes from offset `from`; `None` beyond its end.
    pub(crate) fn bytes<const N: usize>(&self, from: usize) -> Option<[u8; N]> {
        self.data.get(from..from.checked_add(N)?)?.try_into().ok()
    }

    /// Whether it is an entry of the error queue, `struct sock_extended_err` (ip(7), ipv6(7)).
    pub(crate) fn is_error(&self) -> bool {
        matches!((self.level, self.kind), (libc::SOL_IP, libc::IP_RECVERR) | (libc::SOL_IPV6, libc::IPV6_RECVERR))
    }

    /// A C `int` or `u32` at offset `from`.
    pub(crate) fn number(&self, from: usize) -> Option<u32> {
        self.bytes(from).map(u32::from_ne_bytes)
    }
}

/// A received message: its length and its control messages.
pub(crate) struct Received<'r> {
    /// Bytes of data.
    pub(crate) length: usize,
    header: libc::msghdr,
    /// The header points into it.
    room: PhantomData<&'r Room>,
}

impl Received<'_> {
    /// The control messages, in order.
    pub(crate) fn controls(&self) -> impl Iterator<Item = Control<'_>> {
        // SAFETY: the kernel filled the room, which is borrowed while this lives.
        unsafe { controls(&self.header) }
    }
}

/// Receives one message, or one entry of the error queue (`MSG_ERRQUEUE`), with its control messages.
pub(crate) fn receive<'r>(
    socket: &impl AsFd,
    buffer: &mut [u8],
    room: &'r mut Room,
    flags: libc::c_int,
) -> io::Result<Received<'r>> {
    let mut part = libc::iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: buffer.len() };
    // SAFETY: zeros are a valid header: no address, no parts, no control messages, no flags.
    let mut header: libc::msghdr = unsafe { std::mem::zeroed() };
    header.msg_iov = &raw mut part;
    header.msg_iovlen = 1;
    header.msg_control = room.as_mut_ptr().cast();
    header.msg_controllen = size_of_val(room) as _;
    // SAFETY: the header points to a buffer and control room of the given lengths, which outlive the call.
    let length = unsafe { libc::recvmsg(socket.as_fd().as_raw_fd(), &raw mut header, flags) };
    let length = usize::try_from(length).map_err(|_| io::Error::last_os_error())?;
    Ok(Received { length, header, room: PhantomData })
}

/// The control messages of a header, in order.
///
/// # Safety
/// The kernel has filled the header's control room, or set its length to 0, and the room still exists.
pub(crate) unsafe fn controls(header: &libc::msghdr) -> impl Iterator<Item = Control<'_>> {
    // SAFETY: as the caller promises.
    let mut next = unsafe { libc::CMSG_FIRSTHDR(header) };
    iter::from_fn(move || {
        if next.is_null() {
            return None;
        }
        let message = next;
        // SAFETY: it is not null, so it is a whole control message within the room, and so is the next one unless null.
        next = unsafe { libc::CMSG_NXTHDR(header, message) };
        // SAFETY: it is a whole control message; the length includes its header, and the kernel wrote that much.
        unsafe {
            let length = (*message).cmsg_len.saturating_sub(libc::CMSG_LEN(0) as usize);
            let data = std::slice::from_raw_parts(libc::CMSG_DATA(message), length);
            Some(Control { level: (*message).cmsg_level, kind: (*message).cmsg_type, data })
        }
    })
}
