//! Round trips as JSON.

use model::{
    Amount, FrameSize, IpVersion, LatencyResult, LatencySpec, PayloadSize, Protocol, Stack, TimeSummary, WaitMode,
    trial::{OneWay, Pacing, Stage, Variation},
};
use schemars::JsonSchema;
use serde::Serialize;

use crate::{cells::Cells, show::WIRE_EXTRA};

/// Parameters and figures of round trips.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct LatencyFigures {
    /// UDP or TCP.
    pub protocol: Protocol,
    /// IP version.
    pub ip: IpVersion,
    /// Whose network stack.
    pub stack: Stack,
    /// How both ends waited.
    pub mode: WaitMode,
    /// Size of each frame with FCS as it was sent, in bytes.
    pub frame_size: FrameSize,
    /// Size that the plan asked for, in bytes; smaller than `frame_size` where the headers leave no room in it.
    pub frame_size_asked: FrameSize,
    /// Bytes in each message.
    pub payload_size: PayloadSize,
    /// What each frame takes of the wire with preamble and gap, in bytes.
    pub wire_size: u32,
    /// Whether TCP segments carried timestamps, 12 bytes each.
    pub tcp_timestamps: bool,
    /// When the trial was to be over.
    pub amount: Amount,
    /// Round trips made first and not counted.
    pub warmup: u64,
    /// After how long a reply counts as late, in nanoseconds.
    pub timeout_ns: u64,
    /// Messages sent, warm-up not counted.
    pub sent: u64,
    /// Replies that never came; null where the trial was cut off while replies were out, which may still have come.
    pub lost: Option<u64>,
    /// Replies that came after the timeout.
    pub late: u64,
    /// Replies that came after the reply to a later message.
    pub reordered: u64,
    /// Copies of replies that had come before.
    pub duplicated: u64,
    /// Replies that the full socket buffer dropped, warm-up included.
    pub overflowed: u64,
    /// Datagrams of both ends, each way, that went through the kernel, where they were to go past it; warm-up included. Null where they were not.
    pub through_kernel: Option<u64>,
    /// Whether the cards of both ends read and wrote the memory of these packets themselves (zero-copy AF_XDP). Null where all went through the kernel.
    pub zero_copy: Option<bool>,
    /// TCP segments in which the messages left, warm-up included: fewer than messages where several shared one; null over UDP.
    pub segments: Option<u64>,
    /// Round-trip times in nanoseconds, as far as the sample carries them; under load from the intended send time.
    pub rtt_ns: TimeSummary,
    /// Messages a second that the schedule asked for; null for ping-pong, where each reply triggers the next message.
    pub intended_pps: Option<f64>,
    /// Messages a second that were sent (under load) or round trips a second that were made (ping-pong).
    pub achieved_pps: f64,
    /// How well the schedule was kept; null for ping-pong.
    pub pacing: Option<Pacing>,
    /// How the delay varies from one packet to the next, in nanoseconds.
    pub ipdv_ns: Variation,
    /// One-way delays in nanoseconds; null unless one clock stamped both ends.
    pub one_way_ns: Option<OneWay>,
    /// Whether the kernel was asked to stamp each message.
    pub stamps: bool,
    /// The RTT split by the kernel's stamps, in nanoseconds; empty unless asked for.
    pub stages: Vec<Stage>,
    /// Whether the card made the stamps on the wire.
    pub hardware_stamps: bool,
    /// The queue that the kernel polls for this socket; null where there is none.
    pub napi: Option<u32>,
    /// What reading the clock once costs, in nanoseconds.
    pub clock_cost_ns: f64,
    /// The whole sample: HDR histogram in nanoseconds, V2 encoding, base64.
    pub rtt_histogram: String,
}

impl LatencyFigures {
    pub(in super::super) fn of(spec: &LatencySpec, result: &LatencyResult) -> Self {
        Self {
            protocol: spec.protocol,
            ip: spec.ip,
            stack: spec.stack,
            mode: spec.mode,
            frame_size: result.frame_size,
            frame_size_asked: spec.frame_size,
            payload_size: result.payload_size,
            wire_size: result.frame_size.0 + WIRE_EXTRA,
            tcp_timestamps: result.tcp_timestamps,
            amount: spec.amount,
            warmup: spec.warmup,
            timeout_ns: spec.timeout.0,
            sent: result.sent,
            lost: result.lost,
            late: result.late,
            reordered: result.reordered,
            duplicated: result.duplicated,
            overflowed: result.overflowed,
            through_kernel: result.through_kernel,
            zero_copy: result.zero_copy,
            segments: result.segments,
            rtt_ns: result.rtt_ns.clone(),
            intended_pps: result.intended_pps,
            achieved_pps: result.achieved_pps,
            pacing: result.pacing.clone(),
            ipdv_ns: result.variation.clone(),
            one_way_ns: result.one_way.clone(),
            stamps: spec.stamps,
            stages: result.stages.clone(),
            hardware_stamps: result.hardware_stamps,
            napi: result.napi,
            clock_cost_ns: result.clock_cost_ns,
            rtt_histogram: result.histogram.clone(),
        }
    }

    /// The row of the CSV.
    pub(in super::super) fn row(&self) -> Cells {
        let (rtt, ipdv, one_way) = (&self.rtt_ns, &self.ipdv_ns.rtt_ns, self.one_way_ns.as_ref());
        Cells::default()
            .with("probe", "latency")
            .with("protocol", self.protocol)
            .with("ip", self.ip)
            .with("stack", self.stack)
            .with("mode", self.mode)
            .with("frame_size_bytes", self.frame_size.0)
            .with("payload_size_bytes", self.payload_size.0)
            .with("intended_pps", self.intended_pps)
            .with("achieved_pps", self.achieved_pps)
            .with("rtt_min_ns", rtt.min)
            .with("rtt_mean_ns", rtt.mean)
            .with("rtt_p50_ns", rtt.p50)
            .with("rtt_p90_ns", rtt.p90)
            .with("rtt_p99_ns", rtt.p99)
            .with("rtt_p999_ns", rtt.p999)
            .with("rtt_max_ns", rtt.max)
            .with("ipdv_rtt_p50_ns", ipdv.p50)
            .with("ipdv_rtt_p99_ns", ipdv.p99)
            .with("one_way_there_p50_ns", one_way.map(|it| it.forward_ns.p50))
            .with("one_way_there_p99_ns", one_way.map(|it| it.forward_ns.p99))
            .with("one_way_back_p50_ns", one_way.map(|it| it.reverse_ns.p50))
            .with("one_way_back_p99_ns", one_way.map(|it| it.reverse_ns.p99))
            .with("sent_packets", self.sent)
            .with("lost_packets", self.lost)
            .with("late_packets", self.late)
            .with("duplicated_packets", self.duplicated)
            .with("reordered_packets", self.reordered)
            .with("overflowed_packets", self.overflowed)
    }
}
