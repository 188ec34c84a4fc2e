//! Sockets that stay with the kernel, or go back to it.

use std::os::fd::BorrowedFd;

use datagram::SocketId;

use super::Engine;
use crate::Reason;

impl Engine {
    /// Gives its flows back, as it is with the kernel from now on.
    pub(crate) fn leave(&mut self, id: SocketId, why: Reason) {
        if let Some(live) = self.sockets.get_mut(id.0 as usize).and_then(Option::take) {
            self.control.slot(live.slot).set_fate(Err(why));
            self.forget(id, live);
        }
    }

    /// Writes down one that was never taken past it.
    pub(crate) fn note(&self, fd: BorrowedFd<'_>, why: Reason) {
        self.control.note(fd, why);
    }
}
