//! The search for the largest packet that passes one way, and for the device that stops larger ones. Pure: a [`ProbeSender`]
//! sends the packets.
//!
//! An ICMP message only gives the next size to try (RFC 8899, section 4.6): the figure is a packet that arrived, and one
//! a byte larger that did not, as often as it was sent.

use std::{collections::BTreeMap, net::IpAddr};

use model::{
    Mtu,
    probe::LARGEST_PATH_MTU,
    trial::{Leg, Refusal},
};

/// The TTL of packets that are to arrive, which routers are counted by.
pub(super) const TTL: u8 = 64;
/// A packet that did not arrive this often does not pass.
const TRIES: u8 = 3;
/// The same if packets of passing sizes are lost, or silence contradicts a router's message.
const TRIES_IN_DOUBT: u8 = 6;
/// Sizes tried at once: a black hole costs a timeout for each burst, however many packets are in it.
const BURST: u32 = 8;
/// The MTUs that links have: IPv4's and IPv6's least, tunnels over Ethernet, PPPoE, Ethernet, FDDI, jumbo frames, and
/// the largest frames of cards (RFC 1191, section 7.1).
const LADDER: [u32; 12] = [576, 1280, 1400, 1420, 1450, 1480, 1492, 1500, 4352, 9000, 9216, 9710];

/// A packet to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ProbePacket {
    /// Bytes, IP header included.
    pub(super) size: u32,
    /// TTL, or hop limit.
    pub(super) ttl: u8,
}

/// Outcome of a packet, the best witness first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Outcome {
    /// It arrived whole.
    Passed {
        /// Remaining TTL.
        ttl: u8,
    },
    /// The sender's own interface did not take it.
    Refused {
        /// MTU of the interface.
        mtu: u32,
    },
    /// A router says that it is too big.
    TooBig {
        /// The router.
        by: IpAddr,
        /// The MTU it names.
        mtu: u32,
    },
    /// A router says that its TTL ran out.
    Expired {
        /// The router.
        by: IpAddr,
    },
    /// No answer.
    Silent,
}

/// Sends packets one way.
pub(super) trait ProbeSender {
    /// Why it could not.
    type Error;

    /// Sends each packet once and waits until it is known what became of them, or the timeout is over. The outcomes are
    /// in the order of the packets.
    fn send_all(&mut self, packets: &[ProbePacket]) -> Result<Vec<Outcome>, Self::Error>;
}

/// Searches one way. `smallest` is the size that a search begins with, `likely` the size that will probably turn out to be
/// the largest.
pub(super) fn search<S: ProbeSender>(sender: &mut S, smallest: u32, likely: u32) -> Result<Leg, S::Error> {
    let mut interval = Interval::new(smallest);
    let mut sizes = interval.first(likely);
    while !sizes.is_empty() {
        let packets: Vec<_> = sizes.iter().map(|&size| ProbePacket { size, ttl: TTL }).collect();
        for (size, outcome) in sizes.iter().zip(sender.send_all(&packets)?) {
            interval.enter(*size, outcome);
        }
        sizes = interval.next();
    }
    let routers = interval.ttl.and_then(|ttl| TTL.checked_sub(ttl));
    let refusal = match interval.refusal() {
        Refusal::Silent { .. } => {
            let (last_router, routers_answer) = trace(sender, smallest, interval.failing(), routers.unwrap_or(0))?;
            Refusal::Silent { last_router, routers_answer }
        }
        refusal => refusal,
    };
    Ok(Leg { mtu: interval.passed.map(Mtu), refusal, routers })
}

/// The last router that tells of packets of `large` bytes which expire there, and whether routers tell of small ones.
fn trace<S: ProbeSender>(
    sender: &mut S,
    small: u32,
    large: u32,
    routers: u8,
) -> Result<(Option<IpAddr>, Option<bool>), S::Error> {
    if routers == 0 {
        return Ok((None, None));
    }
    let of_large = expired(sender, large, routers)?;
    let answer = !of_large.is_empty() || !expired(sender, small, routers)?.is_empty();
    Ok((of_large.last().copied(), Some(answer)))
}

/// The routers that tell of packets of this size, in the order of the way.
fn expired<S: ProbeSender>(sender: &mut S, size: u32, routers: u8) -> Result<Vec<IpAddr>, S::Error> {
    let mut tellers = BTreeMap::new();
    for _ in 0..TRIES {
        let silent = |ttl: &u8| !tellers.contains_key(ttl);
        let packets: Vec<_> = (1..=routers).filter(silent).map(|ttl| ProbePacket { size, ttl }).collect();
        if packets.is_empty() {
            break;
        }
        for (packet, outcome) in packets.iter().zip(sender.send_all(&packets)?) {
            if let Outcome::Expired { by } = outcome {
                tellers.insert(packet.ttl, by);
            }
        }
    }
    Ok(tellers.into_values().collect())
}

/// Knowledge so far: the largest size that passed, and larger ones that did not.
struct Interval {
    smallest: u32,
    passed: Option<u32>,
    ttl: Option<u8>,
    failed: BTreeMap<u32, Failure>,
    /// Whether a packet was lost that was not too big.
    lossy: bool,
}

struct Failure {
    times: u8,
    refusal: Refusal,
}

impl Interval {
    fn new(smallest: u32) -> Self {
        let largest = Failure { times: u8::MAX, refusal: Refusal::Largest };
        let failed = BTreeMap::from([(LARGEST_PATH_MTU.0 + 1, largest)]);
        Self { smallest, passed: None, ttl: None, failed, lossy: false }
    }

    /// On a clean path these are all that is needed.
    fn first(&self, likely: u32) -> Vec<u32> {
        let likely = likely.clamp(self.smallest, LARGEST_PATH_MTU.0);
        let mut sizes = vec![self.smallest, likely, (likely + 1).min(LARGEST_PATH_MTU.0)];
        sizes.dedup();
        sizes
    }

    fn enter(&mut self, size: u32, outcome: Outcome) {
        let refusal = match outcome {
            Outcome::Passed { ttl } => {
                self.ttl = Some(ttl);
                self.passed = self.passed.max(Some(size));
                let larger = self.failed.split_off(&(size + 1));
                let refuted = std::mem::replace(&mut self.failed, larger);
                self.lossy |= refuted.values().any(Failure::is_silent);
                return;
            }
            Outcome::Refused { .. } => Refusal::Interface,
            Outcome::TooBig { by, mtu } => Refusal::TooBig { by, mtu: Mtu(mtu) },
            Outcome::Expired { .. } | Outcome::Silent => Refusal::Silent { last_router: None, routers_answer: None },
        };
        if Some(size) > self.passed {
            let failure = self.failed.entry(size).or_insert(Failure { times: 0, refusal: refusal.clone() });
            failure.note(refusal);
        } else {
            self.lossy |= matches!(refusal, Refusal::Silent { .. });
        }
        if let Outcome::Refused { mtu } = outcome
            && Some(mtu) >= self.passed
            && mtu < size
        {
            self.failed.entry(mtu + 1).or_insert(Failure { times: 0, refusal: Refusal::Interface });
        }
    }

    /// Sizes to try next; none when the search is over.
    fn next(&self) -> Vec<u32> {
        let failing = self.failing();
        let inside = self.passed.map_or(self.smallest, |passed| passed + 1)..failing;
        let mut sizes = self.hinted(&inside);
        if sizes.is_empty() {
            sizes = LADDER.iter().flat_map(|&mtu| [mtu, mtu + 1]).filter(|size| inside.contains(size)).collect();
        }
        if sizes.is_empty() {
            sizes = spread(&inside);
        }
        sizes.extend(self.failed.get(&failing).filter(|failure| failure.times < self.tries()).map(|_| failing));
        sizes
    }

    fn tries(&self) -> u8 {
        let told = || self.failed.values().any(|failure| matches!(failure.refusal, Refusal::TooBig { .. }));
        let silent = self.failed.first_key_value().is_some_and(|(_, failure)| failure.is_silent());
        if silent && (self.lossy || told()) { TRIES_IN_DOUBT } else { TRIES }
    }

    /// Sizes named by routers or the interface, and a byte more.
    fn hinted(&self, inside: &std::ops::Range<u32>) -> Vec<u32> {
        let named = self.failed.iter().filter_map(|(size, failure)| match failure.refusal {
            Refusal::TooBig { mtu, .. } => Some(mtu.0),
            Refusal::Interface => Some(size - 1),
            _ => None,
        });
        let named = named.filter(|mtu| inside.contains(mtu)).min();
        named.into_iter().flat_map(|mtu| [mtu, mtu + 1]).filter(|size| inside.contains(size)).collect()
    }

    /// The smallest size that does not pass, as far as is known.
    fn failing(&self) -> u32 {
        self.failed.first_key_value().map_or(LARGEST_PATH_MTU.0 + 1, |(size, _)| *size)
    }

    fn refusal(&self) -> Refusal {
        self.failed.first_key_value().map_or(Refusal::Largest, |(_, failure)| failure.refusal.clone())
    }
}

impl Failure {
    /// An interface refuses as often as it is asked; a router's word is worth more than silence.
    fn note(&mut self, refusal: Refusal) {
        self.times = if refusal == Refusal::Interface { u8::MAX } else { self.times.saturating_add(1) };
        if !matches!(refusal, Refusal::Silent { .. }) {
            self.refusal = refusal;
        }
    }

    fn is_silent(&self) -> bool {
        matches!(self.refusal, Refusal::Silent { .. })
    }
}

/// Sizes that cut the remaining range into equal parts.
fn spread(inside: &std::ops::Range<u32>) -> Vec<u32> {
    let left = inside.end.saturating_sub(inside.start);
    if left <= BURST {
        return inside.clone().collect();
    }
    (1..=BURST).map(|part| inside.start + left * part / (BURST + 1)).collect()
}

#[cfg(test)]
mod tests;
