//! Bulk data as JSON.

use model::{
    Batch, CoreUse, Direction, Flow, FlowAssessment, GoodputResult, GoodputSpec, IpVersion, Mtu, PayloadSize, Protocol,
    ReceiveWay, SendWay, Stack, Trial, TrialAssessment,
    trial::{Pacing, TcpState, Together, ZeroCopied},
};
use schemars::JsonSchema;
use serde::Serialize;

use super::group::knows_sender;
use crate::{
    cells::Cells,
    limited::{LimitedByEntry, limited_by_entry},
    show,
};

/// Parameters and figures of bulk data. What is said of a flow here is said of the first one.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct GoodputFigures {
    /// UDP or TCP.
    pub protocol: Protocol,
    /// IP version.
    pub ip: IpVersion,
    /// Whose network stack.
    pub stack: Stack,
    /// Which way the data went.
    pub direction: Direction,
    /// Connections or flows at the same time, each way.
    pub streams: u16,
    /// MTU of the near interface, in bytes.
    pub mtu: Mtu,
    /// Size asked for each socket's buffers, in bytes; null left it to the kernel.
    pub window: Option<u64>,
    /// TCP congestion control that was asked for; null left it to the kernel.
    pub congestion: Option<String>,
    /// How a TCP sender handed over its data; null over UDP.
    pub send: Option<SendWay>,
    /// How a TCP receiver took its data; null over UDP.
    pub receive: Option<ReceiveWay>,
    /// How datagrams were batched; null over TCP. With `gso` the kernel made the packets out of larger ones.
    pub batch: Option<Batch>,
    /// Payload of each datagram, in bytes; null over TCP.
    pub datagram_size: Option<PayloadSize>,
    /// Payload asked for each way, in bit/s; null is flat out.
    pub intended_bps: Option<f64>,
    /// How busy each core of the receiving end's machine was, in percent, in the order of `cores`.
    pub cpu: Vec<f64>,
    /// What each core of the receiving end's machine was busy with.
    pub cores: Vec<CoreUse>,
    /// Payload that arrived of all senders together, where several sent to one end; null where one sent.
    pub total_bps: Option<GoodputBps>,
    /// The first flow.
    #[serde(flatten)]
    pub first: FlowFigures,
    /// Each direction that data went, the forward one first.
    pub flows: Vec<FlowEntry>,
}

/// One direction, with what set its goodput.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct FlowEntry {
    /// Its figures.
    #[serde(flatten)]
    pub figures: FlowFigures,
    /// Its share of what all senders brought together the same way, from 0 to 1; null where nothing arrived.
    pub share: Option<f64>,
    /// What set the goodput; null where it is not known.
    pub limited_by: Option<LimitedByEntry>,
}

/// Figures of data one way. What the sender counted is null where the trial was cut off, what belongs to datagrams is
/// null over TCP.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct FlowFigures {
    /// The endpoint that sent.
    pub from: String,
    /// The endpoint that received.
    pub to: String,
    /// Payload that arrived, in bit/s.
    pub goodput_bps: GoodputBps,
    /// Payload that the link's rate leaves room for one way, in packets of full size, in bit/s; null where no rate of the link
    /// is known.
    pub most_bps: Option<f64>,
    /// Packets of full size that the link carries at most one way, per second; null in the same way.
    pub most_pps: Option<f64>,
    /// Payload that the sender gave to its sockets, in bit/s.
    pub sent_bps: Option<f64>,
    /// Goodput of each second, in bit/s.
    pub intervals: Vec<f64>,
    /// Payload bytes that arrived in the counted time.
    pub received_bytes: u64,
    /// Payload bytes that the sender gave to its sockets in the counted time.
    pub sent_bytes: Option<u64>,
    /// Warm-up left out, in seconds.
    pub warmup_s: f64,
    /// Segments sent again; null over UDP.
    pub retransmits: Option<u64>,
    /// Datagrams that the kernel took from the sender.
    pub datagrams_sent: Option<u64>,
    /// Different datagrams that arrived.
    pub datagrams_received: Option<u64>,
    /// Datagrams sent that never arrived; null over TCP, which delivers all or fails.
    pub lost: Option<u64>,
    /// Whether the sender's cores did the kernel's receiving too, so that no loss is no claim about the path; null over TCP.
    pub synchronous_loop: Option<bool>,
    /// Copies of datagrams that had come before.
    pub duplicated: Option<u64>,
    /// Datagrams with a smaller number than one that came before.
    pub reordered: Option<u64>,
    /// How far back a number can lie and still be told from a copy.
    pub duplicate_window: Option<u64>,
    /// Datagrams that carried something else than was sent.
    pub corrupt: Option<u64>,
    /// Datagrams that the receiver's full socket buffers dropped.
    pub overflowed: Option<u64>,
    /// Datagrams of both ends that went through the kernel, where they were to go past it; null where they were not.
    pub through_kernel: Option<u64>,
    /// Whether the cards of both ends read and wrote the memory of these packets themselves (zero-copy AF_XDP); null where all went through the kernel.
    pub zero_copy: Option<bool>,
    /// How the schedule was kept; null when flat out.
    pub pacing: Option<Pacing>,
    /// State of each TCP connection at the end of the counted time.
    pub tcp: Vec<TcpState>,
    /// What became of sends that asked not to be copied.
    pub zero_copied: Option<ZeroCopied>,
    /// How often a full send buffer made the sender wait.
    pub send_buffer_full: Option<u64>,
    /// Send buffer of each socket as granted, in bytes; null where the kernel tunes it.
    pub send_buffer: Option<u64>,
    /// Receive buffer of each socket as granted, in bytes; null where the kernel tunes it.
    pub receive_buffer: Option<u64>,
}

/// Goodput of one trial, in bit/s.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct GoodputBps {
    /// Over all counted time.
    pub mean: f64,
    /// Of the fastest second; absent when there was no whole second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max: Option<f64>,
    /// Of the slowest second; absent when there was no whole second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min: Option<f64>,
}

impl GoodputFigures {
    /// `None` for a result without a flow, which no probe makes.
    pub(in super::super) fn of(
        trial: &Trial,
        assessed: &TrialAssessment,
        spec: &GoodputSpec,
        result: &GoodputResult,
    ) -> Option<Self> {
        let flows = result.flows.iter().zip(&assessed.flows);
        let flows: Vec<_> = flows.map(|(flow, it)| FlowEntry::of(trial, it, spec, (result, flow))).collect();
        let first = result.flows.first()?;
        let tcp = spec.protocol == Protocol::Tcp;
        let receiving_end = usize::from(first.to == trial.endpoint_to);
        let cores = trial.counters[receiving_end].cpu.clone();
        Some(Self {
            protocol: spec.protocol,
            ip: spec.ip,
            stack: spec.stack,
            direction: spec.direction,
            streams: spec.streams,
            mtu: result.mtu,
            window: spec.window.map(|window| window.0),
            congestion: spec.congestion.clone(),
            send: tcp.then_some(spec.send),
            receive: tcp.then_some(spec.receive),
            batch: (!tcp).then_some(spec.batch),
            datagram_size: first.sent.datagrams.as_ref().map(|it| it.payload_size).or(spec.datagram),
            intended_bps: spec.rate.map(|rate| rate.0 as f64),
            cpu: cores.iter().map(|core| core.busy).collect(),
            cores,
            total_bps: (!trial.others.is_empty()).then(|| result.ways(&trial.endpoint_to).next()).flatten().map(total),
            first: flows.first()?.figures.clone(),
            flows,
        })
    }

    /// The rows of the CSV, one for each flow.
    pub(in super::super) fn rows(&self) -> Vec<Cells> {
        self.flows.iter().map(|entry| self.row(entry)).collect()
    }

    fn row(&self, entry: &FlowEntry) -> Cells {
        let flow = &entry.figures;
        Cells::default()
            .with("probe", "goodput")
            .with("from", &flow.from)
            .with("to", &flow.to)
            .with("protocol", self.protocol)
            .with("ip", self.ip)
            .with("streams", self.streams)
            .with("payload_size_bytes", self.datagram_size.map(|size| size.0))
            .with("mtu_bytes", self.mtu.0)
            .with("intended_bps", self.intended_bps)
            .with("goodput_bps", flow.goodput_bps.mean)
            .with("goodput_min_bps", flow.goodput_bps.min)
            .with("goodput_max_bps", flow.goodput_bps.max)
            .with("sent_bps", flow.sent_bps)
            .with("received_bytes", flow.received_bytes)
            .with("sent_packets", flow.datagrams_sent)
            .with("received_packets", flow.datagrams_received)
            .with("lost_packets", flow.lost)
            .with("duplicated_packets", flow.duplicated)
            .with("reordered_packets", flow.reordered)
            .with("overflowed_packets", flow.overflowed)
            .with("retransmitted_segments", flow.retransmits)
            .with("limited_by", entry.limited_by.as_ref().map(|by| &by.place))
    }
}

impl FlowEntry {
    fn of(
        trial: &Trial,
        assessed: &FlowAssessment,
        spec: &GoodputSpec,
        (result, flow): (&GoodputResult, &Flow),
    ) -> Self {
        Self {
            figures: FlowFigures::of(assessed, spec, flow),
            share: share(trial, result, flow),
            limited_by: assessed.limited_by.as_ref().map(|by| limited_by_entry(by, show::rate)),
        }
    }
}

fn share(trial: &Trial, result: &GoodputResult, flow: &Flow) -> Option<f64> {
    let same_way = |other: &&Flow| (other.to == trial.endpoint_to) == (flow.to == trial.endpoint_to);
    let all: f64 = result.flows.iter().filter(same_way).map(|flow| flow.received.mean_bps()).sum();
    (all > 0.0).then(|| flow.received.mean_bps() / all)
}

fn total(way: Together) -> GoodputBps {
    let seconds = || way.intervals_bps.iter().copied();
    GoodputBps { mean: way.mean_bps, max: seconds().reduce(f64::max), min: seconds().reduce(f64::min) }
}

impl FlowFigures {
    fn of(assessed: &FlowAssessment, spec: &GoodputSpec, flow: &Flow) -> Self {
        let (tcp, most) = (spec.protocol == Protocol::Tcp, assessed.line_rate);
        let (sent, received) = (&flow.sent, &flow.received);
        let known = knows_sender(flow);
        let (departed, arrived) = (sent.datagrams.as_ref(), received.datagrams.as_ref());
        let seconds = || received.intervals_bps.iter().copied();
        Self {
            from: flow.from.clone(),
            to: flow.to.clone(),
            goodput_bps: GoodputBps {
                mean: received.mean_bps(),
                max: seconds().reduce(f64::max),
                min: seconds().reduce(f64::min),
            },
            most_bps: most.and_then(|most| most.goodput_bps),
            most_pps: most.map(|most| most.packets_per_second),
            sent_bps: sent.mean_bps(),
            intervals: received.intervals_bps.clone(),
            received_bytes: received.counted_bytes,
            sent_bytes: known.then_some(sent.counted_bytes),
            warmup_s: received.warmup_s,
            retransmits: (tcp && known).then(|| sent.retransmits()),
            datagrams_sent: departed.map(|it| it.sent),
            datagrams_received: arrived.map(|it| it.received),
            lost: flow.lost(),
            synchronous_loop: arrived.map(|_| assessed.synchronous),
            duplicated: arrived.map(|it| it.duplicated),
            reordered: arrived.map(|it| it.reordered),
            duplicate_window: arrived.map(|it| it.window),
            corrupt: arrived.map(|it| it.corrupt),
            overflowed: arrived.map(|it| it.overflowed),
            through_kernel: departed
                .zip(arrived)
                .and_then(|(left, came)| Some(left.through_kernel? + came.through_kernel?)),
            zero_copy: departed.zip(arrived).and_then(|(left, came)| Some(left.zero_copy? && came.zero_copy?)),
            pacing: departed.and_then(|it| it.pacing.clone()),
            tcp: sent.tcp.clone(),
            zero_copied: sent.zero_copied,
            send_buffer_full: known.then_some(sent.buffer_full),
            send_buffer: sent.buffer.map(|buffer| buffer.0),
            receive_buffer: received.buffer.map(|buffer| buffer.0),
        }
    }
}
