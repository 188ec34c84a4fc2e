//! Errors of BPF programs.

use std::io;

/// The largest MTU that every driver with XDP accepts.
pub(crate) const ETHERNET_MTU: u32 = 1500;

/// Result of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// A failure to load, attach or run a program. The interface is unchanged.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The caller's namespace has no such interface.
    #[error("there is no interface {0} here")]
    NoInterface(String),
    /// Another XDP program is attached.
    #[error(
        "{0} already has an XDP program, which was left as it is; see `ip link show {0}`, and stop what attached it or \
         choose another interface"
    )]
    Busy(String),
    /// `ENOSPC` of veth.
    #[error("{0} has fewer receive queues than its peer has transmit queues; give it as many: `ethtool -L {0} rx N`")]
    TooFewQueues(String),
    /// The MTU of the interface, or of a veth's peer, leaves no room for XDP.
    #[error("the driver of {0} does not take XDP at this MTU; lower that of both ends, to 3,498 or less")]
    TooLargeMtu(String),
    /// `EINVAL` of a driver at an MTU above the one of Ethernet.
    #[error(
        "the driver of {interface} refused XDP, as many do at an MTU of {mtu}; set it to {ETHERNET_MTU}, which all of them take, at both ends \
         (\"ip link set {interface} mtu {ETHERNET_MTU}\"), or look into the kernel's log for the most that this one takes"
    )]
    RefusedMtu {
        /// The interface.
        interface: String,
        /// MTU.
        mtu: u32,
    },
    /// No native XDP.
    #[error(
        "the driver of {0} has no native XDP, by which packets are counted; count at an interface whose driver has it, or send by \
         engine udp, whose packets a socket counts"
    )]
    NoXdp(String),
    /// A frame of a size that live frames cannot have.
    #[error("live frames carry 14 to {most} B without FCS, not {asked} B; use engine xsk or af_packet")]
    FrameSize {
        /// Bytes without FCS.
        asked: usize,
        /// The limit.
        most: usize,
    },
    /// More streams, sizes or numbered sequences than fit into the programs.
    #[error("{what}: {asked} are more than the {most} that there is room for")]
    TooMany {
        /// Kind of item.
        what: &'static str,
        /// Requested number.
        asked: usize,
        /// The limit.
        most: usize,
    },
    /// The kernel has no live frames.
    #[error(
        "this kernel cannot send live frames (BPF_F_TEST_XDP_LIVE_FRAMES, Linux 5.18); use engine xsk or af_packet"
    )]
    NoLiveFrames,
    /// Missing privilege to load BPF programs.
    #[error("BPF programs need root (CAP_BPF, CAP_NET_ADMIN): {0}")]
    Denied(&'static str),
    /// Loading failed: the kernel is too old, or memory may not be locked.
    #[error("could not load the BPF program {program}: {why}")]
    Load {
        /// Name of the program.
        program: &'static str,
        /// The kernel's message.
        why: String,
    },
    /// Another failed system call.
    #[error("{call} on {what}: {io}")]
    Call {
        /// Name of the call.
        call: &'static str,
        /// Object.
        what: String,
        /// The kernel's error.
        io: io::Error,
    },
}
