//! Reading of pcap and pcapng, of either byte order and any resolution of time.

use model::Nanos;

use crate::{
    Frame,
    format::{
        BYTE_ORDER, Bytes, ENHANCED_PACKET, ETHERNET, INTERFACE_DESCRIPTION, SECTION_HEADER, SIMPLE_PACKET,
        TIME_OFFSET, TIME_RESOLUTION,
    },
};

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
        link_type: u16,
    },
    /// No frame at all.
    #[error("the capture has no frames")]
    Empty,
}

/// Nanoseconds of a second.
const SECOND: u64 = 1_000_000_000;

/// All frames of a capture.
pub fn read(file: &[u8]) -> Result<Vec<Frame>, PcapError> {
    let pcapng = file.starts_with(&SECTION_HEADER.to_be_bytes());
    let frames = if pcapng { next_generation(file) } else { legacy(file) }?;
    if frames.is_empty() { Err(PcapError::Empty) } else { Ok(frames) }
}

/// The format of tcpdump (draft-ietf-opsawg-pcap).
fn legacy(file: &[u8]) -> Result<Vec<Frame>, PcapError> {
    let (mut rest, per_second, link_type) = legacy_header(file).ok_or(PcapError::NoCapture)?;
    let mut frames = Vec::new();
    while !rest.bytes.is_empty() {
        let frame = legacy_frame(&mut rest, per_second).ok_or(PcapError::Broken(frames.len()))?;
        ethernet(link_type, frames.len())?;
        frames.push(frame);
    }
    Ok(frames)
}

/// Length of the rest of the block, units of time in a second, and the link type.
fn legacy_header(file: &[u8]) -> Option<(Bytes<'_>, u64, u16)> {
    const MICROSECONDS: u32 = 0xa1b2_c3d4;
    const NANOSECONDS: u32 = 0xa1b2_3c4d;
    let mut rest = Bytes { bytes: file, big_endian: false };
    let mut magic = rest.word()?;
    if [MICROSECONDS, NANOSECONDS].contains(&magic.swap_bytes()) {
        rest.big_endian = true;
        magic = magic.swap_bytes();
    }
    let per_second = match magic {
        MICROSECONDS => 1_000_000,
        NANOSECONDS => SECOND,
        _ => return None,
    };
    // Version, time zone, accuracy, and how much of a frame was kept.
    rest.take(16)?;
    // The upper bits say how long a FCS is.
    let link_type = rest.word()? as u16;
    Some((rest, per_second, link_type))
}

fn legacy_frame(rest: &mut Bytes, per_second: u64) -> Option<Frame> {
    let (seconds, fraction) = (rest.word()?, rest.word()?);
    let (kept, length) = (rest.word()?, rest.word()?);
    let time = u64::from(seconds) * SECOND + u64::from(fraction) * (SECOND / per_second);
    Some(Frame { time: Nanos(time), bytes: rest.take(kept as usize)?.to_vec(), length })
}

/// Notation of frames by an interface of a pcapng file.
struct Interface {
    link_type: u16,
    kept_at_most: u32,
    per_second: u128,
    offset: i64,
}

/// The format of Wireshark (draft-ietf-opsawg-pcapng): blocks, of which those that are no frames are passed over.
fn next_generation(file: &[u8]) -> Result<Vec<Frame>, PcapError> {
    let mut rest = Bytes { bytes: file, big_endian: false };
    let (mut interfaces, mut frames) = (Vec::new(), Vec::new());
    while !rest.bytes.is_empty() {
        let broken = PcapError::Broken(frames.len());
        let Some((kind, body)) = block(&mut rest) else { return Err(broken) };
        match kind {
            // Interfaces count from 0 in each section.
            SECTION_HEADER => interfaces.clear(),
            INTERFACE_DESCRIPTION => interfaces.push(interface(body).ok_or(broken)?),
            ENHANCED_PACKET | SIMPLE_PACKET => {
                let enhanced = kind == ENHANCED_PACKET;
                let read = if enhanced { enhanced_packet(body, &interfaces) } else { simple_packet(body, &interfaces) };
                let (link_type, frame) = read.ok_or(broken)?;
                ethernet(link_type, frames.len())?;
                frames.push(frame);
            }
            _ => {}
        }
    }
    Ok(frames)
}

/// The next block: its kind and its body. A section's header also says in which order the bytes of what follows are.
fn block<'a>(rest: &mut Bytes<'a>) -> Option<(u32, Bytes<'a>)> {
    /// Kind, length, and length once more.
    const AROUND: usize = 12;
    let kind = rest.word()?;
    if kind == SECTION_HEADER {
        let mut ahead = Bytes { big_endian: false, ..*rest };
        ahead.word()?;
        rest.big_endian = match ahead.word()? {
            BYTE_ORDER => false,
            swapped if swapped.swap_bytes() == BYTE_ORDER => true,
            _ => return None,
        };
    }
    let length = rest.word()? as usize;
    let body = rest.take(length.checked_sub(AROUND)?)?;
    (rest.word()? as usize == length).then_some((kind, Bytes { bytes: body, ..*rest }))
}

fn interface(mut body: Bytes) -> Option<Interface> {
    let link_type = body.half()?;
    body.take(2)?;
    let kept_at_most = body.word()?;
    let mut interface = Interface { link_type, kept_at_most, per_second: 1_000_000, offset: 0 };
    while let Some((code, mut value)) = option(&mut body) {
        match code {
            TIME_RESOLUTION => interface.per_second = resolution(*value.bytes.first()?)?,
            TIME_OFFSET => interface.offset = value.long()? as i64,
            _ => {}
        }
    }
    Some(interface)
}

fn option<'a>(body: &mut Bytes<'a>) -> Option<(u16, Bytes<'a>)> {
    const END: u16 = 0;
    let code = body.half().filter(|code| *code != END)?;
    let length = usize::from(body.half()?);
    let value = body.take(length)?;
    body.take(length.next_multiple_of(4) - length)?;
    Some((code, Bytes { bytes: value, ..*body }))
}

/// Units of a second: a power of ten, or of two where the highest bit is set.
fn resolution(power: u8) -> Option<u128> {
    let exponent = u32::from(power & 0x7f);
    if power & 0x80 == 0 { 10_u128.checked_pow(exponent) } else { 1_u128.checked_shl(exponent) }
}

fn enhanced_packet(mut body: Bytes, interfaces: &[Interface]) -> Option<(u16, Frame)> {
    let interface = interfaces.get(body.word()? as usize)?;
    let units = u64::from(body.word()?) << 32 | u64::from(body.word()?);
    let (kept, length) = (body.word()?, body.word()?);
    let frame = Frame { time: time(units, interface), bytes: body.take(kept as usize)?.to_vec(), length };
    Some((interface.link_type, frame))
}

/// A packet without a time, of the first interface.
fn simple_packet(mut body: Bytes, interfaces: &[Interface]) -> Option<(u16, Frame)> {
    let interface = interfaces.first()?;
    let length = body.word()?;
    let no_limit = interface.kept_at_most == 0;
    let kept = if no_limit { length } else { length.min(interface.kept_at_most) };
    Some((interface.link_type, Frame { time: Nanos(0), bytes: body.take(kept as usize)?.to_vec(), length }))
}

fn time(units: u64, interface: &Interface) -> Nanos {
    let seconds = u128::from(units) / interface.per_second;
    // 10³⁸ units of less than a second each, times 10⁹, are more than 128 bits hold; such a clock has no nanoseconds to tell.
    let rest = (u128::from(units) % interface.per_second).saturating_mul(u128::from(SECOND)) / interface.per_second;
    let nanos = (seconds * u128::from(SECOND) + rest) as i128;
    // A time before 1970, or after 2554, is no time of a capture.
    let since_1970 = nanos + i128::from(interface.offset) * i128::from(SECOND);
    Nanos(since_1970.clamp(0, i128::from(u64::MAX)) as u64)
}

fn ethernet(link_type: u16, frames: usize) -> Result<(), PcapError> {
    if link_type == ETHERNET { Ok(()) } else { Err(PcapError::NotEthernet { frame: frames + 1, link_type }) }
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
        assert_eq!(read(&SECTION_HEADER.to_be_bytes()), Err(PcapError::Broken(0)));
        let file = pcap(0xa1b2_c3d4, 0, 1, false);
        assert_eq!(read(&file[..24]), Err(PcapError::Empty));
        assert_eq!(read(&file[..file.len() - 1]), Err(PcapError::Broken(0)));
        let error = read(&pcap(0xa1b2_c3d4, 0, 113, false)).unwrap_err().to_string();
        assert!(error.contains("frame 1 of the capture is not Ethernet (link type 113)"), "{error}");
    }

    /// A pcapng file of a section, an interface with these options, and a frame at 3 units of time.
    fn pcapng(big_endian: bool, options: &[u8]) -> Vec<u8> {
        let word = |word: u32| if big_endian { word.to_be_bytes() } else { word.to_le_bytes() };
        let half = |half: u16| if big_endian { half.to_be_bytes() } else { half.to_le_bytes() };
        let block = |kind: u32, body: &[u8]| {
            let length = word(body.len() as u32 + 12);
            [&word(kind)[..], &length, body, &length].concat()
        };
        let section = block(SECTION_HEADER, &[&word(BYTE_ORDER)[..], &half(1), &half(0), &[0xff; 8]].concat());
        let interface = block(INTERFACE_DESCRIPTION, &[&half(1)[..], &half(0), &word(0), options].concat());
        let words = [0, 0, 3, 2, 2].map(word);
        let packet = block(ENHANCED_PACKET, &[words.as_flattened(), &[7, 8, 0, 0]].concat());
        let unknown = block(0x8000_0001, &[1, 2, 3, 4]);
        [section, unknown, interface, packet].concat()
    }

    #[test]
    fn pcapng_is_read_in_both_byte_orders_and_any_resolution() {
        let time = |file: &[u8]| read(file).map(|frames| (frames[0].time.0, frames[0].bytes.clone()));
        for big_endian in [false, true] {
            let half = |half: u16| if big_endian { half.to_be_bytes() } else { half.to_le_bytes() };
            let resolution = |power: u8| [&half(9)[..], &half(1), &[power, 0, 0, 0]].concat();
            let later = if big_endian { 2_i64.to_be_bytes() } else { 2_i64.to_le_bytes() };
            let offset = [&half(14)[..], &half(8), &later].concat();
            assert_eq!(time(&pcapng(big_endian, &[])), Ok((3000, vec![7, 8])));
            assert_eq!(time(&pcapng(big_endian, &resolution(9))).map(|(time, _)| time), Ok(3));
            assert_eq!(time(&pcapng(big_endian, &resolution(0x82))).map(|(time, _)| time), Ok(750_000_000));
            assert_eq!(time(&pcapng(big_endian, &offset)).map(|(time, _)| time), Ok(2_000_003_000));
            assert_eq!(time(&pcapng(big_endian, &resolution(39))), Err(PcapError::Broken(0)));
        }
    }
}
