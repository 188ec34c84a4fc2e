//! Datagrams that arrive: a frame's bytes, read in place.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use frame::{
    checksum::{fold, sum},
    headers::{IPV4, IPV4_HEADER, IPV6, IPV6_HEADER, UDP, UDP_HEADER},
};

/// Bytes of an Ethernet header without VLAN tags.
pub(crate) const ETHERNET_HEADER: usize = 14;

/// A UDP datagram that arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrived<'a> {
    /// Source.
    pub from: SocketAddr,
    /// Destination.
    pub to: SocketAddr,
    /// Time to live, or hop limit.
    pub ttl: u8,
    /// Type of service, or traffic class: DSCP and ECN.
    pub traffic_class: u8,
    /// Payload.
    pub payload: &'a [u8],
}

/// Why a frame is no datagram for a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// Something else than UDP straight in IP, straight in Ethernet; or a part of a datagram.
    Other,
    /// Lengths that contradict each other, or a frame that ends too early.
    Malformed,
    /// A checksum that does not hold: what the kernel counts as `InCsumErrors` and drops.
    Checksum,
}

/// Checksums of UDP that hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sums {
    /// Checksums of the whole datagram.
    Whole,
    /// Also those of the pseudo header alone: what a virtual interface hands over of a datagram that never leaves the machine
    /// (`CHECKSUM_PARTIAL` of Linux), whose checksum a card was to complete.
    PartialToo,
}

/// Reads a frame without FCS. Bytes behind the IP packet, as Ethernet pads short frames, belong to nothing.
pub fn read(frame: &[u8], sums: Sums) -> Result<Arrived<'_>, Refusal> {
    let (header, packet) = frame.split_at_checked(ETHERNET_HEADER).ok_or(Refusal::Malformed)?;
    match u16_at(header, 12) {
        IPV4 => in_ipv4(packet, sums),
        IPV6 => in_ipv6(packet, sums),
        _ => Err(Refusal::Other),
    }
}

fn in_ipv4(packet: &[u8], sums: Sums) -> Result<Arrived<'_>, Refusal> {
    const MORE_OR_OFFSET: u16 = 0x3fff;
    let header = packet.get(..IPV4_HEADER).ok_or(Refusal::Malformed)?;
    // Version 4 and a header of five words: without options.
    if header[0] != 0x45 || header[9] != UDP || u16_at(header, 6) & MORE_OR_OFFSET != 0 {
        return Err(Refusal::Other);
    }
    if fold(sum(header)) != 0xffff {
        return Err(Refusal::Checksum);
    }
    let length = usize::from(u16_at(header, 2));
    let datagram = packet.get(IPV4_HEADER..length).ok_or(Refusal::Malformed)?;
    let ends = [ipv4_at(header, 12), ipv4_at(header, 16)];
    in_udp(datagram, ends, sum(&header[12..20]), sums, [header[8], header[1]])
}

fn in_ipv6(packet: &[u8], sums: Sums) -> Result<Arrived<'_>, Refusal> {
    let header = packet.get(..IPV6_HEADER).ok_or(Refusal::Malformed)?;
    if header[0] >> 4 != 6 || header[6] != UDP {
        return Err(Refusal::Other);
    }
    let length = IPV6_HEADER + usize::from(u16_at(header, 4));
    let datagram = packet.get(IPV6_HEADER..length).ok_or(Refusal::Malformed)?;
    let ends = [ipv6_at(header, 8), ipv6_at(header, 24)];
    let traffic_class = header[0] << 4 | header[1] >> 4;
    in_udp(datagram, ends, sum(&header[8..40]), sums, [header[7], traffic_class])
}

/// With the addresses of the IP header, the sum of them, and what else it says.
fn in_udp(
    datagram: &[u8],
    [from, to]: [IpAddr; 2],
    addresses: u32,
    sums: Sums,
    [ttl, traffic_class]: [u8; 2],
) -> Result<Arrived<'_>, Refusal> {
    let header = datagram.get(..UDP_HEADER).ok_or(Refusal::Malformed)?;
    let length = usize::from(u16_at(header, 4));
    let datagram = datagram.get(..length).filter(|_| length >= UDP_HEADER).ok_or(Refusal::Malformed)?;
    let pseudo = addresses + u32::from(UDP) + length as u32;
    let holds = match u16_at(header, 6) {
        // Over IPv4 a datagram may have none (RFC 768); over IPv6 not (RFC 8200, section 8.1).
        0 => to.is_ipv4(),
        checksum if sums == Sums::PartialToo && checksum == fold(pseudo) => true,
        _ => fold(pseudo + u32::from(fold(sum(datagram)))) == 0xffff,
    };
    if !holds {
        return Err(Refusal::Checksum);
    }
    Ok(Arrived {
        from: SocketAddr::new(from, u16_at(header, 0)),
        to: SocketAddr::new(to, u16_at(header, 2)),
        ttl,
        traffic_class,
        payload: &datagram[UDP_HEADER..],
    })
}

fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([bytes[at], bytes[at + 1]])
}

fn ipv4_at(bytes: &[u8], at: usize) -> IpAddr {
    let bytes: [u8; 4] = std::array::from_fn(|place| bytes[at + place]);
    Ipv4Addr::from(bytes).into()
}

fn ipv6_at(bytes: &[u8], at: usize) -> IpAddr {
    let bytes: [u8; 16] = std::array::from_fn(|place| bytes[at + place]);
    Ipv6Addr::from(bytes).into()
}

#[cfg(test)]
mod tests {
    use etherparse::PacketBuilder;
    use proptest::prelude::*;

    use super::*;

    fn read(frame: &[u8]) -> Result<Arrived<'_>, Refusal> {
        super::read(frame, Sums::Whole)
    }

    /// The reading of another library.
    fn built(v4: bool, ports: (u16, u16), payload: &[u8]) -> Vec<u8> {
        let builder = PacketBuilder::ethernet2([2, 0, 0, 0, 0, 1], [2, 0, 0, 0, 0, 2]);
        let builder = match v4 {
            true => builder.ipv4([198, 18, 0, 1], [198, 18, 0, 2], 63),
            false => builder.ipv6([0x20; 16], [0x21; 16], 63),
        };
        let mut frame = Vec::new();
        builder.udp(ports.0, ports.1).write(&mut frame, payload).expect("it fits");
        frame
    }

    proptest! {
        #[test]
        fn what_others_write_is_read(v4: bool, ports: (u16, u16), payload in prop::collection::vec(any::<u8>(), 0..1473)) {
            let mut frame = built(v4, ports, &payload);
            frame.resize(frame.len().max(60), 0);
            let arrived = read(&frame).expect("a datagram");
            prop_assert_eq!((arrived.from.port(), arrived.to.port()), ports);
            prop_assert_eq!((arrived.payload, arrived.ttl), (&payload[..], 63));
            prop_assert_eq!(arrived.to.is_ipv4(), v4);
        }

        #[test]
        fn one_bit_that_is_not_right_is_found(v4: bool, payload in prop::collection::vec(any::<u8>(), 0..64), at: prop::sample::Index, bit in 0..8u32) {
            let mut frame = built(v4, (7, 9), &payload);
            // The header of IPv6 has no checksum: that of UDP covers its addresses.
            let (from, udp) = if v4 { (14, 34) } else { (22, 54) };
            let at = from + at.index(frame.len() - from);
            // A length that is not right takes other bytes into the sum, which may happen to be the same.
            prop_assume!(!(udp + 4..udp + 6).contains(&at));
            frame[at] ^= 1 << bit;
            let has_checksum = frame[udp + 6..udp + 8] != [0, 0];
            prop_assert!(read(&frame).is_err() || v4 && !has_checksum);
        }

        #[test]
        fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200), type_ in prop::sample::select(vec![IPV4, IPV6])) {
            let mut frame = bytes;
            if let Some(place) = frame.get_mut(12..14) {
                place.copy_from_slice(&type_.to_be_bytes());
            }
            let _ = read(&frame);
        }
    }

    #[test]
    fn what_is_the_kernels_is_left_to_it() {
        let good = built(true, (7, 9), b"payload");
        let with = |at: usize, value: u8| {
            let mut frame = good.clone();
            frame[at] = value;
            read(&frame).map(|arrived| arrived.from)
        };
        assert_eq!(with(12, 0x81), Err(Refusal::Other), "a VLAN");
        assert_eq!(with(14, 0x46), Err(Refusal::Other), "IP options");
        assert_eq!(with(20, 0x20), Err(Refusal::Other), "more fragments");
        assert_eq!(with(21, 1), Err(Refusal::Other), "a later fragment");
        assert_eq!(with(23, 6), Err(Refusal::Other), "TCP");
        assert_eq!(with(39, 200), Err(Refusal::Malformed), "a datagram longer than its packet");
        assert_eq!(read(&good[..41]), Err(Refusal::Malformed));
        assert_eq!(with(20, 0), Err(Refusal::Checksum), "a header that was changed");
    }

    #[test]
    fn a_datagram_without_a_checksum_is_taken_over_ipv4_alone() {
        let mut frame = built(true, (7, 9), b"payload");
        frame[40..42].fill(0);
        assert_eq!(read(&frame).map(|arrived| arrived.payload), Ok(&b"payload"[..]));
        let mut frame = built(false, (7, 9), b"payload");
        frame[60..62].fill(0);
        assert_eq!(read(&frame), Err(Refusal::Checksum));
    }

    #[test]
    fn a_sum_of_the_pseudo_header_alone_holds_where_the_caller_says_so() {
        for v4 in [true, false] {
            let mut frame = built(v4, (7, 9), b"payload");
            let (addresses, udp) = if v4 { (&frame[26..34], 34) } else { (&frame[22..54], 54) };
            let pseudo = fold(sum(addresses) + u32::from(UDP) + 15);
            frame[udp + 6..udp + 8].copy_from_slice(&pseudo.to_be_bytes());
            assert_eq!(read(&frame), Err(Refusal::Checksum));
            assert_eq!(super::read(&frame, Sums::PartialToo).map(|it| it.payload), Ok(&b"payload"[..]));
            frame[udp + 7] ^= 1;
            assert_eq!(super::read(&frame, Sums::PartialToo), Err(Refusal::Checksum));
            let whole = built(v4, (7, 9), b"payload");
            assert_eq!(super::read(&whole, Sums::PartialToo).map(|it| it.payload), Ok(&b"payload"[..]));
        }
    }
}
