//! A socket that sends and receives messages, and what routers say of them.

use std::{
    net::{SocketAddr, UdpSocket},
    time::Duration,
};

use kernel::error_queue::{Fate, IcmpError, PathSocket, Sent};
use model::{IpVersion, SideSetup};
use socket2::Type;

use super::{
    message::{LENGTH, Message, is_intact},
    search::{Outcome, TTL},
};
use crate::{ProbeError, socket::bound};

/// Larger than any payload.
const BUFFER: usize = 65_536;
const UDP_HEADER: u32 = 8;
/// Datagrams of others that are discarded before the caller looks whether it shall stop.
const AT_ONCE: usize = 64;

/// A bound socket.
pub(super) struct MessageSocket {
    socket: PathSocket,
    token: u32,
    /// Bytes of a packet that are not payload.
    headers: u32,
    buffer: Vec<u8>,
}

/// A received packet.
pub(super) enum Event {
    /// A message, with its remaining TTL. A probe packet arrived whole.
    Message(Message, u8),
    /// A router says so of one of our probe packets: its number, or 0 where the router does not quote it.
    Outcome(u32, Outcome),
}

impl MessageSocket {
    /// A socket on a free port of the setup's address.
    pub(super) fn open(setup: &SideSetup) -> Result<Self, ProbeError> {
        let ip = IpVersion::of(setup.local);
        let socket: UdpSocket = bound(SocketAddr::new(setup.local, 0), Type::DGRAM)?.into();
        let ip_header = match ip {
            IpVersion::V4 => 20,
            IpVersion::V6 => 40,
        };
        let (socket, headers) = (PathSocket::new(socket, ip)?, ip_header + UDP_HEADER);
        Ok(Self { socket, token: setup.token, headers, buffer: vec![0; BUFFER] })
    }

    /// Address to which it is bound.
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

    /// Sender of a hello, with the message still to be received; `None` without one. Some others' datagrams are discarded.
    pub(super) fn caller(&mut self) -> Result<Option<SocketAddr>, ProbeError> {
        for _ in 0..AT_ONCE {
            let Some((length, from)) = self.socket.caller(&mut self.buffer)? else { break };
            if let Some(Message::Hello { .. }) = Message::read(self.token, &self.buffer[..length]) {
                return Ok(Some(from));
            }
            self.socket.receive(&mut self.buffer)?;
        }
        Ok(None)
    }

    /// Sends a message. The side that misses the answer repeats a lost one, also if it was dropped here.
    pub(super) fn say(&mut self, message: Message) -> Result<(), ProbeError> {
        let bytes = &mut self.buffer[..LENGTH];
        message.write(self.token, bytes);
        self.socket.send(bytes, TTL)?;
        Ok(())
    }

    /// Sends a probe packet of this size, at least [`MessageSocket::smallest`].
    pub(super) fn probe(&mut self, id: u32, size: u32, ttl: u8) -> Result<Sent, ProbeError> {
        let length = (size - self.headers) as usize;
        let bytes = &mut self.buffer[..length];
        Message::Probe { id, size }.write(self.token, bytes);
        Ok(self.socket.send(bytes, ttl)?)
    }

    /// Sleeps until something comes, or `patience` is over.
    pub(super) fn wait(&self, patience: Duration) -> Result<(), ProbeError> {
        Ok(self.socket.wait(patience)?)
    }

    /// The next received packet, without waiting. Looks at a bounded number of datagrams of others.
    pub(super) fn next(&mut self) -> Result<Option<Event>, ProbeError> {
        while let Some(error) = self.socket.icmp_error()? {
            if let Some((id, outcome)) = of_probe(self.token, &error) {
                return Ok(Some(Event::Outcome(id, outcome)));
            }
        }
        for _ in 0..AT_ONCE {
            let Some(arrival) = self.socket.receive(&mut self.buffer)? else { break };
            let bytes = &self.buffer[..arrival.length];
            let whole =
                |id, size| !arrival.fragmented && arrival.length as u32 + self.headers == size && is_intact(id, bytes);
            match Message::read(self.token, bytes) {
                Some(Message::Probe { id, size }) if !whole(id, size) => {}
                Some(message) => return Ok(Some(Event::Message(message, arrival.ttl))),
                None => {}
            }
        }
        Ok(None)
    }
}

/// A router's answer to a probe packet; `None` if it is none.
fn of_probe(token: u32, error: &IcmpError) -> Option<(u32, Outcome)> {
    let outcome = match error.fate {
        Fate::TooBig { by, mtu } => Outcome::TooBig { by, mtu: mtu.0 },
        Fate::Expired { by } => Outcome::Expired { by },
        Fate::Refused { .. } => return None,
    };
    match Message::read(token, &error.quote) {
        Some(Message::Probe { id, .. }) => Some((id, outcome)),
        Some(_) => None,
        None => {
            let is_of_trial = |quoted: &[u8]| quoted == token.to_be_bytes();
            error.quote.get(..4).is_none_or(is_of_trial).then_some((0, outcome))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_router_that_quotes_no_packet_of_the_trial_is_not_believed() {
        let fate = Fate::Expired { by: "198.18.0.1".parse().expect("an address") };
        let mut probe = [0; LENGTH];
        Message::Probe { id: 9, size: 1500 }.write(7, &mut probe);
        for (quote, id) in [(&probe[..], Some(9)), (&probe[..8], Some(0)), (&[], Some(0)), (&[0; LENGTH], None)] {
            let error = IcmpError { fate, quote: quote.to_vec() };
            assert_eq!(of_probe(7, &error).map(|(id, _)| id), id, "{quote:?}");
        }
    }
}
