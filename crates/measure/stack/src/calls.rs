//! System calls on a program's own descriptor. They are made directly: the library that is laid under a program exports the names of libc's
//! own functions, which would lead back here.

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

/// A system call, which leaves `errno` alone.
macro_rules! system {
    ($number:ident, $($argument:expr),*) => {
        result(raw(libc::$number, [$(Argument::word($argument)),*]))
    };
}

/// Receives without waiting what the kernel has.
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

/// An option's value, as far as it fits, and its length.
pub(crate) fn option<const N: usize>(fd: RawFd, level: i32, name: i32) -> Result<([u8; N], usize), Errno> {
    let mut value = [0; N];
    let mut length = N as libc::socklen_t;
    // SAFETY: the kernel writes no more than `length` bytes to `value`, and the length itself.
    let returned = unsafe { system!(SYS_getsockopt, fd, level, name, value.as_mut_ptr(), &raw mut length) }?;
    // Filters are counted by what the call returns.
    Ok((value, returned.max(length as usize)))
}

/// An option that is a number; 0 where this kernel does not know it.
pub(crate) fn number(fd: RawFd, level: i32, name: i32) -> i32 {
    option(fd, level, name).map_or(0, |(value, _)| i32::from_ne_bytes(value))
}

/// The kernel's own number of a socket (`SO_COOKIE`), which no other one ever has.
pub fn cookie(fd: RawFd) -> Option<u64> {
    option(fd, libc::SOL_SOCKET, libc::SO_COOKIE).ok().map(|(value, _)| u64::from_ne_bytes(value))
}

/// Whether it is the socket with this number; none where the kernel does not say.
pub fn is_socket(fd: RawFd, cookie: u64) -> Option<bool> {
    match option(fd, libc::SOL_SOCKET, libc::SO_COOKIE) {
        Ok((value, _)) => Some(u64::from_ne_bytes(value) == cookie),
        Err(libc::EBADF | libc::ENOTSOCK) => Some(false),
        Err(_) => None,
    }
}

/// The error that waits for the socket's next call, which is taken away by that.
pub(crate) fn pending_error(fd: RawFd) -> Option<Errno> {
    Some(number(fd, libc::SOL_SOCKET, libc::SO_ERROR)).filter(|errno| *errno != 0)
}

/// Whether calls on it return at once.
pub fn is_nonblocking(fd: RawFd) -> bool {
    flags(fd) & libc::O_NONBLOCK != 0
}

/// Its flags (`F_GETFL`); none where it is no descriptor.
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

/// How long a call on it waits (`SO_RCVTIMEO`); `None` is for ever.
pub(crate) fn receive_timeout(fd: RawFd) -> Option<Duration> {
    let (value, _) = option::<16>(fd, libc::SOL_SOCKET, libc::SO_RCVTIMEO).ok()?;
    let word = |at: usize| value[at..at + 8].try_into().map_or(0, u64::from_ne_bytes);
    let timeout = Duration::from_secs(word(0)) + Duration::from_micros(word(8));
    (!timeout.is_zero()).then_some(timeout)
}

/// The file behind a descriptor, as the kernel numbers them.
pub fn inode(fd: RawFd) -> Option<u64> {
    // SAFETY: zeros are a valid value.
    let mut stat: libc::stat = unsafe { std::mem::zeroed() };
    // SAFETY: the kernel writes one `struct stat`, as the empty name and the flag say of the descriptor itself.
    let call = unsafe { system!(SYS_newfstatat, fd, c"".as_ptr(), &raw mut stat, libc::AT_EMPTY_PATH) };
    call.ok().map(|_| stat.st_ino)
}

/// Whether another process has the same file under the same number.
#[derive(PartialEq, Eq)]
pub enum Same {
    /// It has.
    Yes,
    /// It has not.
    No,
    /// The kernel does not say.
    Hidden,
}

/// Whether another process has the same file as this one under the same number, as a child of `fork` has.
pub fn has_same(process: u32, fd: RawFd) -> Same {
    const KCMP_FILE: i32 = 0;
    // SAFETY: the call reads and writes no memory of ours.
    match unsafe { system!(SYS_kcmp, std::process::id(), process, KCMP_FILE, fd, fd) } {
        Ok(0) => Same::Yes,
        Err(libc::EPERM | libc::EACCES | libc::ENOSYS) => Same::Hidden,
        _ => Same::No,
    }
}

/// Signals, as the kernel has them.
type Signals = u64;

/// Signals of a thread's own faults, which cannot be put off.
const FAULTS: Signals =
    mask(libc::SIGSEGV) | mask(libc::SIGBUS) | mask(libc::SIGILL) | mask(libc::SIGFPE) | mask(libc::SIGTRAP);

const fn mask(signal: i32) -> Signals {
    1 << (signal - 1)
}

/// Whether a signal handler that ran leaves the call that it ran in the midst of undone: one at least was set up without `SA_RESTART`.
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
    // Nobody sends those of faults, and runtimes handle them without it.
    (1..=LAST).filter(|signal| FAULTS & mask(*signal) == 0).any(|signal| {
        let mut action = Action { handler: 0, flags: 0, restorer: 0, mask: 0 };
        let (none, old) = (std::ptr::null::<Action>(), &raw mut action);
        // SAFETY: nothing is set; the kernel writes one `struct sigaction`.
        let call = unsafe { system!(SYS_rt_sigaction, signal, none, old, size_of::<Signals>()) };
        let handled = call.is_ok() && action.handler > libc::SIG_IGN;
        handled && action.flags & libc::SA_RESTART as libc::c_ulong == 0
    })
}
