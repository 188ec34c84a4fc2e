//! Threads that sleep until something comes, also into a queue that another thread puts it into.

use std::{
    os::fd::{AsRawFd, BorrowedFd, RawFd},
    sync::atomic::Ordering::Relaxed,
    time::{Duration, Instant},
};

use rustix::event::epoll::{self, EventData, EventFlags};

use super::Stack;
use crate::{engine::Engine, ticks};

/// How long the signal stays at least for those who are not counted.
const ROUSING: Duration = Duration::from_millis(1);
/// How long those whom the signal is for take at most to wake up, unless they were left by a jump and do not say so.
const WAKING: Duration = Duration::from_millis(10);

impl Stack {
    /// Descriptors that become readable when something comes, to be polled beside others (`POLLIN`). Only [`pump`](Self::pump) and
    /// [`receive`](Self::receive) may read from them; the program may not close them.
    pub fn descriptors(&self) -> &[RawFd] {
        &self.number
    }

    /// Those that it has beside the grant's.
    pub(crate) fn own_descriptors(&self) -> impl Iterator<Item = RawFd> {
        [&self.poll, &self.came].map(AsRawFd::as_raw_fd).into_iter().chain(self.engine().asks_by())
    }

    /// To be held while the caller sleeps in a call of its own on [`descriptors`](Self::descriptors), and taken before it looks for the last time
    /// whether something is there: what another thread takes from the interfaces meanwhile wakes it.
    pub fn sleep(&self) -> Asleep<'_> {
        let (mut since, mut is_futile) = (0, false);
        if !self.family.is_child() {
            let mut engine = self.engine();
            since = engine.sleepers.fall_asleep();
            is_futile = engine.sleepers.is_stale();
            if !self.watched.swap(true, Relaxed) {
                self.watch(&engine);
            }
        }
        Asleep { stack: self, since, is_futile }
    }

    /// The caller, who fell asleep at that time, is asleep no more: what [`Asleep`] says when it is dropped, for who has forgotten that.
    pub(crate) fn wake(&self, since: u64) {
        if !self.family.is_child() {
            let mut engine = self.engine();
            engine.sleepers.wake(since);
            self.calm(&mut engine);
            // The launcher's end may be what it was woken by.
            engine.follow_changes(ticks::now());
        }
    }

    /// Wakes who waits in the kernel for a set of descriptors in which nothing was past it until now, and is not counted among those asleep.
    pub(crate) fn rouse(&self) {
        if !self.family.is_child() {
            let mut engine = self.engine();
            engine.sleepers.roused = Some(Instant::now());
            self.signal(&mut engine);
        }
    }

    /// Wakes those asleep, as what they wait for may be there without anything having come just now.
    pub(crate) fn wake_sleepers(&self) {
        if !self.family.is_child() {
            let mut engine = self.engine();
            engine.queued = true;
            self.tell_sleepers(&mut engine);
        }
    }

    /// The signal was seen by one who is not asleep: it is taken away if nobody is.
    pub(crate) fn is_seen(&self) {
        let mut engine = self.engine();
        if engine.sleepers.asleep == 0 {
            self.calm(&mut engine);
        }
    }

    /// Takes the signal away, once all who slept when it came have woken up: sooner, others might not have seen it, and later, it would wake
    /// those who fell asleep since.
    fn calm(&self, engine: &mut Engine) {
        if engine.sleepers.may_be_calmed() && !engine.sleepers.is_signalled_again() {
            let _ = rustix::io::read(&self.came, &mut [0; 8]);
        }
    }

    /// Has `poll` look at the interfaces' queues, and at the launcher, whose end gives them up.
    #[cold]
    fn watch(&self, engine: &Engine) {
        for fd in engine.descriptors().chain(engine.claim()) {
            // What comes on the claim has no meaning but its end, which is always told.
            let kind = if Some(fd) == engine.claim() { EventFlags::empty() } else { EventFlags::IN };
            // SAFETY: the rings and the claim are the engine's, and so are their descriptors.
            let fd = unsafe { BorrowedFd::borrow_raw(fd) };
            // Without memory for it, a sleeper is woken by what else it waits for.
            let _ = epoll::add(&self.poll, fd, EventData::new_u64(0), kind);
        }
    }

    /// Wakes those asleep, where something was put into a queue that may be theirs.
    #[inline]
    pub(super) fn tell_sleepers(&self, engine: &mut Engine) {
        if std::mem::take(&mut engine.queued) && engine.sleepers.asleep > 0 {
            self.signal(engine);
        }
    }

    fn signal(&self, engine: &mut Engine) {
        if engine.sleepers.is_to_be_signalled() {
            // It fails only where they have been woken very often.
            let is_signalled = rustix::io::write(&self.came, &1_u64.to_ne_bytes()).is_ok();
            engine.sleepers.signalled = is_signalled;
        }
    }
}

/// Who is asleep, and who of them has been signalled.
#[derive(Default)]
pub(crate) struct Sleepers {
    asleep: u32,
    signalled: bool,
    /// Something came while the signal was there, which who fell asleep after it may not have seen.
    again: bool,
    /// How often they were signalled, and how many of those who slept then have not woken up yet.
    signals: u64,
    to_wake: u32,
    /// When they were last.
    signalled_at: Option<Instant>,
    /// When those were woken who are not counted.
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

/// The caller is asleep.
pub struct Asleep<'a> {
    stack: &'a Stack,
    since: u64,
    is_futile: bool,
}

impl Asleep<'_> {
    /// When it fell asleep, for who forgets this and calls [`wake`](Stack::wake).
    pub(crate) fn since(&self) -> u64 {
        self.since
    }

    /// Whether it is woken at once by a signal that stays for one who does not say that it woke up.
    pub(crate) fn is_futile(&self) -> bool {
        self.is_futile
    }
}

impl Drop for Asleep<'_> {
    fn drop(&mut self) {
        self.stack.wake(self.since);
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
