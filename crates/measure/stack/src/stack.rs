//! All sockets of a process that go past the kernel.

use std::os::fd::{BorrowedFd, RawFd};

pub use datagram::SocketId;

use crate::{
    Reason,
    message::{Incoming, Outcome, Outgoing, Wait},
};

/// All sockets of a process that go past the kernel; one a process, used by all its threads.
///
/// Each socket is named by a number that [`open`](Self::open) gives. Its descriptor, the *shadow*, stays the kernel's: what comes for it
/// through the kernel is received too.
pub struct Stack {
    wait: Wait,
}

impl Stack {
    /// Looks at a descriptor of the kernel's, and takes its flows.
    ///
    /// # Errors
    /// Why it stays with the kernel.
    pub fn open(&self, _fd: BorrowedFd<'_>) -> Result<SocketId, Reason> {
        Err(Reason::NoGrant)
    }

    /// Looks again, after `connect`, `bind`, `setsockopt` or `fcntl` on it, or where another descriptor (`dup`) stands for it from now on.
    ///
    /// # Errors
    /// Why it is with the kernel from now on; the number stands for nothing then.
    pub fn refresh(&self, _id: SocketId, _fd: BorrowedFd<'_>) -> Result<(), Reason> {
        Err(Reason::NoGrant)
    }

    /// Gives its flows back, where its last descriptor went. To be called before the descriptor is closed: datagrams that are in its queue are lost.
    pub fn close(&self, _id: SocketId) {}

    /// Sends a datagram; returns the bytes of its payload. `flags` as of sendmsg(2).
    pub fn send(&self, _id: SocketId, _message: &Outgoing<'_>, _flags: i32) -> Outcome<usize> {
        Outcome::Kernel
    }

    /// Sends several, as sendmmsg(2) does: how many went, and what became of the one that did not. `sent` is told the number of each and the
    /// bytes of its payload.
    pub fn send_many<'a>(
        &self,
        _id: SocketId,
        _messages: impl IntoIterator<Item = Outgoing<'a>>,
        _flags: i32,
        _sent: impl FnMut(usize, usize),
    ) -> (usize, Option<Outcome<usize>>) {
        (0, Some(Outcome::Kernel))
    }

    /// Receives a datagram, also one that came through the kernel; returns the bytes that were written, or all that it has with `MSG_TRUNC`. It
    /// waits as the socket and `flags` (as of recvmsg(2)) say.
    pub fn receive(&self, _id: SocketId, _message: &mut Incoming<'_, '_>, _flags: i32) -> Outcome<usize> {
        Outcome::Kernel
    }

    /// Whether a datagram of ours waits; the shadow is the caller's to ask (poll(2)).
    pub fn readable(&self, _id: SocketId) -> bool {
        false
    }

    /// Whether a datagram can be sent at once.
    pub fn writable(&self, _id: SocketId) -> bool {
        true
    }

    /// Bytes of the first datagram that waits (`FIONREAD`); `None` where none of ours does.
    pub fn waiting(&self, _id: SocketId) -> Option<usize> {
        None
    }

    /// Takes what has come from the interfaces into the queues of its sockets; whether anything came.
    pub fn pump(&self) -> bool {
        false
    }

    /// Descriptors that become readable when something comes, to be polled beside others (`POLLIN`). Nothing but [`pump`](Self::pump) may read
    /// from them; the program may not close them.
    pub fn descriptors(&self) -> &[RawFd] {
        &[]
    }

    /// To be held while the caller sleeps in a call of its own on [`descriptors`](Self::descriptors), and taken before it looks for the last time
    /// whether something is there: what another thread takes from the interfaces meanwhile wakes it.
    pub fn sleep(&self) -> Asleep<'_> {
        Asleep { _stack: self }
    }

    /// How calls wait.
    pub fn wait(&self) -> Wait {
        self.wait
    }
}

/// The caller is asleep.
pub struct Asleep<'a> {
    _stack: &'a Stack,
}
