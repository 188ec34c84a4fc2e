//! What goes past the kernel: the stack, and which descriptors stand for each of its sockets.

use std::{
    ffi::c_int,
    os::fd::BorrowedFd,
    sync::{Mutex, MutexGuard, PoisonError},
};

use super::{
    descriptors::kind,
    process::{self, table},
    table::Kind,
    watched,
};
use crate::{
    Reason, SocketId, Stack,
    calls::{cookie, is_socket},
};

/// What goes past the kernel in this process.
pub struct Past {
    /// The sockets.
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

impl Past {
    pub(crate) fn new(stack: Stack) -> Self {
        Self { stack, sockets: Mutex::default() }
    }

    fn sockets(&self) -> MutexGuard<'_, Vec<Socket>> {
        self.sockets.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a socket past the kernel, or one more descriptor of one that is past it.
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

    /// One descriptor less stands for a socket; with the last one it is closed.
    pub(crate) fn released(&self, id: SocketId) {
        let mut sockets = self.sockets();
        let Some(at) = sockets.iter().position(|socket| socket.id == id) else { return };
        sockets[at].descriptors -= 1;
        if sockets[at].descriptors == 0 {
            sockets.swap_remove(at);
            drop(sockets);
            watched::is_gone(id, self);
            self.stack.close(id);
            return;
        }
        drop(sockets);
        // Others may have been closed behind our back, too.
        if let Some(other) = descriptors(id).find(|fd| self.is_still(id, *fd)) {
            self.refresh(id, other);
        }
    }

    /// The descriptors of all sockets that are past the kernel.
    pub(crate) fn descriptors(&self) -> impl Iterator<Item = c_int> {
        (0..process::used()).filter(|fd| matches!(kind(*fd), Some(Kind::Live(_))))
    }

    /// Whether a descriptor that stood for a socket still does.
    pub(crate) fn is_still(&self, id: SocketId, fd: c_int) -> bool {
        let cookie = self.sockets().iter().find(|socket| socket.id == id).map(|socket| socket.cookie);
        // Where the kernel does not say, all stays as it was.
        cookie.is_none_or(|cookie| is_socket(fd, cookie).unwrap_or(true))
    }

    /// Looks at a socket again, after something about it was changed.
    pub(crate) fn refresh(&self, id: SocketId, fd: c_int) {
        // SAFETY: the program's own descriptor, which it uses right now.
        match self.stack.refresh(id, unsafe { BorrowedFd::borrow_raw(fd) }) {
            Ok(()) => {}
            // `connect` may take the port away that it was given; it is looked at when it has one again.
            Err(Reason::NotBound) => self.left(id, fd, Kind::Unknown),
            Err(_) => self.left(id, fd, Kind::Kernel),
        }
    }

    /// Leaves a socket to the kernel for good.
    pub(crate) fn leave(&self, id: SocketId, fd: c_int, why: Reason) {
        self.left(id, fd, Kind::Never);
        self.stack.leave(id, why);
    }

    /// What follows from its being left to the kernel; this is one of its descriptors.
    fn left(&self, id: SocketId, fd: c_int, kind: Kind) {
        let mut sockets = self.sockets();
        let at = sockets.iter().position(|socket| socket.id == id);
        let count = at.map_or(0, |at| sockets.swap_remove(at).descriptors) as usize;
        drop(sockets);
        let first = [fd].into_iter().filter(|fd| self::kind(*fd) == Some(Kind::Live(id.0)));
        // Most sockets have this one alone: the others are not looked for then.
        for fd in first.chain(descriptors(id)).take(count) {
            table().map(|table| table.replace(fd, kind));
        }
        watched::is_left(id, self);
    }
}

/// All descriptors that stand for a socket.
fn descriptors(id: SocketId) -> impl Iterator<Item = c_int> {
    (0..process::used())
        .filter(move |fd| table().and_then(|table| table.look(*fd)).is_some_and(|seen| seen.kind() == Kind::Live(id.0)))
}
