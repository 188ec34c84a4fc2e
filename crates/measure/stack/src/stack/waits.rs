//! Calls that wait for a datagram.

use std::{cell::Cell, os::fd::RawFd, ptr, time::Duration};

use datagram::SocketId;

use super::{Stack, Tried};
use crate::{
    calls,
    message::{Incoming, Outcome},
    program::{
        call::raw_waiting,
        patience::{Held, NOW, Patience, SIGNALS},
    },
};

/// Who waits.
pub(crate) trait Waits {
    /// Tries to receive.
    fn attempt(&mut self) -> Tried;
    /// To be called before the last attempt, by who sleeps then.
    fn fall_asleep(&self);
    /// To be called by who has slept.
    fn wake_up(&self);
}

/// For what and how long.
pub(crate) struct Waiting {
    /// The socket's descriptor, and that by which arrivals are noticed.
    fds: [RawFd; 2],
    patience: Patience,
    has_timeout: bool,
}

impl Stack {
    /// How a call waits for a datagram of a socket with this descriptor.
    pub(crate) fn waits_for(&self, fd: RawFd) -> Waiting {
        let timeout = calls::receive_timeout(fd);
        Waiting::new([fd, self.number[0]], timeout, Patience::new(timeout, self.wait))
    }

    /// Waits for a datagram.
    #[cold]
    pub(super) fn receive_patiently(
        &self,
        id: SocketId,
        fd: RawFd,
        message: &mut Incoming<'_, '_>,
        flags: i32,
    ) -> Outcome<usize> {
        self.waits_for(fd).wait(&mut Receiving { stack: self, id, message, flags, since: Cell::new(0) })
    }
}

impl Waiting {
    fn new(fds: [RawFd; 2], timeout: Option<Duration>, patience: Patience) -> Self {
        Self { fds, patience, has_timeout: timeout.is_some() }
    }

    /// Waits. Nothing in this frame has to be dropped: the thread may be cancelled in it, or jump out of it, while it asks the kernel.
    pub(crate) fn wait(self, caller: &mut impl Waits) -> Outcome<usize> {
        let held = Held::new();
        let outcome = loop {
            if let Some(outcome) = self.attempts(caller) {
                break outcome;
            }
            if self.patience.is_over() {
                break Outcome::Failed(libc::EAGAIN);
            }
            let Asked { result, is_shut_down } = match self.patience.spins() {
                true if self.patience.never_sleeps() => self.ask_kernel(Some(NOW), &held),
                true => Asked::default(),
                false => {
                    caller.fall_asleep();
                    // The last one: what comes from now on wakes us.
                    let found = over(caller);
                    let asked = match found {
                        None => self.ask_kernel(self.patience.left(), &held),
                        Some(_) => Asked::default(),
                    };
                    caller.wake_up();
                    if let Some(outcome) = found {
                        break outcome;
                    }
                    asked
                }
            };
            if is_shut_down {
                // It is readable from now on, and only the kernel says how that ends.
                break over(caller).unwrap_or(Outcome::Kernel);
            }
            // A handler without `SA_RESTART` interrupts the call, as does any where there is a timeout (signal(7)).
            match -result as i32 {
                libc::EINTR if self.has_timeout || calls::signals_interrupt() => break Outcome::Failed(libc::EINTR),
                libc::EINTR => {}
                errno @ 1.. => break Outcome::Failed(errno),
                _ => {}
            }
        };
        held.release();
        outcome
    }

    fn attempts(&self, caller: &mut impl Waits) -> Option<Outcome<usize>> {
        let mut outcome = None;
        self.patience.looks(|| {
            outcome = over(caller);
            outcome.is_some()
        });
        outcome
    }

    /// What the kernel says of the descriptors within a time, with signals let in.
    fn ask_kernel(&self, time: Option<libc::timespec>, held: &Held) -> Asked {
        let mut watched = self.fds.map(|fd| libc::pollfd { fd, events: libc::POLLIN | libc::POLLRDHUP, revents: 0 });
        let time = time.as_ref().map_or(ptr::null(), ptr::from_ref);
        // Who spins hears of arrivals by itself.
        let count = if self.patience.never_sleeps() { 1 } else { watched.len() };
        let mask = held.mask(ptr::null());
        let place = [watched.as_mut_ptr() as usize, count, time as usize, mask as usize, SIGNALS];
        // SAFETY: descriptors and a time of this frame, and a mask that outlives the call.
        let result = unsafe { raw_waiting(libc::SYS_ppoll, place) };
        Asked { result, is_shut_down: result > 0 && watched[0].revents & libc::POLLRDHUP != 0 }
    }
}

/// What the kernel said: an error as a number less than 0, and whether the socket was shut down where we do not see it: by another process that
/// has it too, or by a system call of the program's own.
#[derive(Default)]
struct Asked {
    result: isize,
    is_shut_down: bool,
}

fn over(caller: &mut impl Waits) -> Option<Outcome<usize>> {
    match caller.attempt() {
        Tried::Over(outcome) => Some(outcome),
        Tried::Nothing { .. } => None,
    }
}

/// A call on the stack itself.
struct Receiving<'a, 'b, 'c> {
    stack: &'a Stack,
    id: SocketId,
    message: &'a mut Incoming<'b, 'c>,
    flags: i32,
    since: Cell<u64>,
}

impl Waits for Receiving<'_, '_, '_> {
    fn attempt(&mut self) -> Tried {
        self.stack.receive_at_once(self.id, self.message, self.flags)
    }

    fn fall_asleep(&self) {
        let asleep = self.stack.sleep();
        self.since.set(asleep.since());
        std::mem::forget(asleep);
    }

    fn wake_up(&self) {
        self.stack.wake(self.since.get());
        self.stack.ask_soon(self.id);
    }
}
