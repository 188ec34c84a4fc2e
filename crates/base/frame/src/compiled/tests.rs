use super::*;
use crate::tag;

pub(super) fn place() -> Place {
    Place {
        source_mac: Mac([2, 0, 0, 0, 0, 1]),
        next_hop_mac: Mac([2, 0, 0, 0, 0, 2]),
        source: "198.18.0.1".parse().unwrap(),
        destination: "198.18.0.2".parse().unwrap(),
        mtu: Mtu(1500),
    }
}

pub(super) fn place6() -> Place {
    Place { source: "2001:2::1".parse().unwrap(), destination: "2001:2::2".parse().unwrap(), ..place() }
}

fn stream(keys: &str) -> Stream {
    Stream::parse_file(&format!("[[stream]]\n{keys}")).unwrap().remove(0)
}

fn compiled(keys: &str) -> Compiled {
    let stream = stream(keys);
    let place = if stream.ip == IpVersion::V4 { place() } else { place6() };
    Compiled::new(&stream, &place).unwrap()
}

const TAG: Tag = Tag { stream: 3, sequence: 0x1234_5678_9abc, token: 0xbeef, time: 987_654_321 };

fn frame(compiled: &Compiled, index: u64) -> Vec<u8> {
    let mut buffer = vec![0xaa; compiled.longest()];
    let length = compiled.write(&mut buffer, index, TAG);
    buffer.truncate(length);
    buffer
}

#[test]
fn the_ordinary_frame_is_this() {
    let compiled = compiled("");
    let expected = "020000000002 020000000001 0800 4500002e00004000 4011ae97 c6120001 c6120002 c020c021001a";
    let expected: String = expected.split(' ').collect();
    let bytes = frame(&compiled, 0);
    let shown: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    assert!(shown.starts_with(&expected), "{shown}");
    assert_eq!((bytes.len(), compiled.sizes[0].frame, compiled.sizes[0].tag), (60, FrameSize(64), 18));
    assert_eq!(Tag::read(&bytes[42..], 18), Some(TAG));
}

#[test]
fn a_frame_without_room_has_the_short_tag_or_is_made_larger() {
    for (keys, actual, tag) in [
        ("vlans = [1]", 64, tag::SHORT),
        ("vlans = [1, 2]", 64, tag::SHORT),
        ("protocol = \"tcp\"", 68, tag::SHORT),
        ("ip = 6", 76, tag::SHORT),
        ("ip = 6\nprotocol = \"tcp\"", 88, tag::SHORT),
        ("ip = 6\nprotocol = \"tcp\"\nvlans = [1, 2]", 96, tag::SHORT),
        ("ip = 6\nsizes = 84", 84, tag::WHOLE),
    ] {
        let compiled = compiled(keys);
        let size = compiled.sizes[0];
        assert_eq!((size.frame.0, size.tag), (actual, tag), "{keys}");
        let bytes = frame(&compiled, 0);
        let read = Tag::read(&bytes[compiled.offsets.tag..], bytes.len() - compiled.offsets.tag).unwrap();
        assert_eq!((read.stream, read.sequence), (TAG.stream, TAG.sequence), "{keys}");
    }
}

#[test]
fn sizes_that_the_mtu_does_not_let_through_are_refused() {
    let error = Compiled::new(&stream("sizes = 1519"), &place()).unwrap_err().to_string();
    assert!(error.contains("stream \"stream\": frame size 1519 does not fit MTU 1500"), "{error}");
    assert!(error.contains("largest frame there is 1518"));
    assert_eq!(compiled("sizes = 1526\nvlans = [1, 2]").longest(), 1522);
    assert_eq!(compiled("sizes = \"genome az\"").sizes[1].frame, FrameSize(1518));
}

#[test]
fn the_path_has_to_be_of_the_streams_ip_version() {
    let error = Compiled::new(&stream("ip = 6"), &place()).unwrap_err().to_string();
    assert!(error.contains("is IPv6, and the path goes from 198.18.0.1"), "{error}");
}

#[test]
fn frames_take_their_sizes_in_turn() {
    let compiled = compiled("sizes = \"imix\"");
    assert_eq!((compiled.sizes.len(), compiled.cycle.len()), (3, 12));
    let lengths: Vec<usize> = (0..13).map(|index| frame(&compiled, index).len() + 4).collect();
    assert_eq!(lengths, [64, 594, 64, 64, 594, 64, 1518, 64, 594, 64, 594, 64, 64]);
    assert!((compiled.mean_size() - 361.83).abs() < 0.01, "{}", compiled.mean_size());
}

/// The ports and addresses of a frame: source port, destination port, and the last bytes of source and destination IP.
fn fields(bytes: &[u8]) -> (u16, u16, u8, u8) {
    let word = |offset: usize| u16::from_be_bytes([bytes[offset], bytes[offset + 1]]);
    (word(34), word(36), bytes[29], bytes[33])
}

#[test]
fn fields_turn_like_an_odometer() {
    let compiled = compiled(
        "source_port = \"10..12\"\ndestination_port = \"7, 9\"\nsource_ip = \"198.18.0.4..198.18.0.20 step 8\"",
    );
    assert_eq!(compiled.flows, 18);
    let seen: Vec<_> = (0..18).map(|index| fields(&frame(&compiled, index))).collect();
    assert_eq!(seen[..4], [(10, 7, 4, 2), (11, 7, 4, 2), (12, 7, 4, 2), (10, 9, 4, 2)]);
    assert_eq!(seen[17], (12, 9, 20, 2));
    let different: std::collections::HashSet<_> = seen.iter().collect();
    assert_eq!(different.len(), 18);
    assert_eq!(fields(&frame(&compiled, 18)), seen[0]);
}

#[test]
fn random_fields_follow_the_flow_and_the_seed() {
    let ports = |seed: u32| {
        let compiled = compiled(&format!("flows = 1000\nsource_port = \"random 2000..2999 seed {seed}\""));
        (0..2000).map(|index| fields(&frame(&compiled, index)).0).collect::<Vec<_>>()
    };
    let (one, two) = (ports(1), ports(2));
    assert_eq!(one[..1000], one[1000..]);
    assert_ne!(one, two);
    assert!(one.iter().all(|port| (2000..3000).contains(port)));
    let different: std::collections::HashSet<_> = one.iter().collect();
    assert!(different.len() > 550, "{} of 1000, and chance gives 632", different.len());
}

#[test]
fn a_million_flows_are_all_different() {
    let compiled = compiled("flows = 1000000");
    let mut different = std::collections::HashSet::new();
    for flow in 0..compiled.flows {
        different.insert(compiled.variations.iter().map(|variation| variation.value(flow)).collect::<Vec<_>>());
    }
    assert_eq!(different.len(), 1_000_000);
}

#[test]
fn lists_of_long_addresses_are_cut_into_what_differs() {
    let compiled = compiled(
        "ip = 6\nsource_ip = \"2001:2::1, 2001:2:0:1::1\"\nsource_mac = \"02:00:00:00:00:01, 02:00:00:00:01:01\"",
    );
    let cut: Vec<_> = compiled.variations.iter().map(|v| (v.offset, v.four, v.divisor, v.count)).collect();
    assert_eq!(cut, [(14 + 8 + 4, true, 1, 2), (6 + 4, false, 2, 2)]);
    let bytes = frame(&compiled, 3);
    assert_eq!((bytes[29], bytes[10], bytes[11]), (1, 1, 1));
}
