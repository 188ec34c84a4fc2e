//! A receiver's reading of a frame.

use model::IpVersion;

use crate::{
    parse::{Network, ParseError, Ports, Transport, parse},
    tag::{Tag, WHOLE},
};

/// A frame that carries UDP or TCP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TaggedFrame {
    /// The tag, if it is a frame of ours.
    pub tag: Option<Tag>,
    /// Whether the tag has a token and a time.
    pub whole: bool,
    /// Whether all checksums are right.
    pub intact: bool,
    /// IP version.
    pub ip: IpVersion,
    /// Source port.
    pub source_port: u16,
    /// Destination port.
    pub destination_port: u16,
}

/// Reads a frame without FCS; `None` if it carries neither UDP nor TCP.
pub fn read(frame: &[u8]) -> Result<Option<TaggedFrame>, ParseError> {
    let packet = parse(frame)?;
    let Network::Ip(ip) = packet.network else { return Ok(None) };
    let Transport::Ports(Ports { source, destination, payload, checksum_holds }) = ip.transport else {
        return Ok(None);
    };
    Ok(Some(TaggedFrame {
        tag: Tag::read(payload, payload.len()),
        whole: payload.len() >= WHOLE,
        intact: ip.checksum_holds && checksum_holds,
        ip: IpVersion::of(ip.destination),
        source_port: source,
        destination_port: destination,
    }))
}
