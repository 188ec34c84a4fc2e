//! Reading of pcap and pcapng, of either byte order and any resolution of time.

use model::Nanos;
use pcap_parser::{
    Block, LegacyPcapBlock, Linktype, PcapBlockOwned, PcapHeader, PcapNGSlice, parse_pcap_frame, parse_pcap_frame_be,
    parse_pcap_frame_modified, parse_pcap_header,
    pcapng::{EnhancedPacketBlock, InterfaceDescriptionBlock},
    traits::PcapNGPacketBlock,
};

use crate::Frame;

/// A file that holds no frames for us.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PcapError {
    /// Neither pcap nor pcapng.
    #[error("this is no capture: neither pcap nor pcapng, which tcpdump -w and Wireshark write")]
    NoCapture,
    /// It breaks off, or holds what cannot be.
    #[error("the capture is broken behind frame {0}: it ends in the middle, or says what cannot be; capture it again")]
    Broken(usize),
    /// Frames of something else than Ethernet.
    #[error(
        "frame {frame} of the capture is not Ethernet (link type {link_type}): capture on an Ethernet interface, not on \"any\""
    )]
    NotEthernet {
        /// Counts from 1.
        frame: usize,
        /// As the capture says (LINKTYPE_ of tcpdump.org).
        link_type: i32,
    },
    /// No frame at all.
    #[error("the capture has no frames")]
    Empty,
}

/// Nanoseconds of a second.
const SECOND: u64 = 1_000_000_000;
/// What each pcapng file begins with.
const SECTION: [u8; 4] = [0x0a, 0x0d, 0x0d, 0x0a];

/// All frames of a capture.
pub fn read(file: &[u8]) -> Result<Vec<Frame>, PcapError> {
    let frames = if file.starts_with(&SECTION) { next_generation(file) } else { legacy(file) }?;
    if frames.is_empty() { Err(PcapError::Empty) } else { Ok(frames) }
}

fn legacy(file: &[u8]) -> Result<Vec<Frame>, PcapError> {
    let (mut rest, header) = parse_pcap_header(file).map_err(|_| PcapError::NoCapture)?;
    let mut frames = Vec::new();
    while !rest.is_empty() {
        let (behind, block) = legacy_frame(&header, rest).ok_or(PcapError::Broken(frames.len()))?;
        ethernet(header.network, frames.len())?;
        let fraction = if header.is_nanosecond_precision() { 1 } else { 1000 };
        let time = u64::from(block.ts_sec) * SECOND + u64::from(block.ts_usec) * fraction;
        frames.push(Frame { time: Nanos(time), bytes: block.data.to_vec(), length: block.origlen });
        rest = behind;
    }
    Ok(frames)
}

fn legacy_frame<'a>(header: &PcapHeader, rest: &'a [u8]) -> Option<(&'a [u8], LegacyPcapBlock<'a>)> {
    let parsed = if header.is_modified_format() {
        parse_pcap_frame_modified(rest)
    } else if header.is_bigendian() {
        parse_pcap_frame_be(rest)
    } else {
        parse_pcap_frame(rest)
    };
    parsed.ok()
}

/// How an interface of a pcapng file writes time.
struct Interface {
    link_type: Linktype,
    per_second: u64,
    offset: i64,
}

fn next_generation(file: &[u8]) -> Result<Vec<Frame>, PcapError> {
    let blocks = PcapNGSlice::from_slice(file).map_err(|_| PcapError::NoCapture)?;
    let (mut interfaces, mut frames) = (Vec::new(), Vec::new());
    for block in blocks {
        let broken = PcapError::Broken(frames.len());
        let Ok(PcapBlockOwned::NG(block)) = block else { return Err(broken) };
        match block {
            // Interfaces count from 0 in each section.
            Block::SectionHeader(_) => interfaces.clear(),
            Block::InterfaceDescription(told) => interfaces.push(interface(&told).ok_or(broken)?),
            Block::EnhancedPacket(packet) => {
                let seen_at = interfaces.get(packet.if_id as usize).ok_or(broken)?;
                ethernet(seen_at.link_type, frames.len())?;
                let (time, length) = (time(&packet, seen_at), packet.origlen);
                frames.push(Frame { time, bytes: packet.packet_data().to_vec(), length });
            }
            Block::SimplePacket(packet) => {
                ethernet(interfaces.first().ok_or(broken)?.link_type, frames.len())?;
                frames.push(Frame { time: Nanos(0), bytes: packet.packet_data().to_vec(), length: packet.origlen });
            }
            _ => {}
        }
    }
    Ok(frames)
}

fn interface(told: &InterfaceDescriptionBlock) -> Option<Interface> {
    let per_second = told.ts_resolution().filter(|units| *units > 0)?;
    Some(Interface { link_type: told.linktype, per_second, offset: told.if_tsoffset })
}

fn time(packet: &EnhancedPacketBlock, interface: &Interface) -> Nanos {
    let units = u128::from(u64::from(packet.ts_high) << 32 | u64::from(packet.ts_low));
    let nanos = units * u128::from(SECOND) / u128::from(interface.per_second);
    let offset = i128::from(interface.offset) * i128::from(SECOND);
    // A time before 1970, or after 2554, is no time of a capture.
    let since_1970 = i128::try_from(nanos).unwrap_or(i128::MAX).saturating_add(offset);
    Nanos(since_1970.clamp(0, i128::from(u64::MAX)) as u64)
}

fn ethernet(link_type: Linktype, frames: usize) -> Result<(), PcapError> {
    match link_type {
        Linktype::ETHERNET => Ok(()),
        Linktype(link_type) => Err(PcapError::NotEthernet { frame: frames + 1, link_type }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A pcap file with one frame of three bytes, of five on the wire, at 1.5 s.
    fn pcap(magic: u32, fraction: u32, link_type: u32, big_endian: bool) -> Vec<u8> {
        let word = |word: u32| if big_endian { word.to_be_bytes() } else { word.to_le_bytes() };
        let half = |half: u16| if big_endian { half.to_be_bytes() } else { half.to_le_bytes() };
        let header =
            [&word(magic)[..], &half(2), &half(4), &word(0), &word(0), &word(65_535), &word(link_type)].concat();
        [&header[..], &word(1), &word(fraction), &word(3), &word(5), &[7, 8, 9]].concat()
    }

    #[test]
    fn pcap_is_read_in_both_byte_orders_and_resolutions() {
        let expected = [Frame { time: Nanos(1_500_000_000), bytes: vec![7, 8, 9], length: 5 }];
        for big_endian in [false, true] {
            assert_eq!(read(&pcap(0xa1b2_c3d4, 500_000, 1, big_endian)).as_deref(), Ok(&expected[..]));
            assert_eq!(read(&pcap(0xa1b2_3c4d, 500_000_000, 1, big_endian)).as_deref(), Ok(&expected[..]));
        }
    }

    #[test]
    fn what_is_no_capture_says_why() {
        assert_eq!(read(b""), Err(PcapError::NoCapture));
        assert_eq!(read(b"name = \"plan\"  # and more than twenty-four bytes"), Err(PcapError::NoCapture));
        assert_eq!(read(&SECTION), Err(PcapError::NoCapture));
        let file = pcap(0xa1b2_c3d4, 0, 1, false);
        assert_eq!(read(&file[..24]), Err(PcapError::Empty));
        assert_eq!(read(&file[..file.len() - 1]), Err(PcapError::Broken(0)));
        let error = read(&pcap(0xa1b2_c3d4, 0, 113, false)).unwrap_err().to_string();
        assert!(error.contains("frame 1 of the capture is not Ethernet (link type 113)"), "{error}");
    }
}
