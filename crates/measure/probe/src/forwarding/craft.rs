//! Crafted frames: both sides make the same ones from one setting.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use frame::{
    Tag,
    checksum::{finish_udp, sum},
    headers::{self, Ip, finish_ip, pseudo_sum},
    tag::WHOLE,
};
use model::{
    Protocol,
    stream::{Mac, Vlan},
};

/// UDP source port of the first group; each group has the next one.
pub(super) const FIRST_PORT: u16 = 20_240;

/// The flow label of IPv6 packets.
const FLOW_LABEL: [u8; 3] = [0x05, 0xa5, 0xa5];

/// Bytes of an Ethernet header without tags.
const ETHERNET: usize = 14;

/// The shortest frame, without FCS.
const SHORTEST: usize = 60;

/// Length of an IP packet whose length is not what is checked.
const ORDINARY: u32 = 100;

/// Length of the datagram that is sent in fragments.
const CUT: u32 = 1_000;

/// Bytes of all packets of different lengths, at most.
const LENGTHS_BYTES: u32 = 12_000_000;

/// The least MTU of a link that carries IPv4 (RFC 791) and IPv6 (RFC 8200, section 5), and the largest of any interface.
const LEAST_MTU_V4: u32 = 68;
const LEAST_MTU_V6: u32 = 1_280;
const MOST_MTU: u32 = 65_536;

/// Bits that the far end's address has in common with one beside it, of IPv4 and of IPv6.
pub(super) const NETWORK_V4: u8 = 24;
pub(super) const NETWORK_V6: u8 = 64;

/// Protocol number of the fragment header of IPv6.
pub(super) const FRAGMENT: u8 = 44;

/// Values from which both sides make the same frames.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Setting {
    /// MAC address of the near end.
    pub(super) near_mac: Mac,
    /// MAC address that frames are sent to: of the router, or of the far end.
    pub(super) next_hop_mac: Mac,
    /// MAC address of the far end.
    pub(super) far_mac: Mac,
    /// IP address of the near end.
    pub(super) source: IpAddr,
    /// IP address of the far end.
    pub(super) destination: IpAddr,
    /// UDP port at which the far end listens, so that its kernel does not answer.
    pub(super) port: u16,
    /// Token of the trial.
    pub(super) token: u32,
    /// MTU of the near interface.
    pub(super) near_mtu: u32,
    /// MTU of the far interface.
    pub(super) far_mtu: u32,
    /// Whether a router is between the ends.
    pub(super) routed: bool,
    /// An address in the far end's network that nobody has.
    pub(super) spare: Option<IpAddr>,
    /// Frames of the numbered flow.
    pub(super) flow: u32,
}

impl Setting {
    pub(super) fn is_v4(&self) -> bool {
        self.destination.is_ipv4()
    }

    /// Whether what the other side told can be: frames are made from it, and sent to the address that it names.
    pub(super) fn check(&self) -> Result<(), String> {
        let least = if self.is_v4() { LEAST_MTU_V4 } else { LEAST_MTU_V6 };
        for (end, mtu) in [("near", self.near_mtu), ("far", self.far_mtu)] {
            if !(least..=MOST_MTU).contains(&mtu) {
                return Err(format!("the {end} end has an MTU of {mtu}, which is not between {least} and {MOST_MTU}"));
            }
        }
        match self.spare {
            Some(spare) if !self.may_be_asked(spare) => {
                Err(format!("the far end told {spare} as nobody's address in its network, which it cannot be"))
            }
            _ => Ok(()),
        }
    }

    /// Whether an address may be one beside the far end's own: of a host, of its network, and of neither end.
    fn may_be_asked(&self, spare: IpAddr) -> bool {
        let is_near = match (spare, self.destination) {
            (IpAddr::V4(spare), IpAddr::V4(destination)) => {
                let ([.., host], network) = (spare.octets(), |it: Ipv4Addr| it.to_bits() >> (32 - NETWORK_V4));
                network(spare) == network(destination) && !spare.is_multicast() && ![0, u8::MAX].contains(&host)
            }
            (IpAddr::V6(spare), IpAddr::V6(destination)) => {
                let network = |it: Ipv6Addr| it.to_bits() >> (128 - NETWORK_V6);
                network(spare) == network(destination) && !spare.is_multicast() && !spare.is_unspecified()
            }
            _ => false,
        };
        is_near && ![self.source, self.destination].contains(&spare)
    }

    /// The largest IP packet that passes.
    fn largest(&self) -> u32 {
        self.near_mtu.min(self.far_mtu).min(u16::MAX.into())
    }

    /// Whether the near end can send packets larger than the far link takes.
    pub(super) fn has_larger(&self) -> bool {
        self.near_mtu > self.far_mtu
    }

    /// The shortest IP packet that holds a tag.
    fn least(&self) -> u32 {
        let header = if self.is_v4() { headers::IPV4_HEADER } else { headers::IPV6_HEADER };
        (header + headers::UDP_HEADER + WHOLE) as u32
    }
}

/// Purpose of a frame. Its number stands in the tag, and tells the source port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Group {
    Flow,
    Lengths,
    HopLimit,
    TrafficClass,
    Vlan,
    Fragments,
    BadChecksum,
    TimeExceeded,
    TooBig,
    Unreachable,
}

impl Group {
    const ALL: [Self; 10] = [
        Self::Flow,
        Self::Lengths,
        Self::HopLimit,
        Self::TrafficClass,
        Self::Vlan,
        Self::Fragments,
        Self::BadChecksum,
        Self::TimeExceeded,
        Self::TooBig,
        Self::Unreachable,
    ];

    /// Number in a tag.
    pub(super) fn number(self) -> u16 {
        self as u16
    }

    /// The group with this number.
    pub(super) fn of_number(number: u16) -> Option<Self> {
        Self::ALL.into_iter().find(|group| group.number() == number)
    }

    /// The group with this source port.
    pub(super) fn of_port(port: u16) -> Option<Self> {
        Self::of_number(port.checked_sub(FIRST_PORT)?)
    }

    /// Whether its frames are sent once and for all; the others are repeated until they are answered.
    pub(super) fn is_one_way(self) -> bool {
        !matches!(self, Self::TimeExceeded | Self::TooBig | Self::Unreachable)
    }

    /// Whether its frames have to arrive.
    pub(super) fn arrives(self) -> bool {
        self.is_one_way() && self != Self::BadChecksum
    }
}

/// One crafted packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Crafted {
    pub(super) group: Group,
    /// Number within the group, as in the tag.
    pub(super) number: u64,
    /// The checked value: length, hop limit, traffic class, VLAN. Several frames may have the same.
    pub(super) value: u32,
    /// The frame, or its fragments.
    pub(super) frames: Vec<Vec<u8>>,
}

/// Values of one frame.
#[derive(Clone)]
struct Shape {
    group: Group,
    number: u64,
    /// Length of the IP packet.
    length: u32,
    hop_limit: u8,
    /// Traffic class: DSCP and ECN.
    class: u8,
    vlans: Vec<Vlan>,
    destination: IpAddr,
}

/// All frames of a setting, in the order in which they are sent.
pub(super) fn craft(setting: &Setting) -> Vec<Crafted> {
    let mut all = FrameSet { setting, crafted: Vec::new() };
    all.flow();
    // Twice: one lost frame is no fault of its length or value.
    for _ in 0..2 {
        all.lengths();
        all.hop_limits();
        all.traffic_classes();
        all.tagged();
        all.fragments();
    }
    all.bad_checksums();
    all.answered();
    all.crafted
}

/// Frames in the making.
struct FrameSet<'s> {
    setting: &'s Setting,
    crafted: Vec<Crafted>,
}

impl FrameSet<'_> {
    /// An ordinary frame with the next number of its group.
    fn shape(&self, group: Group) -> Shape {
        let number = self.crafted.iter().rev().find(|made| made.group == group).map_or(0, |made| made.number + 1);
        let length = ORDINARY.clamp(self.setting.least(), self.setting.largest().max(self.setting.least()));
        Shape {
            group,
            number,
            length,
            hop_limit: 64,
            class: 0,
            vlans: Vec::new(),
            destination: self.setting.destination,
        }
    }

    fn add(&mut self, value: u32, shape: &Shape) {
        let frames = vec![frame(self.setting, shape)];
        self.crafted.push(Crafted { group: shape.group, number: shape.number, value, frames });
    }

    fn flow(&mut self) {
        let first = self.shape(Group::Flow);
        for number in 0..u64::from(self.setting.flow) {
            self.add(number as u32, &Shape { number, ..first.clone() });
        }
    }

    fn lengths(&mut self) {
        let first = self.shape(Group::Lengths);
        let lengths = lengths(self.setting.least(), self.setting.largest());
        for (number, length) in (first.number..).zip(lengths) {
            self.add(length, &Shape { number, length, ..first.clone() });
        }
    }

    fn hop_limits(&mut self) {
        let bridged: &[u8] = if self.setting.routed { &[] } else { &[1] };
        for hop_limit in bridged.iter().chain(&[2, 3, 32, 64, 127, 128, 254, 255]) {
            let shape = Shape { hop_limit: *hop_limit, ..self.shape(Group::HopLimit) };
            self.add((*hop_limit).into(), &shape);
        }
    }

    fn traffic_classes(&mut self) {
        for class in 0..=u8::MAX {
            let shape = Shape { class, ..self.shape(Group::TrafficClass) };
            self.add(class.into(), &shape);
        }
    }

    /// Tagged frames, where no router ends the VLAN.
    fn tagged(&mut self) {
        let tags: &[(u16, u8)] = if self.setting.routed { &[] } else { &[(1, 0), (100, 7), (4094, 3)] };
        for (id, priority) in tags.iter().copied() {
            let vlans = vec![Vlan { id, priority, tpid: None }];
            let shape = Shape { vlans, ..self.shape(Group::Vlan) };
            self.add(id.into(), &shape);
        }
    }

    fn fragments(&mut self) {
        let shape = Shape { length: CUT.min(self.setting.largest()), ..self.shape(Group::Fragments) };
        if shape.length > self.setting.least() + 16 {
            let frames = fragments(self.setting, &shape);
            self.crafted.push(Crafted { group: shape.group, number: shape.number, value: 0, frames });
        }
    }

    /// Packets that a router has to drop. A bridge does not look at them.
    fn bad_checksums(&mut self) {
        let frames = if self.setting.routed && self.setting.is_v4() { 10 } else { 0 };
        for value in 0..frames {
            let shape = self.shape(Group::BadChecksum);
            self.add(value, &shape);
            let frame = self.crafted.last_mut().and_then(|made| made.frames.first_mut());
            frame.into_iter().for_each(|frame| frame[ETHERNET + 10] ^= 0x55);
        }
    }

    /// Packets that a router answers: some tries each, as routers limit how often they do.
    fn answered(&mut self) {
        const TRIES: u32 = 3;
        if !self.setting.routed {
            return;
        }
        for value in 0..TRIES {
            let shape = Shape { hop_limit: 1, ..self.shape(Group::TimeExceeded) };
            self.add(value, &shape);
        }
        let larger = if self.setting.has_larger() { TRIES } else { 0 };
        for value in 0..larger {
            let shape = Shape { length: self.setting.far_mtu + 1, ..self.shape(Group::TooBig) };
            self.add(value, &shape);
        }
        if let Some(destination) = self.setting.spare {
            for value in 0..TRIES - 1 {
                let shape = Shape { destination, ..self.shape(Group::Unreachable) };
                self.add(value, &shape);
            }
        }
    }
}

/// Each length from the least to the most; of very many an even choice, and the largest ones.
fn lengths(least: u32, most: u32) -> impl Iterator<Item = u32> {
    const LARGEST: u32 = 64;
    let many = LENGTHS_BYTES / most.max(1);
    let step = most.saturating_sub(least) / many.max(1) + 1;
    (least..=most).filter(move |length| (length - least).is_multiple_of(step) || *length + LARGEST > most)
}

fn frame(setting: &Setting, shape: &Shape) -> Vec<u8> {
    let mut frame = Vec::with_capacity(ETHERNET + shape.length as usize);
    let ether_type = if setting.is_v4() { headers::IPV4 } else { headers::IPV6 };
    headers::ethernet(&mut frame, setting.next_hop_mac, setting.near_mac, &shape.vlans, ether_type);
    let l3 = frame.len();
    let ip = Ip {
        source: setting.source,
        destination: shape.destination,
        protocol: headers::UDP,
        dscp: 0,
        ttl: shape.hop_limit,
    };
    headers::ip(&mut frame, &ip);
    let l4 = frame.len();
    if setting.is_v4() {
        frame[l3 + 1] = shape.class;
        frame[l3 + 4..l3 + 6].copy_from_slice(&(shape.number as u16).wrapping_add(1).to_be_bytes());
    } else {
        let [first, second, third] = FLOW_LABEL;
        let marks = [0x60 | shape.class >> 4, shape.class << 4 | first, second, third];
        frame[l3..l3 + 4].copy_from_slice(&marks);
    }
    headers::transport(&mut frame, Protocol::Udp, FIRST_PORT + shape.group.number(), setting.port);
    let tag = Tag::of(setting.token, shape.group.number(), shape.number, 0);
    frame.extend(tag.to_bytes());
    let end = l3 + shape.length as usize;
    let filled = frame.len();
    frame.extend((filled..end).map(|at| pattern(shape.number, at - l4)));
    finish_ip(&mut frame, l3, l4);
    finish_datagram(&mut frame, l3, l4);
    frame.resize(frame.len().max(SHORTEST), 0);
    frame
}

/// Puts length and checksum into the UDP header.
fn finish_datagram(frame: &mut [u8], l3: usize, l4: usize) {
    let length = frame.len() - l4;
    frame[l4 + 4..l4 + 6].copy_from_slice(&(length as u16).to_be_bytes());
    let checksum = finish_udp(pseudo_sum(&frame[l3..l4]) + length as u32 + sum(&frame[l4..]));
    frame[l4 + 6..l4 + 8].copy_from_slice(&checksum.to_be_bytes());
}

/// A byte of the payload, which differs from frame to frame and from place to place.
fn pattern(number: u64, at: usize) -> u8 {
    (frame::hash(number as u32, at as u32) >> 8) as u8
}

/// The datagram in two fragments.
fn fragments(setting: &Setting, shape: &Shape) -> Vec<Vec<u8>> {
    let whole = frame(setting, shape);
    let l4 = ETHERNET + if setting.is_v4() { headers::IPV4_HEADER } else { headers::IPV6_HEADER };
    let body = &whole[l4..ETHERNET + shape.length as usize];
    // Offsets count units of 8 bytes.
    let middle = body.len() / 2 / 8 * 8;
    let pieces = [(0, &body[..middle], true), (middle, &body[middle..], false)];
    let of = |(offset, piece, more): (usize, &[u8], bool)| {
        let mut frame = whole[..l4].to_vec();
        if setting.is_v4() {
            const MORE: u16 = 0x2000;
            let field = (offset / 8) as u16 | if more { MORE } else { 0 };
            frame[ETHERNET + 4..ETHERNET + 6]
                .copy_from_slice(&(identification(setting, shape.number) as u16).to_be_bytes());
            frame[ETHERNET + 6..ETHERNET + 8].copy_from_slice(&field.to_be_bytes());
            frame[ETHERNET + 10..ETHERNET + 12].fill(0);
        } else {
            frame[ETHERNET + 6] = FRAGMENT;
            frame.extend([headers::UDP, 0]);
            frame.extend((offset as u16 | u16::from(more)).to_be_bytes());
            frame.extend(identification(setting, shape.number).to_be_bytes());
        }
        frame.extend(piece);
        finish_ip(&mut frame, ETHERNET, l4);
        frame.resize(frame.len().max(SHORTEST), 0);
        frame
    };
    pieces.into_iter().map(of).collect()
}

/// Identification of a datagram in fragments.
pub(super) fn identification(setting: &Setting, number: u64) -> u32 {
    let whole = setting.token.wrapping_add(number as u32);
    if setting.is_v4() { whole & u32::from(u16::MAX) } else { whole }
}
