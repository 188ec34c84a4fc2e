//! The near side's first message on each connection: its purpose.

use std::{
    io::{self, Read},
    net::{Ipv4Addr, SocketAddr, TcpStream},
    time::{Duration, Instant},
};

use model::GoodputSpec;

use crate::{
    Control, ProbeError,
    error::socket_error,
    socket::{STOP_CHECK, is_nothing_yet},
};

/// Tells the near side from strangers that found the port.
const MAGIC: [u8; 4] = *b"wpgd";

/// Size of a greeting.
pub(super) const HELLO: usize = 8;

/// Which way the data of a connection or flow goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Way {
    /// From the near side to the far one.
    Forward,
    /// From the far side to the near one.
    Reverse,
}

/// Purpose of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Hello {
    pub(super) way: Way,
    /// Number of the stream (TCP), or payload of each datagram (UDP, whose one connection a way speaks for all flows).
    pub(super) value: u16,
}

/// The ways that data goes.
pub(super) fn ways(spec: &GoodputSpec) -> impl Iterator<Item = Way> + use<> {
    let (forward, reverse) = (spec.sends_forward(), spec.sends_back());
    [(Way::Forward, forward), (Way::Reverse, reverse)].into_iter().filter_map(|(way, goes)| goes.then_some(way))
}

impl Hello {
    pub(super) fn encode(self) -> [u8; HELLO] {
        let [high, low] = self.value.to_be_bytes();
        let [a, b, c, d] = MAGIC;
        [a, b, c, d, self.way as u8, 0, high, low]
    }

    /// `None` if these bytes were not written by a near side.
    pub(super) fn decode(bytes: [u8; HELLO]) -> Option<Self> {
        let [a, b, c, d, way, 0, high, low] = bytes else { return None };
        let way = match way {
            0 => Way::Forward,
            1 => Way::Reverse,
            _ => return None,
        };
        ([a, b, c, d] == MAGIC).then_some(Self { way, value: u16::from_be_bytes([high, low]) })
    }
}

/// Makes reads of this connection return often enough to see a wish to stop.
pub(super) fn look_up_often(stream: &TcpStream) -> io::Result<()> {
    stream.set_nonblocking(false)?;
    stream.set_read_timeout(Some(STOP_CHECK))
}

/// The other end of a connection. The kernel forgets it only once the connection is broken.
pub(super) fn peer_of(stream: &TcpStream) -> Result<SocketAddr, ProbeError> {
    let unknown = SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0));
    stream.peer_addr().map_err(socket_error("ask the peer of a connection that is", unknown))
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
    fn a_greeting_is_read_as_it_was_written() {
        for way in [Way::Forward, Way::Reverse] {
            let hello = Hello { way, value: 40_000 };
            assert_eq!(Hello::decode(hello.encode()), Some(hello));
        }
        assert_eq!(Hello::decode(*b"GET / HT"), None);
        assert_eq!(Hello::decode([b'w', b'p', b'g', b'd', 2, 0, 0, 0]), None);
    }
}
