//! What goes past the kernel: the stack, which descriptors stand for each of its sockets, and the epoll sets that they are in.

use std::{
    ffi::c_int,
    mem::ManuallyDrop,
    os::fd::BorrowedFd,
    sync::{Mutex, MutexGuard, PoisonError},
};

use crate::{Asleep, Reason, SocketId, Stack};

use super::{
    call::raw,
    process::{self, table},
    sets::Sets,
    table::Kind,
};

/// What goes past the kernel in this process.
pub struct Past {
    /// The sockets.
    pub stack: Stack,
    sockets: Mutex<Vec<Socket>>,
    sets: Mutex<Sets>,
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
        Self { stack, sockets: Mutex::default(), sets: Mutex::default() }
    }

    /// The epoll sets.
    pub fn sets(&self) -> MutexGuard<'_, Sets> {
        self.sets.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// To be called before the last look whether something is there, by who sleeps then, and to be given to [`wake_up`](Self::wake_up). It is not
    /// dropped at the end of its frame, which may be cancelled.
    pub(crate) fn fall_asleep(&self) -> ManuallyDrop<Asleep<'_>> {
        ManuallyDrop::new(self.stack.sleep())
    }

    pub(crate) fn wake_up(asleep: ManuallyDrop<Asleep<'_>>) {
        drop(ManuallyDrop::into_inner(asleep));
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
        let id = self.stack.open(unsafe { BorrowedFd::borrow_raw(fd) })?;
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
            self.sets().forget(id, self.stack.descriptors());
            self.stack.close(id);
        } else if let Some(other) = descriptors(id).next() {
            drop(sockets);
            self.refresh(id, other);
        }
    }

    /// Looks at a socket again, after something about it was changed.
    pub(crate) fn refresh(&self, id: SocketId, fd: c_int) {
        // SAFETY: the program's own descriptor, which it uses right now.
        if self.stack.refresh(id, unsafe { BorrowedFd::borrow_raw(fd) }).is_err() {
            self.left(id, Kind::Kernel);
        }
    }

    /// Leaves a socket to the kernel: for good, or until something about it changes.
    pub(crate) fn leave(&self, id: SocketId, why: Reason) {
        self.left(id, if why == Reason::SharedSet { Kind::Kernel } else { Kind::Never });
        self.stack.leave(id, why);
    }

    /// What follows from its being left to the kernel.
    fn left(&self, id: SocketId, kind: Kind) {
        self.sockets().retain(|socket| socket.id != id);
        for fd in descriptors(id) {
            if let Some(table) = table() {
                table.replace(fd, kind);
            }
        }
        self.sets().forget(id, self.stack.descriptors());
    }
}

/// All descriptors that stand for a socket.
fn descriptors(id: SocketId) -> impl Iterator<Item = c_int> {
    (0..process::used())
        .filter(move |fd| table().and_then(|table| table.look(*fd)).is_some_and(|seen| seen.kind() == Kind::Live(id.0)))
}

fn cookie(fd: c_int) -> Option<u64> {
    let (mut value, mut length) = (0_u64, 8_u32);
    let (level, name) = (libc::SOL_SOCKET as usize, libc::SO_COOKIE as usize);
    let place = [fd as usize, level, name, &raw mut value as usize, &raw mut length as usize];
    // SAFETY: a value of `length` bytes and the length, both of this frame.
    (unsafe { raw(libc::SYS_getsockopt, place) } == 0).then_some(value)
}
