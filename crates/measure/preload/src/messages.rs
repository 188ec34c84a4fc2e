//! The program's memory, in the types of the stack.

use std::{
    ffi::{c_int, c_void},
    io::{IoSlice, IoSliceMut},
    mem, ptr, slice,
};

use adoption::{
    held::{held, release},
    reap_closed::with_bypass,
};
use libc::{iovec, msghdr, sockaddr, socklen_t};
use stack::{Incoming, Lent, Outcome, Outgoing, SocketId, TAKEN_AWAY};

use crate::{
    call::{raw, set_errno, waiting},
    data,
    descriptors::is_still,
    memory::{are_readable, are_writable, give, is_writable, lend, writable_length},
};

/// Pieces of a message that fit in a frame; the kernel handles longer lists.
const PIECES: usize = 64;

/// More than the payload of any datagram.
const MOST: usize = 65_536;

/// More than the payload of any datagram past the kernel: it lies in one frame. The kernel checks the memory for its own datagrams.
const IN_FRAME: usize = 4096;

/// Room for the longest source of a datagram.
const NAME: usize = size_of::<libc::sockaddr_in6>();

/// Destinations of a call's results, other than the payload.
pub(crate) struct OutputArgs {
    pub(crate) name: *mut sockaddr,
    pub(crate) name_length: *mut socklen_t,
    pub(crate) header: *mut msghdr,
}

/// Room that a call leaves for its results, as it was when the call began.
#[derive(Clone, Copy)]
struct Room {
    name: usize,
    control: (*mut c_void, usize),
}

/// The program's memory of a call.
struct Asked<'a> {
    outputs: &'a OutputArgs,
    room: Room,
    lent: Lent,
}

impl OutputArgs {
    /// Room for results; `None` if there is no place for a source that is asked for.
    ///
    /// # Safety
    /// A header as recvmsg(2) takes it.
    unsafe fn room(&self) -> Option<Room> {
        if !self.name.is_null()
            && !self.name_length.is_null()
            && !are_writable(self.name_length, size_of::<socklen_t>())
        {
            return None;
        }
        // SAFETY: the length was found above, and the header is the caller's.
        let room = unsafe {
            match self.header.as_ref() {
                Some(header) => {
                    let control = (header.msg_control, header.msg_controllen);
                    Room { name: header.msg_namelen as usize, control }
                }
                None if self.name.is_null() => Room { name: 0, control: (ptr::null_mut(), 0) },
                None => {
                    let name = self.name_length.as_ref().copied().unwrap_or(0) as usize;
                    Room { name, control: (ptr::null_mut(), 0) }
                }
            }
        };
        (self.name.is_null() || are_writable(self.name, room.name.min(NAME))).then_some(room)
    }

    /// Whether all places of results are there.
    fn are_there(&self, room: &Room) -> bool {
        (self.name.is_null() || are_writable(self.name, room.name.min(NAME)))
            && (self.name_length.is_null() || are_writable(self.name_length, size_of::<socklen_t>()))
            && (self.header.is_null() || are_writable(self.header, size_of::<msghdr>()))
            && (room.control.0.is_null() || are_writable(room.control.0, room.control.1.min(IN_FRAME)))
    }

    /// Only the payload is requested.
    pub(crate) const NOTHING: Self =
        Self { name: ptr::null_mut(), name_length: ptr::null_mut(), header: ptr::null_mut() };
}

/// Receives for a socket; `None` if the kernel has to.
///
/// # Safety
/// Pointers as recvmsg(2) takes them.
pub(crate) unsafe fn receive(
    fd: c_int,
    id: SocketId,
    pieces: &[iovec],
    outputs: &OutputArgs,
    flags: c_int,
) -> Option<isize> {
    let lent = lend();
    // SAFETY: the caller's.
    unsafe {
        let received = match outputs.room() {
            None => lose(id, flags),
            Some(room) => receive_into(id, pieces, &Asked { outputs, room, lent }, flags),
        };
        // While the call waited, another thread may have closed the socket, and its number may be reused.
        let received = match held() {
            _ if received.is_some() || is_still(fd, id) => received,
            Some(held) => Some(receive_by_kernel(held, pieces, outputs, flags)),
            None => {
                set_errno(libc::EBADF);
                Some(-1)
            }
        };
        release();
        received
    }
}

/// By a descriptor that this thread holds.
///
/// # Safety
/// Pointers as recvmsg(2) takes them.
#[cold]
unsafe fn receive_by_kernel(fd: c_int, pieces: &[iovec], outputs: &OutputArgs, flags: c_int) -> isize {
    // SAFETY: the caller's; zeros are a valid header.
    unsafe {
        if !outputs.header.is_null() {
            return waiting!(SYS_recvmsg, fd, outputs.header, flags);
        }
        let mut header: msghdr = mem::zeroed();
        header.msg_name = outputs.name.cast();
        header.msg_namelen = outputs.name_length.as_ref().copied().unwrap_or(0);
        (header.msg_iov, header.msg_iovlen) = (pieces.as_ptr().cast_mut(), pieces.len() as _);
        let received = waiting!(SYS_recvmsg, fd, &raw mut header, flags);
        if let Some(length) = outputs.name_length.as_mut().filter(|_| received >= 0) {
            *length = header.msg_namelen;
        }
        received
    }
}

/// # Safety
/// Pointers as recvmsg(2) takes them.
unsafe fn receive_into(id: SocketId, pieces: &[iovec], asked: &Asked<'_>, flags: c_int) -> Option<isize> {
    // SAFETY: the caller's.
    unsafe {
        match pieces {
            [] => receive_in::<1>(id, pieces, asked, flags),
            [one] if takes_datagram(one) => receive_in::<1>(id, pieces, asked, flags),
            _ if used(pieces).count() > PIECES => None,
            _ if are_apart(pieces) => receive_in::<PIECES>(id, pieces, asked, flags),
            _ => receive_apart(id, pieces, asked, flags),
        }
    }
}

unsafe fn receive_in<const ROOM: usize>(
    id: SocketId,
    pieces: &[iovec],
    asked: &Asked<'_>,
    flags: c_int,
) -> Option<isize> {
    let Asked { outputs, room: Room { name: name_room, control }, lent } = *asked;
    // SAFETY: the caller's; memory that the program lends for this call.
    unsafe {
        let mut room: [IoSliceMut<'_>; ROOM] = std::array::from_fn(|_| IoSliceMut::new(&mut []));
        let mut count = 0;
        for piece in used(pieces) {
            let length = piece.iov_len.min(MOST);
            *room.get_mut(count)? = IoSliceMut::new(slice::from_raw_parts_mut(piece.iov_base.cast(), length));
            count += 1;
        }
        // The length is written even without room for the address.
        let mut nowhere = [0; NAME];
        let is_told = !outputs.name.is_null() && name_room == 0;
        let mut message = Incoming {
            name: if is_told { &mut nowhere } else { bytes(outputs.name.cast(), name_room) },
            control: match !control.0.is_null() && are_writable(control.0, control.1.min(IN_FRAME)) {
                true => bytes(control.0, control.1),
                false => &mut [],
            },
            lent: Some(lent),
            ..Incoming::new(&mut room[..count])
        };
        let outcome = data::receive(id, &mut message, flags);
        match outcome {
            Outcome::Done(length) => {
                let told = [message.name_length, message.control_length];
                tell(asked, told, message.flags);
                Some(length as isize)
            }
            // The list of pieces may be gone, too.
            Outcome::Failed(TAKEN_AWAY) => {
                // SAFETY: `IoSliceMut` is an `iovec` by its documentation.
                let pieces = slice::from_raw_parts(room.as_ptr().cast::<iovec>(), count);
                receive_apart(id, pieces, asked, flags)
            }
            _ => ended(outcome),
        }
    }
}

/// Writes lengths of source and control messages, and flags; whether their places are there.
unsafe fn tell(asked: &Asked<'_>, [name, control]: [usize; 2], flags: c_int) -> bool {
    let Asked { outputs: &OutputArgs { name: place, name_length, header }, lent, .. } = *asked;
    // SAFETY: the caller's; places within a header.
    unsafe {
        if header.is_null() {
            return place.is_null() || name_length.is_null() || write(name_length, name as socklen_t, lent);
        }
        (place.is_null() || write(&raw mut (*header).msg_namelen, name as socklen_t, lent))
            && write(&raw mut (*header).msg_controllen, control as _, lent)
            && write(&raw mut (*header).msg_flags, flags, lent)
    }
}

/// Writes a result; whether its place is there.
#[inline]
unsafe fn write<T>(place: *mut T, value: T, lent: Lent) -> bool {
    // SAFETY: the caller's; what was there is there still, or the kernel looks.
    unsafe {
        match lent.is_intact() {
            true => {
                place.write(value);
                true
            }
            false => give(place.cast(), (&raw const value).cast(), size_of::<T>()),
        }
    }
}

/// Receives into memory of our own, which the kernel copies: pieces that overlap, and memory that is not there or may not stay. A piece
/// that is not there fails once it is reached, as through the kernel.
///
/// # Safety
/// Pointers as recvmsg(2) takes them.
#[cold]
unsafe fn receive_apart(id: SocketId, pieces: &[iovec], asked: &Asked<'_>, flags: c_int) -> Option<isize> {
    let Asked { outputs, room: Room { name: name_room, control }, .. } = *asked;
    let length = used(pieces).map(|piece| piece.iov_len.min(MOST)).sum::<usize>().min(MOST);
    let control_room = if control.0.is_null() { 0 } else { control.1.min(IN_FRAME) };
    // Found before new memory is mapped, which may be where a piece is not.
    let there = bytes_there(pieces);
    let are_results_there = outputs.are_there(&asked.room);
    // A thread that is cancelled or jumps away while it waits leaves it behind: nothing above may have to be dropped.
    // SAFETY: new memory of our own.
    let all = unsafe {
        let (access, kind) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        raw(libc::SYS_mmap, [0, MOST + IN_FRAME, access as usize, kind as usize, usize::MAX, 0])
    };
    if all < 0 {
        set_errno(libc::ENOMEM);
        return Some(-1);
    }
    let all = all as *mut c_void;
    let mut name = [0; NAME];
    // SAFETY: the caller's, and memory that is ours until it is unmapped; pieces have room for as much as is copied.
    unsafe {
        let mut piece = [IoSliceMut::new(slice::from_raw_parts_mut(all.cast(), length))];
        let mut message = Incoming {
            name: if outputs.name.is_null() { &mut [] } else { &mut name },
            control: slice::from_raw_parts_mut(all.add(MOST).cast(), control_room),
            ..Incoming::new(&mut piece)
        };
        let outcome = data::receive(id, &mut message, flags);
        let lengths = [message.name_length, message.control_length];
        let flags = message.flags;
        let is_given = match outcome {
            Outcome::Done(came) => {
                let came = came.min(length);
                let (name_length, control_length) = (lengths[0].min(name_room).min(NAME), lengths[1].min(control_room));
                give_in_turn(all, came.min(there), pieces)
                    && came <= there
                    && are_results_there
                    && (outputs.name.is_null() || give(outputs.name.cast(), name.as_ptr().cast(), name_length))
                    && give(control.0, all.add(MOST), control_length)
                    && tell(asked, lengths, flags)
            }
            _ => true,
        };
        raw(libc::SYS_munmap, [all as usize, MOST + IN_FRAME]);
        ended(if is_given { outcome } else { Outcome::Failed(libc::EFAULT) })
    }
}

/// Bytes of the pieces before the first one that is not there, as far as a datagram reaches.
fn bytes_there(pieces: &[iovec]) -> usize {
    let mut there = 0;
    for piece in used(pieces) {
        let length = piece.iov_len.min(MOST - there);
        let found = writable_length(piece.iov_base, length);
        there += found;
        if found < length {
            break;
        }
    }
    there
}

/// Copies bytes into one piece after the other; whether the pieces are there.
///
/// # Safety
/// So many bytes to read, elsewhere.
unsafe fn give_in_turn(from: *const c_void, length: usize, pieces: &[iovec]) -> bool {
    let mut done = 0;
    used(pieces).all(|piece| {
        let now = piece.iov_len.min(length - done);
        // SAFETY: the caller's.
        let is_given = unsafe { give(piece.iov_base, from.add(done), now) };
        done += now;
        is_given
    })
}

/// Whether the piece fills the largest bypassed datagram.
#[inline]
fn takes_datagram(piece: &iovec) -> bool {
    are_writable(piece.iov_base, piece.iov_len.min(IN_FRAME))
}

/// Whether a piece can be read. The kernel refuses what is longer than any datagram.
#[inline]
fn gives_bytes(piece: &iovec) -> bool {
    are_readable(piece.iov_base, piece.iov_len.min(MOST)) && isize::try_from(piece.iov_len).is_ok()
}

/// Pieces that take or give bytes.
fn used(pieces: &[iovec]) -> impl Iterator<Item = &iovec> + Clone {
    pieces.iter().filter(|piece| piece.iov_len > 0)
}

/// Whether all pieces are there, and none overlaps another.
fn are_apart(pieces: &[iovec]) -> bool {
    let end = |piece: &iovec| (piece.iov_base as usize).saturating_add(piece.iov_len);
    let overlap =
        |one: &iovec, other: &iovec| (one.iov_base as usize) < end(other) && (other.iov_base as usize) < end(one);
    used(pieces)
        .enumerate()
        .all(|(index, one)| takes_datagram(one) && !used(pieces).skip(index + 1).any(|other| overlap(one, other)))
}

/// Receives without a place for the source. As in the kernel, a datagram is waited for, and lost.
#[cold]
fn lose(id: SocketId, flags: c_int) -> Option<isize> {
    match data::receive(id, &mut Incoming::new(&mut []), flags) {
        Outcome::Done(_) => ended(Outcome::Failed(libc::EFAULT)),
        other => ended(other),
    }
}

/// Whether a pointer is null, or its memory is there.
pub(crate) fn is_there<T>(pointer: *mut T) -> bool {
    pointer.is_null() || is_writable(pointer)
}

/// The header of a message; `None` for one that the kernel refuses at once (`EFAULT`).
///
/// # Safety
/// A pointer as sendmsg(2) takes it.
pub(crate) unsafe fn header<'a>(message: *const msghdr) -> Option<&'a msghdr> {
    // SAFETY: it is there, and the caller's.
    are_readable(message, size_of::<msghdr>()).then(|| unsafe { &*message })
}

/// A message to send: pieces of a payload; address and control messages are optional.
pub(crate) struct Sent<'a> {
    pub(crate) pieces: &'a [iovec],
    pub(crate) name: (*const sockaddr, socklen_t),
    pub(crate) control: (*const c_void, usize),
}

impl<'a> Sent<'a> {
    /// A payload only.
    pub(crate) fn alone(pieces: &'a [iovec]) -> Self {
        Self { pieces, name: (ptr::null(), 0), control: (ptr::null(), 0) }
    }
}

/// Sends from a socket; `None` if the kernel has to.
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
    let lent = lend();
    // SAFETY: the caller's; memory that the program lends for this call.
    unsafe {
        let mut room = [IoSlice::new(&[]); ROOM];
        let mut count = 0;
        // The kernel refuses what is not there.
        let outputs = [(sent.name.0.cast(), sent.name.1 as usize), sent.control];
        if outputs.iter().any(|(start, length)| !start.is_null() && !are_readable(*start, *length)) {
            return None;
        }
        for piece in used(sent.pieces) {
            if !gives_bytes(piece) {
                return None;
            }
            *room.get_mut(count)? = IoSlice::new(slice::from_raw_parts(piece.iov_base.cast(), piece.iov_len));
            count += 1;
        }
        let message = Outgoing {
            pieces: &room[..count],
            name: bytes(sent.name.0.cast_mut().cast(), sent.name.1 as usize),
            control: bytes(sent.control.0.cast_mut(), sent.control.1),
            lent: Some(lent),
        };
        ended(with_bypass(|bypass| bypass.stack.send(id, &message, flags))?)
    }
}

/// Sends several messages; returns their number, or `None` if the first one is for the kernel.
///
/// # Safety
/// Pointers as sendmmsg(2) takes them, whose pieces [are usable](are_all_usable) as long as the memory is intact.
pub(crate) unsafe fn send_many(
    id: SocketId,
    messages: &mut [libc::mmsghdr],
    flags: c_int,
    lent: Lent,
) -> Option<Result<usize, c_int>> {
    // SAFETY: the caller's; `IoSlice` is an `iovec` by its documentation.
    unsafe {
        let start = messages.as_mut_ptr();
        // The next one is looked at behind the stack's lock.
        let each = (0..messages.len()).take_while(|_| lent.is_intact()).map(|index| {
            let header = &(*start.add(index)).msg_hdr;
            Outgoing {
                pieces: some(header.msg_iov.cast::<IoSlice<'_>>(), header.msg_iovlen),
                name: bytes(header.msg_name, header.msg_namelen as usize),
                control: bytes(header.msg_control, header.msg_controllen),
                lent: Some(lent),
            }
        });
        let sent = |index: usize, length: usize| {
            write(&raw mut (*start.add(index)).msg_len, length as u32, lent);
        };
        match with_bypass(|bypass| bypass.stack.send_many(id, each, flags, sent))? {
            (0, None | Some(Outcome::Kernel)) => None,
            (0, Some(Outcome::Failed(errno))) => Some(Err(errno)),
            (count, _) => Some(Ok(count)),
        }
    }
}

/// Whether the memory of each message is there: it has pieces, none of which is longer than a slice may be.
///
/// # Safety
/// Pointers as sendmmsg(2) takes them.
pub(crate) unsafe fn are_all_usable(messages: &[libc::mmsghdr]) -> bool {
    let start = messages.as_ptr();
    (0..messages.len()).all(|index| {
        let message = start.wrapping_add(index).cast_mut();
        // The length that was sent is written behind the header.
        if !are_writable(message, size_of::<libc::mmsghdr>()) {
            return false;
        }
        // SAFETY: it is there, and the caller's.
        let header = unsafe { &(*message).msg_hdr };
        // SAFETY: the caller's.
        let pieces = unsafe { pieces(header.msg_iov, header.msg_iovlen) };
        let outputs = [(header.msg_name, header.msg_namelen as usize), (header.msg_control, header.msg_controllen)];
        outputs.iter().all(|(start, length)| start.is_null() || are_readable(start.cast_const(), *length))
            && pieces.is_some_and(|pieces| !pieces.is_empty() && pieces.iter().all(gives_bytes))
    })
}

/// A list of pieces; `None` for one that the kernel refuses at once (`EFAULT`, `EINVAL`, `EMSGSIZE`).
///
/// # Safety
/// A list as readv(2) takes it.
pub(crate) unsafe fn pieces<'a>(start: *const iovec, count: usize) -> Option<&'a [iovec]> {
    if count > libc::UIO_MAXIOV as usize || (count > 0 && !are_readable(start, count * size_of::<iovec>())) {
        return None;
    }
    // SAFETY: the caller's.
    let pieces = unsafe { some(start, count) };
    pieces.iter().all(|piece| isize::try_from(piece.iov_len).is_ok()).then_some(pieces)
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

/// Memory; empty for a null pointer.
unsafe fn bytes<'a>(start: *mut c_void, length: usize) -> &'a mut [u8] {
    match start.is_null() {
        true => &mut [],
        // SAFETY: the caller's.
        false => unsafe { slice::from_raw_parts_mut(start.cast(), length) },
    }
}

/// A slice from a program's pointer and count. For a count of 0, the pointer is often null.
///
/// # Safety
/// As for [`slice::from_raw_parts`], unless the count is 0.
pub(crate) unsafe fn some<'a, T>(start: *const T, count: usize) -> &'a [T] {
    // SAFETY: the caller's.
    if count == 0 { &[] } else { unsafe { slice::from_raw_parts(start, count) } }
}

/// The same, for writing.
///
/// # Safety
/// As for [`slice::from_raw_parts_mut`], unless the count is 0.
pub(crate) unsafe fn some_mut<'a, T>(start: *mut T, count: usize) -> &'a mut [T] {
    // SAFETY: the caller's.
    if count == 0 { &mut [] } else { unsafe { slice::from_raw_parts_mut(start, count) } }
}
