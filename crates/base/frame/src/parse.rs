//! Parsers: what a frame says of itself, layer by layer. They take any bytes and never panic; what follows a broken layer is not
//! looked at. Bytes behind the IP packet, as Ethernet pads short frames, belong to nothing.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use model::stream::{Mac, Vlan};

use crate::{
    checksum::{fold, sum},
    headers,
};

/// A frame in its layers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packet<'a> {
    /// Destination.
    pub destination: Mac,
    /// Source.
    pub source: Mac,
    /// VLAN tags, the outer one first; not more than [`model::stream::MOST_VLANS`].
    pub vlans: Vec<Vlan>,
    /// Payload.
    pub network: Network<'a>,
}

/// Payload of an Ethernet frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Network<'a> {
    /// Address resolution.
    Arp(Arp),
    /// IPv4 or IPv6.
    Ip(Ip<'a>),
    /// Something else, by its EtherType.
    Other(u16),
}

/// An ARP packet for Ethernet and IPv4 (RFC 826).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arp {
    /// 1 asks, 2 answers.
    pub operation: u16,
    /// MAC address of who sends it.
    pub sender_mac: Mac,
    /// IP address of who sends it.
    pub sender: Ipv4Addr,
    /// MAC address of the asked or announced host; zeros in a question.
    pub target_mac: Mac,
    /// IP address of the asked or announced host.
    pub target: Ipv4Addr,
}

/// An IP packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ip<'a> {
    /// Source.
    pub source: IpAddr,
    /// Destination.
    pub destination: IpAddr,
    /// Differentiated services code point.
    pub dscp: u8,
    /// Time to live, or hop limit.
    pub ttl: u8,
    /// Number of the protocol above; of IPv6, the first that is no extension header we know.
    pub protocol: u8,
    /// Whether the header's checksum is right; IPv6 has none.
    pub checksum_holds: bool,
    /// Payload.
    pub transport: Transport<'a>,
}

/// Payload of an IP packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Transport<'a> {
    /// UDP or TCP.
    Ports(Ports<'a>),
    /// ICMP or ICMPv6.
    Icmp(Icmp<'a>),
    /// A piece of a packet that was cut, but for the first piece of one that says what it is.
    Fragment,
    /// Something else: its bytes.
    Other(&'a [u8]),
}

/// A UDP datagram or TCP segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ports<'a> {
    /// Source.
    pub source: u16,
    /// Destination.
    pub destination: u16,
    /// Payload.
    pub payload: &'a [u8],
    /// Whether the checksum is right; a UDP datagram over IPv4 may have none.
    pub checksum_holds: bool,
}

/// An ICMP message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Icmp<'a> {
    /// Type.
    pub kind: u8,
    /// Code.
    pub code: u8,
    /// Bytes after the checksum.
    pub body: &'a [u8],
    /// Whether the checksum is right.
    pub checksum_holds: bool,
}

/// A frame that cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParseError {
    /// It ends too early.
    #[error("the frame ends inside its {0}")]
    Short(&'static str),
    /// A field says what cannot be.
    #[error("the {0} cannot be: {1}")]
    Wrong(&'static str, &'static str),
}

/// Reads a frame without FCS.
pub fn parse(frame: &[u8]) -> Result<Packet<'_>, ParseError> {
    let mut rest = frame;
    let destination = Mac(take(&mut rest, "Ethernet header")?);
    let source = Mac(take(&mut rest, "Ethernet header")?);
    let mut vlans = Vec::new();
    let mut ether_type = word(&mut rest, "Ethernet header")?;
    while is_vlan(ether_type) && vlans.len() < model::stream::MOST_VLANS {
        let control = word(&mut rest, "VLAN tag")?;
        vlans.push(Vlan { id: control & 0xfff, priority: (control >> 13) as u8, tpid: Some(ether_type) });
        ether_type = word(&mut rest, "VLAN tag")?;
    }
    let network = match ether_type {
        headers::ARP => Network::Arp(arp(rest)?),
        headers::IPV4 => Network::Ip(ipv4(rest)?),
        headers::IPV6 => Network::Ip(ipv6(rest)?),
        other => Network::Other(other),
    };
    Ok(Packet { destination, source, vlans, network })
}

fn is_vlan(ether_type: u16) -> bool {
    [headers::CUSTOMER_VLAN, headers::SERVICE_VLAN, headers::OLD_SERVICE_VLAN].contains(&ether_type)
}

/// Takes `N` bytes off the front.
fn take<const N: usize>(rest: &mut &[u8], layer: &'static str) -> Result<[u8; N], ParseError> {
    let (front, behind) = rest.split_first_chunk::<N>().ok_or(ParseError::Short(layer))?;
    *rest = behind;
    Ok(*front)
}

fn word(rest: &mut &[u8], layer: &'static str) -> Result<u16, ParseError> {
    take(rest, layer).map(u16::from_be_bytes)
}

fn arp(mut rest: &[u8]) -> Result<Arp, ParseError> {
    let kind: [u8; 6] = take(&mut rest, "ARP packet")?;
    if kind != [0, 1, 0x08, 0, 6, 4] {
        return Err(ParseError::Wrong("ARP packet", "it is not for Ethernet and IPv4"));
    }
    Ok(Arp {
        operation: word(&mut rest, "ARP packet")?,
        sender_mac: Mac(take(&mut rest, "ARP packet")?),
        sender: take(&mut rest, "ARP packet").map(Ipv4Addr::from_octets)?,
        target_mac: Mac(take(&mut rest, "ARP packet")?),
        target: take(&mut rest, "ARP packet").map(Ipv4Addr::from_octets)?,
    })
}

fn ipv4(packet: &[u8]) -> Result<Ip<'_>, ParseError> {
    const LAYER: &str = "IPv4 header";
    let header: [u8; headers::IPV4_HEADER] = take(&mut &*packet, LAYER)?;
    let header_length = usize::from(header[0] & 0xf) * 4;
    if header[0] >> 4 != 4 || header_length < headers::IPV4_HEADER {
        return Err(ParseError::Wrong(LAYER, "its version is not 4, or it is shorter than 20 bytes"));
    }
    let length = usize::from(u16::from_be_bytes([header[2], header[3]]));
    if length < header_length {
        return Err(ParseError::Wrong(LAYER, "the packet is shorter than its header"));
    }
    let packet = packet.get(..length).ok_or(ParseError::Short("IPv4 packet"))?;
    let (whole_header, body) = packet.split_at(header_length);
    let [.., a, b, c, d, e, f, g, h] = header;
    let (source, destination) = (Ipv4Addr::new(a, b, c, d), Ipv4Addr::new(e, f, g, h));
    let protocol = header[9];
    let offset_and_more = u16::from_be_bytes([header[6], header[7]]) & 0x3fff;
    Ok(Ip {
        source: source.into(),
        destination: destination.into(),
        dscp: header[1] >> 2,
        ttl: header[8],
        protocol,
        checksum_holds: fold(sum(whole_header)) == 0xffff,
        transport: if offset_and_more == 0 {
            transport(protocol, sum(&header[12..]), body)?
        } else {
            Transport::Fragment
        },
    })
}

fn ipv6(packet: &[u8]) -> Result<Ip<'_>, ParseError> {
    const LAYER: &str = "IPv6 header";
    let mut rest = packet;
    let header: [u8; 8] = take(&mut rest, LAYER)?;
    if header[0] >> 4 != 6 {
        return Err(ParseError::Wrong(LAYER, "its version is not 6"));
    }
    let addresses: [u8; 32] = take(&mut rest, LAYER)?;
    let (source, destination) = addresses.split_at(16);
    let address = |bytes: &[u8]| bytes.try_into().map(Ipv6Addr::from_octets).map_err(|_| ParseError::Short(LAYER));
    let length = usize::from(u16::from_be_bytes([header[4], header[5]]));
    let body = rest.get(..length).ok_or(ParseError::Short("IPv6 packet"))?;
    let (protocol, body, fragment) = behind_extensions(header[6], body)?;
    Ok(Ip {
        source: address(source)?.into(),
        destination: address(destination)?.into(),
        dscp: header[0] << 2 & 0x3f | header[1] >> 6,
        ttl: header[7],
        protocol,
        checksum_holds: true,
        transport: if fragment { Transport::Fragment } else { transport(protocol, sum(&addresses), body)? },
    })
}

/// The protocol behind extension headers (RFC 8200, section 4), its bytes, and whether they are a piece of a packet.
fn behind_extensions(mut protocol: u8, mut body: &[u8]) -> Result<(u8, &[u8], bool), ParseError> {
    const LAYER: &str = "IPv6 extension header";
    const HOP_BY_HOP: u8 = 0;
    const ROUTING: u8 = 43;
    const FRAGMENT: u8 = 44;
    const DESTINATION: u8 = 60;
    loop {
        match protocol {
            HOP_BY_HOP | ROUTING | DESTINATION => {
                let [next, eights, ..]: [u8; 8] = take(&mut &*body, LAYER)?;
                body = body.get((usize::from(eights) + 1) * 8..).ok_or(ParseError::Short(LAYER))?;
                protocol = next;
            }
            FRAGMENT => {
                let [next, _, high, low, ..]: [u8; 8] = take(&mut body, LAYER)?;
                if u16::from_be_bytes([high, low]) & 0xfff9 != 0 {
                    return Ok((next, body, true));
                }
                protocol = next;
            }
            _ => return Ok((protocol, body, false)),
        }
    }
}

fn transport(protocol: u8, addresses: u32, body: &[u8]) -> Result<Transport<'_>, ParseError> {
    let pseudo = |length: usize| addresses + u32::from(protocol) + length as u32;
    Ok(match protocol {
        headers::UDP => Transport::Ports(udp(body, pseudo)?),
        headers::TCP => Transport::Ports(tcp(body, pseudo)?),
        headers::ICMP => Transport::Icmp(icmp(body, 0)?),
        headers::ICMPV6 => Transport::Icmp(icmp(body, pseudo(body.len()))?),
        _ => Transport::Other(body),
    })
}

fn udp(body: &[u8], pseudo: impl Fn(usize) -> u32) -> Result<Ports<'_>, ParseError> {
    const LAYER: &str = "UDP header";
    let mut rest = body;
    let (source, destination) = (word(&mut rest, LAYER)?, word(&mut rest, LAYER)?);
    let (length, checksum) = (usize::from(word(&mut rest, LAYER)?), word(&mut rest, LAYER)?);
    if length < headers::UDP_HEADER {
        return Err(ParseError::Wrong(LAYER, "the datagram is shorter than its header"));
    }
    let datagram = body.get(..length).ok_or(ParseError::Short("UDP datagram"))?;
    let payload = &datagram[headers::UDP_HEADER..];
    let checksum_holds = checksum == 0 || fold(pseudo(length) + sum(datagram)) == 0xffff;
    Ok(Ports { source, destination, payload, checksum_holds })
}

fn tcp(body: &[u8], pseudo: impl Fn(usize) -> u32) -> Result<Ports<'_>, ParseError> {
    const LAYER: &str = "TCP header";
    let mut rest = body;
    let (source, destination) = (word(&mut rest, LAYER)?, word(&mut rest, LAYER)?);
    let [.., words]: [u8; 9] = take(&mut rest, LAYER)?;
    let header_length = usize::from(words >> 4) * 4;
    if header_length < headers::TCP_HEADER {
        return Err(ParseError::Wrong(LAYER, "it is shorter than 20 bytes"));
    }
    let payload = body.get(header_length..).ok_or(ParseError::Short(LAYER))?;
    let checksum_holds = fold(pseudo(body.len()) + sum(body)) == 0xffff;
    Ok(Ports { source, destination, payload, checksum_holds })
}

fn icmp(body: &[u8], pseudo: u32) -> Result<Icmp<'_>, ParseError> {
    let [kind, code, ..]: [u8; 4] = take(&mut &*body, "ICMP message")?;
    Ok(Icmp { kind, code, body: &body[4..], checksum_holds: fold(pseudo + sum(body)) == 0xffff })
}
