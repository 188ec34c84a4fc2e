//! Threads that sleep until something comes, also into a queue that another thread puts it into.

use std::{
    os::fd::{AsRawFd, BorrowedFd, RawFd},
    sync::atomic::Ordering::Relaxed,
    time::{Duration, Instant},
};

use rustix::event::epoll::{self, EventData, EventFlags};

use super::{Shared, Stack};
use crate::{core::Core, ticks};

/// How long the signal stays at least for threads that are not counted.
const ROUSING: Duration = Duration::from_millis(1);
/// How long sleepers take at most to wake up after the signal, unless they were left by a jump and do not say so.
const WAKING: Duration = Duration::from_millis(10);

impl Stack {
    /// Descriptors that become readable when something comes, to be polled beside others (`POLLIN`). Only [`pump`](Self::pump) and
    /// [`receive`](Self::receive) may read from them; the program may not close them.
    pub fn descriptors(&self) -> &[RawFd] {
        &self.number
    }

    /// The descriptors that it has beside the grant's.
    pub fn own_descriptors(&self) -> impl Iterator<Item = RawFd> {
        [&self.poll, &self.came].map(AsRawFd::as_raw_fd).into_iter().chain(self.asker)
    }

    /// Counts the caller as asleep, which sleeps on [`descriptors`](Self::descriptors). To be called before its last look: what another thread
    /// takes from the interfaces from then on wakes it, until [`wake_up`](Self::wake_up).
    pub fn fall_asleep(&self) -> Asleep {
        let Some(mut shared) = self.locked() else { return Asleep::default() };
        let since = shared.sleepers.fall_asleep();
        if !self.watched.swap(true, Relaxed) {
            self.watch(&shared.core);
        }
        Asleep { since, is_futile: shared.sleepers.is_stale() }
    }

    /// Counts the caller no more.
    pub fn wake_up(&self, asleep: Asleep) {
        if let Some(mut shared) = self.locked() {
            shared.sleepers.wake(asleep.since);
            self.calm(&mut shared.sleepers);
            // It may have been woken by the end of the launcher.
            shared.core.follow_changes(ticks::now());
        }
    }

    /// Wakes threads that wait in the kernel for a set of descriptors without bypassed ones until now, and are not counted as asleep.
    pub fn rouse(&self) {
        if let Some(mut shared) = self.locked() {
            shared.sleepers.roused = Some(Instant::now());
            self.signal(&mut shared.sleepers);
        }
    }

    /// Wakes sleepers, as what they wait for may be there without a new arrival.
    pub fn wake_sleepers(&self) {
        self.with_core(|core| core.queued = true);
    }

    /// A thread that is not asleep saw the signal: it is taken away if none is.
    pub fn signal_was_seen(&self) {
        if let Some(mut shared) = self.locked()
            && shared.sleepers.asleep == 0
        {
            self.calm(&mut shared.sleepers);
        }
    }

    /// Takes the signal away once all threads that slept when it came have woken up: sooner, others might not have seen it, and later, it would
    /// wake those that fell asleep since.
    fn calm(&self, sleepers: &mut Sleepers) {
        if sleepers.may_be_calmed() && !sleepers.is_signalled_again() {
            let _ = rustix::io::read(&self.came, &mut [0; 8]);
        }
    }

    /// Has `poll` look at the interfaces' queues, and at the launcher, whose end gives them up.
    #[cold]
    fn watch(&self, core: &Core) {
        for fd in core.descriptors().chain(core.claim()) {
            // What comes on the claim has no meaning but its end, which is always told.
            let kind = if Some(fd) == core.claim() { EventFlags::empty() } else { EventFlags::IN };
            // SAFETY: the rings and the claim are the core's, and so are their descriptors.
            let fd = unsafe { BorrowedFd::borrow_raw(fd) };
            // Without memory for it, a sleeper is woken by what else it waits for.
            let _ = epoll::add(&self.poll, fd, EventData::new_u64(0), kind);
        }
    }

    /// Wakes sleepers where a datagram was put into a queue that may be theirs.
    #[inline]
    pub(super) fn tell_sleepers(&self, shared: &mut Shared) {
        if std::mem::take(&mut shared.core.queued) && shared.sleepers.asleep > 0 {
            self.signal(&mut shared.sleepers);
        }
    }

    fn signal(&self, sleepers: &mut Sleepers) {
        if sleepers.is_to_be_signalled() {
            // It fails only where they have been woken very often.
            sleepers.signalled = rustix::io::write(&self.came, &1_u64.to_ne_bytes()).is_ok();
        }
    }
}

/// A thread that is asleep.
#[derive(Clone, Copy, Default)]
pub struct Asleep {
    /// The signals until then.
    since: u64,
    /// Whether it is woken at once by a signal that stays for a thread which does not say that it woke up.
    pub is_futile: bool,
}

/// The threads that are asleep, and whether they have been signalled.
#[derive(Default)]
pub(super) struct Sleepers {
    asleep: u32,
    signalled: bool,
    /// Something came while the signal was there: threads that fell asleep after it may not have seen it.
    again: bool,
    /// How often they were signalled, and how many of those who slept then have not woken up yet.
    signals: u64,
    to_wake: u32,
    /// The time of the last signal.
    signalled_at: Option<Instant>,
    /// When threads that are not counted were woken.
    roused: Option<Instant>,
}

impl Sleepers {
    /// One more; returns the time, by the signals there were.
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

    /// Whether the signal has to be given now.
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

    /// Whether the signal that could be taken away stays, for what came meanwhile.
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
        // What comes while the signal is there is for those who fell asleep since, too.
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
