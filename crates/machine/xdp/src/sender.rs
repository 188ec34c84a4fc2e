//! Sends numbered frames as live frames of BPF_PROG_RUN: a program writes each, and a device map passes it to the
//! driver.

mod entries;

use std::{io, time::Duration};

use aya::{EbpfLoader, include_bytes_aligned, maps::xdp::DevMap};
use frame::Compiled;

use self::entries::{Given, ProgressEntry, ProgressSection, STREAMS, Tables, given, zeroed};
use crate::{
    Error, Result, calls,
    load::{Loaded, failed},
};

/// Largest frame without FCS that fits into a page beside the kernel's data.
pub const LARGEST_FRAME: usize = 3496;

const NAME: &str = "send";
const OBJECT: &[u8] = include_bytes_aligned!(concat!(env!("OUT_DIR"), "/sender.bpf.o"));
/// Steps of the exponential distribution, as in sender.bpf.c.
const CHANCES: usize = 1024;

/// A stream of one core.
#[derive(Clone, Debug)]
pub struct Stream<'a> {
    /// Frames.
    pub compiled: &'a Compiled,
    /// Number in the tag.
    pub number: u16,
    /// Pacing; `None`: back to back.
    pub pace: Option<Pace>,
}

/// Pacing of a stream.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    /// Mean gap between frames, in 2⁻¹⁶ ns.
    pub gap: u64,
    /// Frames sent back to back; 0: exponential gaps.
    pub burst: u32,
    /// Limit of frames of this stream.
    pub most: u64,
    /// Time from the first call to the first frame, in 2⁻¹⁶ ns.
    pub after: u64,
    /// Time in which the rate doubles ten times, in 2⁻¹⁶ ns; 0: never.
    pub ramp: u64,
}

/// Options of all streams of a core.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Drawn for each trial.
    pub token: u16,
    /// Frames whose number is a multiple of this power of two carry a timestamp.
    pub time_every: u64,
    /// Time after which sending stops.
    pub duration: Duration,
    /// Limit of frames of all streams.
    pub most: u64,
}

/// Progress of a stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Frames numbered and passed to the driver.
    pub frames: u64,
    /// Their bytes without FCS.
    pub bytes: u64,
    /// Time of the first frame, CLOCK_MONOTONIC in ns.
    pub first: u64,
    /// Time of the last timestamped frame.
    pub last: u64,
    /// Number of that frame.
    pub last_sequence: u64,
    /// Due time of the next frame, in ns since the first call.
    pub due: u64,
    /// Time that was skipped in the schedule because the sender was too late, in ns.
    pub given_up: u64,
}

/// The program of a sending core.
pub struct Sender {
    loaded: Loaded,
    given: Given,
    /// Initial contents of the kernel's pages.
    frame: Vec<u8>,
}

impl Sender {
    /// Loads the program for an interface of the caller's namespace.
    pub fn load(interface: &str, streams: &[Stream<'_>], options: &Options) -> Result<Self> {
        let index = calls::index_of(interface)?;
        let (every, duration) = (options.time_every - 1, options.duration.as_nanos() as u64);
        let given = Given { every, duration, ..given(streams, options.token)? };
        let tables = Tables::of(streams)?;
        let name = if is_smallest(&given) { "send_smallest" } else { NAME };
        let mut loaded = Loaded::new(name, EbpfLoader::new().override_global("GIVEN", &given, true), OBJECT)?;
        let mut port = DevMap::try_from(loaded.map("port")?).map_err(|error| failed(NAME, &error))?;
        port.set(0, index, None, 0).map_err(|error| failed(NAME, &error))?;
        let sender = Self { loaded, given, frame: vec![0; given.longest as usize] };
        sender.fill(&tables, options.most, streams)?;
        Ok(sender)
    }

    fn fill(&self, tables: &Tables, most: u64, streams: &[Stream<'_>]) -> Result<()> {
        let mut progress: ProgressSection = zeroed();
        progress.left = most;
        for (at, stream) in progress.streams.iter_mut().zip(streams) {
            at.most = stream.pace.map_or(most, |pace| most.min(pace.most));
            at.due = stream.pace.map_or(0, |pace| pace.after);
        }
        self.loaded.set_values(".bss.streams", &tables.streams)?;
        self.loaded.set_values(".bss.sizes", &tables.sizes)?;
        self.loaded.set_values(".bss.cycle", &tables.cycle)?;
        self.loaded.set_values(".bss.tables", &tables.table)?;
        self.loaded.set_values(".bss.chances", &chances())?;
        let token = u64::from(self.given.token.to_be());
        self.loaded.set_values(".bss.plain", &[token, token + u64::from(tables.sizes[0].transport_sum)])?;
        self.loaded.set_values(".bss.progress", &[progress])
    }

    /// Runs the program `repeat` times on the calling thread's core. `false` if a signal ended it early.
    pub fn run(&self, repeat: u32, batch: u32) -> Result<bool> {
        self.loaded.with_program(|program| calls::run_live(program, &self.frame, repeat, batch))?.map_err(cannot_run)
    }

    /// Progress of each stream; readable during a run.
    pub fn progress(&self) -> Result<Vec<Progress>> {
        let section = self.loaded.values::<ProgressSection, 1>(".bss.progress")?;
        let streams = &section[0].streams[..(self.given.streams as usize).min(STREAMS)];
        Ok(streams.iter().map(|entry| self.progress_of(entry)).collect())
    }

    /// Whether the interface no longer exists; then nothing is sent any more.
    pub fn is_gone(&self) -> Result<bool> {
        Ok(self.loaded.values::<ProgressSection, 1>(".bss.progress")?[0].gone != 0)
    }

    fn progress_of(&self, entry: &ProgressEntry) -> Progress {
        let fixed = entry.sequence * u64::from(self.given.longest);
        Progress {
            frames: entry.sequence,
            bytes: if self.given.fixed == 1 { fixed } else { entry.bytes },
            first: entry.first,
            last: entry.last,
            last_sequence: entry.last_sequence,
            due: entry.due >> 16,
            given_up: entry.given_up >> 16,
        }
    }
}

/// Whether it is a single back-to-back stream of the smallest IPv4 and UDP frames, which has its own program.
fn is_smallest(given: &Given) -> bool {
    let alike =
        (given.streams, given.longest, given.fixed, given.tag, given.checksum, given.whole) == (1, 60, 1, 42, 40, 1);
    alike && given.varies == 0 && given.paced == 0
}

/// Exponential distribution with mean 1, in 2⁻¹⁶: −ln of the middle of equal shares.
///
/// The values are scaled to a mean of exactly 1, which keeps the rate.
fn chances() -> Vec<u32> {
    let middles = (0..CHANCES).map(|share| -((share as f64 + 0.5) / CHANCES as f64).ln());
    let mean = middles.clone().sum::<f64>() / CHANCES as f64;
    middles.map(|middle| (middle / mean * 65536.0).round() as u32).collect()
}

pub(crate) fn cannot_run(io: io::Error) -> Error {
    match io.raw_os_error() {
        Some(libc::EINVAL) => Error::NoLiveFrames,
        Some(libc::EPERM) => Error::Denied("sending live frames"),
        _ => Error::Call { call: "bpf(BPF_PROG_RUN)", what: "live frames".to_owned(), io },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_by_chance_meet_the_rate() {
        let chances = chances();
        let mean = chances.iter().map(|chance| f64::from(*chance)).sum::<f64>() / CHANCES as f64 / 65536.0;
        assert!((mean - 1.0).abs() < 1e-4, "{mean}");
        assert!(chances[0] > 6 * 65536 && chances[CHANCES - 1] < 65536 / 100);
    }
}
