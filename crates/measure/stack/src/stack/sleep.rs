//! Threads that sleep until something comes, also into a queue that another thread puts it into.

use std::{
    os::fd::{AsRawFd, BorrowedFd, RawFd},
    sync::atomic::Ordering::Relaxed,
};

use rustix::event::epoll::{self, EventData, EventFlags};

use super::Stack;
use crate::engine::Engine;

impl Stack {
    /// Descriptors that become readable when something comes, to be polled beside others (`POLLIN`). Only [`pump`](Self::pump) and
    /// [`receive`](Self::receive) may read from them; the program may not close them.
    pub fn descriptors(&self) -> &[RawFd] {
        &self.number
    }

    /// Those that it has beside the grant's.
    pub(crate) fn own_descriptors(&self) -> [RawFd; 2] {
        [&self.poll, &self.came].map(AsRawFd::as_raw_fd)
    }

    /// To be held while the caller sleeps in a call of its own on [`descriptors`](Self::descriptors), and taken before it looks for the last time
    /// whether something is there: what another thread takes from the interfaces meanwhile wakes it.
    pub fn sleep(&self) -> Asleep<'_> {
        if !self.family.is_child() {
            let mut engine = self.engine();
            engine.asleep += 1;
            if !self.watched.swap(true, Relaxed) {
                self.watch(&engine);
            }
        }
        Asleep { stack: self }
    }

    /// The caller is asleep no more: what [`Asleep`] says when it is dropped, for who has forgotten that.
    pub(crate) fn wake(&self) {
        if self.family.is_child() {
            return;
        }
        let mut engine = self.engine();
        engine.asleep = engine.asleep.saturating_sub(1);
        // The last one to wake up takes the signal away: sooner, others might not have seen it.
        if engine.asleep == 0 && engine.signalled {
            engine.signalled = false;
            let _ = rustix::io::read(&self.came, &mut [0; 8]);
        }
    }

    /// Has `poll` look at the interfaces' queues.
    #[cold]
    fn watch(&self, engine: &Engine) {
        for fd in engine.descriptors() {
            // SAFETY: the rings are the engine's, and so are their descriptors.
            let fd = unsafe { BorrowedFd::borrow_raw(fd) };
            // Without memory for it, a sleeper is woken by what else it waits for.
            let _ = epoll::add(&self.poll, fd, EventData::new_u64(0), EventFlags::IN);
        }
    }

    /// Wakes those asleep, where something was put into a queue that may be theirs.
    #[inline]
    pub(super) fn tell_sleepers(&self, engine: &mut Engine) {
        if std::mem::take(&mut engine.queued) && engine.asleep > 0 && !engine.signalled {
            // It fails only where they have been woken very often.
            engine.signalled = rustix::io::write(&self.came, &1_u64.to_ne_bytes()).is_ok();
        }
    }
}

/// The caller is asleep.
pub struct Asleep<'a> {
    stack: &'a Stack,
}

impl Drop for Asleep<'_> {
    fn drop(&mut self) {
        self.stack.wake();
    }
}
