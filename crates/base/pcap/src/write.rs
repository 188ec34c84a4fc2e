//! Writing of pcapng (draft-ietf-opsawg-pcapng), as Wireshark and tcpdump read it.

use std::io::{self, Write};

use model::Nanos;

use crate::format::{
    BYTE_ORDER, ENHANCED_PACKET, ETHERNET, INTERFACE_DESCRIPTION, INTERFACE_NAME, SECTION_HEADER, TIME_RESOLUTION,
    USER_APPLICATION,
};

/// Times are in units of 10⁻⁹ s.
const NANOSECONDS: u8 = 9;

/// Writes a pcapng file, frame by frame. Each frame is a few small writes' worth: put a `BufWriter` below it.
pub struct Writer<W: Write> {
    file: W,
}

impl<W: Write> Writer<W> {
    /// Begins a file of frames seen at these interfaces.
    pub fn new(mut file: W, interfaces: &[&str]) -> io::Result<Self> {
        let section = [&BYTE_ORDER.to_le_bytes()[..], &[1, 0, 0, 0], &u64::MAX.to_le_bytes()].concat();
        block(&mut file, SECTION_HEADER, &[section, option(USER_APPLICATION, b"wireproof"), end()].concat())?;
        for name in interfaces {
            let no_limit = [&ETHERNET.to_le_bytes()[..], &[0; 6]].concat();
            let options = [option(INTERFACE_NAME, name.as_bytes()), option(TIME_RESOLUTION, &[NANOSECONDS]), end()];
            block(&mut file, INTERFACE_DESCRIPTION, &[no_limit, options.concat()].concat())?;
        }
        Ok(Self { file })
    }

    /// Adds a frame that was seen at the interface of this number: what was kept of it, and how many bytes it had on the
    /// wire, both without FCS. Time counts from 1970.
    pub fn frame(&mut self, interface: u32, time: Nanos, bytes: &[u8], length: u32) -> io::Result<()> {
        let time = [(time.0 >> 32) as u32, time.0 as u32];
        let words = [interface, time[0], time[1], bytes.len() as u32, length].map(u32::to_le_bytes);
        block(&mut self.file, ENHANCED_PACKET, &[words.as_flattened(), bytes].concat())
    }

    /// Ends the file, and gives back what it was written to.
    pub fn finish(mut self) -> io::Result<W> {
        self.file.flush()?;
        Ok(self.file)
    }
}

/// A block: its body padded to whole words, between its length and its length.
fn block(file: &mut impl Write, kind: u32, body: &[u8]) -> io::Result<()> {
    let padding = body.len().next_multiple_of(4) - body.len();
    let length = ((body.len() + padding + 12) as u32).to_le_bytes();
    file.write_all(&[&kind.to_le_bytes()[..], &length, body, &[0; 3][..padding], &length].concat())
}

fn option(code: u16, value: &[u8]) -> Vec<u8> {
    // Names of interfaces and of this program are short.
    let mut bytes = [&code.to_le_bytes()[..], &(value.len() as u16).to_le_bytes(), value].concat();
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    bytes
}

/// Ends a list of options.
fn end() -> Vec<u8> {
    option(0, &[])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{Frame, read};

    fn frame() -> impl Strategy<Value = Frame> {
        let bytes = proptest::collection::vec(any::<u8>(), 0..100);
        (any::<u64>(), bytes, 0_u32..1000).prop_map(|(time, bytes, more)| {
            let length = bytes.len() as u32 + more;
            Frame { time: Nanos(time), bytes, length }
        })
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(frames in proptest::collection::vec(frame(), 1..20)) {
            let mut writer = Writer::new(Vec::new(), &["a", "wp-client"]).unwrap();
            for (number, frame) in frames.iter().enumerate() {
                writer.frame(number as u32 % 2, frame.time, &frame.bytes, frame.length).unwrap();
            }
            prop_assert_eq!(read(&writer.finish().unwrap()), Ok(frames));
        }

        #[test]
        fn no_bytes_make_the_reader_panic(mut bytes in proptest::collection::vec(any::<u8>(), 0..300), kind in 0..4) {
            let whole = Writer::new(Vec::new(), &["a"]).unwrap().finish().unwrap();
            let beginning = match kind {
                0 => &whole[..],
                1 => &[0xd4, 0xc3, 0xb2, 0xa1, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0, 0, 0][..],
                2 => &[0x0a, 0x0d, 0x0d, 0x0a][..],
                _ => &[][..],
            };
            bytes.splice(..0, beginning.iter().copied());
            let _ = read(&bytes);
        }
    }
}
