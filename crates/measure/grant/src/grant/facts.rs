//! Properties of an interface that matter to grants.

use kernel::{ethtool, link::Link};
use model::{bypass::Wait, stream::Mac};
use xdp::socket::{BusyPoll, FrameSize};

use crate::GrantError;

/// Drivers that deliver packets of the same machine with an incomplete checksum. "vif" is the name of both ends of
/// Xen's driver.
const UNFINISHED_CHECKSUMS: [&str; 4] = ["veth", "virtio_net", "tun", "vif"];
/// Packets per poll at most, as in the kernel (`NAPI_POLL_WEIGHT`).
const BUDGET: u32 = 64;
/// The kernel's share of each frame for XDP programs (`XDP_PACKET_HEADROOM`).
const HEADROOM: usize = 256;
/// Ethernet header, two VLAN tags.
const LINK_HEADERS: usize = 22;
/// Limit of packet memory in bytes; many queues get shorter rings.
const MOST_MEMORY: usize = 256 << 20;
const RING: u32 = 2048;
const SHORTEST_RING: u32 = 256;

/// One interface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Facts {
    pub(super) name: String,
    pub(super) index: u32,
    pub(super) mac: [u8; 6],
    pub(super) mtu: u32,
    pub(super) partial_checksums: bool,
    pub(super) queues: u32,
}

impl Facts {
    /// Properties of an interface of the caller's network namespace.
    pub(super) fn read(name: &str, links: &[Link]) -> Result<Self, GrantError> {
        let link = links.iter().find(|link| link.name == name);
        let link = link.ok_or_else(|| GrantError::NoInterface(name.to_owned()))?;
        let Mac(mac) = link.mac.parse().map_err(|_| GrantError::NoEthernet(name.to_owned()))?;
        let driver = ethtool::driver(name).map(|driver| driver.name).unwrap_or_default();
        Ok(Self {
            name: name.to_owned(),
            index: link.index,
            mac,
            mtu: link.mtu.0,
            partial_checksums: UNFINISHED_CHECKSUMS.contains(&driver.as_str()),
            queues: ethtool::queues(name).receiving,
        })
    }
}

/// Busy polling of zero-copy queues: for sleeping programs, interrupts stay on.
pub(super) fn busy_poll(wait: Wait) -> Option<BusyPoll> {
    (wait != Wait::Sleep).then_some(BusyPoll { budget: BUDGET, alone: wait == Wait::Spin })
}

/// A frame size that holds packets of the largest MTU, if there is one.
pub(super) fn frame_size(interfaces: &[Facts]) -> FrameSize {
    let largest = interfaces.iter().map(|facts| facts.mtu as usize).max().unwrap_or_default();
    if largest + LINK_HEADERS <= room(FrameSize::Half) as usize { FrameSize::Half } else { FrameSize::Page }
}

/// Bytes of a packet that fit in a frame.
pub(super) fn room(size: FrameSize) -> u32 {
    (size.bytes() - HEADROOM) as u32
}

/// Entries of each ring if so many queues share the memory.
pub(super) fn ring(queues: u32, size: FrameSize) -> u32 {
    let bytes = |ring: u32| queues as usize * ring as usize * super::FRAMES_AN_ENTRY as usize * size.bytes();
    let mut ring = RING;
    while ring > SHORTEST_RING && bytes(ring) > MOST_MEMORY {
        ring /= 2;
    }
    ring
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_mtu(mtu: u32) -> Facts {
        let (name, mac) = ("wp0".to_owned(), [2, 0, 0, 0, 0, 1]);
        Facts { name, index: 2, mac, mtu, partial_checksums: true, queues: 1 }
    }

    #[test]
    fn a_frame_takes_a_packet_of_the_mtu_where_it_can() {
        assert_eq!(frame_size(&[of_mtu(1500)]), FrameSize::Half);
        assert_eq!(frame_size(&[of_mtu(1770)]), FrameSize::Half);
        assert_eq!(frame_size(&[of_mtu(1500), of_mtu(1771)]), FrameSize::Page);
        assert_eq!(frame_size(&[of_mtu(9000)]), FrameSize::Page);
    }

    #[test]
    fn who_spins_polls_alone_and_who_sleeps_does_not_poll() {
        let alone = [Wait::Sleep, Wait::Auto, Wait::Spin].map(|wait| busy_poll(wait).map(|poll| poll.alone));
        assert_eq!(alone, [None, Some(false), Some(true)]);
    }

    #[test]
    fn many_queues_have_shorter_rings() {
        assert_eq!([1, 16, 17, 64, 1000].map(|queues| ring(queues, FrameSize::Half)), [2048, 2048, 1024, 512, 256]);
        assert_eq!(ring(16, FrameSize::Page), 1024);
    }
}
