//! A socket that sends and receives messages, and what routers say of them.

use std::{
    net::{SocketAddr, UdpSocket},
    time::Duration,
};

use kernel::error_queue::{Fate, PathSocket, Sent, Told};
use model::IpVersion;
use socket2::Type;

use super::{
    message::{LENGTH, Message, is_intact},
    search::{Outcome, TTL},
};
use crate::{ProbeError, socket::bound};

/// Larger than any payload.
const BUFFER: usize = 65_536;
const UDP_HEADER: u32 = 8;

/// A bound socket.
pub(super) struct Post {
    socket: PathSocket,
    /// Bytes of a packet that are not payload.
    headers: u32,
    buffer: Vec<u8>,
}

/// A received packet.
pub(super) enum Event {
    /// A message, with its remaining TTL. A probe packet arrived whole.
    Message(Message, u8),
    /// A router says so of one of our probe packets: its number, or 0 where the router does not quote it.
    Told(u32, Outcome),
}

impl Post {
    /// A socket on a free port of this address.
    pub(super) fn open(local: std::net::IpAddr) -> Result<Self, ProbeError> {
        let ip = IpVersion::of(local);
        let socket: UdpSocket = bound(SocketAddr::new(local, 0), Type::DGRAM)?.into();
        let ip_header = match ip {
            IpVersion::V4 => 20,
            IpVersion::V6 => 40,
        };
        Ok(Self { socket: PathSocket::new(socket, ip)?, headers: ip_header + UDP_HEADER, buffer: vec![0; BUFFER] })
    }

    /// Where it is bound.
    pub(super) fn local(&self) -> Result<SocketAddr, ProbeError> {
        Ok(self.socket.local()?)
    }

    /// Speaks with this address alone from now on.
    pub(super) fn connect(&self, peer: SocketAddr) -> Result<(), ProbeError> {
        Ok(self.socket.connect(peer)?)
    }

    /// The size of the packet that carries a message.
    pub(super) fn smallest(&self) -> u32 {
        LENGTH as u32 + self.headers
    }

    /// Sender of a hello, with the message still to be received; `None` without one. Anything else is discarded.
    pub(super) fn caller(&mut self) -> Result<Option<SocketAddr>, ProbeError> {
        while let Some((length, from)) = self.socket.caller(&mut self.buffer)? {
            if let Some(Message::Hello { .. }) = Message::read(&self.buffer[..length]) {
                return Ok(Some(from));
            }
            self.socket.receive(&mut self.buffer)?;
        }
        Ok(None)
    }

    /// Sends a message. The side that misses the answer repeats a lost one, also if it was dropped here.
    pub(super) fn say(&mut self, message: Message) -> Result<(), ProbeError> {
        let bytes = &mut self.buffer[..LENGTH];
        message.write(bytes);
        self.socket.send(bytes, TTL)?;
        Ok(())
    }

    /// Sends a probe packet of this size, at least [`Post::smallest`].
    pub(super) fn probe(&mut self, id: u32, size: u32, ttl: u8) -> Result<Sent, ProbeError> {
        let length = (size - self.headers) as usize;
        let bytes = &mut self.buffer[..length];
        Message::Probe { id, size }.write(bytes);
        Ok(self.socket.send(bytes, ttl)?)
    }

    /// Sleeps until something comes, or `patience` is over.
    pub(super) fn wait(&self, patience: Duration) -> Result<(), ProbeError> {
        Ok(self.socket.wait(patience)?)
    }

    /// The next received packet, without waiting.
    pub(super) fn next(&mut self) -> Result<Option<Event>, ProbeError> {
        while let Some(told) = self.socket.told()? {
            if let Some((id, outcome)) = of_probe(&told) {
                return Ok(Some(Event::Told(id, outcome)));
            }
        }
        while let Some(arrival) = self.socket.receive(&mut self.buffer)? {
            let bytes = &self.buffer[..arrival.length];
            let whole =
                |id, size| !arrival.fragmented && arrival.length as u32 + self.headers == size && is_intact(id, bytes);
            match Message::read(bytes) {
                Some(Message::Probe { id, size }) if !whole(id, size) => {}
                Some(message) => return Ok(Some(Event::Message(message, arrival.ttl))),
                None => {}
            }
        }
        Ok(None)
    }
}

/// A router's answer to a probe packet; `None` if it is none.
fn of_probe(told: &Told) -> Option<(u32, Outcome)> {
    let outcome = match told.fate {
        Fate::TooBig { by, mtu } => Outcome::TooBig { by, mtu: mtu.0 },
        Fate::Expired { by } => Outcome::Expired { by },
    };
    match Message::read(&told.quote) {
        Some(Message::Probe { id, .. }) => Some((id, outcome)),
        Some(_) => None,
        None => Some((0, outcome)),
    }
}
