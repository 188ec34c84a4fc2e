//! Common loop of the engines that write frames in user space: one thread per core, each with its own port.

use std::{
    collections::VecDeque,
    sync::{
        Barrier, OnceLock,
        atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
    },
    thread,
};

use kernel::{clock, cpu};
use model::Nanos;

use crate::{EngineError, Job, Sent, job::SentStream, lanes::Lanes};

/// Frames between two clock readings at most.
const BATCH: usize = 64;

/// Frames due later than this are awaited by a sleep, which ends early, because waking up takes time.
const SPIN: u64 = 100_000;

/// The longest sleep, for stop requests.
const LOOK_UP: u64 = 20_000_000;

/// Time for the kernel to accept the last frames.
const DRAIN: u64 = 500_000_000;

/// Output of one core.
pub(crate) trait Port: Send {
    /// Number of frames that may be put, at most `wanted`.
    fn room(&mut self, wanted: usize) -> usize;

    /// Puts one frame: `write` fills the beginning of a buffer long enough for any of the job's frames, and returns the
    /// length.
    ///
    /// There has to be room for it.
    fn put(&mut self, write: impl FnOnce(&mut [u8]) -> usize);

    /// Passes frames to the kernel.
    fn flush(&mut self) -> Result<Flushed, EngineError>;
}

/// Frames that the kernel accepted in one call, in order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Flushed {
    /// Accepted frames.
    pub(crate) taken: usize,
    /// Whether the last one was dropped at a full ring behind the interface.
    pub(crate) refused: bool,
}

/// Opens a port for each of the job's cores, by index: all exist before the first frame is sent.
pub(crate) fn open_all<P>(job: &Job, open: impl Fn(usize) -> Result<P, EngineError>) -> Result<Vec<P>, EngineError> {
    (0..job.cpus.len()).map(open).collect()
}

/// Runs a pinned thread for each of the job's cores with its port.
pub(crate) fn run<P: Port>(
    job: &Job,
    ports: &mut [P],
    stop: &AtomicBool,
    progress: &AtomicU64,
) -> Result<Sent, EngineError> {
    // The time starts when all threads are ready.
    let (there, began) = (Barrier::new(job.cpus.len()), OnceLock::new());
    let core = |core: usize, port: &mut P| {
        let ready = cpu::pin_current_thread(job.cpus[core]).and_then(|()| clock::wake_on_time());
        there.wait();
        ready?;
        let began = *began.get_or_init(clock::now);
        Pump { job, port, lanes: Lanes::new(job, core, began)?, put: VecDeque::new(), left: most(job, core) }
            .run(began, stop, progress)
    };
    // A failing thread stops the others.
    let core = &|index, port| core(index, port).inspect_err(|_| stop.store(true, Relaxed));
    let of_cores: Vec<Result<Vec<SentStream>, EngineError>> = thread::scope(|scope| {
        let threads: Vec<_> =
            ports.iter_mut().enumerate().map(|(index, port)| scope.spawn(move || core(index, port))).collect();
        let joined = threads.into_iter().map(|thread| thread.join());
        joined.map(|joined| joined.unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect()
    });
    let mut sent = Sent { streams: vec![SentStream::default(); job.streams.len()] };
    for streams in of_cores {
        sent.streams.iter_mut().zip(streams?).for_each(|(all, more)| all.merge(more));
    }
    Ok(sent)
}

/// This core's share of the limit of frames.
pub(crate) fn most(job: &Job, core: usize) -> u64 {
    let cores = job.cpus.len() as u64;
    job.most.map_or(u64::MAX, |most| most / cores + u64::from((core as u64) < most % cores))
}

struct Pump<'a, P> {
    job: &'a Job,
    port: &'a mut P,
    lanes: Lanes<'a>,
    /// Streams of frames put and not yet accepted.
    put: VecDeque<u16>,
    /// Frames that may still be put.
    left: u64,
}

impl<P: Port> Pump<'_, P> {
    fn run(mut self, began: Nanos, stop: &AtomicBool, progress: &AtomicU64) -> Result<Vec<SentStream>, EngineError> {
        let end = Nanos(began.0 + self.job.duration.0);
        let mut now = clock::now();
        while now < end && self.left > 0 && !stop.load(Relaxed) {
            self.put_what_is_due(now);
            if self.put.is_empty() {
                let (_, due) = self.lanes.next(now);
                now = wait(due.min(end), now);
                continue;
            }
            progress.fetch_add(self.flush(now)?, Relaxed);
            now = clock::now();
        }
        let over = if self.left > 0 { now.min(end) } else { Nanos(0) };
        while !self.put.is_empty() && now.0 < end.0 + DRAIN {
            progress.fetch_add(self.flush(now)?, Relaxed);
            now = clock::now();
        }
        // Frames overdue at the end are not sent any more.
        Ok(self.lanes.sent(over))
    }

    fn put_what_is_due(&mut self, now: Nanos) {
        let room = self.port.room(BATCH).min(BATCH).min(usize::try_from(self.left).unwrap_or(usize::MAX));
        for _ in 0..room {
            let (stream, due) = self.lanes.next(now);
            if due > now {
                break;
            }
            self.port.put(|buffer| self.lanes.write(stream, now, buffer));
            self.put.push_back(stream as u16);
            self.left -= 1;
        }
    }

    /// Passes frames to the kernel; returns the number sent.
    fn flush(&mut self, now: Nanos) -> Result<u64, EngineError> {
        let Flushed { taken, refused } = self.port.flush()?;
        let left = taken - usize::from(refused);
        for (place, stream) in self.put.drain(..taken).enumerate() {
            self.lanes.count(stream.into(), place < left, now);
        }
        Ok(left as u64)
    }
}

/// Waits until `due`, or for a while if that is far away; returns the current time.
fn wait(due: Nanos, mut now: Nanos) -> Nanos {
    if due.0.saturating_sub(now.0) > SPIN {
        clock::sleep_until(Nanos((due.0 - SPIN).min(now.0 + LOOK_UP)));
        return clock::now();
    }
    while now < due {
        std::hint::spin_loop();
        now = clock::now();
    }
    now
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

    /// Accepts a few frames per call, and refuses every hundredth.
    #[derive(Default)]
    struct Paper {
        waiting: usize,
        taken: usize,
    }

    impl Port for Paper {
        fn room(&mut self, _: usize) -> usize {
            20 - self.waiting
        }

        fn put(&mut self, write: impl FnOnce(&mut [u8]) -> usize) {
            assert_eq!(write(&mut [0; 2048]), 60);
            self.waiting += 1;
        }

        fn flush(&mut self) -> Result<Flushed, EngineError> {
            let taken = self.waiting.min(7).min(100 - self.taken % 100);
            self.waiting -= taken;
            self.taken += taken;
            Ok(Flushed { taken, refused: taken > 0 && self.taken.is_multiple_of(100) })
        }
    }

    fn sent(job: &Job) -> Sent {
        let progress = AtomicU64::new(0);
        let sent = run(job, &mut [Paper::default()], &AtomicBool::new(false), &progress).expect("paper is patient");
        assert_eq!(progress.into_inner(), sent.streams.iter().map(|stream| stream.frames).sum::<u64>());
        sent
    }

    #[test]
    fn as_many_frames_leave_as_were_asked_for_and_refused_ones_are_told() {
        let job = Job { most: Some(1001), ..fixture::job(&["flat out", "flat out"]) };
        let streams = sent(&job).streams;
        let sum = |of: fn(&SentStream) -> u64| streams.iter().map(of).sum::<u64>();
        assert_eq!((sum(|it| it.frames), sum(|it| it.refused), sum(|it| it.numbered[0].1)), (991, 10, 1001));
        assert_eq!(streams.iter().map(|it| it.numbered[0].0).collect::<Vec<_>>(), [0, 1]);
        assert!(streams.iter().all(|it| it.frames.abs_diff(495) < 12 && it.bytes == it.frames * 64), "{streams:?}");
    }

    #[test]
    fn a_rate_is_kept_for_the_time() {
        let job = Job { duration: Nanos(100_000_000), ..fixture::job(&["10 kpps"]) };
        let stream = sent(&job).streams.remove(0);
        let scheduled = stream.frames + stream.refused + stream.given_up.0.div_ceil(100_000);
        assert!(scheduled.abs_diff(1000) <= 2, "{scheduled}");
        let pacing = stream.pacing.expect("paced");
        assert_eq!((pacing.intended_gap_ns, pacing.gaps.len() + 1), (100_000.0, stream.numbered[0].1));
    }

    #[test]
    fn whoever_stops_it_does_not_wait_for_the_end() {
        let job = Job { duration: Nanos(3600 * 1_000_000_000), ..fixture::job(&["1 pps"]) };
        let (stop, began) = (AtomicBool::new(false), clock::now());
        thread::scope(|scope| {
            let sender = scope.spawn(|| run(&job, &mut [Paper::default()], &stop, &AtomicU64::new(0)));
            stop.store(true, Relaxed);
            sender.join().expect("no panic").expect("it stops");
        });
        assert!(clock::now().0 - began.0 < 5_000_000_000);
    }
}
