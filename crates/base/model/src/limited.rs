//! Place that limited a figure, and its evidence.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{choice::choice, counters::Delta, failed::FailureKind};

/// The place that set a figure, with the evidence for it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LimitedBy {
    /// The place.
    pub place: Place,
    /// The endpoint it is at; null where it is between the ends.
    pub endpoint: Option<String>,
    /// Readings that show it, the strongest first.
    pub evidence: Vec<Evidence>,
}

/// One thing that was read and speaks for a place.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "what", rename_all = "kebab-case")]
pub enum Evidence {
    /// A core was busy.
    Core {
        /// Which.
        cpu: usize,
        /// Share of its time, in percent.
        busy: f64,
        /// Share of its time in soft interrupts, in percent.
        softirq: f64,
        /// Share of its time taken by the hypervisor for somebody else, in percent; counted as busy as well.
        #[serde(default)]
        steal: f64,
    },
    /// A counter moved.
    Counter {
        /// Which, and by how much.
        counter: Delta,
    },
    /// The receiver's full socket buffer dropped datagrams (`SO_MEMINFO`).
    Overflow {
        /// Number of them.
        datagrams: u64,
    },
    /// The sender found its socket buffer full and waited.
    BufferFull {
        /// Number of times.
        times: u64,
    },
    /// A connection with data to send waited for something else than its cores.
    Waited {
        /// For what.
        waited_for: Wait,
        /// Share of the time in which there was data to send, in percent.
        percent: f64,
    },
    /// One window per RTT gives the measured rate.
    WindowPerRtt {
        /// The window, in bytes.
        window: u64,
        /// The RTT, in microseconds.
        rtt_us: u32,
        /// Rate that window and RTT allow, in bit/s.
        possible_bps: f64,
    },
    /// The congestion control allowed no more than about what was sent (`TCP_INFO`, of all connections).
    CongestionControl {
        /// Name.
        control: String,
        /// Pacing rate, or one congestion window per RTT if that is less, in bit/s.
        allowed_bps: f64,
        /// Measured rate, in bit/s.
        bps: f64,
    },
    /// Neither cores nor counters of the ends could be read.
    NothingRead,
    /// A file moved about as quickly as a disk alone.
    Disk {
        /// Whether the disk reads it; otherwise it writes it.
        reads: bool,
        /// Rate of the disk alone, in bit/s.
        disk_bps: f64,
        /// Measured rate, in bit/s.
        bps: f64,
    },
    /// The transfer was too short for cores and counters to say anything.
    TooShort {
        /// Its time, in seconds.
        seconds: f64,
        /// The least that is long enough, in seconds.
        least: f64,
    },
    /// In whole seconds nothing arrived.
    Silent {
        /// Number of them.
        seconds: u64,
        /// Whole seconds of the counted time.
        of: u64,
    },
    /// The intended load was reached.
    AsAsked {
        /// Asked for, in bit/s or messages a second.
        intended: f64,
        /// Achieved.
        achieved: f64,
    },
    /// The load stayed below the intended load.
    Behind {
        /// Asked for, in bit/s or messages a second.
        intended: f64,
        /// Achieved.
        achieved: f64,
    },
    /// The tester does no more alone.
    TesterAlone {
        /// Rate of the tester alone, in bit/s.
        alone_bps: f64,
        /// Measured rate, in bit/s.
        bps: f64,
    },
    /// The link was loaded to about its capacity.
    LinkFull {
        /// Measured on the wire, in bit/s.
        bps: f64,
        /// The link's rate, in bit/s.
        link_bps: f64,
    },
    /// Packets went missing that no counter of either end saw.
    Unseen {
        /// Number of them.
        packets: u64,
    },
    /// The largest packet that passes, beside what the interface takes.
    PathMtu {
        /// MTU of the interface.
        mtu: u32,
        /// Bytes that pass.
        path_mtu: u32,
    },
    /// The longest part of the round trip.
    LongestStage {
        /// Which.
        stage: crate::trial::StageName,
        /// Median, in nanoseconds.
        p50_ns: u64,
    },
    /// Transactions failed.
    Failures {
        /// In which way.
        failed_by: FailureKind,
        /// Number of them.
        count: u64,
    },
    /// Ports of the client were held by connections that had ended.
    Ports {
        /// Connections in TIME_WAIT at the end of the trial.
        time_wait: u64,
        /// Ephemeral ports there are.
        ports: u32,
    },
    /// Each connection waits for its response before it sends the next request (Little's law).
    ClosedLoop {
        /// Connections.
        connections: u16,
        /// Mean response time, in nanoseconds.
        mean_ns: f64,
        /// Rate that connections and response time allow, in transactions per second.
        possible: f64,
    },
}

/// Causes for which a TCP connection waits (`TCP_INFO`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Wait {
    /// The receiver's window.
    ReceiveWindow,
    /// Room in the sender's own buffer.
    SendBuffer,
}

/// Places that can limit a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Place {
    /// The load that was asked for, and no part of the path.
    IntendedLoad,
    /// A core of the sender.
    SenderCpu,
    /// The sender's socket buffer.
    SenderSocket,
    /// A queueing discipline.
    Qdisc,
    /// The rate of the link.
    LinkRate,
    /// The PCIe slot or card.
    Pcie,
    /// The receiver's ring of descriptors.
    PeerRing,
    /// The core that receives packets for the kernel.
    SoftirqCore,
    /// The packet filter of the receiver: nftables, connection tracking, a program at its interface (XDP).
    PacketFilter,
    /// The destination MAC address: packets came to an end that does not have it.
    MacAddress,
    /// Packets came for an IP address that the receiver does not have, or has no route for.
    IpAddress,
    /// The receiver's socket buffer.
    ReceiverSocket,
    /// A core of the receiver.
    ReceiverCpu,
    /// The queue of connections that wait to be accepted.
    ListenQueue,
    /// The client's ephemeral ports.
    EphemeralPorts,
    /// The file descriptors that a process may have.
    FileDescriptors,
    /// The number of connections, each of which waits for its response.
    Connections,
    /// The disk that a file comes from or goes to.
    Disk,
    /// The TCP window: congestion or receive window against RTT.
    Window,
    /// TCP's congestion control.
    CongestionControl,
    /// Nothing passed for part of the time: a link was down, or something between the ends let nothing through.
    Interruption,
    /// Segments that overtake each other, which TCP takes for lost and sends again.
    Reordering,
    /// The path MTU.
    PathMtu,
    /// The path between the interfaces of the ends, without a known device.
    Path,
    /// The device between the two ends.
    DeviceUnderTest,
    /// Nothing that was read shows it.
    NotKnown,
}

choice!(Place, "a place", {
    IntendedLoad = "intended load",
    SenderCpu = "sender CPU",
    SenderSocket = "sender socket",
    Qdisc = "qdisc",
    LinkRate = "link rate",
    Pcie = "PCIe",
    PeerRing = "peer's ring",
    SoftirqCore = "softirq core",
    PacketFilter = "packet filter",
    MacAddress = "MAC address",
    IpAddress = "IP address",
    ReceiverSocket = "receiver's socket",
    ReceiverCpu = "receiver CPU",
    ListenQueue = "listen queue",
    EphemeralPorts = "ephemeral ports",
    FileDescriptors = "file descriptors",
    Connections = "number of connections",
    Disk = "disk",
    Window = "window",
    CongestionControl = "congestion control",
    Interruption = "interruption",
    Reordering = "reordering",
    PathMtu = "path MTU",
    Path = "path",
    DeviceUnderTest = "device under test",
    NotKnown = "not known",
});

/// Packets that did not arrive, by the place that dropped them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LossAt {
    /// The place.
    pub place: Place,
    /// The endpoint it is at; null between the ends, and where no counter shows the place.
    pub endpoint: Option<String>,
    /// Packets lost there.
    pub packets: u64,
    /// Counters that show it; empty for loss that no counter explains.
    pub shown_by: Vec<Delta>,
}

/// The device that keeps the path MTU down.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Culprit {
    /// The end it is at, or the address of a router between; null where nobody says.
    pub host: Option<String>,
    /// The device; null where it is unknown.
    pub device: Option<String>,
    /// Kind.
    pub kind: CulpritKind,
}

/// Cause of the path MTU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CulpritKind {
    /// The sending end's own interface.
    OwnInterface,
    /// The interface of the other end.
    PeerInterface,
    /// A member of a bridge (or bond) that pulls the whole bridge down.
    BridgeMember,
    /// A router on the way, which says so.
    MiddleHop,
    /// Something on the way takes large packets and says nothing.
    BlackHole,
    /// Routers on the way are kept from saying anything.
    IcmpFiltered,
}
