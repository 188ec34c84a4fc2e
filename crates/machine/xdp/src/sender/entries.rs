//! Data of sender.bpf.c in its maps, built from compiled streams.

use aya::Pod;
use frame::{Compiled, Sequence, Size, Variation, tag::WHOLE};
use model::Protocol;

use super::{LARGEST_FRAME, Stream};
use crate::{Error, Result};

pub(super) const STREAMS: usize = 16;
pub(super) const SIZES: usize = 4096;
pub(super) const CYCLE: usize = 4096;
pub(super) const TABLE: usize = 4096;
pub(super) const VARIATIONS: usize = 16;

/// `struct given`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct Given {
    pub(super) streams: u32,
    pub(super) longest: u32,
    pub(super) head: u32,
    pub(super) fixed: u32,
    pub(super) tag: u32,
    pub(super) checksum: u32,
    pub(super) varies: u32,
    pub(super) paced: u32,
    pub(super) by_chance: u32,
    pub(super) whole: u16,
    pub(super) token: u16,
    pub(super) every: u64,
    pub(super) duration: u64,
}

/// `struct size`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct SizeEntry {
    length: u16,
    ip_length: u16,
    udp_length: u16,
    ip_sum: u16,
    pub(super) transport_sum: u16,
    whole: u16,
}

/// `struct variation`.
#[repr(C)]
#[derive(Clone, Copy)]
struct VariationEntry {
    offset: u16,
    four: u16,
    in_ip: u16,
    in_transport: u16,
    kind: u32,
    divisor: u32,
    count: u32,
    first: u32,
    step: u32,
    reserved: u32,
    span: u64,
}

/// `struct stream`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct StreamEntry {
    number: u16,
    tag: u16,
    checksum: u16,
    tcp: u16,
    ip_length: u16,
    ip_checksum: u16,
    udp_length: u16,
    cycle: u16,
    cycles: u32,
    variations: u32,
    flows: u32,
    burst: u32,
    gap: u64,
    after: u64,
    ramp: u64,
    varies: [VariationEntry; VARIATIONS],
    bytes: [u8; LARGEST_FRAME],
}

/// `struct progress`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct ProgressEntry {
    pub(super) sequence: u64,
    pub(super) most: u64,
    pub(super) first: u64,
    pub(super) last: u64,
    pub(super) last_sequence: u64,
    pub(super) due: u64,
    owed: u64,
    pub(super) given_up: u64,
    pub(super) bytes: u64,
    turn: u32,
    flow: u32,
    in_burst: u32,
    reserved: u32,
    wheels: [[u32; 2]; VARIATIONS],
}

/// `.bss.progress`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct ProgressSection {
    pub(super) streams: [ProgressEntry; STREAMS],
    started: u64,
    pub(super) left: u64,
    next: u64,
    pub(super) gone: u64,
}

macro_rules! plain {
    ($($entry:ty),*) => {
        // SAFETY: plain integers without padding; gaps are fields named `reserved`.
        $(unsafe impl Pod for $entry {})*
    };
}
plain!(Given, SizeEntry, VariationEntry, StreamEntry, ProgressEntry, ProgressSection);

/// All tables of the program except its progress.
pub(super) struct Tables {
    pub(super) streams: Vec<StreamEntry>,
    pub(super) sizes: Vec<SizeEntry>,
    pub(super) cycle: Vec<u16>,
    pub(super) table: Vec<u32>,
}

impl Tables {
    pub(super) fn of(streams: &[Stream]) -> Result<Self> {
        let mut tables = Self { streams: Vec::new(), sizes: Vec::new(), cycle: Vec::new(), table: Vec::new() };
        for stream in streams {
            tables.add(stream)?;
        }
        fits("streams of one sending core", tables.streams.len(), STREAMS)?;
        fits("frame sizes of all streams of one sending core", tables.sizes.len(), SIZES)?;
        fits("steps of all cycles of frame sizes of one sending core", tables.cycle.len(), CYCLE)?;
        fits("listed values of all streams of one sending core", tables.table.len(), TABLE)?;
        // The maps are written as a whole.
        tables.streams.resize(STREAMS, zeroed());
        tables.sizes.resize(SIZES, zeroed());
        tables.cycle.resize(CYCLE, 0);
        tables.table.resize(TABLE, 0);
        Ok(tables)
    }

    fn add(&mut self, stream: &Stream) -> Result<()> {
        let compiled = stream.compiled;
        fits("fields of one stream that vary", compiled.variations.len(), VARIATIONS)?;
        let (sizes_before, cycle_before) = (self.sizes.len() as u16, self.cycle.len() as u16);
        self.sizes.extend(compiled.sizes.iter().map(size_entry));
        self.cycle.extend(compiled.cycle.iter().map(|size| sizes_before + size));
        let mut varies = [zeroed(); VARIATIONS];
        for (entry, variation) in varies.iter_mut().zip(&compiled.variations) {
            *entry = self.variation(variation);
        }
        let offsets = &compiled.offsets;
        let mut bytes = [0; LARGEST_FRAME];
        bytes[..compiled.bytes.len()].copy_from_slice(&compiled.bytes);
        self.streams.push(StreamEntry {
            number: stream.number,
            tag: offsets.tag as u16,
            checksum: offsets.transport_checksum as u16,
            tcp: (compiled.protocol == Protocol::Tcp).into(),
            ip_length: offsets.ip_length as u16,
            ip_checksum: offsets.ip_checksum.unwrap_or_default() as u16,
            udp_length: offsets.udp_length.unwrap_or_default() as u16,
            cycle: cycle_before,
            cycles: compiled.cycle.len() as u32,
            variations: compiled.variations.len() as u32,
            flows: compiled.flows,
            burst: stream.pace.map_or(1, |pace| pace.burst),
            gap: stream.pace.map_or(0, |pace| pace.gap),
            after: stream.pace.map_or(0, |pace| pace.after),
            ramp: stream.pace.map_or(0, |pace| pace.ramp),
            varies,
            bytes,
        });
        Ok(())
    }

    fn variation(&mut self, variation: &Variation) -> VariationEntry {
        let (kind, first, step, span) = match &variation.values {
            Sequence::Step { first, step } => (0, *first, *step, 0),
            Sequence::Hash { seed, first, span } => (1, *first, *seed, *span),
            Sequence::Table(values) => {
                let first = self.table.len() as u32;
                self.table.extend(values);
                (2, first, 0, 0)
            }
        };
        VariationEntry {
            offset: variation.offset as u16,
            four: variation.four.into(),
            in_ip: variation.in_ip_checksum.into(),
            in_transport: variation.in_transport_checksum.into(),
            kind,
            divisor: variation.divisor,
            count: variation.count,
            first,
            step,
            reserved: 0,
            span,
        }
    }
}

fn size_entry(size: &Size) -> SizeEntry {
    SizeEntry {
        length: size.length as u16,
        ip_length: size.ip_length.to_be(),
        udp_length: size.udp_length.to_be(),
        ip_sum: size.ip_sum.to_be(),
        transport_sum: size.transport_sum.to_be(),
        whole: (size.tag == WHOLE).into(),
    }
}

/// Common properties of all streams, with which the verifier removes unused code.
pub(super) fn given(streams: &[Stream], token: u16) -> Result<Given> {
    let compiled = || streams.iter().map(|stream| stream.compiled);
    let sizes = || compiled().flat_map(|compiled| &compiled.sizes);
    let longest = sizes().map(|size| size.length).max().unwrap_or_default();
    let shortest = sizes().map(|size| size.length).min().unwrap_or_default();
    if longest > LARGEST_FRAME {
        return Err(Error::FrameSize { asked: longest, most: LARGEST_FRAME });
    }
    let same = |of: fn(&Compiled) -> usize| {
        let first = compiled().next().map(of).unwrap_or_default();
        if compiled().all(|compiled| of(compiled) == first) { first as u32 } else { 0 }
    };
    let has = |is: fn(&Stream) -> bool| u32::from(streams.iter().any(is));
    Ok(Given {
        streams: streams.len() as u32,
        longest: longest as u32,
        head: (shortest.min(128) / 8 * 8) as u32,
        fixed: (longest == shortest).into(),
        tag: same(|compiled| compiled.offsets.tag),
        checksum: same(|compiled| compiled.offsets.transport_checksum),
        varies: has(|stream| !stream.compiled.variations.is_empty()),
        paced: has(|stream| stream.pace.is_some()),
        by_chance: has(|stream| stream.pace.is_some_and(|pace| pace.burst == 0)),
        whole: sizes().all(|size| size.tag == WHOLE).into(),
        token,
        every: 0,
        duration: 0,
    })
}

fn fits(what: &'static str, asked: usize, most: usize) -> Result<()> {
    if asked > most { Err(Error::TooMany { what, asked, most }) } else { Ok(()) }
}

/// Zeros, a valid value of every entry.
pub(super) fn zeroed<T: Pod>() -> T {
    // SAFETY: any bytes are a valid `T` (Pod).
    unsafe { std::mem::zeroed() }
}
