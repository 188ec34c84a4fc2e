//! Frames and captures of ours are read by Wireshark: lengths and checksums of frames, and captures.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::{net::IpAddr, path::Path, process::Command};

use frame::{Compiled, Place, Tag};
use model::{IpVersion, Mtu, Nanos, Stream, stream::Mac};

const MACS: (Mac, Mac) = (Mac([2, 0, 0, 0, 0, 1]), Mac([2, 0, 0, 0, 0, 2]));
/// A state of a checksum in Wireshark.
const GOOD: &str = "1";

fn ends(ip: IpVersion) -> (IpAddr, IpAddr) {
    match ip {
        IpVersion::V4 => ("198.18.0.1".parse().unwrap(), "198.18.0.2".parse().unwrap()),
        IpVersion::V6 => ("2001:2::1".parse().unwrap(), "2001:2::2".parse().unwrap()),
    }
}

/// Thirty frames of each kind of stream: versions, protocols, VLAN tags, sizes, and fields that vary.
fn streams() -> Vec<Vec<u8>> {
    let mut file = String::new();
    for (ip, range) in [(4, "198.18.0.9..198.18.3.1 step 77"), (6, "2001:2::fff0..2001:2::2:0 step 7")] {
        for protocol in ["udp", "tcp"] {
            for (tags, vlans) in ["", "\"100 priority 3\"", "7, 4094"].into_iter().enumerate() {
                file += &format!(
                    "[[stream]]\nname = \"{protocol} {ip}, {tags} tags\"\nip = {ip}\nprotocol = \"{protocol}\"\nvlans = [{vlans}]\n\
                     sizes = \"64..1518 step 97\"\n\
                     source_ip = \"{range}\"\ndestination_port = \"random 2000..60000\"\nflows = 20\ndscp = 46\n\
                     payload = \"random seed 3\"\n"
                );
            }
        }
    }
    Stream::parse_file(&file).unwrap().iter().flat_map(frames_of).collect()
}

fn frames_of(stream: &Stream) -> Vec<Vec<u8>> {
    let (source, destination) = ends(stream.ip);
    let place = Place { source_mac: MACS.0, next_hop_mac: MACS.1, source, destination, mtu: Mtu(1500) };
    let compiled = Compiled::new(stream, &place).unwrap();
    let frame = |index| {
        let mut buffer = vec![0; compiled.longest()];
        let length = compiled.write(&mut buffer, index, Tag { stream: 1, sequence: index, token: 7, time: 1 << 40 });
        buffer.truncate(length);
        buffer
    };
    (0..30).map(frame).collect()
}

/// ARP, neighbour discovery, and echo requests.
fn control() -> Vec<Vec<u8>> {
    let of = |ip: IpVersion| {
        let (here, there) = ends(ip);
        let asked = frame::resolve::who_has(MACS.0, here, there).unwrap();
        let told = frame::resolve::is_at(MACS.1, there, MACS.0, here).unwrap();
        [asked, told, frame::resolve::echo_request(MACS, (here, there), 1, 2, b"echo of odd length!")]
    };
    [of(IpVersion::V4), of(IpVersion::V6)].concat()
}

/// Fields that tshark tells of each frame of a capture, one line a frame.
fn tshark(file: &Path, fields: &[&str]) -> Vec<Vec<String>> {
    let mut command = Command::new("tshark");
    command.args(["-n", "-r"]).arg(file).args(["-T", "fields", "-E", "separator=|", "-E", "occurrence=f"]);
    for protocol in ["ip", "udp", "tcp"] {
        command.args(["-o", &format!("{protocol}.check_checksum:TRUE")]);
    }
    for field in fields {
        command.args(["-e", field]);
    }
    let output = command.output().expect("tshark: ./x test installs it");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(|line| line.split('|').map(str::to_owned).collect()).collect()
}

#[test]
fn wireshark_agrees_on_lengths_and_checksums() {
    let frames = [streams(), control()].concat();
    let mut writer = pcap::Writer::new(Vec::new(), &["lab-a"]).unwrap();
    for (number, frame) in frames.iter().enumerate() {
        let time = Nanos(1_700_000_000_000_000_000 + number as u64 * 7);
        writer.frame(0, time, frame, frame.len() as u32).unwrap();
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("frames.pcapng");
    std::fs::write(&file, writer.finish().unwrap()).unwrap();

    let checksums = [
        "ip.checksum.status",
        "udp.checksum.status",
        "tcp.checksum.status",
        "icmp.checksum.status",
        "icmpv6.checksum.status",
    ];
    let about = ["frame.len", "frame.time_epoch", "frame.interface_name", "_ws.malformed"];
    let seen = tshark(&file, &[&about[..], &checksums].concat());
    assert_eq!(seen.len(), frames.len());
    let mut checked = [0; 5];
    for (number, (line, frame)) in seen.iter().zip(&frames).enumerate() {
        let time = format!("1700000000.{:09}", number * 7);
        assert_eq!(line[..4], [frame.len().to_string(), time, "lab-a".to_owned(), String::new()], "frame {number}");
        for (count, status) in checked.iter_mut().zip(&line[4..]).filter(|(_, status)| !status.is_empty()) {
            assert_eq!(status, GOOD, "frame {number}: {line:?}");
            *count += 1;
        }
    }
    assert_eq!(checked, [181, 180, 180, 1, 3], "frames with a checksum of IPv4, UDP, TCP, ICMP, ICMPv6");
}
