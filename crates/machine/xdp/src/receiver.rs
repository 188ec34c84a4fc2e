//! Counts numbered frames in the driver of an interface (XDP), and passes other frames to the kernel.

use std::{collections::HashMap, os::fd::OwnedFd};

use aya::{EbpfLoader, Pod, include_bytes_aligned};
use frame::{
    Compiled,
    tag::{WHOLE, upper_half},
};
use model::{IpVersion, Protocol};

use crate::{Error, Result, calls, load::Loaded};

/// Limit of numbered sequences per receiver.
pub const MOST_NUMBERED: usize = 1024;
/// Largest distance from the highest number at which duplicates are still detected.
pub const WINDOW: u64 = 16384;

const OBJECT: &[u8] = include_bytes_aligned!(concat!(env!("OUT_DIR"), "/receiver.bpf.o"));
const BUCKETS: usize = 1024;
const LAYOUTS: usize = 4;
/// `SPREAD` of receiver.bpf.c: the place of the owner where several CPUs receive.
const SPREAD: u32 = u32::MAX;

/// Options of a receiver.
#[derive(Clone, Debug)]
pub struct Options {
    /// Drawn for each trial.
    pub token: u32,
    /// The stream of each numbered sequence, in order of number.
    pub sequences: Vec<Compiled>,
    /// Whether to verify checksums.
    pub verify: bool,
    /// Whether each flow is a sequence of its own, so that reordering between flows does not count.
    pub per_flow: bool,
    /// Whether frames carry the number of the kernel's generator (pktgen), from 1, in place of a tag.
    ///
    /// Sequences differ by their source ports, which are consecutive. pktgen's number has no checksum.
    pub pktgen: bool,
    /// Whether to measure gaps between the frames of each sequence, at the cost of one clock reading per frame.
    pub gaps: bool,
    /// Whether the sender's payload is that of the sequences, so that frames can be compared with it.
    pub compare: bool,
}

/// `struct layout` of receiver.bpf.c: offsets in a frame.
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
    payload: u32,
}

/// `struct piece` of receiver.bpf.c.
#[repr(C, align(8))]
#[derive(Clone, Copy)]
struct Piece([u8; 64]);

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
    compare: u32,
    upper_half: u32,
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
    after_gap: u64,
    apart: [u64; 8],
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
    compared: u64,
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
// SAFETY: as above.
unsafe impl Pod for Piece {}

impl Piece {
    fn new(bytes: &[u8]) -> Self {
        let mut piece = Self([0; 64]);
        piece.0[..bytes.len()].copy_from_slice(bytes);
        piece
    }
}

/// Counters of one numbered sequence.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counted {
    /// Frames, each number once. Those too late to be checked count as received.
    pub frames: u64,
    /// One more than the highest number received; 0 without any, and if each flow is a sequence of its own.
    pub expected: u64,
    /// First number behind the last gap, 0 without a gap; `None` where several CPUs received at once, or flows are counted.
    pub after_gap: Option<u64>,
    /// Their bytes without FCS.
    pub bytes: u64,
    /// Further frames with a number that was already received.
    pub duplicated: u64,
    /// Frames received after one with a higher number (RFC 4737); also in `frames`.
    pub reordered: u64,
    /// Frames at least [`WINDOW`] behind the highest number; also in `frames`.
    pub late: u64,
    /// Frames with our magic and token but a wrong checksum; not in `frames`.
    pub corrupt: u64,
    /// Frames whose payload was compared with what was sent: one in 64 of those with more payload than a tag.
    pub compared: u64,
    /// One-way latency of frames that carried a timestamp.
    pub latency: Times,
    /// Gaps between consecutive arrivals; empty if not measured.
    pub gaps: Times,
    /// Receiving CPUs, with their frames.
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
    /// Count of each time, ascending, at a resolution of 1/32.
    pub counts: Vec<(u64, u64)>,
}

/// An attached receiver, until it is dropped.
pub struct Receiver {
    // Declared before the program: it is detached first.
    _link: OwnedFd,
    loaded: Loaded,
    numbered: usize,
    gaps: bool,
}

impl Receiver {
    /// Attaches to the driver of an interface of the caller's namespace.
    pub fn attach(interface: &str, options: &Options) -> Result<Self> {
        let numbered = options.sequences.len();
        fits("numbered sequences (streams times sending cores)", numbered, MOST_NUMBERED)?;
        let given = given(options)?;
        let (flows, payloads) = flows(options);
        let rounds = flows.last().map_or(1, |last| last.first + last.count);
        let mut loader = EbpfLoader::new();
        loader
            .override_global("GIVEN", &given, true)
            .map_max_entries("shares", numbered as u32)
            .map_max_entries("gaps", if options.gaps { numbered as u32 } else { 1 })
            .map_max_entries("windows", if options.per_flow { 1 } else { numbered as u32 })
            .map_max_entries("rounds", if options.per_flow { rounds } else { 1 })
            .map_max_entries("payloads", payloads.len().max(1) as u32);
        let mut loaded = Loaded::new("receive", &mut loader, OBJECT)?;
        loaded.set_each("payloads", &payloads)?;
        let mut all = [Flows { first: 0, count: 1, payload: 0 }; MOST_NUMBERED];
        all[..numbered].copy_from_slice(&flows);
        loaded.set_values(".bss.flows", &all)?;
        let link = loaded.with_program(|program| calls::attach(program, interface))??;
        Ok(Self { _link: link, loaded, numbered, gaps: options.gaps })
    }

    /// Current counters of each numbered sequence.
    pub fn read(&self) -> Result<Vec<Counted>> {
        let numbered = self.loaded.values::<Numbered, MOST_NUMBERED>(".bss.numbered")?;
        let counted = |(number, run): (usize, &Numbered)| {
            let shares = self.loaded.of_cpus::<Share>("shares", number as u32)?;
            let gaps = if self.gaps { self.loaded.of_cpus::<Noted>("gaps", number as u32)? } else { Vec::new() };
            Ok(counted(run, &shares, &gaps))
        };
        numbered[..self.numbered].iter().enumerate().map(counted).collect()
    }

    /// Other frames, passed to the kernel.
    pub fn others(&self) -> Result<u64> {
        Ok(self.loaded.of_cpus::<u64>("others", 0)?.iter().sum())
    }
}

/// Common properties of all frames, with which the verifier removes unused code.
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
        token: (options.token as u16).to_be(),
        verify: (options.verify && !options.pktgen).into(),
        per_flow: options.per_flow.into(),
        first_port: options.sequences.first().map_or(0, source_port),
        gaps: options.gaps.into(),
        compare: (options.compare && !options.pktgen).into(),
        upper_half: if options.pktgen { 0 } else { upper_half(options.token).into() },
    })
}

/// Source port of the first frame.
fn source_port(stream: &Compiled) -> u32 {
    stream
        .bytes
        .get(stream.offsets.l4..stream.offsets.l4 + 2)
        .map_or(0, |port| u32::from(port[0]) << 8 | u32::from(port[1]))
}

/// The whole tag comes first, because its token is checked.
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

/// Position of the flows and of the payload of each sequence, and all payloads. Equal ones have one position.
fn flows(options: &Options) -> (Vec<Flows>, Vec<Piece>) {
    let (mut first, mut pieces) = (0, Vec::new());
    let mut known: HashMap<&[u8], u32> = HashMap::new();
    let place = |stream| {
        let payload = *known.entry(behind_tag(stream)).or_insert_with_key(|bytes| {
            let at = pieces.len() as u32;
            pieces.extend(bytes.chunks(size_of::<Piece>()).map(Piece::new));
            at
        });
        let flows = Flows { first, count: stream.flows, payload };
        first += stream.flows;
        flows
    };
    let flows = options.sequences.iter().map(place).collect();
    (flows, pieces)
}

/// Bytes behind the whole tag in the longest frame.
fn behind_tag(stream: &Compiled) -> &[u8] {
    stream.bytes.get(stream.offsets.tag + WHOLE..).unwrap_or_default()
}

fn fits(what: &'static str, asked: usize, most: usize) -> Result<()> {
    if asked > most { Err(Error::TooMany { what, asked, most }) } else { Ok(()) }
}

/// Totals of a run over all CPUs.
fn counted(run: &Numbered, shares: &[Share], gaps: &[Noted]) -> Counted {
    let total = |of: fn(&Share) -> u64| shares.iter().map(of).sum::<u64>();
    let frames = run.frames + run.smallest;
    let in_run = |cpu: usize| if run.origin as usize == cpu + 1 { frames } else { 0 };
    let is_spread = run.owner == SPREAD && total(|share| share.reordered) > 0;
    let is_in_order = run.owner != 0 && !is_spread;
    let cpus = shares.iter().enumerate().map(|(cpu, share)| (cpu, share.frames + in_run(cpu)));
    Counted {
        frames: frames + total(|share| share.frames),
        expected: run.next.max(run.highest),
        after_gap: is_in_order.then_some(run.after_gap),
        bytes: run.bytes + 60 * run.smallest + total(|share| share.bytes),
        duplicated: total(|share| share.duplicated),
        reordered: total(|share| share.reordered),
        late: total(|share| share.late),
        corrupt: total(|share| share.corrupt),
        compared: total(|share| share.compared),
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

/// Lower bound of a bucket: 32 linear steps up to 32 ns, and in each octave above.
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
