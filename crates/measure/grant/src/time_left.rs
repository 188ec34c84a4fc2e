//! The time that a program waits for its launcher's answers.
//!
//! A program and its launcher may be stopped and continued together (Ctrl-Z, `fg`), and no clock stands still for a process
//! that is stopped. So a program waits a little at a time, and no wait counts for more than that.

use std::{
    io,
    os::fd::AsFd,
    sync::atomic::{AtomicBool, Ordering::Relaxed},
    time::{Duration, Instant},
};

use rustix::net::sockopt::{Timeout, set_socket_timeout};

/// Time limit of a whole answer. The grant is prepared in advance, unless a program has just ended.
pub(crate) const PATIENCE: Duration = Duration::from_secs(5);
/// Length of a wait.
const WAIT: Duration = Duration::from_millis(250);
/// Least timeout of a call: 0 would be no timeout, and less than a microsecond is 0.
const LEAST: Duration = Duration::from_millis(1);

/// Whether an answer did not come in time. A forked child inherits it.
static IS_SILENT: AtomicBool = AtomicBool::new(false);

/// Whether a launcher did not answer in time, here or in a process from which this one was forked.
pub fn is_launcher_silent() -> bool {
    IS_SILENT.load(Relaxed)
}

/// The rest of the time limit of an answer.
pub(crate) struct TimeLeft(Duration);

impl Default for TimeLeft {
    fn default() -> Self {
        Self(PATIENCE)
    }
}

impl TimeLeft {
    /// Repeats a call that waits on this connection until it succeeds, fails, or no time is left (`TimedOut`).
    ///
    /// A signal ends a wait, and so does a stop of the process.
    pub(crate) fn wait<T>(&mut self, connection: &impl AsFd, mut call: impl FnMut() -> io::Result<T>) -> io::Result<T> {
        while !self.0.is_zero() {
            let most = self.0.min(WAIT);
            for direction in [Timeout::Send, Timeout::Recv] {
                set_socket_timeout(connection, direction, Some(most.max(LEAST)))?;
            }
            let begun = Instant::now();
            let answer = call();
            self.passes(begun.elapsed(), most);
            match answer {
                Err(error) if matches!(error.kind(), io::ErrorKind::Interrupted | io::ErrorKind::WouldBlock) => {}
                answer => return answer,
            }
        }
        IS_SILENT.store(true, Relaxed);
        Err(io::ErrorKind::TimedOut.into())
    }

    /// Counts a wait that could last so long at most: the process was stopped in the rest of it.
    fn passes(&mut self, took: Duration, most: Duration) {
        self.0 = self.0.saturating_sub(took.min(most));
    }
}

/// Whether time has run out.
pub(crate) fn is_late(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::TimedOut
}

#[cfg(test)]
mod tests {
    use rustix::net::{AddressFamily, RecvFlags, SocketFlags, SocketType, recv, socketpair};

    use super::*;

    #[test]
    fn a_stop_counts_as_one_wait_and_waits_add_up() {
        let mut left = TimeLeft::default();
        left.passes(Duration::from_secs(3600), WAIT);
        assert_eq!(left.0, PATIENCE - WAIT);
        left.passes(Duration::from_millis(10), WAIT);
        assert_eq!(left.0, PATIENCE - WAIT - Duration::from_millis(10));
        (0..20).for_each(|_| left.passes(WAIT, WAIT));
        assert!(left.0.is_zero());
    }

    #[test]
    fn signals_end_no_wait_and_prolong_none() {
        let (connection, _other) =
            socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None).expect("a pair");
        let (begun, limit) = (Instant::now(), 3 * WAIT);
        let (mut left, mut calls) = (TimeLeft(limit), 0);
        let late = left.wait(&connection, || {
            calls += 1;
            match calls {
                1..100 => Err(io::ErrorKind::Interrupted.into()),
                _ => Ok(recv(&connection, &mut [0_u8; 1][..], RecvFlags::empty())?.0),
            }
        });
        assert!(late.is_err_and(|error| is_late(&error)) && calls > 100, "{calls}");
        assert!((limit..limit + Duration::from_secs(5)).contains(&begun.elapsed()), "{:?}", begun.elapsed());
    }
}
