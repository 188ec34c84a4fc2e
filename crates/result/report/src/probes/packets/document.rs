//! Numbered packets as JSON.

use model::{
    Direction, Engine, FlowAssessment, FrameSize, IpVersion, Mtu, PacketStream, PacketsResult, PacketsSpec,
    TimeSummary, TrialAssessment,
    stream::Stream,
    trial::{AllSenders, BitRates, ReceivedOn},
};
use schemars::JsonSchema;
use serde::Serialize;

use crate::cells::Cells;

/// Parameters and figures of numbered packets. What is said of a stream here is said of the first one.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct PacketsFigures {
    /// IP version.
    pub ip: IpVersion,
    /// Which way the packets went.
    pub direction: Direction,
    /// MTU of the near interface, in bytes.
    pub mtu: Mtu,
    /// Size of the frames that was asked for, with FCS, in bytes; null for mixes and several streams.
    pub frame_size_asked: Option<FrameSize>,
    /// What was asked for, in full.
    pub streams_asked: Vec<Stream>,
    /// What was asked to send them; null left the choice to the program.
    pub engine_asked: Option<Engine>,
    /// The first stream.
    #[serde(flatten)]
    pub first: StreamFigures,
    /// Each stream of each direction, the forward ones first.
    pub streams: Vec<StreamFigures>,
    /// Each end that several others sent to, with what they brought together; empty where one sent.
    pub together: Vec<AllSenders>,
}

/// Figures of one stream of packets, one way.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct StreamFigures {
    /// The endpoint that sent.
    pub from: String,
    /// The endpoint that received.
    pub to: String,
    /// Name of the stream.
    pub stream: String,
    /// What sent the packets.
    pub engine: Engine,
    /// Why this engine.
    pub engine_why: String,
    /// Size of the frames as they were sent, with FCS, in bytes; of a mix the mean, rounded.
    pub frame_size: FrameSize,
    /// Flows that the packets took turns in.
    pub flows: u32,
    /// Frames a second that were asked for; null is flat out.
    pub intended_pps: Option<f64>,
    /// Frames a second that were sent (offered load).
    pub offered_pps: f64,
    /// Frames a second that arrived (forwarding rate).
    pub forwarding_pps: f64,
    /// Frames a second of this size that the link carries at most; null where no rate of the link is known.
    pub line_rate_pps: Option<f64>,
    /// Frames sent.
    pub sent: u64,
    /// Different frames that arrived.
    pub received: u64,
    /// Frames sent that never arrived; null where the trial was cut off.
    pub lost: Option<u64>,
    /// Copies of frames that had come before (RFC 5560).
    pub duplicated: u64,
    /// Frames with a smaller number than one that came before (RFC 4737).
    pub reordered: u64,
    /// How far back a number can lie and still be told from a copy.
    pub duplicate_window: u64,
    /// Frames that carried something else than was sent.
    pub corrupt: u64,
    /// Frames that came after their time.
    pub late: u64,
    /// Frames that found the sender's ring full and were not sent: no loss.
    pub refused: u64,
    /// Whether the sender's cores did the receiving too, so that no loss is no claim about the path.
    pub synchronous_loop: bool,
    /// What left, in bit/s.
    pub tx: BitRates,
    /// What arrived, in bit/s.
    pub rx: BitRates,
    /// Time between two frames as they left, in nanoseconds; null where it was not measured.
    pub inter_departure_ns: Option<TimeSummary>,
    /// How long after its time each frame left, in nanoseconds; null where it was not measured.
    pub behind_schedule_ns: Option<TimeSummary>,
    /// Time between two frames as they arrived, in nanoseconds; null where it was not measured.
    pub inter_arrival_ns: Option<TimeSummary>,
    /// Time from leaving to arriving, in nanoseconds; null unless both sides' stamps come from one clock.
    pub latency_ns: Option<TimeSummary>,
    /// Cores that sent.
    pub send_cpus: Vec<usize>,
    /// Frames that each core received.
    pub receive_cpus: Vec<ReceivedOn>,
}

impl PacketsFigures {
    /// `None` for a result without a stream, which no probe makes.
    pub(in super::super) fn of(assessed: &TrialAssessment, spec: &PacketsSpec, result: &PacketsResult) -> Option<Self> {
        let streams: Vec<_> =
            result.streams.iter().zip(&assessed.flows).map(|(stream, it)| StreamFigures::of(stream, it)).collect();
        Some(Self {
            ip: spec.ip(),
            direction: spec.direction,
            mtu: result.mtu,
            frame_size_asked: spec.frame_size(),
            streams_asked: spec.streams.clone(),
            engine_asked: spec.engine,
            first: streams.first()?.clone(),
            streams,
            together: result.together(),
        })
    }

    /// The rows of the CSV, one for each stream.
    pub(in super::super) fn rows(&self) -> Vec<Cells> {
        self.streams.iter().map(|stream| stream.row().with("ip", self.ip)).collect()
    }
}

impl StreamFigures {
    fn of(stream: &PacketStream, assessed: &FlowAssessment) -> Self {
        let (sent, received) = (&stream.sent, &stream.received);
        Self {
            from: stream.from.clone(),
            to: stream.to.clone(),
            stream: sent.stream.clone(),
            engine: sent.engine,
            engine_why: sent.engine_why.clone(),
            frame_size: sent.frame_size,
            flows: sent.flows,
            intended_pps: sent.intended_pps,
            offered_pps: stream.offered_pps(),
            forwarding_pps: stream.forwarding_pps(),
            line_rate_pps: assessed.line_rate.map(|link| link.packets_per_second),
            sent: sent.frames,
            received: received.frames,
            lost: (!stream.cut_off).then(|| stream.lost()),
            duplicated: received.duplicated,
            reordered: received.reordered,
            duplicate_window: received.window,
            corrupt: received.corrupt,
            late: received.late,
            refused: sent.refused,
            synchronous_loop: assessed.synchronous,
            tx: stream.tx(),
            rx: stream.rx(),
            inter_departure_ns: sent.pacing.as_ref().map(|pacing| pacing.gap_ns.clone()),
            behind_schedule_ns: sent.pacing.as_ref().map(|pacing| pacing.behind_ns.clone()),
            inter_arrival_ns: received.inter_arrival_ns.clone(),
            latency_ns: received.latency_ns.clone(),
            send_cpus: sent.cpus.clone(),
            receive_cpus: received.cpus.clone(),
        }
    }

    fn row(&self) -> Cells {
        Cells::default()
            .with("probe", "packets")
            .with("from", &self.from)
            .with("to", &self.to)
            .with("frame_size_bytes", self.frame_size.0)
            .with("engine", self.engine)
            .with("stream", &self.stream)
            .with("intended_pps", self.intended_pps)
            .with("offered_pps", self.offered_pps)
            .with("forwarding_pps", self.forwarding_pps)
            .with("sent_packets", self.sent)
            .with("received_packets", self.received)
            .with("lost_packets", self.lost)
            .with("late_packets", self.late)
            .with("duplicated_packets", self.duplicated)
            .with("reordered_packets", self.reordered)
            .with("corrupt_packets", self.corrupt)
    }
}
