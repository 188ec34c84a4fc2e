//! The patience of calls that wait, and the signals that are held back meanwhile.

use std::{
    ptr,
    time::{Duration, Instant},
};

use libc::{sigset_t, timespec};

use model::bypass::Wait;

use crate::system_call::raw;

/// Bytes of a set of signals, as the kernel has it.
pub const SIGNALS: usize = 8;
/// How long a call that would rather sleep asks again and again before.
const BRIEFLY: Duration = Duration::from_micros(50);
/// How often it asks us before it asks the kernel again.
const LOOKS: u32 = 32;

/// No time.
pub static NOW: timespec = timespec { tv_sec: 0, tv_nsec: 0 };

/// A call's patience.
pub struct Patience {
    begun: Instant,
    timeout: Option<Duration>,
    wait: Wait,
}

impl Patience {
    /// Begins now; without a timeout it has no end.
    pub fn new(timeout: Option<Duration>, wait: Wait) -> Self {
        Self { begun: Instant::now(), timeout, wait }
    }

    /// Whether it is at its end.
    pub fn is_over(&self) -> bool {
        self.timeout.is_some_and(|timeout| self.begun.elapsed() >= timeout)
    }

    /// Whether it asks again and again just now.
    pub fn spins(&self) -> bool {
        match self.wait {
            Wait::Spin => true,
            Wait::Sleep => false,
            Wait::Auto => self.begun.elapsed() < BRIEFLY,
        }
    }

    /// Whether it does so for good, so that signals have to be let in by and by.
    pub fn never_sleeps(&self) -> bool {
        self.wait == Wait::Spin
    }

    /// Asks us as often as is worth while before the kernel is asked: whether that found something.
    pub fn looks(&self, mut look: impl FnMut() -> bool) -> bool {
        let looks = if self.spins() { LOOKS } else { 1 };
        (0..looks).any(|_| {
            let found = look();
            if !found {
                std::hint::spin_loop();
            }
            found
        })
    }

    /// What is left of it, as the kernel takes it.
    pub fn left(&self) -> Option<timespec> {
        let left = self.timeout?.saturating_sub(self.begun.elapsed());
        Some(timespec { tv_sec: left.as_secs() as i64, tv_nsec: left.subsec_nanos().into() })
    }
}

/// Signals that are held back, but for the moments in which the kernel is asked: a handler that runs in the midst of our own code would go unnoticed,
/// and one that jumps out of it would leave it half done. Until [`release`](Held::release); not by its end, as what waits may be cancelled.
pub struct Held(u64);

impl Held {
    /// Holds back all but those that are faults, and those of libc's own.
    pub fn back() -> Self {
        const KEPT: [i32; 9] = [
            libc::SIGSEGV,
            libc::SIGBUS,
            libc::SIGFPE,
            libc::SIGILL,
            libc::SIGTRAP,
            libc::SIGSYS,
            libc::SIGABRT,
            32,
            33,
        ];
        let all = KEPT.iter().fold(!0_u64, |set, signal| set & !(1 << (signal - 1)));
        let mut before = 0_u64;
        let place = [libc::SIG_BLOCK as usize, &raw const all as usize, &raw mut before as usize, SIGNALS];
        // SAFETY: two sets of this frame.
        unsafe { raw(libc::SYS_rt_sigprocmask, place) };
        Self(before)
    }

    /// The mask for calls that take one: the program's, or that of before.
    pub fn mask(&self, programs: *const sigset_t) -> *const sigset_t {
        if programs.is_null() { ptr::from_ref(&self.0).cast() } else { programs }
    }

    /// Lets them come.
    pub fn release(self) {
        let place = [libc::SIG_SETMASK as usize, &raw const self.0 as usize, 0, SIGNALS];
        // SAFETY: a set of this frame.
        unsafe { raw(libc::SYS_rt_sigprocmask, place) };
    }
}
