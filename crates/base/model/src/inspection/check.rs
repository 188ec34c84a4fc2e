//! The checks by name, each with its subject.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Subjects, in the order in which findings of one severity are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Group {
    /// Cards, their links and modules.
    Link,
    /// PCI Express.
    Pcie,
    /// Interrupts, queues and memory nodes.
    Placement,
    /// Rings, coalescing and offloads.
    Driver,
    /// Memory of FreeBSD's network stack.
    Mbufs,
    /// Processor, memory and hypervisor.
    Processor,
    /// Sockets and TCP.
    Tcp,
    /// MTUs and path MTU discovery.
    Path,
    /// Forwarding.
    Forwarding,
    /// Drops and errors.
    Drops,
    /// Programs that work against the settings.
    Services,
}

/// Declares the checks, each with its group.
macro_rules! checks {
    ($($(#[$of:meta])+ $check:ident: $group:ident,)+) => {
        /// A check. Its title and its reason are texts of its name.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "kebab-case")]
        pub enum Check {
            $($(#[$of])+ $check,)+
        }

        impl Check {
            /// All checks.
            pub const ALL: &'static [Self] = &[$(Self::$check),+];

            /// Subject.
            pub fn group(self) -> Group {
                match self {
                    $(Self::$check => Group::$group),+
                }
            }
        }
    };
}

checks! {
    /// A card has an interface.
    CardRefused: Link,
    /// An interface that is up has a link.
    LinkDown: Link,
    /// The link has the highest speed of the port.
    LinkSlow: Link,
    /// The link has the speed that is asked for.
    SpeedShort: Link,
    /// Both directions work at the same time.
    HalfDuplex: Link,
    /// Both ends agree on pause frames.
    PauseOneSided: Link,
    /// A fast link corrects errors.
    FecOff: Link,
    /// The module hears light.
    NoLight: Link,
    /// Messages of the kernel about cards and the network stack.
    KernelComplains: Link,
    /// The narrowest hop carries all ports.
    PcieNarrow: Pcie,
    /// The link has the width and speed that both of its ends can have.
    PcieTrainedDown: Pcie,
    /// The link has the width and speed of the card, where its other end is not known.
    PcieBelowCard: Pcie,
    /// Size of payloads.
    PciePayload: Pcie,
    /// Size of read requests.
    PcieReadRequest: Pcie,
    /// Errors that PCI Express corrected or reported.
    PcieErrors: Pcie,
    /// Translation of addresses by the IOMMU.
    Iommu: Pcie,
    /// Interrupts on cores of the card's node.
    IrqNode: Placement,
    /// Interrupts of several queues on several cores.
    IrqOneCore: Placement,
    /// No interrupts on isolated cores.
    IrqIsolated: Placement,
    /// Number of queues: one for each core.
    Channels: Placement,
    /// Interrupts of a fast card are not throttled.
    InterruptStorm: Placement,
    /// Packets of one queue spread over cores by software.
    ReceiveSteering: Placement,
    /// Hash of received packets by the card.
    ReceiveHash: Placement,
    /// The receive ring is long enough.
    RingReceive: Driver,
    /// The transmit ring is long enough.
    RingTransmit: Driver,
    /// The card interrupts at once.
    CoalescingLatency: Driver,
    /// The card collects packets before it interrupts.
    CoalescingThroughput: Driver,
    /// The queue in front of the driver is long enough.
    TransmitQueue: Driver,
    /// The card or the kernel handles large segments and checksums.
    OffloadOff: Driver,
    /// Received packets stay as they were where they are forwarded.
    LroForwarding: Driver,
    /// The driver can take an XDP program.
    XdpMtu: Driver,
    /// Enough clusters for the queues of fast cards.
    MbufClusters: Mbufs,
    /// Clusters are neither denied nor nearly used up.
    MbufsShort: Mbufs,
    /// Cores at full clock.
    Governor: Processor,
    /// Cores wake at once.
    IdleStates: Processor,
    /// No two threads share a core.
    Smt: Processor,
    /// Cores without other work.
    IsolatedCores: Processor,
    /// Memory pages stay as they are.
    HugePages: Processor,
    /// Memory stays on its node.
    NumaBalancing: Processor,
    /// No watchdog interrupts.
    NmiWatchdog: Processor,
    /// System calls poll the card.
    BusyPoll: Processor,
    /// The clock is read without leaving the program.
    ClockSource: Processor,
    /// A hypervisor.
    Hypervisor: Processor,
    /// Time that the hypervisor took.
    Steal: Processor,
    /// The receive buffer holds what is under way.
    ReceiveBuffer: Tcp,
    /// The send buffer holds what is under way.
    SendBuffer: Tcp,
    /// Limit of receive buffers that programs choose.
    ReceiveBufferLimit: Tcp,
    /// Limit of send buffers that programs choose.
    SendBufferLimit: Tcp,
    /// Limit of all socket buffers.
    SocketBufferLimit: Tcp,
    /// Buffers grow by themselves.
    BufferAuto: Tcp,
    /// Windows beyond 64 KiB.
    WindowScaling: Tcp,
    /// Acknowledgements of single segments.
    SelectiveAcks: Tcp,
    /// Time stamps of TCP.
    Timestamps: Tcp,
    /// The congestion control.
    CongestionControl: Tcp,
    /// The queueing discipline of new interfaces.
    DefaultQdisc: Tcp,
    /// A queueing discipline that limits or delays.
    QdiscShapes: Tcp,
    /// Values of earlier connections.
    MetricsCache: Tcp,
    /// A connection that rested begins as it ended.
    SlowStartAfterIdle: Tcp,
    /// Members of a bridge, bond or team have its MTU.
    MtuMember: Path,
    /// An interface on another one fits into it.
    MtuLower: Path,
    /// Both ends of a virtual cable have one MTU.
    MtuPeer: Path,
    /// No stale MTU of a path.
    RouteMtu: Path,
    /// The default route has the MTU of its interface.
    RouteMtuBelow: Path,
    /// TCP finds the MTU where routers say nothing.
    MtuProbing: Path,
    /// Path MTU discovery is on.
    PathMtuDiscovery: Path,
    /// Large frames.
    Jumbo: Path,
    /// IPv4 is forwarded.
    Forwarding: Forwarding,
    /// IPv6 is forwarded.
    Forwarding6: Forwarding,
    /// Answers that come another way are accepted.
    ReversePath: Forwarding,
    /// Forwarded packets are not looked up in the table of connections.
    ConnectionTracking: Forwarding,
    /// The table of connections has room.
    ConnectionTable: Forwarding,
    /// Drops since the machine was started.
    Drops: Drops,
    /// Damaged frames since the machine was started.
    Damage: Drops,
    /// Received frames that the card could not deliver.
    InputErrors: Drops,
    /// Packets that the network stack dropped.
    StackDrops: Drops,
    /// Connections that found no place in the table.
    ConnectionDrops: Drops,
    /// The backlog of a core is long enough.
    Backlog: Drops,
    /// A core is given enough time for received packets.
    Budget: Drops,
    /// A program that moves interrupts.
    Irqbalance: Services,
    /// A program that sets what is judged here.
    Tuned: Services,
}
