//! The job of a sender, and its report.

use std::sync::atomic::{AtomicBool, AtomicU64};

use frame::Compiled;
use model::{
    BitRate, Nanos,
    stream::{Load, Rate},
};
use stats::TimeHistogram;

use crate::EngineError;

/// Packets to send.
#[derive(Clone, Debug)]
pub struct Job {
    /// The interface, in the caller's network namespace.
    pub interface: String,
    /// The streams, sent simultaneously. Stream `s` on core `c` has the number `first + s * cpus.len() + c` in its
    /// tags.
    pub streams: Vec<Compiled>,
    /// Number of the first sequence: other senders to the same receiver have lower ones.
    pub first: u16,
    /// Load of each stream.
    pub loads: Vec<Load>,
    /// Rate of the line, for loads that are a share of it.
    pub line: Option<BitRate>,
    /// Sending cores, a thread each, with equal shares of every stream's rate. Never empty.
    pub cpus: Vec<usize>,
    /// Drawn for this trial, and written to each tag as far as it has room.
    pub token: u32,
    /// Duration.
    pub duration: Nanos,
    /// Limit of frames of all streams together, if any.
    pub most: Option<u64>,
}

impl Job {
    /// The number in the tags of a stream from the core at this index of `cpus`.
    pub fn number(&self, stream: usize, core: usize) -> u16 {
        self.first + (stream * self.cpus.len() + core) as u16
    }

    /// The stream of each numbered sequence, in order of number, for the receiver.
    pub fn sequences(&self) -> Vec<Compiled> {
        let cores = self.cpus.len();
        self.streams.iter().flat_map(|stream| std::iter::repeat_n(stream.clone(), cores)).collect()
    }

    /// Requested frames per second of each stream, from all cores together; `None` is flat out.
    pub fn rates(&self) -> Result<Vec<Option<f64>>, EngineError> {
        let rate = |(stream, load): (&Compiled, &Load)| {
            if load.rate == Rate::Captured {
                return Ok(stream.replay.as_ref().and_then(|replay| replay.rate()));
            }
            load.rate.per_second(stream.mean_size(), self.line).map_err(|error| EngineError::Unable {
                what: format!("the rate of stream \"{}\"", stream.name),
                why: error.to_string(),
            })
        };
        self.streams.iter().zip(&self.loads).map(rate).collect()
    }

    /// Requested frames per second of all streams together; `None` if one is flat out.
    pub fn rate(&self) -> Result<Option<f64>, EngineError> {
        Ok(self.rates()?.into_iter().sum())
    }

    /// Mean of the requested frames per second of each stream, over the time in which it is sent.
    pub fn mean_rates(&self) -> Result<Vec<Option<f64>>, EngineError> {
        let mean = |(rate, load): (Option<f64>, &Load)| rate.map(|rate| rate * load.pacing.mean());
        Ok(self.rates()?.into_iter().zip(&self.loads).map(mean).collect())
    }

    /// Time in which this stream is sent.
    pub fn time(&self, stream: usize) -> Nanos {
        let left = Nanos(self.duration.0.saturating_sub(self.after(stream).0));
        self.loads[stream].time.map_or(left, |time| time.min(left))
    }

    /// Time from the beginning of the job to that of this stream.
    pub fn after(&self, stream: usize) -> Nanos {
        self.loads[stream].after.unwrap_or_default()
    }

    /// Limit of this stream's frames on one core; `rate` is that of all cores. The first cores take what cannot be shared.
    pub(crate) fn frames(&self, stream: usize, core: usize, rate: f64) -> u64 {
        let load = self.loads[stream];
        let Some(time) = load.time else { return u64::MAX };
        let (all, cores) = ((rate * load.pacing.mean() * time.as_secs_f64()).round() as u64, self.cpus.len() as u64);
        all / cores + u64::from((core as u64) < all % cores)
    }

    /// Bytes of the longest frame of all streams, without FCS.
    pub fn longest(&self) -> usize {
        self.streams.iter().map(Compiled::longest).max().unwrap_or(0)
    }
}

/// An engine that is ready to send.
pub trait Sender: Send {
    /// Sends until the job's time is over, its frames are sent, or `stop` is set.
    ///
    /// `progress` counts sent frames of all streams and cores.
    fn send(&mut self, stop: &AtomicBool, progress: &AtomicU64) -> Result<Sent, EngineError>;
}

/// Report of a sender.
#[derive(Clone, Debug, Default)]
pub struct Sent {
    /// Streams in the job's order.
    pub streams: Vec<SentStream>,
}

/// Report on one stream.
#[derive(Clone, Debug, Default)]
pub struct SentStream {
    /// Frames sent.
    pub frames: u64,
    /// Their bytes with FCS.
    pub bytes: u64,
    /// Time of the first and the last frame (`CLOCK_MONOTONIC`); `None` without any.
    pub span: Option<(Nanos, Nanos)>,
    /// Frames dropped at a full ring behind the interface. They have used a number, but do not count as sent.
    pub refused: u64,
    /// Time skipped in the schedule because the sender was too late, on all cores together.
    ///
    /// Its frames were never sent, which is no loss.
    pub given_up: Nanos,
    /// Numbers used of each sequence: the number in the tag, and the frames with it, including refused ones.
    pub numbered: Vec<(u16, u64)>,
    /// Accuracy of the schedule; `None` without one, or if not measured.
    pub pacing: Option<Pacing>,
}

/// Accuracy of a stream's schedule, by the sender's clock right before it passes a frame to the kernel.
#[derive(Clone, Debug)]
pub struct Pacing {
    /// Mean of the requested gaps on one core.
    pub intended_gap_ns: f64,
    /// Gaps between consecutive frames of one core.
    pub gaps: TimeHistogram,
    /// Deviation of each gap from the schedule's, in either direction.
    pub errors: TimeHistogram,
    /// Lateness of frames.
    pub behind: TimeHistogram,
}

impl Pacing {
    pub(crate) fn new(intended_gap_ns: f64) -> Self {
        let empty = TimeHistogram::new;
        Self { intended_gap_ns, gaps: empty(), errors: empty(), behind: empty() }
    }

    fn merge(&mut self, other: &Self) {
        self.gaps.merge(&other.gaps);
        self.errors.merge(&other.errors);
        self.behind.merge(&other.behind);
    }
}

impl SentStream {
    /// Adds another core's report on the same stream.
    pub fn merge(&mut self, other: Self) {
        self.frames += other.frames;
        self.bytes += other.bytes;
        self.refused += other.refused;
        self.given_up.0 += other.given_up.0;
        self.numbered.extend(other.numbered);
        self.span = match (self.span, other.span) {
            (Some(one), Some(two)) => Some((one.0.min(two.0), one.1.max(two.1))),
            (one, two) => one.or(two),
        };
        match (&mut self.pacing, other.pacing) {
            (Some(pacing), Some(more)) => pacing.merge(&more),
            (pacing, more) => *pacing = pacing.take().or(more),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_with_a_time_of_its_own_has_its_frames_and_no_more() {
        let job = Job { cpus: vec![0, 1], ..crate::fixture::job(&["1 kpps for 2001 ms", "1 kpps"]) };
        assert_eq!([0, 1].map(|core| job.frames(0, core, 1000.0)), [1001, 1000]);
        assert_eq!((job.frames(1, 0, 1000.0), job.time(1)), (u64::MAX, job.duration));
        assert_eq!(job.time(0), Nanos(2_001_000_000).min(job.duration));
    }

    #[test]
    fn what_two_cores_sent_is_added_up() {
        let core = |number, from, until| SentStream {
            frames: 10,
            bytes: 640,
            span: Some((Nanos(from), Nanos(until))),
            refused: 1,
            given_up: Nanos(5),
            numbered: vec![(number, 11)],
            pacing: None,
        };
        let mut both = core(0, 100, 200);
        both.merge(core(1, 90, 150));
        assert_eq!((both.frames, both.bytes, both.refused, both.given_up), (20, 1280, 2, Nanos(10)));
        assert_eq!((both.span, both.numbered), (Some((Nanos(90), Nanos(200))), vec![(0, 11), (1, 11)]));
        let mut none = SentStream::default();
        none.merge(core(0, 1, 2));
        assert_eq!(none.span, Some((Nanos(1), Nanos(2))));
    }
}
