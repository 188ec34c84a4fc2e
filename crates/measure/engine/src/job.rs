//! What a sender is asked for, and what it says it did.

use std::sync::atomic::{AtomicBool, AtomicU64};

use frame::Compiled;
use model::{
    BitRate, Nanos,
    stream::{Load, Rate},
};
use stats::TimeHistogram;

use crate::EngineError;

/// What is to be sent.
#[derive(Clone, Debug)]
pub struct Job {
    /// The interface, in the caller's network namespace.
    pub interface: String,
    /// The streams, which all leave at the same time. Stream `s` on core `c` has the number `first + s * cpus.len() + c` in its tags.
    pub streams: Vec<Compiled>,
    /// Number of the first sequence: other senders to the same receiver have those below.
    pub first: u16,
    /// How each of them is paced; one for each stream.
    pub loads: Vec<Load>,
    /// The line's rate, for loads that are a share of it.
    pub line: Option<BitRate>,
    /// Cores to send from, one thread each. Each takes its share of every stream's rate. Never empty.
    pub cpus: Vec<usize>,
    /// Drawn for this trial; written into each whole tag.
    pub token: u16,
    /// How long.
    pub duration: Nanos,
    /// Most frames of all streams together, where fewer than the time allows are wanted.
    pub most: Option<u64>,
}

impl Job {
    /// The number in the tags of a stream that leaves from the core at this place of `cpus`.
    pub fn number(&self, stream: usize, core: usize) -> u16 {
        self.first + (stream * self.cpus.len() + core) as u16
    }

    /// The stream that each numbered sequence is of, in the order of the numbers: what a receiver has to know.
    pub fn sequences(&self) -> Vec<Compiled> {
        let cores = self.cpus.len();
        self.streams.iter().flat_map(|stream| std::iter::repeat_n(stream.clone(), cores)).collect()
    }

    /// Frames a second asked for of each stream, from all cores together; `None` is flat out.
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

    /// Bytes of the longest frame of all streams, without FCS.
    pub fn longest(&self) -> usize {
        self.streams.iter().map(Compiled::longest).max().unwrap_or(0)
    }
}

/// Something that sends.
pub trait Sender: Send {
    /// Sends from now until the job's time is over, its frames are sent, or `stop` is set. `progress` is the number of frames
    /// that left so far, of all streams and cores.
    fn send(&mut self, stop: &AtomicBool, progress: &AtomicU64) -> Result<Sent, EngineError>;
}

/// What was sent.
#[derive(Clone, Debug, Default)]
pub struct Sent {
    /// Of each stream, in the job's order.
    pub streams: Vec<SentStream>,
}

/// What was sent of one stream.
#[derive(Clone, Debug, Default)]
pub struct SentStream {
    /// Frames that left.
    pub frames: u64,
    /// Their bytes with FCS.
    pub bytes: u64,
    /// When the first and the last of them left (`CLOCK_MONOTONIC`); `None` where none did.
    pub span: Option<(Nanos, Nanos)>,
    /// Frames that found the ring behind the interface full and were dropped there: they have used up a number, and are not among
    /// those that left.
    pub refused: u64,
    /// Schedule that was given up because the sender was too late to catch up, on all cores together. What should have left in it was
    /// not sent, which is no loss.
    pub given_up: Nanos,
    /// Numbers that were used of each sequence: the number in the tag, and how many frames, refused ones among them.
    pub numbered: Vec<(u16, u64)>,
    /// How the schedule was kept; `None` where there was none, or where it was not measured.
    pub pacing: Option<Pacing>,
}

/// How the schedule of a stream was kept, by the sender's clock right before it hands a frame to the kernel.
#[derive(Clone, Debug)]
pub struct Pacing {
    /// Mean time between frames that was asked for, on one core.
    pub intended_gap_ns: f64,
    /// Times between two frames of one core.
    pub gaps: TimeHistogram,
    /// By how much each of those times differed from the schedule's own, shorter or longer.
    pub errors: TimeHistogram,
    /// How late frames were.
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
    /// Adds what another core sent of the same stream.
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
