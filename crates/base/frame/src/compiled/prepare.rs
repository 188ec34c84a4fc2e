//! From a stream and a place to sizes, headers and variations.

use std::net::IpAddr;

use model::{
    FrameSize, IpVersion, Mtu, Protocol, Stream,
    frame_size::{ETHERNET_HEADER, FCS, FrameSizeError},
    network::{network_after, prefix_of_several},
    stream::{Mac, Values, low_bytes},
};

use super::{CompileError, Offsets, Place, Size};
use crate::{
    headers::{self, Ip},
    tag::{self, Tag},
    variation::{FieldPlace, Variation, VariationBuilder},
};

/// The different ones of these sizes, and which of them each is.
pub(super) fn different(sizes: Vec<FrameSize>) -> (Vec<FrameSize>, Vec<u16>) {
    let mut places = std::collections::HashMap::new();
    let mut different = Vec::new();
    let cycle = sizes.into_iter().map(|size| {
        *places.entry(size).or_insert_with(|| {
            different.push(size);
            // A frame has fewer sizes than 16 bits have values.
            (different.len() - 1) as u16
        })
    });
    let cycle = cycle.collect();
    (different, cycle)
}

/// The largest frame that the MTU lets through, with FCS.
pub(super) fn largest(stream: &Stream, mtu: Mtu) -> FrameSize {
    FrameSize(mtu.0 + ETHERNET_HEADER + 4 * stream.vlans.len() as u32 + FCS)
}

/// The size that is really sent for the one asked for; its sums are still to be taken.
pub(super) fn size(stream: &Stream, place: &Place, offsets: &Offsets, asked: FrameSize) -> Result<Size, CompileError> {
    let most = largest(stream, place.mtu);
    let frame = asked.max(FrameSize((offsets.tag + tag::SHORT) as u32 + FCS));
    if frame > most {
        let why = FrameSizeError::TooLarge { frame: frame.0, mtu: place.mtu.0, largest: most.0 };
        return Err(CompileError::Size { name: stream.name.clone(), why });
    }
    let length = (frame.0 - FCS) as usize;
    let whole = length - offsets.tag >= tag::WHOLE;
    let ip_length = match stream.ip {
        IpVersion::V4 => length - offsets.l3,
        IpVersion::V6 => length - offsets.l4,
    };
    let udp_length = if stream.protocol == Protocol::Udp { length - offsets.l4 } else { 0 };
    Ok(Size {
        asked,
        frame,
        length,
        tag: if whole { tag::WHOLE } else { tag::SHORT },
        // An MTU has 16 bits, so the lengths have no more.
        ip_length: ip_length as u16,
        udp_length: udp_length as u16,
        ip_sum: 0,
        transport_sum: 0,
    })
}

/// Headers, an empty tag, and the payload behind it.
pub(super) fn template(mut headers: Vec<u8>, stream: &Stream, longest: usize) -> Vec<u8> {
    headers.extend(Tag::default().to_bytes());
    let behind = longest.saturating_sub(headers.len());
    headers.extend(stream.payload.bytes(behind));
    headers.truncate(longest);
    headers
}

impl Offsets {
    pub(super) fn of(stream: &Stream) -> Self {
        let l3 = ETHERNET_HEADER as usize + 4 * stream.vlans.len();
        let (l4, ip_length, ip_checksum) = match stream.ip {
            IpVersion::V4 => (l3 + headers::IPV4_HEADER, l3 + 2, Some(l3 + 10)),
            IpVersion::V6 => (l3 + headers::IPV6_HEADER, l3 + 4, None),
        };
        let (tag, udp_length, transport_checksum) = match stream.protocol {
            Protocol::Udp => (l4 + headers::UDP_HEADER, Some(l4 + 4), l4 + 6),
            Protocol::Tcp => (l4 + headers::TCP_HEADER, None, l4 + 16),
        };
        Self { l3, l4, tag, ip_length, ip_checksum, udp_length, transport_checksum }
    }
}

/// The addresses and ports of a stream, its own or those of its place.
pub(super) struct Fields {
    source_mac: Values<Mac>,
    destination_mac: Values<Mac>,
    source_ip: Values<IpAddr>,
    destination_ip: Values<IpAddr>,
    source_port: Values<u16>,
    destination_port: Values<u16>,
}

/// The place's destination, or the same address in several networks.
fn destinations(stream: &Stream, place: &Place) -> Values<IpAddr> {
    let (first, prefix) = (place.destination, prefix_of_several(stream.ip));
    let after = |networks: u32| network_after(first, prefix, networks);
    match stream.networks {
        None | Some(1) => Values::One(first),
        Some(networks) => {
            let step = low_bytes(after(1)).wrapping_sub(low_bytes(first));
            Values::Range { first, last: after(u32::from(networks) - 1), step }
        }
    }
}

impl Fields {
    pub(super) fn of(stream: &Stream, place: &Place) -> Result<Self, CompileError> {
        let (source_port, destination_port) = stream.ports();
        let fields = Self {
            source_mac: stream.source_mac.clone().unwrap_or(Values::One(place.source_mac)),
            destination_mac: stream.destination_mac.clone().unwrap_or(Values::One(place.next_hop_mac)),
            source_ip: stream.source_ip.clone().unwrap_or(Values::One(place.source)),
            destination_ip: stream.destination_ip.clone().unwrap_or_else(|| destinations(stream, place)),
            source_port,
            destination_port,
        };
        let of_version = |values: &Values<IpAddr>| IpVersion::of(values.first()) == stream.ip;
        if !of_version(&fields.source_ip) || !of_version(&fields.destination_ip) {
            let (from, to) = (place.source, place.destination);
            return Err(CompileError::Version { name: stream.name.clone(), ip: stream.ip, from, to });
        }
        Ok(fields)
    }

    /// The headers of flow 0, without lengths and checksums.
    pub(super) fn headers(&self, stream: &Stream) -> Vec<u8> {
        let mut frame = Vec::new();
        let ether_type = match stream.ip {
            IpVersion::V4 => headers::IPV4,
            IpVersion::V6 => headers::IPV6,
        };
        headers::ethernet(&mut frame, self.destination_mac.first(), self.source_mac.first(), &stream.vlans, ether_type);
        let protocol = match stream.protocol {
            Protocol::Udp => headers::UDP,
            Protocol::Tcp => headers::TCP,
        };
        let (source, destination) = (self.source_ip.first(), self.destination_ip.first());
        headers::ip(&mut frame, &Ip { source, destination, protocol, dscp: stream.dscp, ttl: stream.ttl });
        headers::transport(&mut frame, stream.protocol, self.source_port.first(), self.destination_port.first());
        frame
    }

    /// Fields that differ with the flow, in the order that [`model::stream`] states.
    pub(super) fn variations(&self, flows: u32, offsets: &Offsets) -> Vec<Variation> {
        let (source, destination) = match self.destination_ip.first() {
            IpAddr::V4(_) => (offsets.l3 + 12, offsets.l3 + 16),
            IpAddr::V6(_) => (offsets.l3 + 8, offsets.l3 + 24),
        };
        let v4 = offsets.ip_checksum.is_some();
        let port = |offset| FieldPlace { offset, in_ip_checksum: false, in_transport_checksum: true };
        let ip = |offset| FieldPlace { offset, in_ip_checksum: v4, in_transport_checksum: true };
        let mac = |offset| FieldPlace { offset, in_ip_checksum: false, in_transport_checksum: false };
        let mut wheels = VariationBuilder::new(flows);
        wheels.add(&self.source_port, port(offsets.l4));
        wheels.add(&self.destination_port, port(offsets.l4 + 2));
        wheels.add(&self.source_ip, ip(source));
        wheels.add(&self.destination_ip, ip(destination));
        wheels.add(&self.source_mac, mac(6));
        wheels.add(&self.destination_mac, mac(0));
        wheels.variations
    }
}
