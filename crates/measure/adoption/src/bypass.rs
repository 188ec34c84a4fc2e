//! The bypassed sockets of this process, and the number of descriptors of each.

use std::{
    ffi::c_int,
    os::fd::BorrowedFd,
    sync::{Mutex, MutexGuard, PoisonError},
};

use model::bypass::Reason;
use stack::{SocketId, Stack, cookie, is_socket};

use super::process::{PerProcess, Place};

// SAFETY: no other value uses this place.
static BYPASS: PerProcess<Bypass> = unsafe { PerProcess::at(Place::Bypass) };

/// The bypassed sockets of this process.
pub struct Bypass {
    /// The stack that handles them.
    pub stack: Stack,
    sockets: Mutex<Vec<Socket>>,
}

/// A socket and its number of descriptors.
struct Socket {
    id: SocketId,
    /// The kernel's number of the socket (`SO_COOKIE`), which identifies its copies.
    cookie: u64,
    descriptors: u32,
}

/// The bypassed sockets; `None` before the first grant.
#[inline]
pub(crate) fn get() -> Option<&'static Bypass> {
    BYPASS.get()
}

/// Starts with this stack.
pub(crate) fn set(stack: Stack) {
    BYPASS.set(Bypass { stack, sockets: Mutex::default() });
}

impl Bypass {
    fn sockets(&self) -> MutexGuard<'_, Vec<Socket>> {
        self.sockets.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Bypasses a socket, or adds a descriptor to one that is already bypassed.
    pub(crate) fn adopt(&self, fd: c_int) -> Result<SocketId, Reason> {
        let cookie = cookie(fd).ok_or(Reason::Unreadable)?;
        let mut sockets = self.sockets();
        if let Some(known) = sockets.iter_mut().find(|socket| socket.cookie == cookie) {
            known.descriptors += 1;
            return Ok(known.id);
        }
        // SAFETY: the program's own descriptor, in use at the moment.
        let id = self.stack.open_for_later(unsafe { BorrowedFd::borrow_raw(fd) })?;
        sockets.push(Socket { id, cookie, descriptors: 1 });
        Ok(id)
    }

    /// Counts a further descriptor of a socket.
    pub(crate) fn copied(&self, id: SocketId) {
        if let Some(socket) = self.sockets().iter_mut().find(|socket| socket.id == id) {
            socket.descriptors += 1;
        }
    }

    /// Counts a descriptor less; returns how many are left, or `None` for an unknown socket.
    pub(crate) fn released(&self, id: SocketId) -> Option<u32> {
        let mut sockets = self.sockets();
        let at = sockets.iter().position(|socket| socket.id == id)?;
        sockets[at].descriptors -= 1;
        let left = sockets[at].descriptors;
        if left == 0 {
            sockets.swap_remove(at);
        }
        Some(left)
    }

    /// Ends the bypass of a socket; returns its number of descriptors.
    pub(crate) fn forget(&self, id: SocketId) -> usize {
        let mut sockets = self.sockets();
        let at = sockets.iter().position(|socket| socket.id == id);
        at.map_or(0, |at| sockets.swap_remove(at).descriptors) as usize
    }

    /// Whether a descriptor still stands for its socket.
    pub(crate) fn is_still(&self, id: SocketId, fd: c_int) -> bool {
        let cookie = self.sockets().iter().find(|socket| socket.id == id).map(|socket| socket.cookie);
        // Without an answer from the kernel, everything stays as it was.
        cookie.is_none_or(|cookie| is_socket(fd, cookie).unwrap_or(true))
    }
}
