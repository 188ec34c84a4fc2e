//! Why something of a program does not go past the kernel: a socket, an interface, or all of it. The words of each in the user's language live
//! in the report; `Display` is what errors and JSON say.

use std::path::PathBuf;

/// Why all packets of a socket go through the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[repr(u32)]
pub enum Reason {
    /// It is a TCP socket.
    #[error("it is TCP, which passes through untouched for now")]
    Tcp = 1,
    /// It is neither a UDP nor a TCP socket.
    #[error("it is neither UDP nor TCP")]
    NotUdp,
    /// It has no local port yet; the kernel gives it one with its first datagram.
    #[error("it is not bound to a port")]
    NotBound,
    /// None of its addresses is one of a bypassed interface.
    #[error("its address is none of an interface that is bypassed")]
    OtherInterface,
    /// `SO_BINDTODEVICE` to an interface that is not bypassed, or is not the only one.
    #[error("it is bound to a device (SO_BINDTODEVICE) that is not the only one bypassed")]
    OtherDevice,
    /// `IP_OPTIONS`, or extension headers of IPv6.
    #[error("its packets carry IP options or extension headers")]
    IpOptions,
    /// `UDP_CORK`.
    #[error("it puts datagrams together from several calls (UDP_CORK)")]
    Cork,
    /// `SO_TIMESTAMPING`.
    #[error("it has packets stamped by card or kernel (SO_TIMESTAMPING)")]
    Timestamping,
    /// `SO_ATTACH_FILTER`, `SO_ATTACH_BPF`, or a program that chooses among the sockets of a port.
    #[error(
        "it has a filter attached (SO_ATTACH_FILTER, SO_ATTACH_BPF, SO_ATTACH_REUSEPORT_CBPF, SO_ATTACH_REUSEPORT_EBPF)"
    )]
    Filter,
    /// `SO_ZEROCOPY`.
    #[error("it sends without copying (SO_ZEROCOPY)")]
    ZeroCopy,
    /// `UDP_ENCAP`.
    #[error("its packets are unpacked by the kernel (UDP_ENCAP)")]
    Encapsulation,
    /// `fdopen`, or `dup2` onto a standard number.
    #[error("stdio reads or writes it (fdopen, dup, dup2)")]
    Stdio,
    /// `shutdown`.
    #[error("it was shut down (shutdown)")]
    ShutDown,
    /// `O_ASYNC`.
    #[error("signals tell of its datagrams (O_ASYNC)")]
    Signals,
    /// `SO_REUSEPORT` or `SO_REUSEADDR` with a socket that is not past the kernel, of this process or another one.
    #[error("it shares its port with a socket that goes through the kernel")]
    SharedPort,
    /// The launcher refused its process, or was not there.
    #[error("its process was given no queues")]
    NoGrant,
    /// What the launcher gave its process was of no use there.
    #[error("its process could not use the queues that it was given")]
    Unusable,
    /// The table of flows is full.
    #[error("the table of flows is full")]
    TableFull,
    /// The interface went away, went down, or has another XDP program.
    #[error("its interface is gone, down, or has another XDP program")]
    InterfaceGone,
    /// It is used by a process that was forked from the one that has the grant.
    #[error("it is used by a child of the process that bypasses")]
    Forked,
    /// What the kernel says of it could not be read.
    #[error("the kernel did not say what it is")]
    Unreadable,
    /// No memory, or too many sockets.
    #[error("there was no memory for it")]
    NoMemory,
    /// Something that no other reason names.
    #[error("it uses what is not supported past the kernel")]
    Unsupported,
    /// `SO_TIMESTAMP_NEW` or `SO_TIMESTAMPNS_NEW`.
    #[error("it has timestamps in the newer form (SO_TIMESTAMP_NEW, SO_TIMESTAMPNS_NEW)")]
    Timestamp,
    /// `SO_MARK`.
    #[error("its packets carry a mark for the kernel (SO_MARK)")]
    Mark,
    /// `SO_DONTROUTE`.
    #[error("it sends without routes (SO_DONTROUTE)")]
    DontRoute,
    /// `SO_RXQ_OVFL`.
    #[error("it is told by the kernel what was dropped (SO_RXQ_OVFL)")]
    Overflow,
    /// `IP_TRANSPARENT`.
    #[error("it takes addresses that are not of this machine (IP_TRANSPARENT)")]
    Transparent,
    /// `IP_MINTTL` or `IPV6_MINHOPCOUNT`.
    #[error("it refuses packets by their time to live (IP_MINTTL, IPV6_MINHOPCOUNT)")]
    MinTtl,
    /// `IP_PASSSEC`.
    #[error("it is told the security label of its peer (IP_PASSSEC)")]
    Security,
    /// `IP_RECVORIGDSTADDR` or `IPV6_RECVORIGDSTADDR`.
    #[error("it is told where packets were for at first (IP_RECVORIGDSTADDR, IPV6_RECVORIGDSTADDR)")]
    OriginalAddress,
    /// `IP_CHECKSUM`, `UDP_NO_CHECK6_RX`.
    #[error("it is told checksums, or takes what has none (IP_CHECKSUM, UDP_NO_CHECK6_RX)")]
    Checksum,
    /// `IP_RECVFRAGSIZE` or `IPV6_RECVFRAGSIZE`.
    #[error("it is told the size of fragments (IP_RECVFRAGSIZE, IPV6_RECVFRAGSIZE)")]
    FragmentSize,
    /// `IP_UNICAST_IF` or `IPV6_UNICAST_IF`.
    #[error("it chooses the interface that it sends by (IP_UNICAST_IF, IPV6_UNICAST_IF)")]
    UnicastInterface,
    /// `IPV6_2292PKTINFO` or `IPV6_2292HOPLIMIT`.
    #[error("it is told of packets in the older form of IPv6 (IPV6_2292PKTINFO, IPV6_2292HOPLIMIT)")]
    OldPacketInfo,
    /// `IPV6_FLOWINFO`, `IPV6_FLOWINFO_SEND`.
    #[error("it is told flow labels, or says which (IPV6_FLOWINFO, IPV6_FLOWINFO_SEND)")]
    FlowInfo,
    /// `SO_PEEK_OFF`.
    #[error("it peeks from an offset on (SO_PEEK_OFF)")]
    PeekOffset,
    /// Its own address, or that of its peer, is link-local or multicast.
    #[error("its address, or that of its peer, is link-local or multicast")]
    Scope,
    /// A fault in our own code, which was caught.
    #[error("there was a fault in the library, which was caught; please report it")]
    Fault,
    /// A child of `fork` has it from its parent, and others have it too.
    #[error("other processes that were forked have it too")]
    Inherited,
    /// A signal handler jumped out of a call while our own code was at work.
    #[error("a signal handler jumped (siglongjmp) out of the library while it was at work")]
    Jump,
}

impl Reason {
    /// All there are.
    pub const ALL: [Self; 41] = [
        Self::Tcp,
        Self::NotUdp,
        Self::NotBound,
        Self::OtherInterface,
        Self::OtherDevice,
        Self::IpOptions,
        Self::Cork,
        Self::Timestamping,
        Self::Filter,
        Self::ZeroCopy,
        Self::Encapsulation,
        Self::Stdio,
        Self::ShutDown,
        Self::Signals,
        Self::SharedPort,
        Self::NoGrant,
        Self::Unusable,
        Self::TableFull,
        Self::InterfaceGone,
        Self::Forked,
        Self::Unreadable,
        Self::NoMemory,
        Self::Unsupported,
        Self::Timestamp,
        Self::Mark,
        Self::DontRoute,
        Self::Overflow,
        Self::Transparent,
        Self::MinTtl,
        Self::Security,
        Self::OriginalAddress,
        Self::Checksum,
        Self::FragmentSize,
        Self::UnicastInterface,
        Self::OldPacketInfo,
        Self::FlowInfo,
        Self::PeekOffset,
        Self::Scope,
        Self::Fault,
        Self::Inherited,
        Self::Jump,
    ];

    /// The reason of a number in shared memory.
    pub fn of(number: u32) -> Option<Self> {
        Self::ALL.into_iter().find(|reason| *reason as u32 == number)
    }
}

/// Why an interface stays with the kernel, or a program is given no queues.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Hindrance {
    /// Nobody named it, and it is the way to the default route or to the caller.
    #[error(
        "the default route or this session goes through it, and taking it may interrupt them for a moment; name it with --dev to take it"
    )]
    Uplink,
    /// It has no Ethernet addresses.
    #[error("it is no Ethernet interface")]
    NoEthernet,
    /// Its driver has no native XDP, as that of a bridge.
    #[error(
        "the driver of {0} has no native XDP, by which sockets go past the kernel; its ports or lower interfaces may have it"
    )]
    NoXdp(String),
    /// Somebody else's XDP program is there.
    #[error(
        "{0} already has an XDP program, which was left as it is; see `ip link show {0}`, and stop what attached it or \
         choose another interface"
    )]
    OtherProgram(String),
    /// Another launcher, or another program, has a queue; or a program whose launcher was killed has not given it up yet.
    #[error(
        "queue {queue} of interface {interface} is held by another program (AF_XDP); it is free once that has ended, or has seen that its launcher did"
    )]
    Held {
        /// The interface.
        interface: String,
        /// The queue, from 0.
        queue: u32,
    },
    /// Nothing is left to be granted.
    #[error("each interface that was bypassed is gone, or has lost wireproof's XDP program")]
    AllGone,
    /// A process from elsewhere asks for queues.
    #[error("it is no program that this launcher started")]
    NotOurs,
    /// Another program has the queues.
    #[error("the queues are held by {program} (pid {process}); one process at a time can bypass")]
    HeldBy {
        /// Its name.
        program: String,
        /// Its number.
        process: u32,
    },
    /// What was given to the program was of no use there: an error.
    #[error("it could not use the queues that it was given: {0}")]
    Unusable(String),
    /// Another error.
    #[error("{0}")]
    Error(String),
}

/// What a card was not told for programs that poll it; all goes on without it. Each `why` is an error.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotSet {
    /// The kernel cannot poll.
    #[error("this kernel has no busy polling (CONFIG_NET_RX_BUSY_POLL): packets of {interface} come by interrupts")]
    NoPolling {
        /// The card's interface.
        interface: String,
    },
    /// Nothing is set on any card.
    #[error("cards stay as they are: {why}")]
    Nothing {
        /// Why.
        why: String,
    },
    /// A setting was refused.
    #[error("{why}; it goes on without")]
    Setting {
        /// Which, and why.
        why: String,
    },
    /// A rule was refused.
    #[error("{why}; packets of the program come by all queues of {interface}")]
    Rule {
        /// The card's interface.
        interface: String,
        /// Which, and why.
        why: String,
    },
    /// Something could not be given back.
    #[error("{why}")]
    GivenBack {
        /// What, and why.
        why: String,
    },
}

/// A program that no library can be put under.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{} {kind}; its sockets go through the kernel", program.display())]
pub struct Obstacle {
    /// The file.
    pub program: PathBuf,
    /// Why.
    pub kind: Kind,
}

/// What is in the way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Kind {
    /// It has no libraries.
    #[error("is linked statically, so that no library can be put under its calls")]
    Static,
    /// It is of the Go compiler.
    #[error("is a Go program, which calls the kernel by itself and not through the C library")]
    Go,
    /// It takes another user's or group's rights when it starts.
    #[error(
        "takes another user's rights when it starts (set-user-ID, set-group-ID), and the loader then takes no library from outside \
         (ld.so(8), secure-execution mode)"
    )]
    SetId,
    /// It is for another machine, or of 32 bits.
    #[error("is for another kind of machine, or of 32 bits; the library is of 64")]
    OtherMachine,
    /// It has another C library.
    #[error("has another C library (musl); the library is for glibc")]
    OtherLibc,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_reason_is_known_by_its_number() {
        for reason in Reason::ALL {
            assert_eq!(Reason::of(reason as u32), Some(reason), "{reason}");
        }
        assert_eq!((Reason::of(0), Reason::of(Reason::Jump as u32 + 1)), (None, None));
    }
}
