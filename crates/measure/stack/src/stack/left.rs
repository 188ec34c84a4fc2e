//! Sockets that stay with the kernel, or go back to it.

use std::os::fd::BorrowedFd;

use datagram::SocketId;

use super::Stack;
use crate::Reason;

impl Stack {
    /// Leaves a socket to the kernel from now on; its number stands for nothing then, and what waits in its queue is lost.
    pub fn leave(&self, id: SocketId, why: Reason) {
        if self.family.is_child() {
            return;
        }
        let mut engine = self.engine();
        engine.leave(id, why);
        // Who waits for it waits in vain.
        engine.queued = true;
        self.tell_sleepers(&mut engine);
    }

    /// Writes down that all are the kernel's from now on. It asks for no lock: whoever has it may have been left in the midst of something.
    pub(crate) fn says_all_left(&self, why: Reason) {
        if !self.family.is_child() {
            self.page.says_all_left(why);
        }
    }

    /// Leaves those that this process inherited to the kernel as long as others have them too.
    pub(crate) fn set_inherited(&self, is_shared: bool) {
        if !self.family.is_child() {
            self.engine().set_inherited(is_shared);
        }
    }

    /// To be told of each datagram that the kernel sent for a socket: what [`send`](Self::send) left to it, once that has succeeded.
    #[cold]
    pub fn sent_by_kernel(&self, id: SocketId, bytes: usize) {
        if !self.family.is_child() {
            self.engine().count_sent_through(id, bytes);
        }
    }

    /// Writes down why a socket that was never taken past the kernel stays with it.
    pub fn note(&self, fd: BorrowedFd<'_>, why: Reason) {
        if !self.family.is_child() {
            self.engine().note(fd, why);
        }
    }
}
