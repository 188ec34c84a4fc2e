//! Frames of any stream are understood alike by another program's parser and by ours.

use etherparse::{NetSlice, SlicedPacket, TransportSlice};
use proptest::prelude::*;

use super::{tests::place, *};
use crate::tag;
use crate::{parse, read};
use model::stream::Values;

fn words<const N: usize>(choices: [&'static str; N]) -> impl Strategy<Value = &'static str> {
    proptest::sample::select(choices.to_vec())
}

fn addresses(ip: IpVersion) -> BoxedStrategy<Option<Values<IpAddr>>> {
    let texts = match ip {
        IpVersion::V4 => [
            "",
            "198.18.7.9",
            "198.18.0.0..198.18.255.255 step 7",
            "198.18.0.1, 198.19.200.3, 198.18.255.255",
            "random 198.18.0.0..198.19.255.255 seed 5",
        ],
        IpVersion::V6 => [
            "",
            "2001:2::7",
            "2001:2::ffff..2001:2::4:0 step 3",
            "2001:2::1, 2001:2:0:ffff::1, 2001:2::ffff:0:9",
            "random 2001:2::..2001:2::ffff:ffff",
        ],
    };
    words(texts).prop_map(|text| text.parse().ok()).boxed()
}

prop_compose! {
    fn stream()(ip in prop_oneof![Just(IpVersion::V4), Just(IpVersion::V6)])(
        ip in Just(ip),
        source_ip in addresses(ip),
        destination_ip in addresses(ip),
        protocol in prop_oneof![Just(Protocol::Udp), Just(Protocol::Tcp)],
        sizes in words(["64", "65", "imix", "64..1500 step 13", "1518", "genome abcz", "64, 99, 70"]),
        vlans in proptest::collection::vec(words(["0", "100 priority 3", "4094", "7 priority 7 tpid 0x9100"]), 0..=2),
        source_port in words(["", "1", "1024..65535 step 11", "random 1..65535", "5, 65535"]),
        source_mac in words(["", "02:00:00:00:00:00..02:00:00:00:ff:ff", "02:00:00:00:00:01, 06:05:04:03:02:01"]),
        payload in words(["zeros", "ones", "counting", "random seed 9", "hex 0badcafe77"]),
        dscp in 0_u8..64,
        ttl in 1_u8..,
    ) -> Stream {
        Stream {
            ip, source_ip, destination_ip, protocol, dscp, ttl,
            sizes: sizes.parse().unwrap(),
            vlans: vlans.iter().map(|vlan| vlan.parse().unwrap()).collect(),
            source_port: source_port.parse().ok(),
            source_mac: source_mac.parse().ok(),
            payload: payload.parse().unwrap(),
            ..Stream::default()
        }
    }
}

/// With flows wherever the stream needs them said.
fn with_flows(stream: Stream) -> Stream {
    let flows = stream.flow_count().is_err().then_some(100_000);
    Stream { flows, ..stream }
}

fn place_for(ip: IpVersion) -> Place {
    match ip {
        IpVersion::V4 => place(),
        IpVersion::V6 => super::tests::place6(),
    }
}

fn tag() -> impl Strategy<Value = Tag> {
    (any::<u16>(), 0_u64..1 << 48, any::<u16>(), 0_u64..1 << 48).prop_map(|(stream, sequence, token, time)| Tag {
        stream,
        sequence,
        token,
        time,
    })
}

/// Lengths were checked by slicing; here are the checksums.
fn checksums_hold(packet: &SlicedPacket) {
    let Some(transport) = &packet.transport else { panic!("neither UDP nor TCP: {packet:?}") };
    let (expected, there) = match (packet.net.as_ref().unwrap(), transport) {
        (NetSlice::Ipv4(ip), TransportSlice::Udp(udp)) => {
            let (from, to) = (ip.header().source(), ip.header().destination());
            (udp.to_header().calc_checksum_ipv4_raw(from, to, udp.payload()).unwrap(), udp.checksum())
        }
        (NetSlice::Ipv4(ip), TransportSlice::Tcp(tcp)) => {
            let (from, to) = (ip.header().source(), ip.header().destination());
            (tcp.calc_checksum_ipv4(from, to).unwrap(), tcp.checksum())
        }
        (NetSlice::Ipv6(ip), TransportSlice::Udp(udp)) => {
            let (from, to) = (ip.header().source(), ip.header().destination());
            (udp.to_header().calc_checksum_ipv6_raw(from, to, udp.payload()).unwrap(), udp.checksum())
        }
        (NetSlice::Ipv6(ip), TransportSlice::Tcp(tcp)) => {
            let (from, to) = (ip.header().source(), ip.header().destination());
            (tcp.calc_checksum_ipv6(from, to).unwrap(), tcp.checksum())
        }
        other => panic!("{other:?}"),
    };
    assert_eq!(there, expected);
    if let Some(NetSlice::Ipv4(ip)) = &packet.net {
        assert_eq!(ip.header().header_checksum(), ip.header().to_header().calc_header_checksum());
    }
}

proptest! {
    #[test]
    fn frames_are_valid_whatever_the_stream(stream in stream().prop_map(with_flows), index: u64, tag in tag()) {
        let compiled = Compiled::new(&stream, &place_for(stream.ip)).unwrap();
        let mut buffer = vec![0x55; compiled.longest()];
        for index in [0, 1, index] {
            let length = compiled.write(&mut buffer, index, tag);
            let frame = &buffer[..length];
            prop_assert_eq!(length + 4, compiled.size(index).frame.0 as usize);
            let packet = SlicedPacket::from_ethernet(frame).unwrap();
            prop_assert_eq!(packet.vlan_ids().len(), stream.vlans.len());
            checksums_hold(&packet);
            let seen = read(frame).unwrap().unwrap();
            let whole = compiled.size(index).tag == tag::WHOLE;
            let expected = if whole { tag } else { Tag { token: 0, time: 0, ..tag } };
            prop_assert_eq!((seen.tag, seen.whole, seen.intact), (Some(expected), whole, true));
        }
    }

    #[test]
    fn a_flow_looks_the_same_each_time_and_everywhere(stream in stream().prop_map(with_flows), index in 0_u64..1 << 40) {
        let compiled = Compiled::new(&stream, &place_for(stream.ip)).unwrap();
        let again = index + u64::from(compiled.flows) * compiled.cycle.len() as u64;
        let mut buffers = [vec![0; compiled.longest()], vec![0xff; compiled.longest()]];
        let lengths = [compiled.write(&mut buffers[0], index, Tag::default()), compiled.write(&mut buffers[1], again, Tag::default())];
        prop_assert_eq!(lengths[0], lengths[1]);
        prop_assert_eq!(&buffers[0][..lengths[0]], &buffers[1][..lengths[1]]);
    }

    #[test]
    fn no_bytes_make_the_parsers_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200), ether_type in 0_usize..5) {
        let _ = parse::parse(&bytes);
        let mut frame = bytes;
        if frame.len() > 14 {
            let [high, low] = [headers::IPV4, headers::IPV6, headers::ARP, headers::CUSTOMER_VLAN, headers::SERVICE_VLAN][ether_type].to_be_bytes();
            (frame[12], frame[13]) = (high, low);
            let _ = parse::parse(&frame);
            frame[14] = if ether_type == 0 { 0x45 } else { 0x60 };
            let _ = read(&frame);
        }
    }

    #[test]
    fn a_frame_that_was_changed_on_the_way_is_not_intact(stream in stream().prop_map(with_flows), at: prop::sample::Index, bit in 0_u8..8) {
        let compiled = Compiled::new(&stream, &place_for(stream.ip)).unwrap();
        let mut frame = vec![0; compiled.longest()];
        let length = compiled.write(&mut frame, 0, Tag::default());
        let from = compiled.offsets.l4;
        frame.truncate(length);
        let at = from + at.index(length - from);
        frame[at] ^= 1 << bit;
        // Where the header itself no longer makes sense it is not read at all, and a UDP checksum of 0 says that there is none.
        if let Ok(Some(seen)) = read(&frame) {
            prop_assert!(!seen.intact || at == compiled.offsets.transport_checksum || at == compiled.offsets.transport_checksum + 1);
        }
    }
}
