//! Counts numbered frames in the driver of an interface (XDP), and passes on to the kernel what is not ours.

use std::os::fd::OwnedFd;

use aya::{EbpfLoader, Pod, include_bytes_aligned};
use frame::{Compiled, tag::WHOLE};
use model::{IpVersion, Protocol};

use crate::{Error, Result, calls, load::Loaded};

/// Numbered sequences that one receiver can have.
pub const MOST_NUMBERED: usize = 1024;
/// How far behind the highest number a frame is known as a duplicate, or as the first one, for certain.
pub const WINDOW: u64 = 16384;

const OBJECT: &[u8] = include_bytes_aligned!(concat!(env!("OUT_DIR"), "/receiver.bpf.o"));
const BUCKETS: usize = 1024;
const LAYOUTS: usize = 4;

/// What to receive.
#[derive(Clone, Debug)]
pub struct Options {
    /// Drawn for each trial.
    pub token: u16,
    /// Each numbered sequence, in the order of their numbers: the stream that it is of.
    pub sequences: Vec<Compiled>,
    /// Whether checksums are verified.
    pub verify: bool,
    /// Whether each flow is taken for a sequence of its own: then reordering between flows is none.
    pub per_flow: bool,
    /// Whether frames carry the number of the kernel's own generator, from 1, in the place of a tag. Several sequences are told apart by
    /// their source ports, which go up by one. It says nothing of a checksum.
    pub pktgen: bool,
    /// Whether the time between the frames of each sequence is taken, which costs a reading of the clock each.
    pub gaps: bool,
}

/// `struct layout` of receiver.bpf.c: where in a frame it finds what it needs.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Layout {
    form: u32,
    tag: u32,
    address: u32,
    transport: u32,
    protocol: u32,
}

/// `struct flows` of receiver.bpf.c.
#[repr(C)]
#[derive(Clone, Copy)]
struct Flows {
    first: u32,
    count: u32,
}

/// `struct given` of receiver.bpf.c.
#[repr(C)]
#[derive(Clone, Copy)]
struct Given {
    layouts: [Layout; LAYOUTS],
    different: u32,
    numbered: u32,
    length: u32,
    token: u16,
    verify: u16,
    per_flow: u32,
    first_port: u32,
    gaps: u32,
    reserved: u32,
}

/// `struct numbered` of receiver.bpf.c.
#[repr(C)]
#[derive(Clone, Copy)]
struct Numbered {
    next: u64,
    run: u64,
    frames: u64,
    bytes: u64,
    owner: u32,
    origin: u32,
    highest: u64,
    smallest: u64,
    apart: [u64; 9],
}

/// `struct share` of receiver.bpf.c.
#[repr(C)]
#[derive(Clone, Copy)]
struct Share {
    frames: u64,
    bytes: u64,
    duplicated: u64,
    reordered: u64,
    late: u64,
    corrupt: u64,
    latency: Noted,
}

/// `struct times` of receiver.bpf.c.
#[repr(C)]
#[derive(Clone, Copy)]
struct Noted {
    least: u64,
    longest: u64,
    sum: u64,
    counts: [u64; BUCKETS],
}

// SAFETY: plain integers without padding.
unsafe impl Pod for Given {}
// SAFETY: as above.
unsafe impl Pod for Numbered {}
// SAFETY: as above.
unsafe impl Pod for Share {}
// SAFETY: as above.
unsafe impl Pod for Noted {}
// SAFETY: as above.
unsafe impl Pod for Layout {}
// SAFETY: as above.
unsafe impl Pod for Flows {}

/// What was received of one numbered sequence.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counted {
    /// Frames, each number once. Those too late to tell count as received.
    pub frames: u64,
    /// One more than the highest number that came; 0 where none did, and where each flow is a sequence of its own.
    pub expected: u64,
    /// Their bytes without FCS.
    pub bytes: u64,
    /// Further frames of a number that was there already.
    pub duplicated: u64,
    /// Frames that came after one of a higher number (RFC 4737); in `frames` too.
    pub reordered: u64,
    /// Frames that came [`WINDOW`] or more behind the highest number; in `frames` too.
    pub late: u64,
    /// Frames with our magic and token whose checksum was wrong; not in `frames`.
    pub corrupt: u64,
    /// One-way times of those frames that carried one.
    pub latency: Times,
    /// Times between one frame and the next as they came; empty where they were not taken.
    pub gaps: Times,
    /// CPUs that received it, with their frames.
    pub cpus: Vec<(usize, u64)>,
}

/// A sample of times in ns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Times {
    /// Shortest, exactly.
    pub least: u64,
    /// Longest, exactly.
    pub longest: u64,
    /// Sum, exactly.
    pub sum: u64,
    /// How many there were of each time, ascending; times are told apart to 1/32.
    pub counts: Vec<(u64, u64)>,
}

/// A receiver at work; it is gone when dropped.
pub struct Receiver {
    // Before the program: detaching comes first.
    _link: OwnedFd,
    loaded: Loaded,
    numbered: usize,
    gaps: bool,
}

impl Receiver {
    /// Attaches it to the driver of an interface of the caller's namespace.
    pub fn attach(interface: &str, options: &Options) -> Result<Self> {
        let numbered = options.sequences.len();
        fits("numbered sequences (streams times sending cores)", numbered, MOST_NUMBERED)?;
        let given = given(options)?;
        let flows = flows(options);
        let rounds = flows.last().map_or(1, |last| last.first + last.count);
        let mut loader = EbpfLoader::new();
        loader
            .override_global("GIVEN", &given, true)
            .map_max_entries("shares", numbered as u32)
            .map_max_entries("gaps", if options.gaps { numbered as u32 } else { 1 })
            .map_max_entries("windows", if options.per_flow { 1 } else { numbered as u32 })
            .map_max_entries("rounds", if options.per_flow { rounds } else { 1 });
        let loaded = Loaded::new("receive", &mut loader, OBJECT)?;
        let mut all = [Flows { first: 0, count: 1 }; MOST_NUMBERED];
        all[..numbered].copy_from_slice(&flows);
        loaded.set_values(".bss.flows", &all)?;
        let link = loaded.with_program(|program| calls::attach(program, interface))??;
        Ok(Self { _link: link, loaded, numbered, gaps: options.gaps })
    }

    /// What came so far, a value for each numbered sequence.
    pub fn read(&self) -> Result<Vec<Counted>> {
        let numbered = self.loaded.values::<Numbered, MOST_NUMBERED>(".bss.numbered")?;
        let counted = |(number, run): (usize, &Numbered)| {
            let shares = self.loaded.of_cpus::<Share>("shares", number as u32)?;
            let gaps = if self.gaps { self.loaded.of_cpus::<Noted>("gaps", number as u32)? } else { Vec::new() };
            Ok(counted(run, &shares, &gaps))
        };
        numbered[..self.numbered].iter().enumerate().map(counted).collect()
    }

    /// Frames that were not ours, and went on to the kernel.
    pub fn others(&self) -> Result<u64> {
        Ok(self.loaded.of_cpus::<u64>("others", 0)?.iter().sum())
    }
}

/// What all frames have alike, for the verifier to take out the rest.
fn given(options: &Options) -> Result<Given> {
    let sizes = || options.sequences.iter().flat_map(|stream| &stream.sizes);
    let mut found: Vec<Layout> =
        options.sequences.iter().flat_map(|stream| layouts_of(stream, options.pktgen)).collect();
    found.sort();
    found.dedup();
    fits("layouts of frames (VLAN tags, IP version, protocol, form of the tag)", found.len(), LAYOUTS)?;
    let mut layouts = [Layout::default(); LAYOUTS];
    layouts[..found.len()].copy_from_slice(&found);
    let longest = sizes().map(|size| size.length).max().unwrap_or_default();
    let fixed = sizes().all(|size| size.length == longest);
    Ok(Given {
        layouts,
        different: found.len() as u32,
        numbered: options.sequences.len() as u32,
        length: if fixed { longest as u32 } else { 0 },
        token: options.token.to_be(),
        verify: (options.verify && !options.pktgen).into(),
        per_flow: options.per_flow.into(),
        first_port: options.sequences.first().map_or(0, source_port),
        gaps: options.gaps.into(),
        reserved: 0,
    })
}

/// Of the first frame.
fn source_port(stream: &Compiled) -> u32 {
    stream
        .bytes
        .get(stream.offsets.l4..stream.offsets.l4 + 2)
        .map_or(0, |port| u32::from(port[0]) << 8 | u32::from(port[1]))
}

/// The whole tag first: its token is looked at.
fn layouts_of(stream: &Compiled, pktgen: bool) -> Vec<Layout> {
    const PKTGEN: u32 = 2;
    let whole = |whole: bool| stream.sizes.iter().any(|size| (size.tag == WHOLE) == whole).then_some(whole);
    let layout = |whole: bool| Layout {
        form: if pktgen { PKTGEN } else { (!whole).into() },
        tag: stream.offsets.tag as u32,
        address: (stream.offsets.l3 + if stream.ip == IpVersion::V4 { 12 } else { 8 }) as u32,
        transport: stream.offsets.l4 as u32,
        protocol: if stream.protocol == Protocol::Udp { 17 } else { 6 },
    };
    [whole(true), whole(false)].into_iter().flatten().map(layout).collect()
}

/// Where the flows of each sequence are.
fn flows(options: &Options) -> Vec<Flows> {
    let mut first = 0;
    let place = |stream: &Compiled| {
        let flows = Flows { first, count: stream.flows };
        first += stream.flows;
        flows
    };
    options.sequences.iter().map(place).collect()
}

fn fits(what: &'static str, asked: usize, most: usize) -> Result<()> {
    if asked > most { Err(Error::TooMany { what, asked, most }) } else { Ok(()) }
}

/// A run and the shares of all CPUs, taken together.
fn counted(run: &Numbered, shares: &[Share], gaps: &[Noted]) -> Counted {
    let total = |of: fn(&Share) -> u64| shares.iter().map(of).sum::<u64>();
    let frames = run.frames + run.smallest;
    let in_run = |cpu: usize| if run.origin as usize == cpu + 1 { frames } else { 0 };
    let cpus = shares.iter().enumerate().map(|(cpu, share)| (cpu, share.frames + in_run(cpu)));
    Counted {
        frames: frames + total(|share| share.frames),
        expected: run.next.max(run.highest),
        bytes: run.bytes + 60 * run.smallest + total(|share| share.bytes),
        duplicated: total(|share| share.duplicated),
        reordered: total(|share| share.reordered),
        late: total(|share| share.late),
        corrupt: total(|share| share.corrupt),
        latency: times(shares.iter().map(|share| &share.latency)),
        gaps: times(gaps.iter()),
        cpus: cpus.filter(|(_, frames)| *frames > 0).collect(),
    }
}

fn times<'a>(noted: impl Iterator<Item = &'a Noted> + Clone) -> Times {
    let counts = (0..BUCKETS).map(|bucket| (shortest_of(bucket), noted.clone().map(|all| all.counts[bucket]).sum()));
    Times {
        least: noted.clone().map(|all| all.least).filter(|least| *least > 0).min().unwrap_or_default(),
        longest: noted.clone().map(|all| all.longest).max().unwrap_or_default(),
        sum: noted.clone().map(|all| all.sum).sum(),
        counts: counts.filter(|(_, count)| *count > 0).collect(),
    }
}

/// Where a bucket begins: 32 linear steps up to 32 ns, and in each octave above.
fn shortest_of(bucket: usize) -> u64 {
    match bucket / 32 {
        0 => bucket as u64,
        octave => (32 + bucket as u64 % 32) << (octave - 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_follow_on_each_other() {
        let begins: Vec<u64> = (0..BUCKETS).map(shortest_of).collect();
        assert_eq!(begins[..34], (0..34).collect::<Vec<u64>>());
        assert!(begins.windows(2).all(|two| two[0] < two[1] && (two[1] - two[0]) * 32 <= two[1].max(32)));
    }
}
