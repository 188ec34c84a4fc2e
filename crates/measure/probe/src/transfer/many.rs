//! Small files by wireproof itself: one after the other on one connection, each behind its length.

use std::{
    fs::File,
    io::{self, BufRead, BufReader, BufWriter, Read, Write},
    net::TcpStream,
    path::Path,
};

use model::probe::{SMALL_FILE, SMALL_FILES};

use super::contents::{held, opened, small_file};
use crate::Control;

/// Bytes that are written or read at once, as a plain write of one file is.
const BUFFER: usize = 128 << 10;

/// Sends the files of a folder.
pub(super) fn send(stream: &TcpStream, folder: &Path, control: &Control) -> io::Result<()> {
    let (_held, folder) = held(folder)?;
    let mut to = BufWriter::with_capacity(BUFFER, stream);
    for number in 0..SMALL_FILES {
        let mut bytes = Vec::new();
        opened(&small_file(&folder, number))?.take(SMALL_FILE.0).read_to_end(&mut bytes)?;
        to.write_all(&(bytes.len() as u64).to_be_bytes())?;
        to.write_all(&bytes)?;
        control.reached((number + 1) * SMALL_FILE.0);
    }
    to.flush()
}

/// Takes files into a folder; gives the bytes in them.
pub(super) fn receive(stream: &TcpStream, folder: &Path) -> io::Result<u64> {
    let (_held, folder) = held(folder)?;
    let (mut from, mut received) = (BufReader::with_capacity(BUFFER, stream), 0);
    for number in 0..SMALL_FILES {
        if from.fill_buf()?.is_empty() {
            break;
        }
        let mut length = [0; size_of::<u64>()];
        from.read_exact(&mut length)?;
        let length = u64::from_be_bytes(length);
        if length > SMALL_FILE.0 {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "a small file that is large"));
        }
        let mut file = File::create_new(small_file(&folder, number))?;
        received += io::copy(&mut from.by_ref().take(length), &mut file)?;
    }
    Ok(received)
}
