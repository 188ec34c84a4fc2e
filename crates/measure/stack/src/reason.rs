//! Why a socket is with the kernel.

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
    /// `SO_BINDTODEVICE` to an interface that is not bypassed.
    #[error("it is bound to a device that is not bypassed (SO_BINDTODEVICE)")]
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
    /// `SO_ATTACH_FILTER` or `SO_ATTACH_BPF`.
    #[error("it has a filter attached (SO_ATTACH_FILTER, SO_ATTACH_BPF)")]
    Filter,
    /// `SO_ZEROCOPY`.
    #[error("it sends without copying (SO_ZEROCOPY)")]
    ZeroCopy,
    /// `UDP_ENCAP`.
    #[error("its packets are unpacked by the kernel (UDP_ENCAP)")]
    Encapsulation,
    /// `fdopen`, or `dup2` onto a standard number.
    #[error("stdio reads or writes it (fdopen, dup2)")]
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
    /// `IP_CHECKSUM`.
    #[error("it is told checksums (IP_CHECKSUM)")]
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
    /// `IPV6_FLOWINFO`.
    #[error("it is told flow labels (IPV6_FLOWINFO)")]
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
}

impl Reason {
    const ALL: [Self; 39] = [
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
    ];

    /// The reason of a number in shared memory.
    pub(crate) fn of(number: u32) -> Option<Self> {
        Self::ALL.into_iter().find(|reason| *reason as u32 == number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_reason_is_known_by_its_number() {
        for reason in Reason::ALL {
            assert_eq!(Reason::of(reason as u32), Some(reason), "{reason}");
        }
        assert_eq!((Reason::of(0), Reason::of(Reason::Fault as u32 + 1)), (None, None));
    }
}
