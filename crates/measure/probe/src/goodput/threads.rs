//! The threads that move the data, and the watching thread.

use std::{
    net::SocketAddr,
    panic::resume_unwind,
    sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
    thread,
    time::{Duration, Instant},
};

use kernel::{clock, cpu};
use model::Protocol;

use super::{
    ARRIVAL, OVERRUN,
    setting::Setting,
    timeline::{Counted, Passed, follow, sum},
};
use crate::ProbeError;

/// Streams of each sending thread: one thread a core, because streams that share a core would only take turns.
pub(super) fn shares(streams: usize, cpus: &[usize]) -> Vec<Vec<usize>> {
    let threads = cpus.len().clamp(1, streams.max(1));
    (0..threads).map(|first| (first..streams).step_by(threads).collect()).collect()
}

/// Sends with a thread for each share, for the counted time and a little longer. `tell` gets the progress on the calling
/// thread. `at_close` is called right at the end of the counted time; its result and those of the threads are returned.
pub(super) fn send_with<R: Send, C>(
    setting: Setting<'_>,
    counters: &[AtomicU64],
    give: impl Fn(&[usize], &AtomicBool) -> Result<R, ProbeError> + Sync,
    tell: impl FnMut(Passed) -> Result<(), ProbeError>,
    at_close: impl FnOnce() -> Result<C, ProbeError>,
) -> Result<(Counted, C, Vec<R>), ProbeError> {
    let (enough, give) = (&AtomicBool::new(false), &give);
    thread::scope(|scope| {
        let work = |(number, share): (usize, Vec<usize>)| {
            scope.spawn(move || {
                let given = pin(setting.cpus, number).and_then(|()| give(&share, enough));
                if given.is_err() {
                    // Nothing more can be counted.
                    setting.control.stop();
                }
                given
            })
        };
        let givers: Vec<_> = shares(counters.len(), setting.cpus).into_iter().enumerate().map(work).collect();
        let counted = follow(setting, clock::now(), counters, tell);
        let closed = counted.and_then(|counted| Ok((counted, at_close()?)));
        if closed.is_ok() {
            thread::sleep(OVERRUN);
        }
        enough.store(true, Relaxed);
        let mut given = Vec::new();
        for giver in givers {
            given.push(giver.join().unwrap_or_else(|panic| resume_unwind(panic))?);
        }
        let (counted, closed) = closed?;
        Ok((counted, closed, given))
    })
}

/// Receives with a thread for each stream. `finish` is called when the counted time is over, and may let the threads know
/// that no more will come; it says whether the data had ended before that.
pub(super) fn receive_with<S: Send, R: Send>(
    setting: Setting<'_>,
    streams: Vec<S>,
    counters: &[AtomicU64],
    peer: SocketAddr,
    take: impl Fn(S, usize) -> Result<R, ProbeError> + Sync,
    finish: impl FnOnce() -> Result<bool, ProbeError>,
) -> Result<(Counted, bool, Vec<R>), ProbeError> {
    let take = &take;
    thread::scope(|scope| {
        let work = |(number, stream)| {
            scope.spawn(move || {
                let taken = pin(setting.cpus, number).and_then(|()| take(stream, number));
                if taken.is_err() {
                    setting.control.stop();
                }
                taken
            })
        };
        let takers: Vec<_> = streams.into_iter().enumerate().map(work).collect();
        let counted = count(setting, counters, peer);
        let ended = takers.iter().all(thread::ScopedJoinHandle::is_finished);
        let finished = counted.and_then(|counted| Ok((counted, finish()? || ended)));
        if finished.is_err() {
            setting.control.stop();
        }
        let mut taken = Vec::new();
        for taker in takers {
            taken.push(taker.join().unwrap_or_else(|panic| resume_unwind(panic))?);
        }
        let (counted, ended_early) = finished?;
        if setting.control.stopped() {
            return Err(ProbeError::Cancelled);
        }
        Ok((counted, ended_early, taken))
    })
}

/// Datagrams that do not come are lost, and that is a figure: counting then begins without them. Well before the sender,
/// which began at the same time, is at its end.
const FIRST_DATAGRAM: Duration = OVERRUN.saturating_sub(Duration::from_millis(100));

pub(super) fn count(setting: Setting<'_>, counters: &[AtomicU64], peer: SocketAddr) -> Result<Counted, ProbeError> {
    let waiting = Instant::now();
    while sum(counters) == 0 {
        if setting.control.stopped() {
            return Err(ProbeError::Cancelled);
        }
        match setting.spec.protocol {
            Protocol::Udp if waiting.elapsed() > FIRST_DATAGRAM => break,
            Protocol::Tcp if waiting.elapsed() > ARRIVAL => return Err(ProbeError::NoData { peer, waited: ARRIVAL }),
            _ => thread::sleep(Duration::from_millis(1)),
        }
    }
    follow(setting, clock::now(), counters, |passed| {
        if let Passed::Second(bps) = passed {
            setting.control.second(bps);
        }
        Ok(())
    })
}

/// Keeps a thread on its core, where there are cores to keep to.
fn pin(cpus: &[usize], thread: usize) -> Result<(), ProbeError> {
    match cpus.len() {
        0 => Ok(()),
        cores => Ok(cpu::pin_current_thread(cpus[thread % cores])?),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_are_divided_among_cores() {
        assert_eq!(shares(3, &[]), [vec![0, 1, 2]]);
        assert_eq!(shares(3, &[4, 5]), [vec![0, 2], vec![1]]);
        assert_eq!(shares(1, &[4, 5]), [vec![0]]);
    }
}
