//! Transfers by wireproof itself, from memory to memory over one TCP connection.

use std::{
    fs::File,
    io::{self, Read, Write},
    net::{Shutdown, SocketAddr, TcpStream},
};

use kernel::socket::tcp_state;
use model::{probe::TransferMethod, trial::TcpState};
use rustix::fs::sendfile;

use super::{contents, place::Place, unable};
use crate::{Control, ProbeError, error::socket_error, socket::is_nothing_yet};

/// Bytes of a plain write: iperf3's own size.
const WRITE: usize = 128 << 10;

/// Bytes that `sendfile` is asked for, or that are read, at once.
const LARGE: usize = 1 << 20;

/// Contents at the sending end.
pub(super) enum Source {
    Memory(Vec<u8>),
    File { file: File, _place: Place },
}

impl Source {
    /// Makes the contents, in a file for `sendfile`; gives their hash too.
    pub(super) fn make(method: TransferMethod, token: u32, size: u64) -> Result<(Self, String), ProbeError> {
        if method == TransferMethod::Sendfile {
            let place = Place::make()?;
            let hash = place.fill(token, size)?;
            return Ok((Self::File { file: place.contents()?, _place: place }, hash));
        }
        let mut bytes = reserved(size)?;
        let hash = contents::make(token, size, &mut bytes).map_err(|error| unable("contents", error))?;
        Ok((Self::Memory(bytes), hash))
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
        let mut sent = 0;
        while sent < size {
            let put = again(control, || match self {
                Self::Memory(bytes) => {
                    let rest = &bytes[sent as usize..];
                    stream.write(&rest[..chunk.min(rest.len())])
                }
                Self::File { file, .. } => Ok(sendfile(stream, file, Some(&mut sent.clone()), LARGE)?),
            });
            sent += put.map_err(socket_error("send to", peer))? as u64;
            control.reached(sent);
        }
        stream.shutdown(Shutdown::Write).map_err(socket_error("shut down the stream to", peer))?;
        // The receiver ends its side after the last byte.
        again(control, || stream.read(&mut [0])).map_err(socket_error("drain to", peer))?;
        Ok(tcp_state(stream)?)
    }
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
