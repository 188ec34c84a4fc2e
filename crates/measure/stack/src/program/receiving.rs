//! Calls that receive, and wait for what they receive.

use super::{asleep, inside::with_past};
use crate::{
    Incoming, Outcome, SocketId,
    stack::{Tried, waits::Waits},
};

/// Receives for a socket, and waits as it and `flags` (as of recvmsg(2)) say; the kernel's where nothing goes past it.
///
/// Nothing in this frame has to be dropped while it waits in the kernel: it may be cancelled there, or left by a jump.
#[inline]
pub fn receive(id: SocketId, message: &mut Incoming<'_, '_>, flags: i32) -> Outcome<usize> {
    match attempt(id, message, flags) {
        Tried::Over(outcome) => outcome,
        Tried::Nothing { waits: false, .. } => Outcome::Failed(libc::EAGAIN),
        Tried::Nothing { fd, .. } => match with_past(|past| past.stack.waits_for(fd)) {
            Some(waiting) => waiting.wait(&mut Receiving { id, message, flags }),
            None => Outcome::Kernel,
        },
    }
}

#[inline]
fn attempt(id: SocketId, message: &mut Incoming<'_, '_>, flags: i32) -> Tried {
    with_past(|past| past.stack.try_receive(id, message, flags)).unwrap_or(Tried::Over(Outcome::Kernel))
}

struct Receiving<'a, 'b, 'c> {
    id: SocketId,
    message: &'a mut Incoming<'b, 'c>,
    flags: i32,
}

impl Waits for Receiving<'_, '_, '_> {
    fn attempt(&mut self) -> Tried {
        attempt(self.id, self.message, self.flags)
    }

    fn fall_asleep(&self) {
        asleep::fall_asleep();
    }

    fn wake_up(&self) {
        asleep::wake_up();
        with_past(|past| past.stack.ask_soon(self.id));
    }
}
