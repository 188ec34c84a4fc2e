//! Reasons for which a socket stays with the kernel.

/// The enum, its text in English and the list of all from one table.
macro_rules! reasons {
    ($($(#[doc = $doc:literal])+ $name:ident: $text:literal,)+) => {
        /// Why all packets of a socket go through the kernel. In shared memory it is its place in [`Self::ALL`].
        #[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, thiserror::Error)]
        #[serde(rename_all = "kebab-case")]
        pub enum Reason {
            $($(#[doc = $doc])+ #[error($text)] $name,)+
        }

        impl Reason {
            /// All reasons, in the order of their numbers.
            pub const ALL: &[Self] = &[$(Self::$name),+];
        }
    };
}

reasons! {
    /// It is a TCP socket.
    Tcp: "it is TCP, which passes through untouched for now",
    /// It is neither a UDP nor a TCP socket.
    NotUdp: "it is neither UDP nor TCP",
    /// It has no local port yet; the kernel gives it one with its first datagram.
    NotBound: "it is not bound to a port",
    /// None of its addresses is one of a bypassed interface.
    OtherInterface: "its address is none of an interface that is bypassed",
    /// `SO_BINDTODEVICE` to an interface that is not bypassed, or is not the only one.
    OtherDevice: "it is bound to a device (SO_BINDTODEVICE) that is not the only one bypassed",
    /// `IP_OPTIONS`, or extension headers of IPv6.
    IpOptions: "its packets carry IP options or extension headers",
    /// `UDP_CORK`.
    Cork: "it puts datagrams together from several calls (UDP_CORK)",
    /// `SO_TIMESTAMPING`.
    Timestamping: "it has packets stamped by card or kernel (SO_TIMESTAMPING)",
    /// `SO_ATTACH_FILTER`, `SO_ATTACH_BPF`, or a program that chooses among the sockets of a port.
    Filter: "it has a filter attached (SO_ATTACH_FILTER, SO_ATTACH_BPF, SO_ATTACH_REUSEPORT_CBPF, SO_ATTACH_REUSEPORT_EBPF)",
    /// `SO_ZEROCOPY`.
    ZeroCopy: "it sends without copying (SO_ZEROCOPY)",
    /// `UDP_ENCAP`.
    Encapsulation: "its packets are unpacked by the kernel (UDP_ENCAP)",
    /// `fdopen`, or `dup2` onto a standard number.
    Stdio: "stdio reads or writes it (fdopen, dup, dup2)",
    /// `shutdown`.
    ShutDown: "it was shut down (shutdown)",
    /// `O_ASYNC`.
    Signals: "signals tell of its datagrams (O_ASYNC)",
    /// `SO_REUSEPORT` or `SO_REUSEADDR` with a socket that is not bypassed, of this process or another one.
    SharedPort: "it shares its port with a socket that goes through the kernel",
    /// The launcher refused its process, or was not there.
    NoGrant: "its process was given no queues",
    /// The grant that the launcher passed to the process could not be used.
    Unusable: "its process could not use the queues that it was given",
    /// The table of flows is full.
    TableFull: "the table of flows is full",
    /// The interface went away, went down, or has another XDP program.
    InterfaceGone: "its interface is gone, down, or has another XDP program",
    /// It is used by a child of the process that holds the grant.
    Forked: "it is used by a child of the process that bypasses",
    /// The kernel's state could not be read.
    Unreadable: "the kernel did not say what it is",
    /// No memory, or too many sockets.
    NoMemory: "there was no memory for it",
    /// Something that no other reason names.
    Unsupported: "it uses what is not supported past the kernel",
    /// `SO_TIMESTAMP_NEW` or `SO_TIMESTAMPNS_NEW`.
    Timestamp: "it has timestamps in the newer form (SO_TIMESTAMP_NEW, SO_TIMESTAMPNS_NEW)",
    /// `SO_MARK`.
    Mark: "its packets carry a mark for the kernel (SO_MARK)",
    /// `SO_DONTROUTE`.
    DontRoute: "it sends without routes (SO_DONTROUTE)",
    /// `SO_RXQ_OVFL`.
    Overflow: "it is told by the kernel what was dropped (SO_RXQ_OVFL)",
    /// `IP_TRANSPARENT`.
    Transparent: "it takes addresses that are not of this machine (IP_TRANSPARENT)",
    /// `IP_MINTTL` or `IPV6_MINHOPCOUNT`.
    MinTtl: "it refuses packets by their time to live (IP_MINTTL, IPV6_MINHOPCOUNT)",
    /// `IP_PASSSEC`.
    Security: "it is told the security label of its peer (IP_PASSSEC)",
    /// `IP_RECVORIGDSTADDR` or `IPV6_RECVORIGDSTADDR`.
    OriginalAddress: "it is told where packets were for at first (IP_RECVORIGDSTADDR, IPV6_RECVORIGDSTADDR)",
    /// `IP_CHECKSUM`, `UDP_NO_CHECK6_RX`.
    Checksum: "it is told checksums, or takes what has none (IP_CHECKSUM, UDP_NO_CHECK6_RX)",
    /// `IP_RECVFRAGSIZE` or `IPV6_RECVFRAGSIZE`.
    FragmentSize: "it is told the size of fragments (IP_RECVFRAGSIZE, IPV6_RECVFRAGSIZE)",
    /// `IP_UNICAST_IF` or `IPV6_UNICAST_IF`.
    UnicastInterface: "it chooses the interface that it sends by (IP_UNICAST_IF, IPV6_UNICAST_IF)",
    /// `IPV6_2292PKTINFO` or `IPV6_2292HOPLIMIT`.
    OldPacketInfo: "it is told of packets in the older form of IPv6 (IPV6_2292PKTINFO, IPV6_2292HOPLIMIT)",
    /// `IPV6_FLOWINFO`, `IPV6_FLOWINFO_SEND`.
    FlowInfo: "it is told flow labels, or says which (IPV6_FLOWINFO, IPV6_FLOWINFO_SEND)",
    /// `SO_PEEK_OFF`.
    PeekOffset: "it peeks from an offset on (SO_PEEK_OFF)",
    /// Its own address or its peer's is link-local or multicast.
    Scope: "its address, or that of its peer, is link-local or multicast",
    /// A fault in our own code, which was caught.
    Fault: "there was a fault in the library, which was caught; please report it",
    /// A child of `fork` has it from its parent, and others have it too.
    Inherited: "other processes that were forked have it too",
    /// A signal handler jumped out of a call while the stack's code ran.
    Jump: "a signal handler jumped (siglongjmp) out of the library while it was at work",
}
