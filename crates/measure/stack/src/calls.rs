//! System calls on a program's own descriptor.
//!
//! They bypass libc: the preloaded library exports the names of libc's functions, which would lead back here.

use std::{os::fd::RawFd, time::Duration};

use crate::{
    message::Incoming,
    system_call::{Argument, raw},
};

/// `errno`.
pub(crate) type Errno = i32;

fn result(returned: isize) -> Result<usize, Errno> {
    usize::try_from(returned).map_err(|_| -returned as Errno)
}

/// A system call that leaves `errno` alone.
macro_rules! system {
    ($number:ident, $($argument:expr),*) => {
        result(raw(libc::$number, [$(Argument::word($argument)),*]))
    };
}

/// Receives a datagram from the kernel, without waiting.
pub(crate) fn receive(fd: RawFd, message: &mut Incoming<'_, '_>, flags: i32) -> Result<usize, Errno> {
    // SAFETY: zeros are a valid header.
    let mut header: libc::msghdr = unsafe { std::mem::zeroed() };
    // `IoSliceMut` is laid out as `struct iovec` is.
    header.msg_iov = message.pieces.as_mut_ptr().cast();
    header.msg_iovlen = message.pieces.len() as _;
    if !message.name.is_empty() {
        header.msg_name = message.name.as_mut_ptr().cast();
        header.msg_namelen = message.name.len() as _;
    }
    if !message.control.is_empty() {
        header.msg_control = message.control.as_mut_ptr().cast();
        header.msg_controllen = message.control.len() as _;
    }
    let flags = flags | libc::MSG_DONTWAIT;
    // SAFETY: the header points to memory of the lengths that it says, which is borrowed for the call.
    let received = unsafe { system!(SYS_recvmsg, fd, &raw mut header, flags) }?;
    message.name_length = header.msg_namelen as usize;
    message.control_length = header.msg_controllen as usize;
    message.flags = header.msg_flags;
    Ok(received)
}

/// Value of an option, as far as it fits, and its length.
pub(crate) fn option<const N: usize>(fd: RawFd, level: i32, name: i32) -> Result<([u8; N], usize), Errno> {
    let mut value = [0; N];
    let mut length = N as libc::socklen_t;
    // SAFETY: the kernel writes no more than `length` bytes to `value`, and the length itself.
    let returned = unsafe { system!(SYS_getsockopt, fd, level, name, value.as_mut_ptr(), &raw mut length) }?;
    // For filters, the call returns the number of instructions.
    Ok((value, returned.max(length as usize)))
}

/// Value of a numeric option; 0 if this kernel does not know it.
pub(crate) fn number(fd: RawFd, level: i32, name: i32) -> i32 {
    option(fd, level, name).map_or(0, |(value, _)| i32::from_ne_bytes(value))
}

/// The kernel's unique number of a socket (`SO_COOKIE`), never reused.
pub fn cookie(fd: RawFd) -> Option<u64> {
    option(fd, libc::SOL_SOCKET, libc::SO_COOKIE).ok().map(|(value, _)| u64::from_ne_bytes(value))
}

/// Whether the descriptor is the socket with this cookie; `None` if the kernel does not tell.
pub fn is_socket(fd: RawFd, cookie: u64) -> Option<bool> {
    match option(fd, libc::SOL_SOCKET, libc::SO_COOKIE) {
        Ok((value, _)) => Some(u64::from_ne_bytes(value) == cookie),
        Err(libc::EBADF | libc::ENOTSOCK) => Some(false),
        Err(_) => None,
    }
}

/// Takes the socket's pending error (`SO_ERROR`).
pub(crate) fn pending_error(fd: RawFd) -> Option<Errno> {
    Some(number(fd, libc::SOL_SOCKET, libc::SO_ERROR)).filter(|errno| *errno != 0)
}

/// Whether the kernel's receive buffer of a socket takes another datagram (`SO_MEMINFO`): the kernel counts what it has,
/// and not the new one.
pub(crate) fn has_room(fd: RawFd) -> bool {
    /// `SK_MEMINFO_VARS`, of which the first two are the bytes in the buffer and their limit.
    const NUMBERS: usize = 9;
    let Ok((value, _)) = option::<{ 4 * NUMBERS }>(fd, libc::SOL_SOCKET, libc::SO_MEMINFO) else { return false };
    let number = |at: usize| value[at..at + 4].try_into().map_or(0, u32::from_ne_bytes);
    number(0) <= number(4)
}

/// Whether the descriptor is non-blocking.
pub fn is_nonblocking(fd: RawFd) -> bool {
    flags(fd) & libc::O_NONBLOCK != 0
}

/// Flags of a descriptor (`F_GETFL`); none if it is not open.
pub(crate) fn flags(fd: RawFd) -> i32 {
    // SAFETY: the call reads and writes no memory of ours.
    unsafe { system!(SYS_fcntl, fd, libc::F_GETFL) }.map_or(0, |flags| flags as i32)
}

/// Whether the other end of a connection is closed.
pub(crate) fn hangs_up(fd: RawFd) -> bool {
    let mut watched = libc::pollfd { fd, events: 0, revents: 0 };
    let now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: one descriptor and a time of this frame, and no mask.
    let call = unsafe { system!(SYS_ppoll, &raw mut watched, 1, &raw const now, 0, 0) };
    call == Ok(1) && watched.revents & libc::POLLHUP != 0
}

/// Receive timeout (`SO_RCVTIMEO`); `None`: no timeout.
pub(crate) fn receive_timeout(fd: RawFd) -> Option<Duration> {
    let (value, _) = option::<16>(fd, libc::SOL_SOCKET, libc::SO_RCVTIMEO).ok()?;
    let word = |at: usize| value[at..at + 8].try_into().map_or(0, u64::from_ne_bytes);
    let timeout = Duration::from_secs(word(0)) + Duration::from_micros(word(8));
    (!timeout.is_zero()).then_some(timeout)
}

/// Inode number of the file behind a descriptor.
pub fn inode(fd: RawFd) -> Option<u64> {
    // SAFETY: zeros are a valid value.
    let mut stat: libc::stat = unsafe { std::mem::zeroed() };
    // SAFETY: the kernel writes one `struct stat`, as the empty name and the flag say of the descriptor itself.
    let call = unsafe { system!(SYS_newfstatat, fd, c"".as_ptr(), &raw mut stat, libc::AT_EMPTY_PATH) };
    call.ok().map(|_| stat.st_ino)
}

/// Whether another process has the same file under the same descriptor number.
#[derive(PartialEq, Eq)]
pub enum Same {
    /// It does.
    Yes,
    /// It does not.
    No,
    /// The kernel does not tell.
    Hidden,
}

/// Whether another process, such as a child of `fork`, has the same file under the same descriptor number.
pub fn has_same(process: u32, fd: RawFd) -> Same {
    const KCMP_FILE: i32 = 0;
    // SAFETY: the call reads and writes no memory of ours.
    match unsafe { system!(SYS_kcmp, std::process::id(), process, KCMP_FILE, fd, fd) } {
        Ok(0) => Same::Yes,
        Err(libc::EPERM | libc::EACCES | libc::ENOSYS) => Same::Hidden,
        _ => Same::No,
    }
}

/// Signal set of the kernel.
type Signals = u64;

/// Signals of a thread's own faults, which cannot be blocked.
const FAULTS: Signals =
    mask(libc::SIGSEGV) | mask(libc::SIGBUS) | mask(libc::SIGILL) | mask(libc::SIGFPE) | mask(libc::SIGTRAP);

const fn mask(signal: i32) -> Signals {
    1 << (signal - 1)
}

/// Whether a signal handler may interrupt a call: at least one is installed without `SA_RESTART`.
pub(crate) fn signals_interrupt() -> bool {
    /// `struct sigaction` of the kernel.
    #[repr(C)]
    struct Action {
        handler: usize,
        flags: libc::c_ulong,
        restorer: usize,
        mask: Signals,
    }
    const LAST: i32 = 64;
    // No process sends fault signals, and runtimes handle them without `SA_RESTART`.
    (1..=LAST).filter(|signal| FAULTS & mask(*signal) == 0).any(|signal| {
        let mut action = Action { handler: 0, flags: 0, restorer: 0, mask: 0 };
        let (none, old) = (std::ptr::null::<Action>(), &raw mut action);
        // SAFETY: nothing is set; the kernel writes one `struct sigaction`.
        let call = unsafe { system!(SYS_rt_sigaction, signal, none, old, size_of::<Signals>()) };
        let handled = call.is_ok() && action.handler > libc::SIG_IGN;
        handled && action.flags & libc::SA_RESTART as libc::c_ulong == 0
    })
}
