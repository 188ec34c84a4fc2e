//! Sends numbered frames by BPF_PROG_RUN's live frames: a program writes each, and a device map takes it to the driver.

mod entries;

use std::{io, time::Duration};

use aya::{EbpfLoader, include_bytes_aligned, maps::xdp::DevMap};
use frame::Compiled;

use self::entries::{Given, ProgressEntry, ProgressSection, STREAMS, Tables, given, zeroed};
use crate::{
    Error, Result, calls,
    load::{Loaded, failed},
};

/// Largest frame without FCS: what fits into a page beside what the kernel keeps in it.
pub const LARGEST_FRAME: usize = 3496;

const NAME: &str = "send";
const OBJECT: &[u8] = include_bytes_aligned!(concat!(env!("OUT_DIR"), "/sender.bpf.o"));
/// Steps of the exponential distribution, as in sender.bpf.c.
const CHANCES: usize = 1024;

/// A stream as one core sends it.
#[derive(Clone, Debug)]
pub struct Stream<'a> {
    /// Its frames.
    pub compiled: &'a Compiled,
    /// Number in the tag.
    pub number: u16,
    /// At which moments; `None` is flat out.
    pub pace: Option<Pace>,
}

/// At which moments frames leave.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    /// Mean time from a frame to the next one, in 2⁻¹⁶ ns.
    pub gap: u64,
    /// Frames that leave back to back; 0 is by chance (exponential gaps).
    pub burst: u32,
}

/// What holds for all streams of a core.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Drawn for each trial.
    pub token: u16,
    /// Time is taken of each frame whose number is a multiple of this, a power of two.
    pub time_every: u64,
    /// Ends by itself after this time.
    pub duration: Duration,
    /// Frames of all streams that may be sent.
    pub most: u64,
}

/// How far a stream is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Frames that were numbered and given to the driver.
    pub frames: u64,
    /// Their bytes without FCS.
    pub bytes: u64,
    /// When the first one left, CLOCK_MONOTONIC in ns.
    pub first: u64,
    /// When the last one left whose time was taken.
    pub last: u64,
    /// Number of that one.
    pub last_sequence: u64,
    /// When the next one is due, in ns since the first call.
    pub due: u64,
    /// Schedule that was given up because the sender was too late to catch up, in ns.
    pub given_up: u64,
}

/// The program of one sending core.
pub struct Sender {
    loaded: Loaded,
    given: Given,
    /// What the kernel puts into its pages before the program writes to them.
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
        sender.fill(&tables, options.most)?;
        Ok(sender)
    }

    fn fill(&self, tables: &Tables, most: u64) -> Result<()> {
        let mut progress: ProgressSection = zeroed();
        progress.left = most;
        for stream in &mut progress.streams {
            stream.most = most;
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

    /// Has the program run so often in the calling thread, on the core that it is on. `false` where a signal ended it early.
    pub fn run(&self, repeat: u32, batch: u32) -> Result<bool> {
        self.loaded.with_program(|program| calls::run_live(program, &self.frame, repeat, batch))?.map_err(cannot_run)
    }

    /// How far each stream is; may be read while it runs.
    pub fn progress(&self) -> Result<Vec<Progress>> {
        let section = self.loaded.values::<ProgressSection, 1>(".bss.progress")?;
        let streams = &section[0].streams[..(self.given.streams as usize).min(STREAMS)];
        Ok(streams.iter().map(|entry| self.progress_of(entry)).collect())
    }

    /// Whether the interface went away, from when on nothing is sent.
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

/// Whether it is one stream of the smallest frames of IPv4 and UDP, flat out, for which there is a program of its own.
fn is_smallest(given: &Given) -> bool {
    let alike =
        (given.streams, given.longest, given.fixed, given.tag, given.checksum, given.whole) == (1, 60, 1, 42, 40, 1);
    alike && given.varies == 0 && given.paced == 0
}

/// The exponential distribution of mean 1, in 2⁻¹⁶: the mean of each of so many equal shares, as −ln of their middle. Their own mean is
/// made 1 again, so that the rate is met.
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
