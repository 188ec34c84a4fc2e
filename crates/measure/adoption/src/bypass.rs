//! The bypassed sockets of this process, and how many descriptors stand for each.

use std::{
    ffi::c_int,
    os::fd::BorrowedFd,
    sync::{Mutex, MutexGuard, PoisonError},
};

use model::bypass::Reason;
use stack::{SocketId, Stack, cookie, is_socket};

use super::process::{PerProcess, Place};

// SAFETY: nothing else has this place.
static BYPASS: PerProcess<Bypass> = unsafe { PerProcess::at(Place::Bypass) };

/// The bypassed sockets of this process.
pub struct Bypass {
    /// The sockets themselves.
    pub stack: Stack,
    sockets: Mutex<Vec<Socket>>,
}

/// A socket, and how many descriptors stand for it.
struct Socket {
    id: SocketId,
    /// The kernel's own number of the socket (`SO_COOKIE`), by which its copies are known.
    cookie: u64,
    descriptors: u32,
}

/// The bypassed sockets, once there may be any.
#[inline]
pub(crate) fn get() -> Option<&'static Bypass> {
    BYPASS.get()
}

/// Begins with this stack.
pub(crate) fn set(stack: Stack) {
    BYPASS.set(Bypass { stack, sockets: Mutex::default() });
}

impl Bypass {
    fn sockets(&self) -> MutexGuard<'_, Vec<Socket>> {
        self.sockets.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a socket, or one more descriptor of a socket that is bypassed already.
    pub(crate) fn adopt(&self, fd: c_int) -> Result<SocketId, Reason> {
        let cookie = cookie(fd).ok_or(Reason::Unreadable)?;
        let mut sockets = self.sockets();
        if let Some(known) = sockets.iter_mut().find(|socket| socket.cookie == cookie) {
            known.descriptors += 1;
            return Ok(known.id);
        }
        // SAFETY: the program's own descriptor, which it uses right now.
        let id = self.stack.open_for_later(unsafe { BorrowedFd::borrow_raw(fd) })?;
        sockets.push(Socket { id, cookie, descriptors: 1 });
        Ok(id)
    }

    /// One more descriptor stands for a socket.
    pub(crate) fn copied(&self, id: SocketId) {
        if let Some(socket) = self.sockets().iter_mut().find(|socket| socket.id == id) {
            socket.descriptors += 1;
        }
    }

    /// One descriptor less stands for a socket: how many are left; none for a socket that is not known.
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

    /// A socket is bypassed no more: how many descriptors stood for it.
    pub(crate) fn forget(&self, id: SocketId) -> usize {
        let mut sockets = self.sockets();
        let at = sockets.iter().position(|socket| socket.id == id);
        at.map_or(0, |at| sockets.swap_remove(at).descriptors) as usize
    }

    /// Whether a descriptor that stood for a socket still does.
    pub(crate) fn is_still(&self, id: SocketId, fd: c_int) -> bool {
        let cookie = self.sockets().iter().find(|socket| socket.id == id).map(|socket| socket.cookie);
        // Where the kernel does not say, all stays as it was.
        cookie.is_none_or(|cookie| is_socket(fd, cookie).unwrap_or(true))
    }
}
