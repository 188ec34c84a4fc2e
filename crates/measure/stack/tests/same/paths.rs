//! Fragmentation: flags and fragments as seen on the wire.

use std::{collections::BTreeSet, os::fd::OwnedFd, process::Command};

use rustix::net::{AddressFamily, Protocol, RecvFlags, SocketFlags, SocketType, recv, socket_with};

use crate::{
    cases::{Case, bytes, case},
    ends::{Ends, Version},
    wire::{PORT, Wire},
};

/// Path MTU, smaller than the interface's.
const PATH: usize = 1400;

pub(crate) const CASES: [Case; 2] = [
    case("fragments as IP_MTU_DISCOVER says, connected", true, connected, [true, false]),
    case("fragments as IP_MTU_DISCOVER says, not connected", false, not_connected, [true, false]),
];

/// Makes the path to the far end narrower than the interface, for both versions, with `mtu` or `mtu lock`.
pub(crate) fn narrow(wire: &Wire, by: &str) {
    for route in ["-4 route add 198.18.0.2/32", "-6 route add 2001:2::2/128"] {
        let words = format!("{route} dev {PORT} {by} {PATH}");
        let run = || Command::new("ip").args(words.split(' ')).status().expect("iproute2 is installed");
        assert!(wire.at_a(run).success(), "{words}");
    }
}

fn connected(ends: &mut Ends<'_>) {
    all_kinds(ends, false);
}

fn not_connected(ends: &mut Ends<'_>) {
    all_kinds(ends, true);
}

fn all_kinds(ends: &mut Ends<'_>, named: bool) {
    let to = named.then(|| ends.version.at(2, 7002));
    let headers = if ends.version == Version::V6 { 48 } else { 28 };
    let wire = ends.wire.at_b(sniffer);
    // DONT, WANT, DO, PROBE, INTERFACE, OMIT.
    for kind in 0..=5 {
        if ends.version == Version::V6 {
            ends.set(libc::SOL_IPV6, libc::IPV6_MTU_DISCOVER, kind);
        } else {
            ends.set(libc::SOL_IP, libc::IP_MTU_DISCOVER, kind);
        }
        ends.note("kind", kind);
        for packet in [100, PATH, PATH + 1, 1500, 1501] {
            ends.send(&bytes(packet - headers), to);
            ends.far_receives();
            packets(ends, &wire);
        }
        let segments = crate::ends::control(libc::SOL_UDP, libc::UDP_SEGMENT, &200_u16.to_ne_bytes());
        ends.send_with(&[&bytes(900)], to, &segments, 0);
        (0..5).for_each(|_| ends.far_receives());
        // A virtual interface delivers all segments in one packet, so their number is not compared.
        segments_of(ends, &wire);
    }
}

/// A socket that receives all packets of the interface.
fn sniffer() -> OwnedFd {
    const ALL: u16 = 3;
    let protocol = std::num::NonZeroU32::new(u32::from(ALL.to_be())).map(Protocol::from_raw);
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    socket_with(AddressFamily::PACKET, SocketType::DGRAM, flags, protocol).expect("this test needs root")
}

/// Records the header fields of each packet that arrived.
fn packets(ends: &mut Ends<'_>, wire: &OwnedFd) {
    let told = sniffed(wire);
    ends.note("packets", told.iter().map(|(length, flags, _)| (*length, *flags)).collect::<Vec<_>>());
    identified(ends, &told);
}

/// The same without the number of packets.
fn segments_of(ends: &mut Ends<'_>, wire: &OwnedFd) {
    let told = sniffed(wire);
    ends.note("segments", told.iter().map(|(_, flags, _)| *flags).collect::<BTreeSet<_>>());
    identified(ends, &told);
}

/// Records whether each packet that may be fragmented has its own identification.
fn identified(ends: &mut Ends<'_>, told: &[Told]) {
    let of_whole = || told.iter().filter(|(_, flags, _)| *flags == Some(0)).map(|(.., identification)| *identification);
    let different: BTreeSet<u16> = of_whole().collect();
    ends.note("each has its own identification", different.len() == of_whole().count());
}

/// Length of a packet; over IPv4 also the fragmentation flags and the identification.
type Told = (usize, Option<u16>, u16);

/// Packets that arrived at the far end.
fn sniffed(wire: &OwnedFd) -> Vec<Told> {
    let (mut told, mut packet) = (Vec::new(), [0_u8; 2048]);
    while let Ok((length, _)) = recv(wire, &mut packet[..], RecvFlags::empty()) {
        let word = |at: usize| u16::from_be_bytes([packet[at], packet[at + 1]]);
        match packet[0] >> 4 {
            4 if packet[9] == 17 && packet[16..20] == [198, 18, 0, 2] => told.push((length, Some(word(6)), word(4))),
            // UDP, or a fragment.
            6 if [17, 44].contains(&packet[6]) && packet[24..26] == [0x20, 0x01] && packet[39] == 2 => {
                told.push((length, None, 0));
            }
            _ => {}
        }
    }
    told
}
