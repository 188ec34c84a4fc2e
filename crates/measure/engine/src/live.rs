//! Live frames: BPF programs, with a thread and a core each, write every frame and pass it to the driver.
//!
//! The fastest engine, but unsuitable for latency: frames are sent in batches. Over veth, the receiver runs in the
//! sender's system call between batches.

use std::{
    sync::{
        Barrier,
        atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
        mpsc,
    },
    thread::{self, ScopedJoinHandle},
    time::Duration,
};

use frame::tag::upper_half;
use kernel::{clock, cpu, ethtool, link};
use model::{Engine, Nanos, frame_size::FCS, stream::Pacing};
use xdp::{
    Pass, RedirectError,
    interrupt::Interruptible,
    sender::{Options, Pace, Progress, Sender as Program, Stream},
};

use crate::{EngineError, Job, Sender, Sent, SentStream, pump::most};

/// Frames per batch in the kernel. A veth's ring holds 256, and its receiver takes at least 64 between batches, so no
/// batch finds it full.
///
/// Larger batches are no faster, because frames leave the cache before they are received.
const BATCH: u32 = 64;

/// Frames of one call, since each call allocates pages anew (24 ms): longer than any trial, as a signal ends it.
const ENDLESS: u32 = u32::MAX;

/// Interval of progress updates and stop checks.
const LOOK: Duration = Duration::from_millis(10);

/// More frames than the batches of all cores hold: some have reached the driver.
const ENOUGH: u64 = 10_000;

/// Time for a card to regain its link.
const LINK: u64 = 10_000_000_000;

/// The program ends at the job's time by itself, unless it waits for the next frame's.
const GRACE: u64 = 20_000_000;

/// Sends a job by live frames.
pub struct Live {
    job: Job,
    cores: Vec<Program>,
    /// XDP program that the driver requires before it sends for XDP; `None` if one is attached or none is needed.
    _pass: Option<Pass>,
}

impl Live {
    /// Loads programs for an interface of the caller's namespace whose driver has native XDP.
    ///
    /// Every `time_every`-th frame, rounded up to a power of two, is timestamped. 1 means all, which costs a third of
    /// the rate.
    pub fn new(job: Job, time_every: u64) -> Result<Self, EngineError> {
        let cores = (0..job.cpus.len()).map(|core| program(&job, core, time_every)).collect::<Result<_, _>>()?;
        let pass = pass(&job.interface)?;
        Ok(Self { job, cores, _pass: pass })
    }

    fn progress(&self) -> Result<Vec<Vec<Progress>>, EngineError> {
        Ok(self.cores.iter().map(Program::progress).collect::<Result<_, _>>()?)
    }

    /// Returns when all is sent, the time is over, or `stop` is set.
    fn watch(&self, taken_before: Option<u64>, stop: &AtomicBool, progress: &AtomicU64) -> Result<(), EngineError> {
        let mut proven = false;
        let end = clock::now().0.saturating_add(self.job.duration.0).saturating_add(GRACE);
        let wanted = self.job.most.unwrap_or(u64::MAX);
        loop {
            thread::sleep(LOOK);
            self.check()?;
            let frames = self.progress()?.concat().iter().map(|stream| stream.frames).sum();
            progress.store(frames, Relaxed);
            if !proven && frames > ENOUGH {
                self.prove(frames, taken_before)?;
                proven = true;
            }
            if frames >= wanted || stop.load(Relaxed) || clock::now().0 > end {
                return Ok(());
            }
        }
    }

    /// Checks that the interface still exists.
    fn check(&self) -> Result<(), EngineError> {
        for core in &self.cores {
            if core.is_gone()? {
                return Err(EngineError::Unable {
                    what: format!("the rest of what was to be sent from interface {}", self.job.interface),
                    why: "the interface went away meanwhile; look into the kernel's log for why".to_owned(),
                });
            }
        }
        Ok(())
    }

    /// Checks a job that ended before it had sent enough for the check.
    fn prove_all(&self, taken_before: Option<u64>) -> Result<(), EngineError> {
        match self.progress()?.concat().iter().map(|stream| stream.frames).sum() {
            0 => Ok(()),
            frames => self.prove(frames, taken_before),
        }
    }

    /// Checks that frames are sent: drivers drop silently.
    fn prove(&self, frames: u64, taken_before: Option<u64>) -> Result<(), EngineError> {
        let interface = &self.job.interface;
        if taken(interface).is_none() || taken(interface) > taken_before {
            return Ok(());
        }
        Err(EngineError::NothingLeft {
            engine: Engine::Live,
            why: format!(
                "{interface} took none of the first {frames} frames; of a veth pair the other end has to receive by NAPI (an XDP \
                 program there, or \"ethtool -K INTERFACE gro on\"), of a card its own driver may want an XDP program: use \
                 engine xsk or af_packet"
            ),
        })
    }

    fn sent(&self, taken: Option<u64>, ended_by_time: bool) -> Result<Sent, EngineError> {
        let cores = self.progress()?;
        let all: u64 = cores.concat().iter().map(|progress| progress.frames).sum();
        let mut streams = vec![SentStream::default(); self.job.streams.len()];
        for (core, progress) in cores.iter().enumerate() {
            for (index, (sum, progress)) in streams.iter_mut().zip(progress).enumerate() {
                let end = self.job.after(index).0 + self.job.time(index).0;
                let overdue = if ended_by_time { end.saturating_sub(progress.due) } else { 0 };
                sum.merge(SentStream {
                    frames: progress.frames,
                    bytes: progress.bytes + progress.frames * u64::from(FCS),
                    span: span(progress),
                    given_up: Nanos(progress.given_up + if self.is_paced(index) { overdue } else { 0 }),
                    numbered: vec![(self.job.number(index, core), progress.frames)],
                    ..SentStream::default()
                });
            }
        }
        let refused = all - taken.unwrap_or(all).min(all);
        for stream in &mut streams {
            // The driver does not distinguish streams.
            stream.refused = (u128::from(refused) * u128::from(stream.frames) / u128::from(all.max(1))) as u64;
            stream.bytes -=
                (u128::from(stream.bytes) * u128::from(stream.refused) / u128::from(stream.frames.max(1))) as u64;
            stream.frames -= stream.refused;
        }
        Ok(Sent { streams })
    }

    fn is_paced(&self, stream: usize) -> bool {
        self.job.rates().is_ok_and(|rates| rates[stream].is_some())
    }
}

impl Sender for Live {
    fn send(&mut self, stop: &AtomicBool, progress: &AtomicU64) -> Result<Sent, EngineError> {
        let taken_before = taken(&self.job.interface);
        let over = AtomicBool::new(false);
        let start = Barrier::new(self.cores.len());
        let (tell, told) = mpsc::channel();
        thread::scope(|scope| {
            let threads: Vec<_> = self
                .cores
                .iter()
                .zip(&self.job.cpus)
                .map(|(program, cpu)| {
                    let (tell, over, start) = (tell.clone(), &over, &start);
                    scope.spawn(move || run(program, *cpu, over, start, &tell))
                })
                .collect();
            let interruptible: Vec<Interruptible> = told.iter().take(threads.len()).collect();
            let watched = self.watch(taken_before, stop, progress);
            over.store(true, Relaxed);
            end(&threads, &interruptible);
            for thread in threads {
                thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
            }
            watched
        })?;
        self.prove_all(taken_before)?;
        let taken = taken(&self.job.interface).zip(taken_before).map(|(after, before)| after - before);
        let sent = self.sent(taken, !stop.load(Relaxed))?;
        progress.store(sent.streams.iter().map(|stream| stream.frames).sum(), Relaxed);
        Ok(sent)
    }
}

/// An XDP program for the interface, if its driver may require one. The card is reset then, and its link returns later.
fn pass(interface: &str) -> Result<Option<Pass>, EngineError> {
    if ethtool::driver(interface).is_ok_and(|driver| driver.name == "veth") {
        return Ok(None);
    }
    let was_up = is_up(interface)?;
    let pass = match Pass::attach(interface) {
        // A receiver's program will do.
        Err(RedirectError::Busy(_)) => return Ok(None),
        pass => pass?,
    };
    let until = clock::now().0 + LINK;
    while was_up && !is_up(interface)? && clock::now().0 < until {
        thread::sleep(LOOK);
    }
    Ok(Some(pass))
}

fn is_up(interface: &str) -> Result<bool, EngineError> {
    Ok(link::list()?.iter().any(|link| link.name == interface && link.operstate == "up"))
}

/// The program of the core at this index of the job's.
fn program(job: &Job, core: usize, time_every: u64) -> Result<Program, EngineError> {
    let rates = job.rates()?;
    let stream = |(index, compiled)| Stream {
        compiled,
        number: job.number(index, core) ^ upper_half(job.token),
        pace: rates[index].map(|rate| Pace {
            gap: (job.cpus.len() as f64 * 1e9 * 65536.0 / rate).round() as u64,
            burst: match job.loads[index].pacing {
                Pacing::Constant | Pacing::Ramp => 1,
                Pacing::Burst(frames) => frames.get(),
                Pacing::Poisson => 0,
            },
            most: job.frames(index, core, rate),
            after: in_fractions(job.after(index)),
            ramp: if job.loads[index].pacing == Pacing::Ramp { in_fractions(job.time(index)) } else { 0 },
        }),
    };
    let streams: Vec<Stream<'_>> = job.streams.iter().enumerate().map(stream).collect();
    let options = Options {
        token: job.token as u16,
        time_every: time_every.next_power_of_two(),
        duration: Duration::from_nanos(job.duration.0),
        most: most(job, core),
    };
    Ok(Program::load(&job.interface, &streams, &options)?)
}

/// In 2⁻¹⁶ ns.
fn in_fractions(time: Nanos) -> u64 {
    time.0 << 16
}

/// Runs the program of one core until its end.
fn run(
    program: &Program,
    cpu: usize,
    over: &AtomicBool,
    start: &Barrier,
    tell: &mpsc::Sender<Interruptible>,
) -> Result<(), EngineError> {
    let pinned = cpu::pin_current_thread(cpu);
    // The receiver takes one message per thread.
    let _ = tell.send(Interruptible::current());
    start.wait();
    pinned?;
    while !over.load(Relaxed) {
        program.run(ENDLESS, BATCH)?;
    }
    Ok(())
}

/// Interrupts the threads' system calls.
fn end<T>(threads: &[ScopedJoinHandle<'_, T>], interruptible: &[Interruptible]) {
    // A signal just before the call has no effect: it is repeated until all threads have ended.
    while !threads.iter().all(ScopedJoinHandle::is_finished) {
        for thread in interruptible {
            // It fails only for a thread that has ended.
            let _ = thread.interrupt();
        }
        thread::sleep(Duration::from_millis(1));
    }
}

/// Time of the first and the last frame. The latter is extrapolated by the mean rate, as not every frame is
/// timestamped.
fn span(progress: &Progress) -> Option<(Nanos, Nanos)> {
    let since = progress.frames.checked_sub(1)?.saturating_sub(progress.last_sequence);
    let more = ((progress.last - progress.first) * since).checked_div(progress.last_sequence).unwrap_or_default();
    Some((Nanos(progress.first), Nanos(progress.last + more)))
}

/// Frames that the driver has accepted from XDP; `None` if it does not count them.
///
/// It drops others silently: the ring was full, the link is down, the frame exceeds the MTU, or a veth's peer does not
/// receive XDP frames.
fn taken(interface: &str) -> Option<u64> {
    let counters = ethtool::statistics(interface).ok()?;
    let taken: Vec<u64> =
        counters.iter().filter(|(name, _)| name.ends_with("xdp_xmit")).map(|(_, frames)| *frames).collect();
    (!taken.is_empty()).then(|| taken.iter().sum())
}
