//! Transfers by wireproof itself, from memory to memory over one TCP connection.

use std::{
    fs::File,
    io::{self, Read, Write},
    net::{Shutdown, SocketAddr, TcpStream},
    os::unix::fs::FileExt,
};

use kernel::socket::tcp_state;
use model::{
    probe::{TransferMethod, TransferSpec},
    trial::TcpState,
};
use rustix::fs::sendfile;

use super::{Before, contents, disk::DiskFile, make_ready, many, place::Place, unable};
use crate::{Control, ProbeError, error::socket_error, socket::is_nothing_yet};

/// Bytes of a plain write: iperf3's own size.
const WRITE: usize = 128 << 10;

/// Bytes that `sendfile` is asked for, or that are read, at once.
const LARGE: usize = 1 << 20;

/// Contents at the sending end.
pub(super) enum Source {
    Memory(Vec<u8>),
    File { file: File, _place: Place },
    Many(Place),
}

impl Source {
    /// Makes the contents, in files for `sendfile` and small ones, or takes those of a file on disk.
    pub(super) fn make(
        spec: &TransferSpec,
        source: Option<&DiskFile>,
        token: u32,
        size: u64,
    ) -> Result<(Self, Before), ProbeError> {
        if spec.method != TransferMethod::Sendfile && spec.file.is_none() && !spec.is_many() {
            let mut bytes = reserved(size)?;
            let hash = contents::make(token, size, &mut bytes).map_err(|error| unable("contents", error))?;
            return Ok((Self::Memory(bytes), Before { hash: Some(hash), disk_bps: None }));
        }
        let place = Place::of(spec, true)?;
        let before = make_ready(spec, true, &place, source, token, size)?;
        if spec.is_many() {
            return Ok((Self::Many(place), before));
        }
        Ok((Self::File { file: place.open_contents()?, _place: place }, before))
    }

    /// Sends all of it, and waits until the receiver has it. The state of the connection at its end.
    pub(super) fn send(
        &self,
        method: TransferMethod,
        mut stream: &TcpStream,
        size: u64,
        control: &Control,
        peer: SocketAddr,
    ) -> Result<TcpState, ProbeError> {
        let chunk = match method {
            TransferMethod::TcpJumbo => (tcp_state(stream)?.mss as usize).max(1),
            _ => WRITE,
        };
        let sent = match self {
            Self::Memory(bytes) => each(size, control, |sent| {
                let rest = &bytes[sent as usize..];
                stream.write(&rest[..chunk.min(rest.len())])
            }),
            Self::File { file, .. } if method == TransferMethod::Sendfile => {
                each(size, control, |sent| Ok(sendfile(stream, file, Some(&mut sent.clone()), LARGE)?))
            }
            Self::File { file, .. } => {
                let (mut read, mut from, mut to) = (vec![0; LARGE], 0, 0);
                each(size, control, |sent| {
                    if sent == to {
                        (from, to) = (sent, sent + file.read_at(&mut read, sent)? as u64);
                    }
                    let rest = &read[(sent - from) as usize..(to - from) as usize];
                    stream.write(&rest[..chunk.min(rest.len())])
                })
            }
            Self::Many(place) => many::send(stream, &place.contents(), control),
        };
        sent.map_err(socket_error("send to", peer))?;
        stream.shutdown(Shutdown::Write).map_err(socket_error("shut down the stream to", peer))?;
        // The receiver ends its side after the last byte.
        again(control, || stream.read(&mut [0])).map_err(socket_error("drain to", peer))?;
        Ok(tcp_state(stream)?)
    }
}

/// Sends so many bytes: `put` is told how many it has sent, and sends some more.
fn each(size: u64, control: &Control, mut put: impl FnMut(u64) -> io::Result<usize>) -> io::Result<()> {
    let mut sent = 0;
    while sent < size {
        match again(control, || put(sent))? {
            // Somebody cut the file off meanwhile.
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            more => sent += more as u64,
        }
        control.reached(sent);
    }
    Ok(())
}

/// Takes contents of this size. What is more is not kept, but shows in the length.
pub(super) fn receive(mut stream: &TcpStream, memory: &mut [u8], control: &Control) -> io::Result<u64> {
    let mut have = 0;
    while have < memory.len() {
        let end = memory.len().min(have + LARGE);
        match again(control, || stream.read(&mut memory[have..end]))? {
            0 => return Ok(have as u64),
            length => have += length,
        }
    }
    let more = again(control, || stream.read(&mut [0]))?;
    Ok((have + more) as u64)
}

/// Takes contents of this size into a file; gives their length. What is more shows in the length.
pub(super) fn receive_file(mut stream: &TcpStream, mut file: File, size: u64, control: &Control) -> io::Result<u64> {
    let (mut room, mut have) = (vec![0; LARGE], 0);
    loop {
        match again(control, || stream.read(&mut room))? {
            0 => return Ok(have),
            _ if have > size => return Ok(have),
            length => {
                file.write_all(&room[..length])?;
                have += length as u64;
            }
        }
    }
}

/// Memory that is there, so that no page of it has to be found while the time counts.
pub(super) fn memory(size: u64) -> Result<Vec<u8>, ProbeError> {
    let mut bytes = reserved(size)?;
    // Pages of zeros would all be one until they are written.
    bytes.resize(bytes.capacity(), 1);
    bytes.truncate(size as usize);
    Ok(bytes)
}

fn reserved(size: u64) -> Result<Vec<u8>, ProbeError> {
    let lacks = || unable("memory", format!("there are no {size} bytes for the contents; ask for less (--size)"));
    let (size, mut bytes) = (usize::try_from(size).map_err(|_| lacks())?, Vec::new());
    bytes.try_reserve_exact(size).map_err(|_| lacks())?;
    Ok(bytes)
}

/// A call, again where a signal cut it short.
fn again(control: &Control, mut call: impl FnMut() -> io::Result<usize>) -> io::Result<usize> {
    loop {
        match call() {
            Err(error) if is_nothing_yet(&error) && !control.stopped() => {}
            done => return done,
        }
    }
}
