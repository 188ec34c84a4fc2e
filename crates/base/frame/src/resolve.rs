//! Frames that ask for MAC addresses and answer: ARP for IPv4, neighbour discovery for IPv6; and echo requests.

use std::net::{IpAddr, Ipv6Addr};

use model::stream::Mac;

use crate::{
    checksum::{finish, sum},
    headers::{self, Ip},
    parse::Arp,
};

/// The shortest frame, without FCS.
const SHORTEST: usize = 60;

/// Neighbour discovery is heard only with this hop limit (RFC 4861): no router has passed it on.
const NOT_ROUTED: u8 = 255;

const NEIGHBOUR_SOLICITATION: u8 = 135;
const NEIGHBOUR_ADVERTISEMENT: u8 = 136;

/// Asks who has `target`: ARP, or a neighbour solicitation (RFC 4861, section 4.3). `None` if the addresses are of two versions.
pub fn who_has(source_mac: Mac, source: IpAddr, target: IpAddr) -> Option<Vec<u8>> {
    match (source, target) {
        (IpAddr::V4(sender), IpAddr::V4(target)) => {
            let arp = Arp { operation: 1, sender_mac: source_mac, sender, target_mac: Mac::default(), target };
            Some(arp_frame(Mac::BROADCAST, &arp))
        }
        (IpAddr::V6(source), IpAddr::V6(target)) => {
            let group = solicited_node(target);
            let body = [&[0; 4][..], &target.octets(), &[1, 1], &source_mac.0].concat();
            let ip = icmpv6_header(source, group);
            Some(icmp_frame(group_mac(group), source_mac, &ip, NEIGHBOUR_SOLICITATION, &body))
        }
        _ => None,
    }
}

/// Tells `asker` that `address` is at `mac`: an ARP reply, or a neighbour advertisement (RFC 4861, section 4.4). `None` if the
/// addresses are of two versions.
pub fn is_at(mac: Mac, address: IpAddr, asker_mac: Mac, asker: IpAddr) -> Option<Vec<u8>> {
    match (address, asker) {
        (IpAddr::V4(sender), IpAddr::V4(target)) => {
            let arp = Arp { operation: 2, sender_mac: mac, sender, target_mac: asker_mac, target };
            Some(arp_frame(asker_mac, &arp))
        }
        (IpAddr::V6(address), IpAddr::V6(asker)) => {
            const SOLICITED_AND_OVERRIDE: u8 = 0x60;
            let body = [&[SOLICITED_AND_OVERRIDE, 0, 0, 0][..], &address.octets(), &[2, 1], &mac.0].concat();
            Some(icmp_frame(asker_mac, mac, &icmpv6_header(address, asker), NEIGHBOUR_ADVERTISEMENT, &body))
        }
        _ => None,
    }
}

/// An echo request (RFC 792, RFC 4443) with this payload. The addresses have to be of one version.
pub fn echo_request(
    macs: (Mac, Mac),
    (source, destination): (IpAddr, IpAddr),
    identifier: u16,
    sequence: u16,
    payload: &[u8],
) -> Vec<u8> {
    let (protocol, kind) = if destination.is_ipv4() { (headers::ICMP, 8) } else { (headers::ICMPV6, 128) };
    let ip = Ip { source, destination, protocol, dscp: 0, ttl: 64 };
    let body = [&identifier.to_be_bytes()[..], &sequence.to_be_bytes(), payload].concat();
    icmp_frame(macs.1, macs.0, &ip, kind, &body)
}

fn arp_frame(destination: Mac, arp: &Arp) -> Vec<u8> {
    let mut frame = Vec::with_capacity(SHORTEST);
    headers::ethernet(&mut frame, destination, arp.sender_mac, &[], headers::ARP);
    frame.extend([0, 1, 0x08, 0, 6, 4]);
    frame.extend(arp.operation.to_be_bytes());
    frame.extend(arp.sender_mac.0);
    frame.extend(arp.sender.octets());
    frame.extend(arp.target_mac.0);
    frame.extend(arp.target.octets());
    frame.resize(SHORTEST, 0);
    frame
}

fn icmpv6_header(source: Ipv6Addr, destination: Ipv6Addr) -> Ip {
    let (source, destination) = (source.into(), destination.into());
    Ip { source, destination, protocol: headers::ICMPV6, dscp: 0, ttl: NOT_ROUTED }
}

fn icmp_frame(destination: Mac, source: Mac, ip: &Ip, kind: u8, body: &[u8]) -> Vec<u8> {
    let mut frame = Vec::new();
    let ether_type = if ip.destination.is_ipv4() { headers::IPV4 } else { headers::IPV6 };
    headers::ethernet(&mut frame, destination, source, &[], ether_type);
    let l3 = frame.len();
    headers::ip(&mut frame, ip);
    let l4 = frame.len();
    frame.extend([kind, 0, 0, 0]);
    frame.extend(body);
    headers::finish_ip(&mut frame, l3, l4);
    let pseudo =
        if ip.destination.is_ipv4() { 0 } else { headers::pseudo_sum(&frame[l3..l4]) + (frame.len() - l4) as u32 };
    let checksum = finish(pseudo + sum(&frame[l4..]));
    frame[l4 + 2..l4 + 4].copy_from_slice(&checksum.to_be_bytes());
    frame.resize(frame.len().max(SHORTEST), 0);
    frame
}

/// The group that whoever has the address listens to (RFC 4291, section 2.7.1).
fn solicited_node(address: Ipv6Addr) -> Ipv6Addr {
    let [.., a, b, c] = address.octets();
    Ipv6Addr::new(0xff02, 0, 0, 0, 0, 1, 0xff00 | u16::from(a), u16::from_be_bytes([b, c]))
}

/// MAC address of an IPv6 group (RFC 2464, section 7).
fn group_mac(group: Ipv6Addr) -> Mac {
    let [.., a, b, c, d] = group.octets();
    Mac([0x33, 0x33, a, b, c, d])
}

#[cfg(test)]
mod tests {
    use etherparse::{NetSlice, SlicedPacket, TransportSlice, icmpv6::NeighborAdvertisementHeader};

    use super::*;
    use crate::parse::{Network, Transport, parse};

    const HERE: Mac = Mac([2, 0, 0, 0, 0, 1]);
    const THERE: Mac = Mac([2, 0, 0, 0, 0, 2]);

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn an_arp_question_is_answered() {
        let question = who_has(HERE, ip("198.18.0.1"), ip("198.18.0.2")).unwrap();
        let Network::Arp(asked) = parse(&question).unwrap().network else { panic!("{question:?}") };
        assert_eq!((asked.operation, asked.sender_mac, asked.target.octets()), (1, HERE, [198, 18, 0, 2]));
        let frame = is_at(THERE, asked.target.into(), asked.sender_mac, asked.sender.into()).unwrap();
        let answer = parse(&frame).unwrap();
        assert_eq!((answer.destination, answer.source, frame.len()), (HERE, THERE, 60));
        let Network::Arp(told) = answer.network else { panic!("{:?}", answer.network) };
        assert_eq!((told.operation, told.sender_mac, told.sender), (2, THERE, asked.target));
        let Some(NetSlice::Arp(arp)) = SlicedPacket::from_ethernet(&frame).unwrap().net else { panic!("no ARP") };
        assert_eq!(
            (arp.operation().0, arp.sender_hw_addr(), arp.target_protocol_addr()),
            (2, &THERE.0[..], &[198, 18, 0, 1][..])
        );
    }

    #[test]
    fn neighbours_are_asked_by_the_group_of_their_address() {
        let frame = who_has(HERE, ip("2001:2::1"), ip("2001:2::12:3456")).unwrap();
        let packet = parse(&frame).unwrap();
        assert_eq!(packet.destination.to_string(), "33:33:ff:12:34:56");
        let Network::Ip(seen) = packet.network else { panic!("{:?}", packet.network) };
        assert_eq!((seen.destination, seen.ttl), (ip("ff02::1:ff12:3456"), 255));
        let Transport::Icmp(icmp) = seen.transport else { panic!("{:?}", seen.transport) };
        assert_eq!((icmp.kind, icmp.checksum_holds, &icmp.body[20..]), (135, true, &[1, 1, 2, 0, 0, 0, 0, 1][..]));
    }

    #[test]
    fn neighbour_advertisements_and_echo_requests_are_understood_by_others() {
        let frame = is_at(THERE, ip("2001:2::2"), HERE, ip("2001:2::1")).unwrap();
        let sliced = SlicedPacket::from_ethernet(&frame).unwrap();
        let Some(TransportSlice::Icmpv6(icmp)) = &sliced.transport else { panic!("{sliced:?}") };
        let Some(NetSlice::Ipv6(v6)) = &sliced.net else { panic!("{sliced:?}") };
        assert!(icmp.is_checksum_valid(v6.header().source(), v6.header().destination()));
        let told = NeighborAdvertisementHeader { router: false, solicited: true, r#override: true };
        assert_eq!(icmp.icmp_type(), etherparse::Icmpv6Type::NeighborAdvertisement(told));
        for (from, to) in [("198.18.0.1", "198.18.0.2"), ("2001:2::1", "2001:2::2")] {
            let frame = echo_request((HERE, THERE), (ip(from), ip(to)), 7, 9, b"odd");
            let Network::Ip(seen) = parse(&frame).unwrap().network else { panic!("no IP") };
            let Transport::Icmp(icmp) = seen.transport else { panic!("{:?}", seen.transport) };
            assert!(seen.checksum_holds && icmp.checksum_holds);
            assert_eq!(icmp.body, [0, 7, 0, 9, b'o', b'd', b'd']);
        }
        assert_eq!(who_has(HERE, ip("198.18.0.1"), ip("2001:2::2")), None);
    }
}
