//! Messages between the two sides, one a datagram. A lost one is repeated.

use std::{
    net::{IpAddr, SocketAddr, UdpSocket},
    time::{Duration, Instant},
};

use crate::{
    Control, ProbeError,
    error::socket_error,
    socket::{is_lost, open_for_messages, send_or_lose},
};

/// Tells our messages from others.
const MAGIC: [u8; 4] = *b"wppk";
const LENGTH: usize = 11;

/// A message without an answer is repeated after this time.
const AGAIN: Duration = Duration::from_millis(100);
/// A side that does not answer for this long counts as ended.
const GONE: Duration = Duration::from_secs(5);

/// One message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Message {
    /// From the near side: here I am, and this is where packets for me go.
    Hello { port: u16 },
    /// The answer, with the same of the far side.
    Welcome { port: u16 },
    /// From the near side: all is sent. Has it arrived?
    Over,
    /// The answer, once it has.
    Settled,
}

/// A socket for messages of one trial.
pub(super) struct TrialSocket {
    socket: UdpSocket,
    local: SocketAddr,
    token: u32,
}

impl TrialSocket {
    /// On a free port of this address.
    pub(super) fn open(local: IpAddr, token: u32) -> Result<Self, ProbeError> {
        let (socket, local) = open_for_messages(local)?;
        Ok(Self { socket, local, token })
    }

    /// Address.
    pub(super) fn address(&self) -> SocketAddr {
        self.local
    }

    pub(super) fn send(&self, message: Message, to: SocketAddr) -> Result<(), ProbeError> {
        send_or_lose(&self.socket, &encode(message, self.token), to)
    }

    /// The next message of this trial, if one comes within `patience`.
    pub(super) fn receive(&self, patience: Duration) -> Result<Option<(Message, SocketAddr)>, ProbeError> {
        let patience = patience.max(Duration::from_millis(1));
        self.socket.set_read_timeout(Some(patience)).map_err(socket_error("set SO_RCVTIMEO for", self.local))?;
        let mut bytes = [0; LENGTH];
        match self.socket.recv_from(&mut bytes) {
            Ok((LENGTH, from)) => Ok(decode(bytes, self.token).map(|message| (message, from))),
            Ok(_) => Ok(None),
            Err(error) if is_lost(&error) => Ok(None),
            Err(error) => Err(socket_error("receive at", self.local)(error)),
        }
    }

    /// Repeats a message until `answers` accepts the reply.
    pub(super) fn ask<T>(
        &self,
        message: Message,
        peer: SocketAddr,
        control: &Control,
        answers: impl Fn(Message) -> Option<T>,
    ) -> Result<T, ProbeError> {
        let began = Instant::now();
        while began.elapsed() < GONE {
            self.send(message, peer)?;
            let asked = Instant::now();
            while asked.elapsed() < AGAIN {
                if control.stopped() {
                    return Err(ProbeError::Cancelled);
                }
                let received = self.receive(AGAIN.saturating_sub(asked.elapsed()))?;
                if let Some(answer) =
                    received.filter(|(_, from)| *from == peer).and_then(|(message, _)| answers(message))
                {
                    return Ok(answer);
                }
            }
        }
        Err(ProbeError::NoAnswer { peer, waited: began.elapsed() })
    }
}

fn encode(message: Message, token: u32) -> [u8; LENGTH] {
    let (kind, port) = match message {
        Message::Hello { port } => (0, port),
        Message::Welcome { port } => (1, port),
        Message::Over => (2, 0),
        Message::Settled => (3, 0),
    };
    let mut bytes = [0; LENGTH];
    bytes[..4].copy_from_slice(&MAGIC);
    bytes[4..8].copy_from_slice(&token.to_be_bytes());
    bytes[8] = kind;
    bytes[9..].copy_from_slice(&port.to_be_bytes());
    bytes
}

/// `None` if nobody of this trial wrote these bytes.
fn decode(bytes: [u8; LENGTH], token: u32) -> Option<Message> {
    let [a, b, c, d, t0, t1, t2, t3, kind, high, low] = bytes;
    if [a, b, c, d] != MAGIC || [t0, t1, t2, t3] != token.to_be_bytes() {
        return None;
    }
    let port = u16::from_be_bytes([high, low]);
    match kind {
        0 => Some(Message::Hello { port }),
        1 => Some(Message::Welcome { port }),
        2 => Some(Message::Over),
        3 => Some(Message::Settled),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_read_as_it_was_said_and_only_in_its_own_trial() {
        for message in [Message::Hello { port: 49_185 }, Message::Welcome { port: 7 }, Message::Over, Message::Settled]
        {
            assert_eq!(decode(encode(message, 0xdead_beef), 0xdead_beef), Some(message));
            assert_eq!(decode(encode(message, 1), 2), None);
        }
        assert_eq!(decode([0; LENGTH], 0), None);
    }
}
