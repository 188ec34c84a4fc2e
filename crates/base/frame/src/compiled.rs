//! A stream made ready to be sent: bytes to copy, and what to change in them for each frame.
//!
//! All frames of a stream are the beginning of one longest frame, but for what follows from their number (`index`, from 0) and their
//! size. To make frame `index`, whether here or in a BPF program:
//!
//! 1. its size is `sizes[cycle[index mod cycle.len()]]`: copy that many of `bytes`, put in the lengths of IP and UDP;
//! 2. its flow is `index mod flows`: put in the value of each of `variations`;
//! 3. put in the tag, whole or short as the size says;
//! 4. the IPv4 checksum is the size's `ip_sum`, plus both halves of each varied value that counts for it, folded and inverted; the
//!    checksum of UDP or TCP is `transport_sum`, plus varied values, plus all 16-bit words of the tag but its magic, folded
//!    and inverted; a UDP checksum of 0 is written as 0xffff. The sums were taken with varied fields and the tag as zeros, so nothing of the old frame
//!    is needed, and pages that were sent before may be used again.
//!
//! Where every sending core numbers a sequence of its own, `index` is the sequence in the tag, so a receiver knows the flow, too.

mod prepare;

use std::{net::IpAddr, sync::Arc};

use model::{
    FrameSize, IpVersion, Mtu, Protocol, Stream,
    frame_size::{FCS, FrameSizeError},
    stream::{Mac, StreamError},
};

use pcap::Replay;

use self::prepare::{Fields, different, largest, size, template};
use crate::{
    checksum::{finish, finish_udp, fold, sum},
    headers,
    tag::Tag,
    variation::Variation,
};

/// Addresses from the port and the path, for a stream that names none of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The port's own.
    pub source_mac: Mac,
    /// Address of the other end, or of the router towards it.
    pub next_hop_mac: Mac,
    /// The port's own.
    pub source: IpAddr,
    /// The other end's.
    pub destination: IpAddr,
    /// The port's MTU; VLAN tags come on top.
    pub mtu: Mtu,
}

/// A stream made ready.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compiled {
    /// The stream's name.
    pub name: String,
    /// IP version of its packets.
    pub ip: IpVersion,
    /// UDP or TCP.
    pub protocol: Protocol,
    /// Different flows, 1 to [`model::stream::MOST_FLOWS`].
    pub flows: u32,
    /// Offsets in each frame.
    pub offsets: Offsets,
    /// The longest frame without FCS, as it is for flow 0, with a tag of zeros behind its magic. Its checksums are those of `sizes[longest]`.
    pub bytes: Vec<u8>,
    /// The different sizes, in the order in which they first come.
    pub sizes: Vec<Size>,
    /// Index in `sizes` for each frame, until they begin again.
    pub cycle: Vec<u16>,
    /// Fields that differ with the flow.
    pub variations: Vec<Variation>,
    /// Frames that are sent as they were captured, instead: without a tag, and so without a number. Of all else, sizes alone are then
    /// meant.
    pub replay: Option<Arc<Replay>>,
}

/// Offsets in each frame, in bytes from its beginning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Offsets {
    /// IP header.
    pub l3: usize,
    /// UDP or TCP header.
    pub l4: usize,
    /// The tag: the beginning of the payload.
    pub tag: usize,
    /// Total length of IPv4, payload length of IPv6.
    pub ip_length: usize,
    /// Header checksum of IPv4.
    pub ip_checksum: Option<usize>,
    /// Length of UDP.
    pub udp_length: Option<usize>,
    /// Checksum of UDP or TCP.
    pub transport_checksum: usize,
}

/// One size of frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Size {
    /// Size that was asked for, with FCS.
    pub asked: FrameSize,
    /// Size as sent, with FCS: larger where the headers and the shortest tag have no room.
    pub frame: FrameSize,
    /// Bytes handed to the port: without FCS.
    pub length: usize,
    /// Bytes of the tag: [`crate::tag::WHOLE`] or [`crate::tag::SHORT`].
    pub tag: usize,
    /// Length field of the IP header.
    pub ip_length: u16,
    /// Length field of the UDP header.
    pub udp_length: u16,
    /// Sum of the IPv4 header, varied fields as zeros; 0 for IPv6.
    pub ip_sum: u16,
    /// Sum of pseudo header, UDP or TCP header and payload; varied fields and the tag behind its magic as zeros.
    pub transport_sum: u16,
}

/// A stream that cannot be sent from this place.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CompileError {
    /// The stream asks for what cannot be.
    #[error(transparent)]
    Stream(#[from] StreamError),
    /// A size does not fit.
    #[error("stream \"{name}\": {why}")]
    Size {
        /// The stream.
        name: String,
        /// The size's index, and the possible range.
        why: FrameSizeError,
    },
    /// The path has no address of the stream's IP version.
    #[error(
        "stream \"{name}\" is {ip}, and the path goes from {from} to {to}: choose ends with addresses of that version"
    )]
    Version {
        /// The stream.
        name: String,
        /// Version.
        ip: IpVersion,
        /// The port's address.
        from: IpAddr,
        /// The other end's.
        to: IpAddr,
    },
}

impl Compiled {
    /// Makes the stream ready to be sent from this place.
    pub fn new(stream: &Stream, place: &Place) -> Result<Self, CompileError> {
        stream.check()?;
        let fields = Fields::of(stream, place)?;
        let flows = stream.flow_count()?;
        let headers = fields.headers(stream);
        let offsets = Offsets::of(stream);
        let (asked, cycle) = different(stream.sizes.cycle(largest(stream, place.mtu)));
        let sizes: Vec<Size> =
            asked.into_iter().map(|asked| size(stream, place, &offsets, asked)).collect::<Result<_, _>>()?;
        let longest = sizes.iter().map(|size| size.length).max().unwrap_or(headers.len());
        let variations = fields.variations(flows, &offsets);
        let mut compiled = Self {
            name: stream.name.clone(),
            ip: stream.ip,
            protocol: stream.protocol,
            flows,
            bytes: template(headers, stream, longest),
            offsets,
            sizes,
            cycle,
            variations,
            replay: None,
        };
        compiled.add_up();
        compiled.bytes = compiled.longest_frame(longest);
        Ok(compiled)
    }

    /// Makes a capture ready to be sent under this name.
    pub fn of_replay(name: &str, replay: Arc<Replay>) -> Self {
        let lengths = replay.frames().map(|frame| FrameSize(frame.len() as u32 + FCS)).collect();
        let (sizes, cycle) = different(lengths);
        let size = |frame: FrameSize| Size { asked: frame, frame, length: (frame.0 - FCS) as usize, ..Size::default() };
        Self {
            name: name.to_owned(),
            ip: IpVersion::V4,
            protocol: Protocol::Udp,
            flows: 1,
            offsets: Offsets::default(),
            bytes: vec![0; replay.longest()],
            sizes: sizes.into_iter().map(size).collect(),
            cycle,
            variations: Vec::new(),
            replay: Some(replay),
        }
    }

    /// Bytes of its longest frame without FCS: how long a buffer has to be.
    pub fn longest(&self) -> usize {
        self.bytes.len()
    }

    /// Mean size of its frames, in bytes with FCS.
    pub fn mean_size(&self) -> f64 {
        let total: f64 = self.cycle.iter().map(|size| f64::from(self.sizes[usize::from(*size)].frame.0)).sum();
        total / self.cycle.len() as f64
    }

    /// The size of frame `index`.
    pub fn size(&self, index: u64) -> &Size {
        &self.sizes[usize::from(self.cycle[(index % self.cycle.len() as u64) as usize])]
    }

    /// The flow of frame `index`.
    pub fn flow(&self, index: u64) -> u32 {
        (index % u64::from(self.flows)) as u32
    }

    /// Writes frame `index`, without FCS, with this tag, and says how many bytes it has. The buffer has to be [`Self::longest`]
    /// bytes long at least, or this panics.
    pub fn write(&self, buffer: &mut [u8], index: u64, tag: Tag) -> usize {
        if let Some(replay) = &self.replay {
            let frame = replay.frame(index);
            buffer[..frame.len()].copy_from_slice(frame);
            return frame.len();
        }
        let size = self.size(index);
        buffer[..size.length].copy_from_slice(&self.bytes[..size.length]);
        self.finish(&mut buffer[..size.length], size, self.flow(index), tag);
        size.length
    }

    /// Puts into a frame all that differs from the template.
    fn finish(&self, frame: &mut [u8], size: &Size, flow: u32, tag: Tag) {
        let (mut ip_sum, mut transport_sum) = (u32::from(size.ip_sum), u32::from(size.transport_sum));
        for variation in &self.variations {
            let value = variation.value(flow);
            variation.put(frame, value);
            let words = (value >> 16) + (value & 0xffff);
            ip_sum += if variation.in_ip_checksum { words } else { 0 };
            transport_sum += if variation.in_transport_checksum { words } else { 0 };
        }
        let tag = &tag.to_bytes()[..size.tag];
        frame[self.offsets.tag..self.offsets.tag + size.tag].copy_from_slice(tag);
        transport_sum += sum(&tag[2..]);
        self.put_lengths(frame, size);
        self.put_checksums(frame, ip_sum, transport_sum);
    }

    fn put_lengths(&self, frame: &mut [u8], size: &Size) {
        put(frame, self.offsets.ip_length, size.ip_length);
        if let Some(offset) = self.offsets.udp_length {
            put(frame, offset, size.udp_length);
        }
    }

    fn put_checksums(&self, frame: &mut [u8], ip_sum: u32, transport_sum: u32) {
        if let Some(offset) = self.offsets.ip_checksum {
            put(frame, offset, finish(ip_sum));
        }
        let checksum = match self.protocol {
            Protocol::Udp => finish_udp(transport_sum),
            Protocol::Tcp => finish(transport_sum),
        };
        put(frame, self.offsets.transport_checksum, checksum);
    }

    /// Takes the sums of all sizes over the template, whose varied fields count as zeros.
    fn add_up(&mut self) {
        let mut zeroed = self.bytes.clone();
        for variation in &self.variations {
            variation.put(&mut zeroed, 0);
        }
        let Offsets { l3, l4, .. } = self.offsets;
        let so_far = sums_so_far(&zeroed[l4..]);
        let pseudo = headers::pseudo_sum(&zeroed[l3..l4]);
        let header = if self.ip == IpVersion::V4 { sum(&zeroed[l3..l4]) } else { 0 };
        for size in &mut self.sizes {
            let transport_length = size.length - l4;
            size.ip_sum = if self.ip == IpVersion::V4 { fold(header + u32::from(size.ip_length)) } else { 0 };
            let odd_byte = if transport_length % 2 == 1 { u32::from(zeroed[size.length - 1]) << 8 } else { 0 };
            let lengths = transport_length as u32 + u32::from(size.udp_length);
            size.transport_sum = fold(pseudo + lengths + so_far[transport_length / 2] + odd_byte);
        }
    }

    /// The template with lengths and checksums of its own size.
    fn longest_frame(&self, longest: usize) -> Vec<u8> {
        let mut frame = self.bytes.clone();
        if let Some(size) = self.sizes.iter().find(|size| size.length == longest) {
            self.finish(&mut frame, size, 0, Tag::default());
        }
        frame
    }
}

fn put(frame: &mut [u8], offset: usize, value: u16) {
    frame[offset..offset + 2].copy_from_slice(&value.to_be_bytes());
}

/// The sum of the first 0, 1, 2, … words.
fn sums_so_far(bytes: &[u8]) -> Vec<u32> {
    let words = bytes.as_chunks::<2>().0.iter();
    let sums = words.scan(0, |total, word| {
        *total += u32::from(u16::from_be_bytes(*word));
        Some(*total)
    });
    std::iter::once(0).chain(sums).collect()
}

#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;
