//! Purpose of a connection, as the near side's greeting gives it.

use std::{
    io::{self, Read},
    net::{SocketAddr, TcpStream},
    time::{Duration, Instant},
};

use model::GoodputSpec;

pub(super) use crate::direction::DataDirection;
use crate::{
    Control, ProbeError,
    error::socket_error,
    socket::{STOP_CHECK, is_nothing_yet},
};

/// Purpose of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Hello {
    pub(super) way: DataDirection,
    /// Number of the stream (TCP), or payload of each datagram (UDP, whose one connection a way speaks for all flows).
    pub(super) value: u16,
}

/// The ways that data goes.
pub(super) fn ways(spec: &GoodputSpec) -> impl Iterator<Item = DataDirection> + use<> {
    let (forward, reverse) = (spec.sends_forward(), spec.sends_back());
    [(DataDirection::Forward, forward), (DataDirection::Reverse, reverse)]
        .into_iter()
        .filter_map(|(way, goes)| goes.then_some(way))
}

impl Hello {
    /// As a greeting has it.
    pub(super) fn purpose(self) -> u32 {
        u32::from(self.way as u8) << 16 | u32::from(self.value)
    }

    /// `None` if a near side has no such purpose.
    pub(super) fn of(purpose: u32) -> Option<Self> {
        let way = match purpose >> 16 {
            0 => DataDirection::Forward,
            1 => DataDirection::Reverse,
            _ => return None,
        };
        Some(Self { way, value: purpose as u16 })
    }
}

/// Makes reads of this connection return often enough to see a wish to stop.
pub(super) fn look_up_often(stream: &TcpStream) -> io::Result<()> {
    stream.set_nonblocking(false)?;
    stream.set_read_timeout(Some(STOP_CHECK))
}

/// Reads exactly as much as fits, within `patience`.
pub(super) fn read_all(
    mut stream: &TcpStream,
    mut into: &mut [u8],
    peer: SocketAddr,
    patience: Duration,
    control: &Control,
) -> Result<(), ProbeError> {
    let waiting = Instant::now();
    while !into.is_empty() {
        match stream.read(into) {
            Ok(0) => return Err(ProbeError::PeerClosed { peer }),
            Ok(length) => into = &mut into[length..],
            Err(error) if !is_nothing_yet(&error) => return Err(socket_error("receive from", peer)(error)),
            Err(_) if control.stopped() => return Err(ProbeError::Cancelled),
            Err(_) if waiting.elapsed() > patience => return Err(ProbeError::NoAnswer { peer, waited: patience }),
            Err(_) => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_purpose_is_read_as_it_was_written() {
        for way in [DataDirection::Forward, DataDirection::Reverse] {
            let hello = Hello { way, value: 40_000 };
            assert_eq!(Hello::of(hello.purpose()), Some(hello));
        }
        assert_eq!(Hello::of(2 << 16), None);
    }
}
