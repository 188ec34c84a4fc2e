//! Messages between the two sides, one a datagram. A lost one is repeated.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};

use model::stream::Mac;

use crate::{
    ProbeError,
    error::socket_error,
    socket::{is_lost, is_nothing_yet, open_for_messages, send_or_lose},
};

/// Tells our messages from others.
const MAGIC: [u8; 4] = *b"wpfw";
const LENGTH: usize = 37;

/// Datagrams, of others and crafted ones, that are discarded before the caller looks whether it shall stop. The near side sends fewer
/// in the time of one wait for frames.
const AT_ONCE: usize = 1_024;

/// One message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Message {
    /// From the near side: its own port, and whether a router is between.
    Hello { mac: Mac, mtu: u32, routed: bool },
    /// The answer: the far side's port, and an address of its network that nobody has.
    Welcome { mac: Mac, mtu: u32, spare: Option<IpAddr> },
}

/// A socket for messages of one trial. It also takes the crafted datagrams, so that no kernel answers them.
pub(super) struct TrialSocket {
    socket: UdpSocket,
    local: SocketAddr,
    token: u32,
}

impl TrialSocket {
    /// On a free port of this address.
    pub(super) fn open(local: IpAddr, token: u32) -> Result<Self, ProbeError> {
        let (socket, local) = open_for_messages(local)?;
        socket.set_nonblocking(true).map_err(socket_error("set O_NONBLOCK for", local))?;
        Ok(Self { socket, local, token })
    }

    /// Address.
    pub(super) fn address(&self) -> SocketAddr {
        self.local
    }

    /// Sends a message; one that finds no way is lost.
    pub(super) fn send(&self, message: Message, to: SocketAddr) -> Result<(), ProbeError> {
        send_or_lose(&self.socket, &encode(message, self.token), to)
    }

    /// Makes the kernel ask who has this address.
    pub(super) fn ask_for(&self, address: IpAddr) -> Result<(), ProbeError> {
        const DISCARD: u16 = 9;
        send_or_lose(&self.socket, &[], SocketAddr::new(address, DISCARD))
    }

    /// The next message of this trial, if one is there. Other datagrams are thrown away, a bounded number at once.
    pub(super) fn receive(&self) -> Result<Option<(Message, SocketAddr)>, ProbeError> {
        self.receive_among(AT_ONCE)
    }

    /// The same, where it is among this many datagrams.
    fn receive_among(&self, most: usize) -> Result<Option<(Message, SocketAddr)>, ProbeError> {
        let mut bytes = [0; LENGTH];
        for _ in 0..most {
            match self.socket.recv_from(&mut bytes) {
                Ok((LENGTH, from)) => {
                    if let Some(message) = decode(&bytes, self.token) {
                        return Ok(Some((message, from)));
                    }
                }
                Ok(_) => {}
                Err(error) if is_nothing_yet(&error) => return Ok(None),
                Err(error) if is_lost(&error) => {}
                Err(error) => return Err(socket_error("receive at", self.local)(error)),
            }
        }
        Ok(None)
    }
}

fn encode(message: Message, token: u32) -> [u8; LENGTH] {
    let (kind, mac, mtu, value, spare) = match message {
        Message::Hello { mac, mtu, routed } => (0, mac, mtu, u8::from(routed), None),
        Message::Welcome { mac, mtu, spare } => {
            (1, mac, mtu, spare.map_or(0, |it| if it.is_ipv4() { 4 } else { 6 }), spare)
        }
    };
    let mut bytes = [0; LENGTH];
    bytes[..4].copy_from_slice(&MAGIC);
    bytes[4..8].copy_from_slice(&token.to_be_bytes());
    bytes[8] = kind;
    bytes[9..15].copy_from_slice(&mac.0);
    bytes[15..19].copy_from_slice(&mtu.to_be_bytes());
    bytes[19] = value;
    match spare {
        Some(IpAddr::V4(address)) => bytes[20..24].copy_from_slice(&address.octets()),
        Some(IpAddr::V6(address)) => bytes[20..36].copy_from_slice(&address.octets()),
        None => {}
    }
    bytes
}

/// `None` if no side of this trial wrote these bytes.
fn decode(bytes: &[u8; LENGTH], token: u32) -> Option<Message> {
    let (head, rest) = bytes.split_first_chunk::<8>()?;
    if head[..4] != MAGIC || head[4..] != token.to_be_bytes() {
        return None;
    }
    let (kind, rest) = rest.split_first()?;
    let (mac, rest) = rest.split_first_chunk::<6>()?;
    let (mtu, rest) = rest.split_first_chunk::<4>()?;
    let (value, rest) = rest.split_first()?;
    let (mac, mtu) = (Mac(*mac), u32::from_be_bytes(*mtu));
    match (kind, value) {
        (0, _) => Some(Message::Hello { mac, mtu, routed: *value == 1 }),
        (1, 0) => Some(Message::Welcome { mac, mtu, spare: None }),
        (1, 4) => {
            let spare = Ipv4Addr::from_octets(*rest.first_chunk()?);
            Some(Message::Welcome { mac, mtu, spare: Some(spare.into()) })
        }
        (1, 6) => {
            let spare = Ipv6Addr::from_octets(*rest.first_chunk()?);
            Some(Message::Welcome { mac, mtu, spare: Some(spare.into()) })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_message_is_read_as_it_was_said_and_only_in_its_own_trial() {
        let (mac, mtu) = (Mac([2, 0, 0, 0, 0, 7]), 9000);
        let v4: IpAddr = [198, 19, 0, 253].into();
        let v6: IpAddr = [0x2001, 2, 0, 1, 0, 0, 0, 0x5750].into();
        for message in [
            Message::Hello { mac, mtu, routed: true },
            Message::Hello { mac, mtu, routed: false },
            Message::Welcome { mac, mtu, spare: None },
            Message::Welcome { mac, mtu, spare: Some(v4) },
            Message::Welcome { mac, mtu, spare: Some(v6) },
        ] {
            assert_eq!(decode(&encode(message, 0xdead_beef), 0xdead_beef), Some(message));
            assert_eq!(decode(&encode(message, 1), 2), None);
        }
        assert_eq!(decode(&[0; LENGTH], 0), None);
    }

    #[test]
    fn datagrams_of_others_do_not_hold_up_the_caller() {
        const TOKEN: u32 = 7;
        let local: IpAddr = Ipv4Addr::LOCALHOST.into();
        let (here, there) =
            (TrialSocket::open(local, TOKEN).expect("a socket"), TrialSocket::open(local, TOKEN).expect("a socket"));
        let message = Message::Hello { mac: Mac([2, 0, 0, 0, 0, 7]), mtu: 1500, routed: false };
        let send = |bytes: &[u8]| send_or_lose(&there.socket, bytes, here.address()).expect("there is room");
        for _ in 0..10 {
            send(&encode(message, TOKEN + 1));
            send(&[]);
        }
        send(&encode(message, TOKEN));
        let received = || here.receive_among(10).expect("it can be read");
        assert_eq!(
            [received(), received(), received(), received()],
            [None, None, Some((message, there.address())), None]
        );
    }

    proptest! {
        /// A message that is read of changed bytes is read again as it is said.
        #[test]
        fn a_changed_message_breaks_nothing(changes in prop::collection::vec((8..LENGTH, any::<u8>()), 1..=8)) {
            const TOKEN: u32 = 7;
            let spare: IpAddr = [198, 19, 0, 253].into();
            let message = Message::Welcome { mac: Mac([2, 0, 0, 0, 0, 7]), mtu: 1500, spare: Some(spare) };
            let mut bytes = encode(message, TOKEN);
            for (at, byte) in changes {
                bytes[at] = byte;
            }
            if let Some(read) = decode(&bytes, TOKEN) {
                prop_assert_eq!(decode(&encode(read, TOKEN), TOKEN), Some(read));
            }
        }
    }
}
