//! Datagrams that depart: headers and payload, written into a frame.

use std::net::{IpAddr, SocketAddr};

use frame::{
    checksum::{finish, finish_udp, fold, sum},
    headers::{IPV4, IPV4_HEADER, IPV6, IPV6_HEADER, UDP, UDP_HEADER},
};
use model::stream::Mac;

use crate::arrived::ETHERNET_HEADER;

/// Way of packets to a destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NextHop {
    /// MAC address of the interface that they leave by.
    pub source_mac: Mac,
    /// MAC address of the next hop.
    pub next_hop_mac: Mac,
    /// Most bytes of a packet.
    pub mtu: u16,
}

/// A UDP datagram that departs, but for its payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DatagramHeader {
    /// Source.
    pub from: SocketAddr,
    /// Destination, of the same IP version.
    pub to: SocketAddr,
    /// Time to live, or hop limit.
    pub ttl: u8,
    /// Type of service, or traffic class: DSCP and ECN.
    pub traffic_class: u8,
    /// Identification for IPv4, where routers may cut it into fragments, which are put together by it.
    pub identification: Option<u16>,
    /// For IPv6: [`flow_label`], or 0 for none.
    pub flow_label: u32,
}

/// The flow label of packets between these (RFC 6437), by which routers and cards spread what goes over IPv6: the same for all of them, and other ones for
/// most others. 20 bits.
pub fn flow_label(from: SocketAddr, to: SocketAddr) -> u32 {
    const ODD: u64 = 0x9e37_79b9_7f4a_7c15;
    let (IpAddr::V6(source), IpAddr::V6(destination)) = (from.ip(), to.ip()) else { return 0 };
    let [source, destination] = [source, destination].map(u128::from);
    let ports = u64::from(from.port()) << 16 | u64::from(to.port());
    let words = [(source >> 64) as u64, source as u64, (destination >> 64) as u64, destination as u64, ports];
    let hash = words.iter().fold(ODD, |hash, word| (hash ^ word).wrapping_mul(ODD).rotate_left(29));
    // 0 says that there is none.
    ((hash.wrapping_mul(ODD) >> 44) as u32).max(1)
}

/// Why a datagram cannot depart this way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WriteError {
    /// Its packet would have to be cut into fragments, which the kernel does.
    #[error("a packet of {packet} bytes does not fit MTU {mtu}")]
    TooLong {
        /// Bytes of the packet.
        packet: usize,
        /// Most bytes of a packet.
        mtu: u16,
    },
    /// The frame has no room for it.
    #[error("the frame has room for {0} bytes")]
    NoRoom(usize),
    /// Addresses of two IP versions.
    #[error("the addresses are of two IP versions")]
    MixedVersions,
}

/// Writes headers and payload, which may be in pieces, into a frame without FCS; returns the frame's length. What may not be fragmented has 0 for its
/// IPv4 identification, which means nothing then (RFC 6864).
pub fn write<'a>(
    way: &NextHop,
    datagram: &DatagramHeader,
    pieces: impl Iterator<Item = &'a [u8]> + Clone,
    frame: &mut [u8],
) -> Result<usize, WriteError> {
    let payload: usize = pieces.clone().map(<[u8]>::len).sum();
    let header = if datagram.to.is_ipv4() { IPV4_HEADER } else { IPV6_HEADER };
    let packet = header + UDP_HEADER + payload;
    if packet > usize::from(way.mtu) {
        return Err(WriteError::TooLong { packet, mtu: way.mtu });
    }
    let room = frame.len();
    let frame = frame.get_mut(..ETHERNET_HEADER + packet).ok_or(WriteError::NoRoom(room))?;
    let (ethernet, rest) = frame.split_at_mut(ETHERNET_HEADER);
    let (ip, udp) = rest.split_at_mut(header);
    let length = (UDP_HEADER + payload) as u16;
    let (ether_type, addresses) = match (datagram.from.ip(), datagram.to.ip()) {
        (IpAddr::V4(from), IpAddr::V4(to)) => (IPV4, ipv4(ip, datagram, [from.octets(), to.octets()], packet as u16)),
        (IpAddr::V6(from), IpAddr::V6(to)) => (IPV6, ipv6(ip, datagram, [from.octets(), to.octets()], length)),
        _ => return Err(WriteError::MixedVersions),
    };
    ethernet[..6].copy_from_slice(&way.next_hop_mac.0);
    ethernet[6..12].copy_from_slice(&way.source_mac.0);
    ethernet[12..].copy_from_slice(&ether_type.to_be_bytes());
    udp[..2].copy_from_slice(&datagram.from.port().to_be_bytes());
    udp[2..4].copy_from_slice(&datagram.to.port().to_be_bytes());
    udp[4..6].copy_from_slice(&length.to_be_bytes());
    udp[6..8].fill(0);
    let mut at = UDP_HEADER;
    for piece in pieces {
        udp[at..at + piece.len()].copy_from_slice(piece);
        at += piece.len();
    }
    let pseudo = addresses + u32::from(UDP) + u32::from(length);
    let checksum = finish_udp(pseudo + u32::from(fold(sum(udp))));
    udp[6..8].copy_from_slice(&checksum.to_be_bytes());
    Ok(ETHERNET_HEADER + packet)
}

/// The header, and the sum of its addresses.
fn ipv4(header: &mut [u8], datagram: &DatagramHeader, [from, to]: [[u8; 4]; 2], length: u16) -> u32 {
    const DO_NOT_FRAGMENT: u8 = 0x40;
    let [high, low] = length.to_be_bytes();
    let [id_high, id_low] = datagram.identification.unwrap_or(0).to_be_bytes();
    header[..12].copy_from_slice(&[
        0x45,
        datagram.traffic_class,
        high,
        low,
        id_high,
        id_low,
        if datagram.identification.is_none() { DO_NOT_FRAGMENT } else { 0 },
        0,
        datagram.ttl,
        UDP,
        0,
        0,
    ]);
    header[12..16].copy_from_slice(&from);
    header[16..].copy_from_slice(&to);
    let checksum = finish(sum(header));
    header[10..12].copy_from_slice(&checksum.to_be_bytes());
    sum(&header[12..])
}

/// The header, and the sum of its addresses.
fn ipv6(header: &mut [u8], datagram: &DatagramHeader, [from, to]: [[u8; 16]; 2], length: u16) -> u32 {
    let class = datagram.traffic_class;
    let [high, low] = length.to_be_bytes();
    let [_, label @ ..] = datagram.flow_label.to_be_bytes();
    header[..8].copy_from_slice(&[
        0x60 | class >> 4,
        class << 4 | label[0] & 0x0f,
        label[1],
        label[2],
        high,
        low,
        UDP,
        datagram.ttl,
    ]);
    header[8..24].copy_from_slice(&from);
    header[24..].copy_from_slice(&to);
    sum(&header[8..])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{Sums, read};

    const NEXT_HOP: NextHop =
        NextHop { source_mac: Mac([2, 0, 0, 0, 0, 1]), next_hop_mac: Mac([2, 0, 0, 0, 0, 2]), mtu: 1500 };

    fn datagram(v4: bool, ports: (u16, u16)) -> DatagramHeader {
        let [from, to]: [IpAddr; 2] = match v4 {
            true => [[198, 18, 0, 1].into(), [198, 18, 0, 2].into()],
            false => [[0x2001, 2, 0, 0, 0, 0, 0, 1].into(), [0x2001, 2, 0, 0, 0, 0, 0, 2].into()],
        };
        let [from, to] = [SocketAddr::new(from, ports.0), SocketAddr::new(to, ports.1)];
        DatagramHeader { from, to, ttl: 64, traffic_class: 0xb8, identification: None, flow_label: 0 }
    }

    proptest! {
        #[test]
        fn what_is_written_is_what_others_read(
            v4: bool,
            ports: (u16, u16),
            pieces in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..400), 0..3),
            identification: Option<u16>,
            flow_label in 0..1_u32 << 20,
        ) {
            let datagram = DatagramHeader { identification, flow_label, ..datagram(v4, ports) };
            let mut frame = [0xee; 2048];
            let length = write(&NEXT_HOP, &datagram, pieces.iter().map(Vec::as_slice), &mut frame).expect("it fits");
            let payload = pieces.concat();
            let packet = etherparse::PacketHeaders::from_ethernet_slice(&frame[..length]).expect("a packet");
            prop_assert_eq!(packet.payload.slice(), &payload[..]);
            if let Some(etherparse::NetHeaders::Ipv4(header, _)) = &packet.net {
                let said = (header.dont_fragment, header.identification);
                prop_assert_eq!(said, (identification.is_none(), identification.unwrap_or(0)));
            }
            if let Some(etherparse::NetHeaders::Ipv6(header, _)) = &packet.net {
                prop_assert_eq!(header.flow_label.value(), flow_label);
            }
            let udp = packet.transport.clone().and_then(etherparse::TransportHeader::udp).expect("UDP");
            prop_assert_eq!((udp.source_port, udp.destination_port), ports);
            let arrived = read(&frame[..length], Sums::Whole).expect("its checksums hold");
            prop_assert_eq!((arrived.from, arrived.to), (datagram.from, datagram.to));
            prop_assert_eq!((arrived.ttl, arrived.traffic_class, arrived.payload), (64, 0xb8, &payload[..]));
        }
    }

    #[test]
    fn flows_have_labels_of_their_own() {
        let label = |ports: (u16, u16)| {
            let datagram = datagram(false, ports);
            flow_label(datagram.from, datagram.to)
        };
        let labels: std::collections::HashSet<u32> = (0..1000).map(|port| label((port, 7))).collect();
        assert!(labels.len() > 990 && labels.iter().all(|label| (1..1 << 20).contains(label)), "{}", labels.len());
        // Each part that a router looks at spreads.
        let low: std::collections::HashSet<u32> = labels.iter().map(|label| label & 15).collect();
        let high: std::collections::HashSet<u32> = labels.iter().map(|label| label >> 16).collect();
        assert_eq!([low.len(), high.len()], [16, 16]);
        assert_eq!(label((7, 8)), label((7, 8)));
        let v4 = datagram(true, (7, 8));
        assert_eq!(flow_label(v4.from, v4.to), 0);
    }

    #[test]
    fn what_does_not_fit_is_left_to_the_kernel() {
        let payload = [0; 1473];
        let mut frame = [0; 2048];
        let mut write = |length: usize, datagram: &DatagramHeader| {
            super::write(&NEXT_HOP, datagram, [&payload[..length]].into_iter(), &mut frame)
        };
        assert_eq!(write(1472, &datagram(true, (1, 2))), Ok(1514));
        assert_eq!(write(1473, &datagram(true, (1, 2))), Err(WriteError::TooLong { packet: 1501, mtu: 1500 }));
        assert_eq!(write(1452, &datagram(false, (1, 2))), Ok(1514));
        assert_eq!(write(1453, &datagram(false, (1, 2))), Err(WriteError::TooLong { packet: 1501, mtu: 1500 }));
        let mixed = DatagramHeader { to: datagram(false, (1, 2)).to, ..datagram(true, (1, 2)) };
        assert_eq!(write(0, &mixed), Err(WriteError::MixedVersions));
        let small = super::write(&NEXT_HOP, &datagram(true, (1, 2)), [&payload[..20]].into_iter(), &mut [0; 60]);
        assert_eq!(small, Err(WriteError::NoRoom(60)));
    }
}
