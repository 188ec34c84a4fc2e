//! Calls that wait for a datagram.

use std::{
    os::fd::RawFd,
    time::{Duration, Instant},
};

use datagram::SocketId;

use super::{Stack, Tried};
use crate::{
    calls,
    message::{Incoming, Outcome, Wait},
};

/// How long a call asks again and again before it sleeps, or before signals are looked for while it does not.
const PATIENCE: Duration = Duration::from_micros(50);
/// How often signals are looked for then.
const LOOK_FOR_SIGNALS: u32 = 64;

impl Stack {
    /// Waits for a datagram.
    #[cold]
    pub(super) fn receive_patiently(
        &self,
        id: SocketId,
        fd: RawFd,
        message: &mut Incoming<'_, '_>,
        flags: i32,
    ) -> Outcome<usize> {
        let timeout = calls::receive_timeout(fd);
        let begun = Instant::now();
        let deadline = timeout.and_then(|timeout| begun.checked_add(timeout));
        let spins_until = (self.wait != Wait::Sleep).then(|| begun + PATIENCE);
        if let Some(until) = spins_until {
            while Instant::now() < until {
                if let Tried::Over(outcome) = self.receive_at_once(id, message, flags) {
                    return outcome;
                }
                if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                    return Outcome::Failed(libc::EAGAIN);
                }
            }
        }
        // A handler without `SA_RESTART` interrupts the call, as does any where there is a timeout (signal(7)).
        let is_interrupted = || timeout.is_some() || calls::signals_interrupt();
        match self.wait {
            Wait::Spin => self.spin(id, fd, message, flags, deadline, is_interrupted),
            Wait::Sleep | Wait::Auto => self.fall_asleep(id, fd, message, flags, deadline, is_interrupted),
        }
    }

    /// Asks again and again. A signal whose handler runs in the midst of that would go unnoticed: they are put off, and let in again and again.
    fn spin(
        &self,
        id: SocketId,
        fd: RawFd,
        message: &mut Incoming<'_, '_>,
        flags: i32,
        deadline: Option<Instant>,
        is_interrupted: impl Fn() -> bool,
    ) -> Outcome<usize> {
        let held = calls::hold_signals();
        loop {
            for _ in 0..LOOK_FOR_SIGNALS {
                if let Tried::Over(outcome) = self.receive_at_once(id, message, flags) {
                    return outcome;
                }
                std::hint::spin_loop();
            }
            let now = Instant::now();
            match calls::wait(&[fd], Some(now), Some(held.before())) {
                Err(libc::EINTR) if is_interrupted() => return Outcome::Failed(libc::EINTR),
                _ if deadline.is_some_and(|deadline| now >= deadline) => return Outcome::Failed(libc::EAGAIN),
                _ => {}
            }
        }
    }

    /// Sleeps until something comes.
    fn fall_asleep(
        &self,
        id: SocketId,
        fd: RawFd,
        message: &mut Incoming<'_, '_>,
        flags: i32,
        deadline: Option<Instant>,
        is_interrupted: impl Fn() -> bool,
    ) -> Outcome<usize> {
        loop {
            let asleep = self.sleep();
            if let Tried::Over(outcome) = self.receive_at_once(id, message, flags) {
                return outcome;
            }
            let waited = calls::wait(&[fd, self.number[0]], deadline, None);
            drop(asleep);
            self.engine().ask_soon(id);
            match waited {
                Err(libc::EINTR) if is_interrupted() => return Outcome::Failed(libc::EINTR),
                Err(libc::EINTR) | Ok(()) => {}
                Err(errno) => return Outcome::Failed(errno),
            }
            if let Tried::Over(outcome) = self.receive_at_once(id, message, flags) {
                return outcome;
            }
            if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                return Outcome::Failed(libc::EAGAIN);
            }
        }
    }
}
