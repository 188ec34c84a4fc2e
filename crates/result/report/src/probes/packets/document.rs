//! Numbered packets as JSON.

use model::{
    Direction, Engine, FlowAssessment, FrameSize, IpVersion, Modifier, Mtu, PacketStream, PacketsResult, PacketsSpec,
    TimeSummary, TrialAssessment,
    stream::Stream,
    trial::{AllSenders, BitRates, ReceivedOn},
};

use crate::{cells::Cells, shape::document};

document! {
    /// Parameters and figures of numbered packets. Fields of a stream here are those of the first stream.
    PacketsFigures of (assessed: &TrialAssessment, spec: &PacketsSpec, result: &PacketsResult) -> Option;
    let streams = result.streams.iter().zip(&assessed.flows);
    let streams = streams.map(|(stream, it)| StreamFigures::of(stream, it)).collect::<Vec<_>>();
    {
        /// IP version.
        ip: IpVersion = spec.ip(),
        /// Direction of the packets.
        direction: Direction = spec.direction,
        /// MTU of the near interface, in bytes.
        mtu: Mtu = result.mtu,
        /// Size of the frames that was asked for, with FCS, in bytes; null for mixes and several streams.
        frame_size_asked: Option<FrameSize> = spec.frame_size(),
        /// The configuration, in full.
        streams_asked: Vec<Stream> = spec.streams.clone(),
        /// Condition of RFC 2544, section 11, under which they were sent; null for none.
        modifier: Option<Modifier> = spec.modifier,
        /// Requested engine; null left the choice to the program.
        engine_asked: Option<Engine> = spec.engine,
        /// The first stream.
        #[serde(flatten)]
        first: StreamFigures = streams.first()?.clone(),
        /// Each stream of each direction, the forward ones first.
        streams: Vec<StreamFigures> = streams,
        /// Each end with several senders, and their sum; empty with one sender.
        together: Vec<AllSenders> = result.together(),
    }
}

document! {
    /// Figures of one stream of packets, one way.
    StreamFigures of (stream: &PacketStream, assessed: &FlowAssessment);
    let (sent, received) = (&stream.sent, &stream.received);
    {
        /// The endpoint that sent.
        from: String = stream.from.clone(),
        /// The endpoint that received.
        to: String = stream.to.clone(),
        /// Name of the stream.
        stream: String = sent.stream.clone(),
        /// Engine that sent the packets.
        engine: Engine = sent.engine,
        /// Why this engine.
        engine_why: String = sent.engine_why.clone(),
        /// Size of the frames as they were sent, with FCS, in bytes; of a mix the mean, rounded.
        frame_size: FrameSize = sent.frame_size,
        /// Flows that the packets took turns in.
        flows: u32 = sent.flows,
        /// Frames a second that were asked for; null is flat out.
        intended_pps: Option<f64> = sent.intended_pps,
        /// Frames a second that were sent (offered load).
        offered_pps: f64 = stream.offered_pps(),
        /// Frames a second that arrived (forwarding rate).
        forwarding_pps: f64 = stream.forwarding_pps(),
        /// Frames a second of this size that the link carries at most; null where no rate of the link is known.
        line_rate_pps: Option<f64> = assessed.line_rate.map(|link| link.packets_per_second),
        /// Frames sent.
        sent: u64 = sent.frames,
        /// Different frames that arrived.
        received: u64 = received.frames,
        /// Frames sent that never arrived; null where the trial was cut off.
        lost: Option<u64> = (!stream.cut_off).then(|| stream.lost()),
        /// Copies of frames that had come before (RFC 5560).
        duplicated: u64 = received.duplicated,
        /// Frames with a smaller number than one that came before (RFC 4737).
        reordered: u64 = received.reordered,
        /// How far back a number can lie and still be told from a copy.
        duplicate_window: u64 = received.window,
        /// Frames that carried something else than was sent.
        corrupt: u64 = received.corrupt,
        /// Frames whose whole payload was compared with what was sent: by a socket all, in a driver one in 64 of those whose tag leaves room for
        /// a payload; null in runs of before it was counted.
        compared: Option<u64> = received.compared,
        /// Frames that came after their time.
        late: u64 = received.late,
        /// Frames that found the sender's ring full and were not sent: no loss.
        refused: u64 = sent.refused,
        /// Whether the sender's cores did the receiving too, so that no loss is no claim about the path.
        synchronous_loop: bool = assessed.synchronous,
        /// Rate that left, in bit/s.
        tx: BitRates = stream.tx(),
        /// Rate that arrived, in bit/s.
        rx: BitRates = stream.rx(),
        /// Time between two frames as they left, in nanoseconds; null where it was not measured.
        inter_departure_ns: Option<TimeSummary> = sent.pacing.as_ref().map(|pacing| pacing.gap_ns.clone()),
        /// How long after its time each frame left, in nanoseconds; null where it was not measured.
        behind_schedule_ns: Option<TimeSummary> = sent.pacing.as_ref().map(|pacing| pacing.behind_ns.clone()),
        /// Time between two frames as they arrived, in nanoseconds; null where it was not measured.
        inter_arrival_ns: Option<TimeSummary> = received.inter_arrival_ns.clone(),
        /// Time from leaving to arriving, in nanoseconds; null unless both sides' stamps come from one clock.
        latency_ns: Option<TimeSummary> = received.latency_ns.clone(),
        /// Cores that sent.
        send_cpus: Vec<usize> = sent.cpus.clone(),
        /// Frames that each core received.
        receive_cpus: Vec<ReceivedOn> = received.cpus.clone(),
    }
}

impl PacketsFigures {
    /// The rows of the CSV, one for each stream.
    pub(in super::super) fn rows(&self) -> Vec<Cells> {
        let row = |stream: &StreamFigures| {
            let row = stream.row().with("ip", self.ip);
            // A column that only some runs have.
            if self.modifier.is_some() { row.with("modifier", self.modifier) } else { row }
        };
        self.streams.iter().map(row).collect()
    }
}

impl StreamFigures {
    fn row(&self) -> Cells {
        Cells::default()
            .with("probe", "packets")
            .fields(self, "from to engine stream intended_pps offered_pps forwarding_pps", ("", ""))
            .fields(self, "frame_size", ("", "_bytes"))
            .fields(self, "sent received lost late duplicated reordered corrupt compared", ("", "_packets"))
    }
}
