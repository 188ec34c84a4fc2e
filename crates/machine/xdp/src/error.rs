//! What can go wrong with BPF programs.

use std::io;

/// The largest MTU that each driver with XDP takes.
pub(crate) const ETHERNET_MTU: u32 = 1500;

/// What this crate returns.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a program could not be loaded, attached or run. Whatever it is, the interface is as it was.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is no such interface in the caller's namespace.
    #[error("there is no interface {0} here")]
    NoInterface(String),
    /// Somebody else's XDP program is there.
    #[error(
        "{0} already has an XDP program, which was left as it is; see `ip link show {0}`, and stop what attached it or \
         choose another interface"
    )]
    Busy(String),
    /// `ENOSPC` of veth.
    #[error("{0} has fewer receive queues than its peer has transmit queues; give it as many: `ethtool -L {0} rx N`")]
    TooFewQueues(String),
    /// The MTU of the interface, or that of a veth's peer, leaves no room for what XDP needs.
    #[error("the driver of {0} does not take XDP at this MTU; lower that of both ends, to 3,498 or less")]
    TooLargeMtu(String),
    /// `EINVAL` of a driver, at an MTU above that of Ethernet.
    #[error(
        "the driver of {interface} refused XDP, as many do at an MTU of {mtu}; set it to {ETHERNET_MTU}, which all of them take, at both ends \
         (\"ip link set {interface} mtu {ETHERNET_MTU}\"), or look into the kernel's log for the most that this one takes"
    )]
    RefusedMtu {
        /// The interface.
        interface: String,
        /// Its MTU.
        mtu: u32,
    },
    /// No native XDP.
    #[error(
        "the driver of {0} has no native XDP, by which packets are counted; count at an interface whose driver has it, or send by \
         engine udp, whose packets a socket counts"
    )]
    NoXdp(String),
    /// A frame that live frames cannot carry.
    #[error("live frames carry 14 to {most} B without FCS, not {asked} B; use engine xsk or af_packet")]
    FrameSize {
        /// Bytes without FCS.
        asked: usize,
        /// The most that is possible.
        most: usize,
    },
    /// More streams, sizes or numbered sequences than the programs have room for.
    #[error("{what}: {asked} are more than the {most} that there is room for")]
    TooMany {
        /// Of what.
        what: &'static str,
        /// How many were asked for.
        asked: usize,
        /// How many are possible.
        most: usize,
    },
    /// The kernel does not know live frames.
    #[error(
        "this kernel cannot send live frames (BPF_F_TEST_XDP_LIVE_FRAMES, Linux 5.18); use engine xsk or af_packet"
    )]
    NoLiveFrames,
    /// No right to load BPF programs.
    #[error("BPF programs need root (CAP_BPF, CAP_NET_ADMIN): {0}")]
    Denied(&'static str),
    /// Loading failed: kernel too old, or memory may not be locked.
    #[error("could not load the BPF program {program}: {why}")]
    Load {
        /// Which program.
        program: &'static str,
        /// What the kernel said.
        why: String,
    },
    /// Another failed call.
    #[error("{call} on {what}: {io}")]
    Call {
        /// Which call.
        call: &'static str,
        /// On what.
        what: String,
        /// What the kernel said.
        io: io::Error,
    },
}
