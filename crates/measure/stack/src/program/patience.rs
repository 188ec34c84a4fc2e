//! How the calls that wait for several descriptors do so.

use std::{
    ptr,
    time::{Duration, Instant},
};

use crate::Wait;
use libc::{sigset_t, timespec};

use super::call::raw;

/// Bytes of a set of signals, as the kernel has it.
pub const SIGNALS: usize = 8;
/// How long a call that would rather sleep asks again and again before.
const BRIEFLY: Duration = Duration::from_micros(50);
/// How often it asks us before it asks the kernel again.
pub(crate) const LOOKS: u32 = 32;

/// A call's patience.
pub(crate) struct Patience {
    begun: Instant,
    timeout: Option<Duration>,
    wait: Wait,
}

impl Patience {
    /// Begins now; without a timeout it has no end.
    pub(crate) fn new(timeout: Option<Duration>, wait: Wait) -> Self {
        Self { begun: Instant::now(), timeout, wait }
    }

    /// Whether it is at its end.
    pub(crate) fn is_over(&self) -> bool {
        self.timeout.is_some_and(|timeout| self.begun.elapsed() >= timeout)
    }

    /// Whether it asks again and again.
    pub(crate) fn spins(&self) -> bool {
        match self.wait {
            Wait::Spin => true,
            Wait::Sleep => false,
            Wait::Auto => self.begun.elapsed() < BRIEFLY,
        }
    }

    /// Whether signals have to be held back meanwhile, as it may take long: their handlers would run unnoticed.
    pub(crate) fn holds_signals(&self) -> bool {
        self.wait == Wait::Spin
    }

    /// What is left of it, as the kernel takes it.
    pub(crate) fn left(&self) -> Option<timespec> {
        let left = self.timeout?.saturating_sub(self.begun.elapsed());
        Some(timespec { tv_sec: left.as_secs() as i64, tv_nsec: left.subsec_nanos().into() })
    }
}

/// Signals that are held back, until [`release`](Held::release); not by its end, as what waits may be cancelled.
pub(crate) struct Held(u64);

impl Held {
    /// Holds back all but those that are faults, and those of libc's own.
    pub(crate) fn new() -> Self {
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

    /// The mask that there was before, for calls that take one.
    pub(crate) fn before(&self) -> *const sigset_t {
        ptr::from_ref(&self.0).cast()
    }

    /// Lets them come.
    pub(crate) fn release(self) {
        let place = [libc::SIG_SETMASK as usize, &raw const self.0 as usize, 0, SIGNALS];
        // SAFETY: a set of this frame.
        unsafe { raw(libc::SYS_rt_sigprocmask, place) };
    }
}
