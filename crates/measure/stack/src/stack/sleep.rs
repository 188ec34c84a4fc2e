//! Threads that sleep until a datagram arrives, also one that another thread queues.

use std::{
    os::fd::{AsRawFd, BorrowedFd, RawFd},
    sync::atomic::Ordering::Relaxed,
    time::{Duration, Instant},
};

use rustix::event::epoll::{self, EventData, EventFlags};

use super::{Shared, Stack};
use crate::{core::Core, ticks};

/// Least duration of the signal for threads that are not counted.
const ROUSING: Duration = Duration::from_millis(1);
/// Longest wake-up time of sleepers after the signal. A thread that jumped out of its sleep never reports waking up.
const WAKING: Duration = Duration::from_millis(10);

impl Stack {
    /// Descriptors that become readable on an arrival, for polling beside others (`POLLIN`).
    ///
    /// Only [`pump`](Self::pump) and [`receive`](Self::receive) may read from them; the program may not close them.
    pub fn descriptors(&self) -> &[RawFd] {
        &self.number
    }

    /// Descriptors beside the grant's.
    pub fn own_descriptors(&self) -> impl Iterator<Item = RawFd> {
        [&self.poll, &self.came].map(AsRawFd::as_raw_fd).into_iter().chain(self.queries)
    }

    /// Counts the caller as asleep on [`descriptors`](Self::descriptors), until [`wake_up`](Self::wake_up).
    ///
    /// Call it before the last attempt to receive: from then on, datagrams queued by other threads wake the caller.
    pub fn fall_asleep(&self) -> SleepingThread {
        let Some(mut shared) = self.locked() else { return SleepingThread::default() };
        let since = shared.sleepers.fall_asleep();
        if !self.watched.swap(true, Relaxed) {
            self.watch(&shared.core);
        }
        SleepingThread { since, is_futile: shared.sleepers.is_stale() }
    }

    /// Stops counting the caller as asleep.
    pub fn wake_up(&self, asleep: SleepingThread) {
        if let Some(mut shared) = self.locked() {
            shared.sleepers.wake(asleep.since);
            self.calm(&mut shared.sleepers);
            // The launcher's end may have woken it.
            shared.core.follow_changes(ticks::now());
        }
    }

    /// Wakes uncounted threads, which wait in the kernel for a set of descriptors that had no bypassed ones until now.
    pub fn rouse(&self) {
        if let Some(mut shared) = self.locked() {
            shared.sleepers.roused = Some(Instant::now());
            self.signal(&mut shared.sleepers);
        }
    }

    /// Wakes sleepers, because their event may be there without a new arrival.
    pub fn wake_sleepers(&self) {
        self.with_core(|core| core.queued = true);
    }

    /// An awake thread saw the signal: clears it if no thread sleeps.
    pub fn signal_was_seen(&self) {
        if let Some(mut shared) = self.locked()
            && shared.sleepers.asleep == 0
        {
            self.calm(&mut shared.sleepers);
        }
    }

    /// Clears the signal once all threads that slept at its time have woken up.
    ///
    /// Earlier, some might miss it; later, it would wake threads that fell asleep since.
    fn calm(&self, sleepers: &mut Sleepers) {
        if sleepers.may_be_calmed() && !sleepers.is_signalled_again() {
            let _ = rustix::io::read(&self.came, &mut [0; 8]);
        }
    }

    /// Makes `poll` watch the interfaces' queues, and the launcher, whose end gives them up.
    #[cold]
    fn watch(&self, core: &Core) {
        for fd in core.descriptors().chain(core.claim()) {
            // Only the hang-up of the claim has a meaning, and epoll always reports it.
            let kind = if Some(fd) == core.claim() { EventFlags::empty() } else { EventFlags::IN };
            // SAFETY: the rings and the claim are the core's, and so are their descriptors.
            let fd = unsafe { BorrowedFd::borrow_raw(fd) };
            // Without memory for it, a sleeper is woken by its other descriptors.
            let _ = epoll::add(&self.poll, fd, EventData::new_u64(0), kind);
        }
    }

    /// Wakes sleepers if a datagram was queued that may be theirs.
    #[inline]
    pub(super) fn tell_sleepers(&self, shared: &mut Shared) {
        if std::mem::take(&mut shared.core.queued) && shared.sleepers.asleep > 0 {
            self.signal(&mut shared.sleepers);
        }
    }

    fn signal(&self, sleepers: &mut Sleepers) {
        if sleepers.is_to_be_signalled() {
            // It fails only after very many signals.
            sleepers.signalled = rustix::io::write(&self.came, &1_u64.to_ne_bytes()).is_ok();
        }
    }
}

/// A sleeping thread.
#[derive(Clone, Copy, Default)]
pub struct SleepingThread {
    /// Number of signals when it fell asleep.
    since: u64,
    /// Whether a signal wakes it at once, kept up for a thread that does not report waking up.
    pub is_futile: bool,
}

/// Number of sleeping threads, and whether they have been signalled.
#[derive(Default)]
pub(super) struct Sleepers {
    asleep: u32,
    signalled: bool,
    /// A datagram arrived during the signal: threads that fell asleep after it may not have seen it.
    again: bool,
    /// Number of signals, and sleepers of the last one that have not woken up yet.
    signals: u64,
    to_wake: u32,
    /// The time of the last signal.
    signalled_at: Option<Instant>,
    /// Time of the last signal for uncounted threads.
    roused: Option<Instant>,
}

impl Sleepers {
    /// Counts a sleeper; returns the number of signals so far.
    fn fall_asleep(&mut self) -> u64 {
        self.asleep += 1;
        self.signals
    }

    fn wake(&mut self, since: u64) {
        self.asleep = self.asleep.saturating_sub(1);
        if since < self.signals {
            self.to_wake = self.to_wake.saturating_sub(1);
        }
    }

    /// Whether to signal now.
    fn is_to_be_signalled(&mut self) -> bool {
        if self.signalled {
            self.again = true;
            return false;
        }
        self.begin();
        true
    }

    fn begin(&mut self) {
        (self.again, self.to_wake) = (false, self.asleep);
        self.signals += 1;
        self.signalled_at = Some(Instant::now());
    }

    fn is_stale(&self) -> bool {
        self.signalled && self.signalled_at.is_some_and(|at| at.elapsed() > WAKING)
    }

    fn may_be_calmed(&mut self) -> bool {
        if self.roused.is_some_and(|at| at.elapsed() < ROUSING) {
            return false;
        }
        self.roused = None;
        self.signalled && (self.to_wake == 0 || self.asleep == 0)
    }

    /// Whether a signal that could be cleared stays, for a later arrival.
    fn is_signalled_again(&mut self) -> bool {
        let stays = self.again && self.asleep > 0;
        if stays {
            self.begin();
        } else {
            (self.signalled, self.again) = (false, false);
        }
        stays
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_signal_is_taken_away_when_those_have_woken_for_whom_it_was() {
        let mut all = Sleepers::default();
        let [one, other] = [all.fall_asleep(), all.fall_asleep()];
        all.signalled = all.is_to_be_signalled();
        all.wake(one);
        let later = all.fall_asleep();
        assert!(!all.may_be_calmed(), "the other one has not seen it");
        all.wake(later);
        let later = all.fall_asleep();
        assert!(!all.may_be_calmed(), "who fell asleep since does not count");
        all.wake(other);
        assert!(all.may_be_calmed() && !all.is_signalled_again() && !all.signalled);
        // An arrival during the signal is also for threads that fell asleep since.
        all.signalled = all.is_to_be_signalled();
        let last = all.fall_asleep();
        assert!(!all.is_to_be_signalled());
        all.wake(later);
        assert!(all.may_be_calmed() && all.is_signalled_again() && all.signalled);
        all.wake(last);
        assert!(!all.is_stale());
        std::thread::sleep(WAKING);
        assert!(all.is_stale());
        assert!(all.may_be_calmed() && !all.is_signalled_again() && !all.is_stale());
    }
}
