//! A frame in its parts, whatever is wrong in it.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use frame::{
    Tag,
    checksum::{finish, sum},
    headers,
};
use model::stream::{MOST_VLANS, Mac, Vlan};

use super::craft::{FRAGMENT, Group, Setting};

/// An IP packet in an Ethernet frame.
#[derive(Clone, Debug)]
pub(super) struct View<'a> {
    pub(super) destination: Mac,
    pub(super) source: Mac,
    /// VLAN tags, the outer one first.
    pub(super) vlans: Vec<Vlan>,
    /// Whether the EtherType is that of IPv4: the header is as long as that version's, whatever version it tells itself.
    is_v4: bool,
    /// Header of IPv4 or IPv6, options of IPv4 included.
    pub(super) header: &'a [u8],
    /// The bytes behind it, as many as the header tells, or as there are.
    pub(super) body: &'a [u8],
}

/// A piece of a datagram.
pub(super) struct Piece<'a> {
    pub(super) identification: u32,
    pub(super) offset: usize,
    pub(super) bytes: &'a [u8],
}

/// Reads a frame without FCS; `None` without an IP header.
pub(super) fn view(frame: &[u8]) -> Option<View<'_>> {
    let (destination, rest) = frame.split_first_chunk::<6>()?;
    let (source, rest) = rest.split_first_chunk::<6>()?;
    let (mut ether_type, mut rest) = word(rest)?;
    let mut vlans = Vec::new();
    let tags = [headers::CUSTOMER_VLAN, headers::SERVICE_VLAN, headers::OLD_SERVICE_VLAN];
    while tags.contains(&ether_type) && vlans.len() < MOST_VLANS {
        let (control, behind) = word(rest)?;
        vlans.push(Vlan { id: control & 0xfff, priority: (control >> 13) as u8, tpid: Some(ether_type) });
        (ether_type, rest) = word(behind)?;
    }
    let (is_v4, header, length) = match ether_type {
        headers::IPV4 => {
            let header = usize::from(rest.first()? & 0xf) * 4;
            (true, header.max(headers::IPV4_HEADER), usize::from(word(rest.get(2..)?)?.0))
        }
        headers::IPV6 => (false, headers::IPV6_HEADER, usize::from(word(rest.get(4..)?)?.0) + headers::IPV6_HEADER),
        _ => return None,
    };
    let (header, behind) = rest.split_at_checked(header)?;
    let body = length.saturating_sub(header.len()).min(behind.len());
    Some(View { destination: Mac(*destination), source: Mac(*source), vlans, is_v4, header, body: &behind[..body] })
}

fn word(bytes: &[u8]) -> Option<(u16, &[u8])> {
    bytes.split_first_chunk::<2>().map(|(word, rest)| (u16::from_be_bytes(*word), rest))
}

impl<'a> View<'a> {
    pub(super) fn is_v4(&self) -> bool {
        self.is_v4
    }

    /// The version that the header tells.
    pub(super) fn told_version(&self) -> u8 {
        self.header[0] >> 4
    }

    pub(super) fn hop_limit(&self) -> u8 {
        if self.is_v4() { self.header[8] } else { self.header[7] }
    }

    fn protocol(&self) -> u8 {
        if self.is_v4() { self.header[9] } else { self.header[6] }
    }

    /// DSCP and ECN.
    pub(super) fn class(&self) -> [u8; 2] {
        let class = if self.is_v4() { self.header[1] } else { self.header[0] << 4 | self.header[1] >> 4 };
        [class >> 2, class & 3]
    }

    /// Length of the packet, as its header tells.
    pub(super) fn length(&self) -> usize {
        let at = if self.is_v4() { 2 } else { 4 };
        let told = usize::from(self.number(at));
        if self.is_v4() { told } else { told + headers::IPV6_HEADER }
    }

    fn number(&self, at: usize) -> u16 {
        u16::from_be_bytes([self.header[at], self.header[at + 1]])
    }

    /// Checksum of an IPv4 header as it stands, and as it has to be.
    pub(super) fn checksums(&self) -> [u16; 2] {
        let found = self.number(10);
        let rest = sum(&self.header[..10]) + sum(&self.header[12..]);
        [found, finish(rest)]
    }

    /// Identification of IPv4.
    pub(super) fn identification(&self) -> u16 {
        self.number(4)
    }

    /// Flags and offset of IPv4.
    pub(super) fn fragment_field(&self) -> u16 {
        self.number(6)
    }

    /// Flow label of IPv6.
    pub(super) fn flow_label(&self) -> u32 {
        u32::from_be_bytes([0, self.header[1] & 0xf, self.header[2], self.header[3]])
    }

    /// Source and destination.
    pub(super) fn addresses(&self) -> [IpAddr; 2] {
        let header = self.header;
        if self.is_v4() {
            let at = |at: usize| Ipv4Addr::new(header[at], header[at + 1], header[at + 2], header[at + 3]).into();
            return [at(12), at(16)];
        }
        let at = |at: usize| {
            let mut octets = [0; 16];
            octets.copy_from_slice(&header[at..at + 16]);
            Ipv6Addr::from_octets(octets).into()
        };
        [at(8), at(24)]
    }

    /// Whether its ports or one of its addresses are those of the trial; a device may have changed the others.
    pub(super) fn is_of(&self, setting: &Setting) -> bool {
        let [source, destination] = self.addresses();
        let is_between = |[from, to, _]: [u16; 3]| Group::of_port(from).is_some() && to == setting.port;
        source == setting.source || destination == setting.destination || self.datagram().is_some_and(is_between)
    }

    /// The piece that it is of a datagram in fragments.
    pub(super) fn piece(&self) -> Option<Piece<'a>> {
        if self.is_v4() {
            const OFFSET: u16 = 0x1fff;
            const MORE_OR_OFFSET: u16 = 0x3fff;
            let field = self.fragment_field();
            let offset = usize::from(field & OFFSET) * 8;
            let piece = Piece { identification: self.identification().into(), offset, bytes: self.body };
            return (field & MORE_OR_OFFSET != 0 && self.protocol() == headers::UDP).then_some(piece);
        }
        let (extension, bytes) = self.body.split_first_chunk::<8>().filter(|_| self.protocol() == FRAGMENT)?;
        let [_, _, high, low, identification @ ..] = *extension;
        let offset = usize::from(u16::from_be_bytes([high, low]) & !7);
        Some(Piece { identification: u32::from_be_bytes(identification), offset, bytes })
    }

    /// Source and destination port, and checksum of UDP.
    pub(super) fn datagram(&self) -> Option<[u16; 3]> {
        let is_datagram = self.protocol() == headers::UDP && self.piece().is_none();
        let [a, b, c, d, _, _, e, f] = *self.body.first_chunk::<8>().filter(|_| is_datagram)?;
        Some([[a, b], [c, d], [e, f]].map(u16::from_be_bytes))
    }

    /// Payload of UDP.
    pub(super) fn payload(&self) -> &'a [u8] {
        self.body.get(headers::UDP_HEADER..).unwrap_or_default()
    }

    /// The tag of a datagram.
    pub(super) fn tag(&self) -> Option<Tag> {
        self.datagram()?;
        Tag::read(self.payload(), self.payload().len())
    }
}
