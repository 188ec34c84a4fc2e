//! Headers, appended to the bytes of a frame. Lengths and checksums of IP, UDP and TCP are left 0: they are put in last.

use std::net::IpAddr;

use model::{
    Protocol,
    stream::{Mac, Vlan},
};

use crate::checksum::{finish, sum};

/// EtherType of IPv4.
pub const IPV4: u16 = 0x0800;
/// EtherType of ARP.
pub const ARP: u16 = 0x0806;
/// EtherType of IPv6.
pub const IPV6: u16 = 0x86dd;
/// EtherType of a VLAN tag (IEEE 802.1Q).
pub const CUSTOMER_VLAN: u16 = 0x8100;
/// EtherType of the outer of two VLAN tags (IEEE 802.1ad).
pub const SERVICE_VLAN: u16 = 0x88a8;
/// EtherType of VLAN tags of switches older than IEEE 802.1ad.
pub const OLD_SERVICE_VLAN: u16 = 0x9100;

/// IP protocol numbers.
pub const ICMP: u8 = 1;
/// IP protocol number of TCP.
pub const TCP: u8 = 6;
/// IP protocol number of UDP.
pub const UDP: u8 = 17;
/// IP protocol number of ICMPv6.
pub const ICMPV6: u8 = 58;

/// Bytes of an IPv4 header without options.
pub const IPV4_HEADER: usize = 20;
/// Bytes of an IPv6 header.
pub const IPV6_HEADER: usize = 40;
/// Bytes of a UDP header.
pub const UDP_HEADER: usize = 8;
/// Bytes of a TCP header without options.
pub const TCP_HEADER: usize = 20;

/// Ethernet header with VLAN tags, the outer one first.
pub fn ethernet(frame: &mut Vec<u8>, destination: Mac, source: Mac, vlans: &[Vlan], ether_type: u16) {
    frame.extend(destination.0);
    frame.extend(source.0);
    for (place, vlan) in vlans.iter().enumerate() {
        let inner = place + 1 == vlans.len();
        frame.extend(vlan.tpid.unwrap_or(if inner { CUSTOMER_VLAN } else { SERVICE_VLAN }).to_be_bytes());
        frame.extend((u16::from(vlan.priority) << 13 | vlan.id).to_be_bytes());
    }
    frame.extend(ether_type.to_be_bytes());
}

/// Fields that IPv4 and IPv6 headers have in common.
#[derive(Clone, Copy, Debug)]
pub struct Ip {
    /// Source.
    pub source: IpAddr,
    /// Destination, of the same version.
    pub destination: IpAddr,
    /// Number of the protocol above.
    pub protocol: u8,
    /// Differentiated services code point.
    pub dscp: u8,
    /// Time to live, or hop limit.
    pub ttl: u8,
}

/// IP header of the version that the destination has.
pub fn ip(frame: &mut Vec<u8>, ip: &Ip) {
    match ip.destination {
        IpAddr::V4(_) => ipv4(frame, ip),
        IpAddr::V6(_) => ipv6(frame, ip),
    }
    extend_address(frame, ip.source);
    extend_address(frame, ip.destination);
}

/// Not to be fragmented, and so with identification 0 (RFC 6864, section 4.1).
fn ipv4(frame: &mut Vec<u8>, ip: &Ip) {
    const DO_NOT_FRAGMENT: u8 = 0x40;
    frame.extend([0x45, ip.dscp << 2, 0, 0, 0, 0, DO_NOT_FRAGMENT, 0, ip.ttl, ip.protocol, 0, 0]);
}

fn ipv6(frame: &mut Vec<u8>, ip: &Ip) {
    frame.extend([0x60 | ip.dscp >> 2, ip.dscp << 6, 0, 0, 0, 0, ip.protocol, ip.ttl]);
}

fn extend_address(frame: &mut Vec<u8>, address: IpAddr) {
    match address {
        IpAddr::V4(address) => frame.extend(address.octets()),
        IpAddr::V6(address) => frame.extend(address.octets()),
    }
}

/// Sum that an IP header adds to the checksum of UDP, TCP and ICMPv6 (the pseudo header), but for the length.
pub fn pseudo_sum(header: &[u8]) -> u32 {
    let (addresses, protocol) =
        if header.len() == IPV6_HEADER { (&header[8..], header[6]) } else { (&header[12..], header[9]) };
    sum(addresses) + u32::from(protocol)
}

/// Puts length and checksum into the IP header from `l3` to `l4`; the packet is all that follows.
pub fn finish_ip(frame: &mut [u8], l3: usize, l4: usize) {
    let end = frame.len();
    if l4 - l3 == IPV6_HEADER {
        frame[l3 + 4..l3 + 6].copy_from_slice(&((end - l4) as u16).to_be_bytes());
        return;
    }
    frame[l3 + 2..l3 + 4].copy_from_slice(&((end - l3) as u16).to_be_bytes());
    let checksum = finish(sum(&frame[l3..l4]));
    frame[l3 + 10..l3 + 12].copy_from_slice(&checksum.to_be_bytes());
}

/// Header of UDP, or of a TCP segment with data in the middle of a connection.
pub fn transport(frame: &mut Vec<u8>, protocol: Protocol, source: u16, destination: u16) {
    const FIVE_WORDS: u8 = 0x50;
    const ACK: u8 = 0x10;
    frame.extend(source.to_be_bytes());
    frame.extend(destination.to_be_bytes());
    match protocol {
        Protocol::Udp => frame.extend([0; 4]),
        Protocol::Tcp => {
            frame.extend([0; 8]);
            frame.extend([FIVE_WORDS, ACK, 0xff, 0xff, 0, 0, 0, 0]);
        }
    }
}
