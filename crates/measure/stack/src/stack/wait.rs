//! The one place where calls wait for a datagram.

use std::{cell::Cell, os::fd::RawFd, ptr};

use datagram::SocketId;

use super::{SleepingThread, Stack, Tried};
use crate::{
    calls,
    message::{Incoming, Outcome},
    patience::{BlockedSignals, NOW, Patience, SIGNALS},
    system_call::raw_cancellable,
};

/// Caller of a call that may wait. A program's call may be cancelled, or left by a jump, while it sleeps.
pub trait Caller {
    /// Runs a part of the call in the stack; `None` if the stack is broken.
    fn enter<T>(&self, work: impl FnOnce() -> T) -> Option<T>;
    /// Before the last attempt of a thread that is about to sleep.
    fn fall_asleep(&self);
    /// After the sleep.
    fn wake_up(&self);
    /// Before a wait for this descriptor of a socket: one that stands for it until the call returns, whatever is closed meanwhile.
    fn hold(&self, fd: RawFd) -> RawFd {
        fd
    }
}

/// Our own code, whose threads are never cancelled.
struct Direct<'a> {
    stack: &'a Stack,
    asleep: Cell<SleepingThread>,
}

impl Caller for Direct<'_> {
    #[inline(always)]
    fn enter<T>(&self, work: impl FnOnce() -> T) -> Option<T> {
        Some(work())
    }

    fn fall_asleep(&self) {
        self.asleep.set(self.stack.fall_asleep());
    }

    fn wake_up(&self) {
        self.stack.wake_up(self.asleep.get());
    }
}

impl Stack {
    /// Receives a datagram, also through the kernel; returns the bytes written, or its full length with `MSG_TRUNC`.
    ///
    /// It waits as the socket and `flags` (of recvmsg(2)) say.
    #[inline]
    pub fn receive(&self, id: SocketId, message: &mut Incoming<'_, '_>, flags: i32) -> Outcome<usize> {
        self.receive_for(&Direct { stack: self, asleep: Cell::default() }, id, message, flags)
    }

    /// Like `receive`, for another caller. This frame holds nothing to drop: the thread may be cancelled in it, or jump
    /// out of it.
    #[inline]
    pub fn receive_for(
        &self,
        caller: &impl Caller,
        id: SocketId,
        message: &mut Incoming<'_, '_>,
        flags: i32,
    ) -> Outcome<usize> {
        match caller.enter(|| self.try_receive(id, message, flags)) {
            Some(Tried::Over(outcome)) => outcome,
            Some(Tried::Nothing { waits: false, .. }) => Outcome::Failed(libc::EAGAIN),
            Some(Tried::Nothing { fd, .. }) => {
                let attempt = || match caller.enter(|| self.try_receive(id, message, flags)) {
                    Some(Tried::Over(outcome)) => Some(outcome),
                    Some(Tried::Nothing { .. }) => None,
                    None => Some(Outcome::Kernel),
                };
                self.wait_for(caller, id, fd, attempt)
            }
            None => Outcome::Kernel,
        }
    }

    /// Repeats the attempt until it has an outcome or times out.
    #[cold]
    fn wait_for(
        &self,
        caller: &impl Caller,
        id: SocketId,
        fd: RawFd,
        mut attempt: impl FnMut() -> Option<Outcome<usize>>,
    ) -> Outcome<usize> {
        let Some(timeout) = caller.enter(|| calls::receive_timeout(fd)) else { return Outcome::Kernel };
        let fd = caller.enter(|| caller.hold(fd)).unwrap_or(fd);
        let (patience, held) = (Patience::new(timeout, self.wait), BlockedSignals::back());
        let outcome = loop {
            let mut found = None;
            patience.looks(|| {
                found = attempt();
                found.is_some()
            });
            if found.is_none() && patience.is_over() {
                found = Some(Outcome::Failed(libc::EAGAIN));
            }
            if let Some(outcome) = found {
                break outcome;
            }
            let asked = match patience.spins() {
                true if patience.never_sleeps() => ask_kernel(&[fd], Some(NOW), &held),
                true => continue,
                false => {
                    caller.fall_asleep();
                    // The last attempt: later arrivals wake us.
                    let found = attempt();
                    let asked = match found {
                        None => ask_kernel(&[fd, self.number[0]], patience.left(), &held),
                        Some(_) => Asked::default(),
                    };
                    caller.wake_up();
                    caller.enter(|| self.ask_soon(id));
                    if let Some(outcome) = found {
                        break outcome;
                    }
                    asked
                }
            };
            if asked.is_shut_down {
                // The socket is readable from now on; the kernel gives the result.
                break attempt().unwrap_or(Outcome::Kernel);
            }
            // A handler without `SA_RESTART` interrupts the call; with a timeout, any handler does (signal(7)).
            match -asked.result as i32 {
                libc::EINTR if timeout.is_none() && !calls::signals_interrupt() => {}
                errno @ 1.. => break Outcome::Failed(errno),
                _ => {}
            }
        };
        held.release();
        outcome
    }
}

/// The kernel's answer: a negative error, and whether the socket was shut down unnoticed.
///
/// Another process that shares it may do so, or a direct system call of the program.
#[derive(Default)]
struct Asked {
    result: isize,
    is_shut_down: bool,
}

/// Polls the socket and the arrivals with a timeout; signals are let in meanwhile.
fn ask_kernel(fds: &[RawFd], time: Option<libc::timespec>, held: &BlockedSignals) -> Asked {
    let mut watched = [libc::pollfd { fd: -1, events: libc::POLLIN | libc::POLLRDHUP, revents: 0 }; 2];
    watched.iter_mut().zip(fds).for_each(|(watched, fd)| watched.fd = *fd);
    let time = time.as_ref().map_or(ptr::null(), ptr::from_ref);
    let mask = held.mask(ptr::null());
    let place = [watched.as_mut_ptr() as usize, fds.len(), time as usize, mask as usize, SIGNALS];
    // SAFETY: descriptors and a time of this frame, and a mask that outlives the call.
    let result = unsafe { raw_cancellable(libc::SYS_ppoll, place) };
    Asked { result, is_shut_down: result > 0 && watched[0].revents & libc::POLLRDHUP != 0 }
}
