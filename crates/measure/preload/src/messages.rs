//! The program's memory, as the stack takes it.

use std::{
    ffi::{c_int, c_void},
    io::{IoSlice, IoSliceMut},
    ptr, slice,
};

use adoption::reap_closed::with_bypass;
use libc::{iovec, msghdr, sockaddr, socklen_t};
use stack::{Incoming, Outcome, Outgoing, SocketId};

use crate::{call::set_errno, data, descriptors::is_still};

/// Pieces of a message that there is room for in a frame; one in more is the kernel's.
const PIECES: usize = 64;

/// Where an answer is written, other than the payload.
pub(crate) struct Beside {
    pub(crate) name: *mut sockaddr,
    pub(crate) name_length: *mut socklen_t,
    pub(crate) header: *mut msghdr,
}

impl Beside {
    /// Nothing but the payload is asked for.
    pub(crate) const NOTHING: Self =
        Self { name: ptr::null_mut(), name_length: ptr::null_mut(), header: ptr::null_mut() };
}

/// Receives for a socket; none where that is for the kernel.
///
/// # Safety
/// Pointers as recvmsg(2) takes them.
pub(crate) unsafe fn receive(
    fd: c_int,
    id: SocketId,
    pieces: &[iovec],
    beside: &Beside,
    flags: c_int,
) -> Option<isize> {
    // SAFETY: the caller's.
    unsafe {
        let received = match pieces.len() {
            ..=1 => receive_in::<1>(id, pieces, beside, flags),
            _ => receive_in::<PIECES>(id, pieces, beside, flags),
        };
        // It may have waited until another thread closed it; its number may be another's by now.
        if received.is_none() && !is_still(fd, id) {
            set_errno(libc::EBADF);
            return Some(-1);
        }
        received
    }
}

unsafe fn receive_in<const ROOM: usize>(
    id: SocketId,
    pieces: &[iovec],
    beside: &Beside,
    flags: c_int,
) -> Option<isize> {
    // SAFETY: the caller's; memory that the program lends for the time of this call.
    unsafe {
        let mut room: [IoSliceMut<'_>; ROOM] = std::array::from_fn(|_| IoSliceMut::new(&mut []));
        let mut count = 0;
        for piece in pieces.iter().filter(|piece| piece.iov_len > 0) {
            *room.get_mut(count)? = IoSliceMut::new(slice::from_raw_parts_mut(piece.iov_base.cast(), piece.iov_len));
            count += 1;
        }
        let header = beside.header.as_mut();
        let control = header.as_ref().map_or((ptr::null_mut(), 0), |it| (it.msg_control, it.msg_controllen));
        let name_room = match &header {
            Some(header) => header.msg_namelen,
            None => beside.name_length.as_ref().copied().unwrap_or(0),
        };
        // The length is told also where there is no room for any of it.
        let mut nowhere = [0; size_of::<libc::sockaddr_in6>()];
        let is_told = !beside.name.is_null() && name_room == 0;
        let mut message = Incoming {
            name: if is_told { &mut nowhere } else { bytes(beside.name.cast(), name_room as usize) },
            control: bytes(control.0, control.1),
            ..Incoming::new(&mut room[..count])
        };
        let outcome = data::receive(id, &mut message, flags);
        let Outcome::Done(length) = outcome else { return ended(outcome) };
        let name_length = message.name_length as socklen_t;
        if let Some(header) = header {
            if !beside.name.is_null() {
                header.msg_namelen = name_length;
            }
            header.msg_controllen = message.control_length as _;
            header.msg_flags = message.flags;
        } else if let Some(place) = beside.name_length.as_mut().filter(|_| !beside.name.is_null()) {
            *place = name_length;
        }
        Some(length as isize)
    }
}

/// What is to be sent: pieces of a payload, and an address and control messages that may be nowhere.
pub(crate) struct Sent<'a> {
    pub(crate) pieces: &'a [iovec],
    pub(crate) name: (*const sockaddr, socklen_t),
    pub(crate) control: (*const c_void, usize),
}

impl<'a> Sent<'a> {
    /// A payload alone.
    pub(crate) fn alone(pieces: &'a [iovec]) -> Self {
        Self { pieces, name: (ptr::null(), 0), control: (ptr::null(), 0) }
    }
}

/// Sends from a socket; none where that is for the kernel.
///
/// # Safety
/// Pointers as sendmsg(2) takes them.
pub(crate) unsafe fn send(id: SocketId, sent: &Sent<'_>, flags: c_int) -> Option<isize> {
    // SAFETY: the caller's.
    unsafe {
        match sent.pieces.len() {
            ..=1 => send_from::<1>(id, sent, flags),
            _ => send_from::<PIECES>(id, sent, flags),
        }
    }
}

unsafe fn send_from<const ROOM: usize>(id: SocketId, sent: &Sent<'_>, flags: c_int) -> Option<isize> {
    // SAFETY: the caller's; memory that the program lends for the time of this call.
    unsafe {
        let mut room = [IoSlice::new(&[]); ROOM];
        let mut count = 0;
        for piece in sent.pieces.iter().filter(|piece| piece.iov_len > 0) {
            *room.get_mut(count)? = IoSlice::new(slice::from_raw_parts(piece.iov_base.cast(), piece.iov_len));
            count += 1;
        }
        let message = Outgoing {
            pieces: &room[..count],
            name: bytes(sent.name.0.cast_mut().cast(), sent.name.1 as usize),
            control: bytes(sent.control.0.cast_mut(), sent.control.1),
        };
        ended(with_bypass(|bypass| bypass.stack.send(id, &message, flags))?)
    }
}

/// Several messages at once: how many went, or none where the first one is for the kernel.
///
/// # Safety
/// Pointers as sendmmsg(2) takes them, with no piece that is nowhere.
pub(crate) unsafe fn send_many(
    id: SocketId,
    messages: &mut [libc::mmsghdr],
    flags: c_int,
) -> Option<Result<usize, c_int>> {
    // SAFETY: the caller's; `IoSlice` is an `iovec` by its documentation.
    unsafe {
        let start = messages.as_mut_ptr();
        let each = (0..messages.len()).map(|index| {
            let header = &(*start.add(index)).msg_hdr;
            Outgoing {
                pieces: some(header.msg_iov.cast::<IoSlice<'_>>(), header.msg_iovlen),
                name: bytes(header.msg_name, header.msg_namelen as usize),
                control: bytes(header.msg_control, header.msg_controllen),
            }
        });
        let sent = |index: usize, length: usize| (*start.add(index)).msg_len = length as u32;
        match with_bypass(|bypass| bypass.stack.send_many(id, each, flags, sent))? {
            (0, Some(Outcome::Kernel)) => None,
            (0, Some(Outcome::Failed(errno))) => Some(Err(errno)),
            (count, _) => Some(Ok(count)),
        }
    }
}

/// Whether all of what is to be sent is somewhere.
///
/// # Safety
/// Pointers as sendmmsg(2) takes them.
pub(crate) unsafe fn are_all_somewhere(messages: &[libc::mmsghdr]) -> bool {
    messages.iter().all(|message| {
        let (start, count) = (message.msg_hdr.msg_iov, message.msg_hdr.msg_iovlen);
        // SAFETY: the caller's.
        count > 0 && unsafe { slice::from_raw_parts(start, count) }.iter().all(|piece| !piece.iov_base.is_null())
    })
}

fn ended(outcome: Outcome<usize>) -> Option<isize> {
    match outcome {
        Outcome::Done(length) => Some(length as isize),
        Outcome::Kernel => None,
        Outcome::Failed(errno) => {
            set_errno(errno);
            Some(-1)
        }
    }
}

/// Memory, or none where it is nowhere.
unsafe fn bytes<'a>(start: *mut c_void, length: usize) -> &'a mut [u8] {
    match start.is_null() {
        true => &mut [],
        // SAFETY: the caller's.
        false => unsafe { slice::from_raw_parts_mut(start.cast(), length) },
    }
}

/// What a program gives as a pointer and a count, of which nothing is often a null pointer.
///
/// # Safety
/// As for [`slice::from_raw_parts`], where there is a count.
pub(crate) unsafe fn some<'a, T>(start: *const T, count: usize) -> &'a [T] {
    // SAFETY: the caller's.
    if count == 0 { &[] } else { unsafe { slice::from_raw_parts(start, count) } }
}

/// The same, to be written to.
///
/// # Safety
/// As for [`slice::from_raw_parts_mut`], where there is a count.
pub(crate) unsafe fn some_mut<'a, T>(start: *mut T, count: usize) -> &'a mut [T] {
    // SAFETY: the caller's.
    if count == 0 { &mut [] } else { unsafe { slice::from_raw_parts_mut(start, count) } }
}
