//! Reasons to trust a figure less, as data. The advice in words lives in the report.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{network::IpVersion, probe::Engine};

/// One reason to trust a figure less.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Doubt {
    /// Both ends ran on one core and took turns.
    SharedCore {
        /// The core.
        cpu: usize,
    },
    /// The device under test worked on a core of an end.
    DutSharesCore {
        /// The core.
        cpu: usize,
    },
    /// An end could not be pinned to its core.
    NotPinned {
        /// The endpoint.
        endpoint: String,
    },
    /// The hypervisor took time away from the cores of the two ends during the trial.
    Steal {
        /// Share of the worse core's time, in percent.
        percent: f64,
    },
    /// Replies are missing, so mean and maximum are unknown.
    RepliesMissing {
        /// Never came.
        lost: u64,
        /// Came after the timeout.
        late: u64,
    },
    /// Sender and receiver disagree on how much crossed.
    CountersDisagree {
        /// Bytes the sender counted.
        sent: u64,
        /// Bytes the receiver counted.
        received: u64,
    },
    /// Counters of the interface and of the program disagree.
    PacketsDisagree {
        /// The endpoint.
        endpoint: String,
        /// Bytes (TCP), or datagrams or numbered packets, that the program counted.
        program: u64,
        /// The same by the interface's counters, headers taken off.
        interface: u64,
    },
    /// Frames of a capture were known by their bytes alone.
    NotNumbered {
        /// The stream.
        stream: String,
    },
    /// Not one of the packets that were sent arrived, and no counter shows where they went.
    NothingArrived {
        /// The endpoint that sent.
        from: String,
        /// The endpoint that should have received.
        to: String,
        /// Packets sent.
        packets: u64,
        /// Sending engine.
        engine: Engine,
    },
    /// Packets of one way came out of another port than that of the receiver.
    WrongPort {
        /// The endpoint that sent.
        from: String,
        /// The endpoint that should have received.
        to: String,
        /// The port: an interface of the device under test, or the sending endpoint itself.
        port: String,
        /// Packets that this port sent, or the sending endpoint received.
        packets: u64,
    },
    /// The device under test sent packets twice.
    Duplicated {
        /// The endpoint that sent.
        from: String,
        /// The endpoint that received.
        to: String,
        /// Copies that came beside the packets.
        packets: u64,
    },
    /// The device under test changed packets.
    Corrupted {
        /// The endpoint that sent.
        from: String,
        /// The endpoint that received.
        to: String,
        /// Packets that carried something else than was sent.
        packets: u64,
    },
    /// The device under test sent packets of a flow after later ones.
    Reordered {
        /// The endpoint that sent.
        from: String,
        /// The endpoint that received.
        to: String,
        /// Packets that were overtaken.
        packets: u64,
    },
    /// For a while nothing arrived, although packets were sent: a link that went down, or a device that started anew.
    Outage {
        /// The endpoint that sent.
        from: String,
        /// The endpoint that should have received.
        to: String,
        /// The longest time without a packet; that of the whole trial, where nothing arrived after earlier trials in which packets did.
        seconds: f64,
    },
    /// Broadcast frames were not sent at their share of the frames beside them.
    BroadcastShare {
        /// The endpoint that sent.
        from: String,
        /// Their share, in percent.
        percent: f64,
    },
    /// The sender did not keep up with its schedule. Unsent packets are no loss.
    SenderTooSlow {
        /// Asked for, in messages or bits per second.
        intended: f64,
        /// Sent.
        achieved: f64,
    },
    /// The hypervisor had the sender's core, and the load stayed below its schedule for it. Unsent packets are no loss.
    SenderPaused {
        /// Asked for, in messages or bits per second.
        intended: f64,
        /// Sent.
        achieved: f64,
    },
    /// Scheduled packets left late, so that the figure includes the tester's own lateness.
    BehindSchedule {
        /// 99th percentile of how late, in nanoseconds.
        behind_ns: u64,
        /// 99th percentile of the RTT, counted from the schedule, in nanoseconds.
        rtt_ns: u64,
    },
    /// Over TCP messages left together in one segment, so that the frames were larger than asked.
    MessagesJoined {
        /// Messages that left and were answered, warm-up included.
        messages: u64,
        /// Segments that they left in.
        segments: u64,
    },
    /// The tester's own limit could not be measured, so its share of a figure is unknown.
    NoSelfTest {
        /// The failure, in English.
        what: String,
    },
    /// In whole seconds of the counted time nothing arrived, and before or after them something did.
    Stalled {
        /// Number of them.
        seconds: u64,
    },
    /// The figure was still rising or falling after the warm-up, or the thirds of the counted time differ strongly.
    Unsteady {
        /// Seconds of the counted time until it settled; all of them where it did not.
        settled_after_s: f64,
        /// Means of the three thirds, in bit/s, where these differ strongly.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        thirds_bps: Option<[f64; 3]>,
    },
    /// An interface lost its carrier during the trial.
    LinkLost {
        /// The endpoint.
        endpoint: String,
        /// Number of times.
        times: u64,
    },
    /// Something was changed at an end during the trial.
    SettingsChanged {
        /// The endpoint.
        endpoint: String,
        /// What, like `offload tx-tcp-segmentation: on → off`; of several the first.
        what: String,
        /// When, in seconds of the counted time; negative before it.
        at_s: f64,
    },
    /// The time of day was set during the trial.
    ClockSet {
        /// The endpoint.
        endpoint: String,
        /// By how much, in seconds; of several times the largest.
        by_s: f64,
    },
    /// Packets of the full MTU were not shown to pass before the data was sent.
    PathNotProven {
        /// The MTU.
        mtu: u32,
        /// Largest packet that passed forward, in bytes; `None` is nothing.
        forward: Option<u32>,
        /// Largest packet that passed the other way, in bytes; `None` is nothing.
        reverse: Option<u32>,
    },
    /// Packets of an MTU did not pass, so trials that send such packets were left out.
    MtuDisproved {
        /// The MTU.
        mtu: u32,
        /// The IP version.
        ip: IpVersion,
        /// Largest packet that passed forward, in bytes; `None` is nothing.
        forward: Option<u32>,
        /// Largest packet that passed the other way, in bytes; `None` is nothing.
        reverse: Option<u32>,
    },
    /// An end has no address of this IP version, so its path trials were left out.
    NoAddress {
        /// The IP version.
        ip: IpVersion,
    },
    /// A program of the host took the place of our far side.
    FarProgram {
        /// The endpoint.
        endpoint: String,
        /// The command, without address and port.
        command: String,
    },
    /// No counters and no cores of an end without wireproof were read during the trial.
    FarUnobserved {
        /// The endpoint.
        endpoint: String,
    },
    /// A measurement that needs wireproof at an end without it was left out.
    NeedsAgent {
        /// The endpoint.
        endpoint: String,
        /// Name of the probe.
        probe: String,
    },
    /// On a routed bed, packets arrived with the TTL that they were sent with: something between routes them and leaves it as it is, or
    /// they went another way.
    TtlKept {
        /// The endpoint that sent.
        from: String,
        /// The endpoint that received.
        to: String,
    },
    /// The kernel had no queue to poll, so that busy polling was sleeping.
    NothingToPoll {
        /// The endpoint.
        endpoint: String,
    },
    /// Part of the bypassed traffic went through the kernel.
    ThroughKernel {
        /// Datagrams that did, each way of both ends, warm-up included.
        datagrams: u64,
        /// Datagrams of both ends.
        of: u64,
    },
    /// A core's frequency changed during the trial.
    FrequencyChanged {
        /// The core.
        cpu: usize,
        /// At the beginning, in MHz.
        before: u32,
        /// At the end, in MHz.
        after: u32,
    },
    /// The kernel granted smaller socket buffers than were asked for.
    SmallBuffer {
        /// The endpoint.
        endpoint: String,
        /// Bytes asked for.
        asked: u64,
        /// Bytes granted.
        granted: u64,
    },
    /// The trial was cut off; its data until then is kept.
    Unfinished {
        /// Whole seconds of the counted time that there are.
        seconds: u64,
    },
    /// A core of the two ends was busy with something else: during the trial, or before or after all of them.
    OtherLoad {
        /// The core.
        cpu: usize,
        /// Share of its time, in percent.
        percent: f64,
        /// The machine that the core is on; empty for the one machine that there is.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        machine: String,
    },
    /// The sender's data ended before the receiver's counted time was over, so its end was counted as silence.
    DataEndedEarly,
    /// Fewer trials than an interval needs.
    FewTrials {
        /// Trials there are.
        trials: u32,
        /// Trials an interval needs.
        needed: u32,
    },
    /// The ports of the two ends run at different speeds.
    SpeedsDiffer {
        /// Speed of the near end, in Mbit/s.
        near_mbps: u32,
        /// Speed of the far end, in Mbit/s.
        far_mbps: u32,
    },
    /// Ran in a user namespace, without root.
    Unprivileged,
    /// The machine changed during the run.
    EnvironmentChanged {
        /// The difference, like `eth0 mtu: 1500 → 9000`.
        what: String,
    },
    /// The run was continued by another build of the program.
    OtherBuild {
        /// Version and build that began it.
        first: String,
        /// Version and build that went on.
        then: String,
    },
    /// The run was interrupted before all trials were done.
    Interrupted,
    /// A trial failed, or the run could not go on.
    Failed {
        /// The failure, in English.
        what: String,
    },
}

impl Doubt {
    /// Whether it stands for trials that were left out.
    pub fn leaves_out(&self) -> bool {
        matches!(self, Self::MtuDisproved { .. } | Self::NoAddress { .. } | Self::NeedsAgent { .. })
    }

    /// Error that it quotes.
    pub(crate) fn error_mut(&mut self) -> Option<&mut String> {
        match self {
            Self::NoSelfTest { what } | Self::Failed { what } => Some(what),
            _ => None,
        }
    }
}
