//! Messages between the two sides: 40 bytes with numbers in network byte order, the trial's token first. In a probe packet a
//! pattern follows, which fills it to its size.

use std::net::{IpAddr, Ipv6Addr};

use super::search::Outcome;

/// Bytes of each message but a probe packet, which can be longer.
pub(super) const LENGTH: usize = 40;

const HELLO: u8 = 1;
const WELCOME: u8 = 2;
const PROBE: u8 = 3;
const ACK: u8 = 4;
const REQUEST: u8 = 5;
const REFUSED: u8 = 6;
const TOO_BIG: u8 = 7;
const EXPIRED: u8 = 8;

/// A message. `id` is the number of a packet, which only its sender gives; 0 stands for one that is not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Message {
    /// Near to far: are you there?
    Hello {
        /// To tell one answer from the next.
        id: u32,
    },
    /// Far to near: yes.
    Welcome {
        /// Number of the question.
        id: u32,
        /// MTU of the far side's interface.
        mtu: u32,
        /// Probe packets that the far side sent until now.
        sent: u32,
    },
    /// Either way: a packet of exactly this size.
    Probe {
        /// Number.
        id: u32,
        /// Bytes, IP header included.
        size: u32,
    },
    /// Far to near: a probe packet arrived whole.
    Ack {
        /// Number of the packet.
        id: u32,
        /// Remaining TTL.
        ttl: u8,
    },
    /// Near to far: send a probe packet.
    Request {
        /// The number it shall have.
        id: u32,
        /// Bytes, IP header included.
        size: u32,
        /// TTL.
        ttl: u8,
    },
    /// Far to near: what became of the packet that was asked for, where it does not speak for itself by arriving.
    Report {
        /// Number of the packet.
        id: u32,
        /// [`Outcome::Refused`], [`Outcome::TooBig`] or [`Outcome::Expired`].
        outcome: Outcome,
    },
}

impl Message {
    /// As it is sent. A probe packet is filled up to its length in `bytes`.
    pub(super) fn write(self, token: u32, bytes: &mut [u8]) {
        let (kind, id, number, ttl, address) = match self {
            Self::Hello { id } => (HELLO, id, 0, 0, None),
            Self::Welcome { id, mtu, sent } => (WELCOME, id, mtu, 0, Some(u128::from(sent))),
            Self::Probe { id, size } => (PROBE, id, size, 0, None),
            Self::Ack { id, ttl } => (ACK, id, 0, ttl, None),
            Self::Request { id, size, ttl } => (REQUEST, id, size, ttl, None),
            Self::Report { id, outcome } => match outcome {
                Outcome::Refused { mtu } => (REFUSED, id, mtu, 0, None),
                Outcome::TooBig { by, mtu } => (TOO_BIG, id, mtu, 0, Some(bits(by))),
                Outcome::Expired { by } => (EXPIRED, id, 0, 0, Some(bits(by))),
                Outcome::Passed { .. } | Outcome::Silent => return,
            },
        };
        bytes[..4].copy_from_slice(&token.to_be_bytes());
        bytes[4..8].copy_from_slice(&[kind, ttl, 0, 0]);
        bytes[8..12].copy_from_slice(&id.to_be_bytes());
        bytes[12..16].copy_from_slice(&number.to_be_bytes());
        bytes[16..32].copy_from_slice(&address.unwrap_or_default().to_be_bytes());
        for (at, byte) in bytes.iter_mut().enumerate().skip(32) {
            *byte = filler(id, at);
        }
    }

    /// An arrived packet, or the beginning of it that a router quoted; `None` for one that is not of this trial.
    pub(super) fn read(token: u32, bytes: &[u8]) -> Option<Self> {
        let number = |at: usize| Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
        let address = u128::from_be_bytes(bytes.get(16..32)?.try_into().ok()?);
        let by = Ipv6Addr::from_bits(address).to_canonical();
        if number(0)? != token {
            return None;
        }
        let (kind, ttl, id, size) = (bytes[4], bytes[5], number(8)?, number(12)?);
        let report = |outcome| Some(Self::Report { id, outcome });
        match kind {
            HELLO => Some(Self::Hello { id }),
            WELCOME => Some(Self::Welcome { id, mtu: size, sent: address as u32 }),
            PROBE => Some(Self::Probe { id, size }),
            ACK => Some(Self::Ack { id, ttl }),
            REQUEST => Some(Self::Request { id, size, ttl }),
            REFUSED => report(Outcome::Refused { mtu: size }),
            TOO_BIG => report(Outcome::TooBig { by, mtu: size }),
            EXPIRED => report(Outcome::Expired { by }),
            _ => None,
        }
    }
}

/// Whether a probe packet with this number has arrived as it was filled.
pub(super) fn is_intact(id: u32, bytes: &[u8]) -> bool {
    bytes.iter().enumerate().skip(32).all(|(at, byte)| *byte == filler(id, at))
}

/// Differs from packet to packet and from byte to byte, so that neither an old buffer nor a shifted one passes for it.
fn filler(id: u32, at: usize) -> u8 {
    (id as usize).wrapping_mul(31).wrapping_add(at.wrapping_mul(7)).wrapping_add(at >> 8) as u8
}

fn bits(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(address) => address.to_ipv6_mapped().to_bits(),
        IpAddr::V6(address) => address.to_bits(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_back_as_the_same() {
        let v4 = "198.18.0.1".parse().expect("an address");
        let v6 = "2001:2::1".parse().expect("an address");
        let messages = [
            Message::Hello { id: 3 },
            Message::Welcome { id: 3, mtu: 9000, sent: 70_000 },
            Message::Probe { id: u32::MAX, size: 65_535 },
            Message::Ack { id: 5, ttl: 63 },
            Message::Request { id: 6, size: 1500, ttl: 2 },
            Message::Report { id: 7, outcome: Outcome::Refused { mtu: 1400 } },
            Message::Report { id: 0, outcome: Outcome::TooBig { by: v4, mtu: 1300 } },
            Message::Report { id: 8, outcome: Outcome::Expired { by: v6 } },
        ];
        for message in messages {
            let mut bytes = [0; LENGTH];
            message.write(7, &mut bytes);
            assert_eq!(Message::read(7, &bytes), Some(message));
            assert_eq!(Message::read(8, &bytes), None, "of another trial");
        }
        assert_eq!(Message::read(7, &[0; LENGTH]), None);
        assert_eq!(Message::read(7, &[0, 0, 0, 7]), None);
    }

    #[test]
    fn a_changed_byte_or_an_older_packet_is_noticed() {
        let mut bytes = vec![0; 1472];
        Message::Probe { id: 9, size: 1500 }.write(7, &mut bytes);
        assert!(is_intact(9, &bytes));
        assert!(!is_intact(10, &bytes));
        bytes[1471] ^= 1;
        assert!(!is_intact(9, &bytes));
    }
}
