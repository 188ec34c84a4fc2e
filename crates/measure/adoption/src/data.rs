//! Calls that receive and send datagrams.

use std::os::fd::RawFd;

use stack::{Caller, Incoming, Outcome, SocketId};

use super::{bypass, held, inside, reap_closed::with_bypass, sleeping};

/// A call of the program, which may be cancelled or left by a jump while it sleeps.
struct Program;

impl Caller for Program {
    #[inline]
    fn enter<T>(&self, work: impl FnOnce() -> T) -> Option<T> {
        with_bypass(|_| work())
    }

    fn fall_asleep(&self) {
        sleeping::fall_asleep();
    }

    fn wake_up(&self) {
        sleeping::wake_up();
    }

    fn hold(&self, fd: RawFd) -> RawFd {
        held::hold(fd)
    }
}

/// Receives for a socket; waits as it and `flags` (of recvmsg(2)) say. The kernel's if nothing is bypassed.
#[inline]
pub fn receive(id: SocketId, message: &mut Incoming<'_, '_>, flags: i32) -> Outcome<usize> {
    match bypass::get() {
        Some(bypass) => bypass.stack.receive_for(&Program, id, message, flags),
        None => Outcome::Kernel,
    }
}

/// Waits for copies to and from the program's memory that are under way in other threads.
pub fn finish_copies() {
    inside::with_bypass(|bypass| bypass.stack.finish_copies());
}
