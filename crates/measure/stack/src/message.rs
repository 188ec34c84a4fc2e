//! Messages of recvmsg(2) and sendmsg(2): pieces of data, an address, and control messages.

use std::{
    io::{IoSlice, IoSliceMut},
    sync::atomic::{AtomicU64, Ordering::Relaxed},
};

/// `MSG_DONTWAIT`, for crates without libc.
pub const DO_NOT_WAIT: i32 = libc::MSG_DONTWAIT;
/// `MSG_TRUNC`, likewise.
pub const TRUNCATED: i32 = libc::MSG_TRUNC;

/// In place of an `errno` of [`Outcome::Failed`]: the memory of a call was [taken away](Lent) before its datagram was copied. The datagram
/// still waits.
pub const TAKEN_AWAY: i32 = -1;

/// Memory that another thread of the program may unmap during a call.
///
/// A thread that unmaps memory changes a counter first, and then waits for copies that are under way
/// ([`Stack::finish_copies`](crate::Stack::finish_copies)): what is intact behind the stack's lock stays so until the lock is released.
#[derive(Clone, Copy)]
pub struct Lent {
    changes: &'static AtomicU64,
    before: u64,
}

impl Lent {
    /// Memory that was looked at when the counter of changes stood `before`.
    pub fn new(changes: &'static AtomicU64, before: u64) -> Self {
        Self { changes, before }
    }

    /// Whether no memory of the program has changed since.
    #[inline]
    pub fn is_intact(self) -> bool {
        self.changes.load(Relaxed) == self.before
    }
}

/// The outcome of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome<T> {
    /// Success.
    Done(T),
    /// The caller makes its own call on the descriptor.
    Kernel,
    /// Failure with this `errno`.
    Failed(i32),
}

/// A message to send.
#[derive(Clone, Copy)]
pub struct Outgoing<'a> {
    /// The payload, in pieces (`msg_iov`).
    pub pieces: &'a [IoSlice<'a>],
    /// The destination as a `struct sockaddr` (`msg_name`); empty for a connected socket's peer.
    pub name: &'a [u8],
    /// Control messages (`msg_control`).
    pub control: &'a [u8],
    /// The program's memory, if that is what the slices are.
    pub lent: Option<Lent>,
}

impl<'a> Outgoing<'a> {
    /// A payload only, in memory of our own.
    pub fn new(pieces: &'a [IoSlice<'a>]) -> Self {
        Self { pieces, name: &[], control: &[], lent: None }
    }

    #[inline]
    pub(crate) fn is_taken_away(&self) -> bool {
        self.lent.is_some_and(|lent| !lent.is_intact())
    }
}

/// Room for a received message, and its metadata.
pub struct Incoming<'a, 'b> {
    /// Room for the payload, in pieces (`msg_iov`).
    pub pieces: &'a mut [IoSliceMut<'b>],
    /// Room for the source as a `struct sockaddr` (`msg_name`); may be empty.
    pub name: &'a mut [u8],
    /// Room for control messages (`msg_control`); may be empty.
    pub control: &'a mut [u8],
    /// Full length of the source address, also if there was less room (`msg_namelen`).
    pub name_length: usize,
    /// Bytes of control messages written (`msg_controllen`).
    pub control_length: usize,
    /// `MSG_TRUNC`, `MSG_CTRUNC` and others (`msg_flags`).
    pub flags: i32,
    /// The program's memory, if that is what the slices are.
    pub lent: Option<Lent>,
}

impl<'a, 'b> Incoming<'a, 'b> {
    /// Room for a payload only.
    pub fn new(pieces: &'a mut [IoSliceMut<'b>]) -> Self {
        Self { pieces, name: &mut [], control: &mut [], name_length: 0, control_length: 0, flags: 0, lent: None }
    }

    #[inline]
    pub(crate) fn is_taken_away(&self) -> bool {
        self.lent.is_some_and(|lent| !lent.is_intact())
    }
}
