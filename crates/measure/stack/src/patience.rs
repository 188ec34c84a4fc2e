//! Waiting time of calls, and the signals blocked meanwhile.

use std::{
    ptr,
    time::{Duration, Instant},
};

use libc::{sigset_t, timespec};

use model::bypass::Wait;

use crate::system_call::raw;

/// Bytes of the kernel's signal set.
pub const SIGNALS: usize = 8;
/// Spinning time of a call before it sleeps.
const BRIEFLY: Duration = Duration::from_micros(50);
/// Polls of the rings between two queries to the kernel.
const LOOKS: u32 = 32;

/// No time.
pub static NOW: timespec = timespec { tv_sec: 0, tv_nsec: 0 };

/// Waiting time of a call.
pub struct Patience {
    begun: Instant,
    timeout: Option<Duration>,
    wait: Wait,
}

impl Patience {
    /// Starts now; without a timeout it is unlimited.
    pub fn new(timeout: Option<Duration>, wait: Wait) -> Self {
        Self { begun: Instant::now(), timeout, wait }
    }

    /// Whether the time is over.
    pub fn is_over(&self) -> bool {
        self.timeout.is_some_and(|timeout| self.begun.elapsed() >= timeout)
    }

    /// Whether the call spins at the moment.
    pub fn spins(&self) -> bool {
        match self.wait {
            Wait::Spin => true,
            Wait::Sleep => false,
            Wait::Auto => self.begun.elapsed() < BRIEFLY,
        }
    }

    /// Whether it never sleeps, so that signals have to be let in now and then.
    pub fn never_sleeps(&self) -> bool {
        self.wait == Wait::Spin
    }

    /// Polls the rings several times before the next query to the kernel; returns whether a poll found something.
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

    /// Time left, as the kernel takes it.
    pub fn left(&self) -> Option<timespec> {
        let left = self.timeout?.saturating_sub(self.begun.elapsed());
        Some(timespec { tv_sec: left.as_secs() as i64, tv_nsec: left.subsec_nanos().into() })
    }
}

/// Blocks signals except while the kernel is asked. A handler inside our code would go unnoticed, and a jump out of it
/// would leave it half done.
///
/// Lasts until [`release`](Self::release), not until it is dropped, as a waiting call may be cancelled.
pub struct BlockedSignals(u64);

impl BlockedSignals {
    /// Blocks all signals except faults and libc's own.
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

    /// The mask for calls that take one: the program's, or the previous one.
    pub fn mask(&self, programs: *const sigset_t) -> *const sigset_t {
        if programs.is_null() { ptr::from_ref(&self.0).cast() } else { programs }
    }

    /// Unblocks them.
    pub fn release(self) {
        let place = [libc::SIG_SETMASK as usize, &raw const self.0 as usize, 0, SIGNALS];
        // SAFETY: a set of this frame.
        unsafe { raw(libc::SYS_rt_sigprocmask, place) };
    }
}
