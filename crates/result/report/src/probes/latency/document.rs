//! Round trips as JSON.

use model::{
    Amount, Direction, Flow, FrameSize, IpVersion, LatencyResult, LatencySpec, PayloadSize, Protocol, Stack,
    TimeSummary, WaitMode,
    trial::{OneWay, Pacing, Stage, Variation},
};

use crate::{cells::Cells, shape::document, show::WIRE_EXTRA};

document! {
    /// Parameters and figures of round trips.
    LatencyFigures of (spec: &LatencySpec, result: &LatencyResult) {
        /// UDP or TCP.
        protocol: Protocol = spec.protocol,
        /// IP version.
        ip: IpVersion = spec.ip,
        /// Network stack.
        stack: Stack = spec.stack,
        /// How both ends waited.
        mode: WaitMode = spec.mode,
        /// Size of each frame with FCS as it was sent, in bytes.
        frame_size: FrameSize = result.frame_size,
        /// Size that the plan asked for, in bytes; smaller than `frame_size` where the headers leave no room in it.
        frame_size_asked: FrameSize = spec.frame_size,
        /// Bytes in each message.
        payload_size: PayloadSize = result.payload_size,
        /// Size of each frame on the wire with preamble and gap, in bytes.
        wire_size: u32 = result.frame_size.0 + WIRE_EXTRA,
        /// Whether TCP segments carried timestamps, 12 bytes each.
        tcp_timestamps: bool = result.tcp_timestamps,
        /// When the trial was to be over.
        amount: Amount = spec.amount,
        /// Round trips made first and not counted.
        warmup: u64 = spec.warmup,
        /// After how long a reply counts as late, in nanoseconds.
        timeout_ns: u64 = spec.timeout.0,
        /// Messages sent, warm-up not counted.
        sent: u64 = result.sent,
        /// Replies that never came; null where the trial was cut off while replies were out, which may still have come.
        lost: Option<u64> = result.lost,
        /// Replies that came after the timeout.
        late: u64 = result.late,
        /// Replies that came after the reply to a later message.
        reordered: u64 = result.reordered,
        /// Copies of replies that had come before.
        duplicated: u64 = result.duplicated,
        /// Replies that the full socket buffer dropped, warm-up included.
        overflowed: u64 = result.overflowed,
        /// Datagrams of both ends, each way, that went through the kernel, where they were to go past it; warm-up included. Null where they were not.
        through_kernel: Option<u64> = result.through_kernel,
        /// Whether the cards of both ends read and wrote the memory of these packets themselves (zero-copy AF_XDP). Null where all went through the kernel.
        zero_copy: Option<bool> = result.zero_copy,
        /// TCP segments in which the messages left, warm-up included: fewer than messages where several shared one; null over UDP.
        segments: Option<u64> = result.segments,
        /// Round-trip times in nanoseconds, as far as the sample carries them; under load from the intended send time.
        rtt_ns: TimeSummary = result.rtt_ns.clone(),
        /// Messages a second that the schedule asked for; null for ping-pong, where each reply triggers the next message.
        intended_pps: Option<f64> = result.intended_pps,
        /// Messages a second that were sent (under load) or round trips a second that were made (ping-pong).
        achieved_pps: f64 = result.achieved_pps,
        /// How well the schedule was kept; null for ping-pong.
        pacing: Option<Pacing> = result.pacing.clone(),
        /// How the delay varies from one packet to the next, in nanoseconds.
        ipdv_ns: Variation = result.variation.clone(),
        /// One-way delays in nanoseconds; null unless one clock stamped both ends.
        one_way_ns: Option<OneWay> = result.one_way.clone(),
        /// Whether the kernel was asked to stamp each message.
        stamps: bool = spec.stamps,
        /// The RTT split by the kernel's stamps, in nanoseconds; empty unless asked for.
        stages: Vec<Stage> = result.stages.clone(),
        /// Whether the card made the stamps on the wire.
        hardware_stamps: bool = result.hardware_stamps,
        /// The queue that the kernel polls for this socket; null where there is none.
        napi: Option<u32> = result.napi,
        /// Time that one reading of the clock takes, in nanoseconds.
        clock_cost_ns: f64 = result.clock_cost_ns,
        /// Direction of TCP connections that sent as fast as they could meanwhile; null for an idle path.
        tcp_load: Option<Direction> = spec.tcp_load,
        /// These connections, one entry for each direction; empty for an idle path.
        load: Vec<LoadFigures> = result.load.iter().map(LoadFigures::of).collect(),
        /// The whole sample: HDR histogram in nanoseconds, V2 encoding, base64.
        rtt_histogram: String = result.histogram.clone(),
    }
}

document! {
    /// TCP that was sent one way beside the messages.
    LoadFigures of (flow: &Flow) {
        /// The endpoint that sent.
        from: String = flow.from.clone(),
        /// The endpoint that received.
        to: String = flow.to.clone(),
        /// Goodput, in bit/s.
        goodput_bps: f64 = flow.received.mean_bps(),
        /// Goodput of each whole second, in bit/s.
        seconds_bps: Vec<f64> = flow.received.intervals_bps.clone(),
        /// Segments sent again in the counted time, and in the warm-up where `warmup_retransmits` is absent.
        retransmits: u64 = flow.sent.counted_retransmits(),
        /// Segments sent again during the warm-up; absent in runs of before they were counted apart.
        #[serde(skip_serializing_if = "Option::is_none")]
        warmup_retransmits: Option<u64> = flow.sent.warmup_retransmits(),
    }
}

impl LatencyFigures {
    /// Goodput of the load, in both directions of the slower one.
    fn load_bps(&self) -> Option<f64> {
        self.load.iter().map(|load| load.goodput_bps).reduce(f64::min)
    }

    /// The row of the CSV.
    pub(in super::super) fn row(&self) -> Cells {
        let load = self
            .tcp_load
            .map(|direction| Cells::default().with("tcp_load", direction).with("load_bps", self.load_bps()));
        let (ipdv, one_way) = (&self.ipdv_ns.rtt_ns, self.one_way_ns.as_ref());
        Cells::default()
            .with("probe", "latency")
            .fields(self, "protocol ip stack mode intended_pps achieved_pps", ("", ""))
            .fields(self, "frame_size payload_size", ("", "_bytes"))
            .fields(&self.rtt_ns, "min mean p50 p90 p99 p999 max", ("rtt_", "_ns"))
            .fields(ipdv, "p50 p99", ("ipdv_rtt_", "_ns"))
            .fields(&one_way.map(|it| &it.forward_ns), "p50 p99", ("one_way_there_", "_ns"))
            .fields(&one_way.map(|it| &it.reverse_ns), "p50 p99", ("one_way_back_", "_ns"))
            .fields(self, "sent lost late duplicated reordered overflowed", ("", "_packets"))
            .and(load.unwrap_or_default())
    }
}
