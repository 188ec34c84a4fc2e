//! Bulk data as JSON.

use model::{
    Batch, CoreUse, Direction, Flow, FlowAssessment, GoodputResult, GoodputSpec, IpVersion, Mtu, PayloadSize, Protocol,
    ReceiveMethod, SendMethod, Stack, Trial, TrialAssessment,
    trial::{Pacing, TcpState, ZeroCopied},
};

use super::group::knows_sender;
use crate::{cells::Cells, limited::LimitedByEntry, shape::document, show};

document! {
    /// Parameters and figures of bulk data. Fields of a flow here are those of the first flow.
    GoodputFigures of (trial: &Trial, assessed: &TrialAssessment, spec: &GoodputSpec, result: &GoodputResult) -> Option;
    let flows = result.flows.iter().zip(&assessed.flows);
    let flows = flows.map(|(flow, it)| FlowEntry::of(trial, it, spec, result, flow)).collect::<Vec<_>>();
    let first = result.flows.first()?;
    let together = result.ways(&trial.endpoint_to).next().filter(|_| !trial.others.is_empty());
    let tcp = spec.protocol == Protocol::Tcp;
    let cores = &trial.counters[usize::from(first.to == trial.endpoint_to)].cpu;
    {
        /// UDP or TCP.
        protocol: Protocol = spec.protocol,
        /// IP version.
        ip: IpVersion = spec.ip,
        /// Network stack.
        stack: Stack = spec.stack,
        /// Direction of the data.
        direction: Direction = spec.direction,
        /// Connections or flows at the same time, each way.
        streams: u16 = spec.streams,
        /// MTU of the near interface, in bytes.
        mtu: Mtu = result.mtu,
        /// Size asked for each socket's buffers, in bytes; null left it to the kernel.
        window: Option<u64> = spec.window.map(|window| window.0),
        /// TCP congestion control that was asked for; null left it to the kernel.
        congestion: Option<String> = spec.congestion.clone(),
        /// How a TCP sender handed over its data; null over UDP.
        send: Option<SendMethod> = tcp.then_some(spec.send),
        /// How a TCP receiver took its data; null over UDP.
        receive: Option<ReceiveMethod> = tcp.then_some(spec.receive),
        /// How datagrams were batched; null over TCP. With `gso` the kernel made the packets out of larger ones.
        batch: Option<Batch> = (!tcp).then_some(spec.batch),
        /// Payload of each datagram, in bytes; null over TCP.
        datagram_size: Option<PayloadSize> = first.sent.datagrams.as_ref().map(|it| it.payload_size).or(spec.datagram),
        /// Payload asked for each way, in bit/s; null is flat out.
        intended_bps: Option<f64> = spec.rate.map(|rate| rate.0 as f64),
        /// How busy each core of the receiving end's machine was, in percent, in the order of `cores`.
        cpu: Vec<f64> = cores.iter().map(|core| core.busy).collect(),
        /// CPU time of each core of the receiving end's machine, by kind.
        cores: Vec<CoreUse> = cores.clone(),
        /// Payload that arrived of all senders together, where several sent to one end; null where one sent.
        total_bps: Option<GoodputBps> = together.map(|way| GoodputBps::of(way.mean_bps, &way.intervals_bps)),
        /// The first flow.
        #[serde(flatten)]
        first: FlowFigures = flows.first()?.figures.clone(),
        /// Each direction that data went, the forward one first.
        flows: Vec<FlowEntry> = flows,
    }
}

document! {
    /// One direction, with what set its goodput.
    FlowEntry of (trial: &Trial, assessed: &FlowAssessment, spec: &GoodputSpec, result: &GoodputResult, flow: &Flow) {
        /// Its figures.
        #[serde(flatten)]
        figures: FlowFigures = FlowFigures::of(assessed, spec, flow),
        /// Its share of the sum of all senders the same way, from 0 to 1; null if nothing arrived.
        share: Option<f64> = share(trial, result, flow),
        /// Limit of the goodput; null where it is not known.
        limited_by: Option<LimitedByEntry> = assessed.limited_by.as_ref().map(|by| LimitedByEntry::of(by, &show::rate)),
    }
}

document! {
    /// Figures of data one way. What the sender counted is null where the trial was cut off, what belongs to datagrams is
    /// null over TCP.
    FlowFigures of (assessed: &FlowAssessment, spec: &GoodputSpec, flow: &Flow);
    let (tcp, most) = (spec.protocol == Protocol::Tcp, assessed.line_rate);
    let (sent, received) = (&flow.sent, &flow.received);
    let known = knows_sender(flow);
    let (departed, arrived) = (sent.datagrams.as_ref(), received.datagrams.as_ref());
    let both = departed.zip(arrived);
    {
        /// The endpoint that sent.
        from: String = flow.from.clone(),
        /// The endpoint that received.
        to: String = flow.to.clone(),
        /// Payload that arrived, in bit/s.
        goodput_bps: GoodputBps = GoodputBps::of(received.mean_bps(), &received.intervals_bps),
        /// Payload that the link's rate leaves room for one way, in packets of full size, in bit/s; null where no rate of the link
        /// is known.
        most_bps: Option<f64> = most.and_then(|most| most.goodput_bps),
        /// Packets of full size that the link carries at most one way, per second; null in the same way.
        most_pps: Option<f64> = most.map(|most| most.packets_per_second),
        /// Payload that the sender gave to its sockets, in bit/s.
        sent_bps: Option<f64> = sent.mean_bps(),
        /// Goodput of each second, in bit/s.
        intervals: Vec<f64> = received.intervals_bps.clone(),
        /// Payload bytes that arrived in the counted time.
        received_bytes: u64 = received.counted_bytes,
        /// Payload bytes that the sender gave to its sockets in the counted time.
        sent_bytes: Option<u64> = known.then_some(sent.counted_bytes),
        /// Warm-up left out, in seconds.
        warmup_s: f64 = received.warmup_s,
        /// Segments sent again in the counted time, and in the warm-up where `warmup_retransmits` is absent; null over UDP.
        retransmits: Option<u64> = (tcp && known).then(|| sent.counted_retransmits()),
        /// Segments sent again during the warm-up; absent over UDP, and in runs of before they were counted apart.
        #[serde(skip_serializing_if = "Option::is_none")]
        warmup_retransmits: Option<u64> = sent.warmup_retransmits().filter(|_| tcp && known),
        /// Datagrams that the kernel took from the sender.
        datagrams_sent: Option<u64> = departed.map(|it| it.sent),
        /// Different datagrams that arrived.
        datagrams_received: Option<u64> = arrived.map(|it| it.received),
        /// Datagrams sent that never arrived; null over TCP, which delivers all or fails.
        lost: Option<u64> = flow.lost(),
        /// Whether the sender's cores did the kernel's receiving too, so that no loss is no claim about the path; null over TCP.
        synchronous_loop: Option<bool> = arrived.map(|_| assessed.synchronous),
        /// Copies of datagrams that had come before.
        duplicated: Option<u64> = arrived.map(|it| it.duplicated),
        /// Datagrams with a smaller number than one that came before.
        reordered: Option<u64> = arrived.map(|it| it.reordered),
        /// How far back a number can lie and still be told from a copy.
        duplicate_window: Option<u64> = arrived.map(|it| it.window),
        /// Datagrams that carried something else than was sent.
        corrupt: Option<u64> = arrived.map(|it| it.corrupt),
        /// Datagrams whose whole payload was compared with what was sent, one in 64; null over TCP, and in runs of before it was counted.
        compared: Option<u64> = arrived.and_then(|it| it.compared),
        /// Datagrams that the receiver's full socket buffers dropped.
        overflowed: Option<u64> = arrived.map(|it| it.overflowed),
        /// Datagrams of both ends that went through the kernel, where they were to go past it; null where they were not.
        through_kernel: Option<u64> = both.and_then(|(left, came)| Some(left.through_kernel? + came.through_kernel?)),
        /// Whether the cards of both ends read and wrote the memory of these packets themselves (zero-copy AF_XDP); null where all went through the kernel.
        zero_copy: Option<bool> = both.and_then(|(left, came)| Some(left.zero_copy? && came.zero_copy?)),
        /// How the schedule was kept; null when flat out.
        pacing: Option<Pacing> = departed.and_then(|it| it.pacing.clone()),
        /// State of each TCP connection at the end of the counted time.
        tcp: Vec<TcpState> = sent.tcp.clone(),
        /// Outcome of sends that asked not to be copied.
        zero_copied: Option<ZeroCopied> = sent.zero_copied,
        /// How often a full send buffer made the sender wait.
        send_buffer_full: Option<u64> = known.then_some(sent.buffer_full),
        /// Send buffer of each socket as granted, in bytes; null where the kernel tunes it.
        send_buffer: Option<u64> = sent.buffer.map(|buffer| buffer.0),
        /// Receive buffer of each socket as granted, in bytes; null where the kernel tunes it.
        receive_buffer: Option<u64> = received.buffer.map(|buffer| buffer.0),
    }
}

document! {
    /// Goodput of one trial, in bit/s.
    GoodputBps of (mean_bps: f64, intervals_bps: &[f64]) {
        /// Over all counted time.
        mean: f64 = mean_bps,
        /// Rate of the fastest second; absent when there was no whole second.
        #[serde(skip_serializing_if = "Option::is_none")]
        max: Option<f64> = intervals_bps.iter().copied().reduce(f64::max),
        /// Rate of the slowest second; absent when there was no whole second.
        #[serde(skip_serializing_if = "Option::is_none")]
        min: Option<f64> = intervals_bps.iter().copied().reduce(f64::min),
    }
}

impl GoodputFigures {
    /// The rows of the CSV, one for each flow.
    pub(in super::super) fn rows(&self) -> Vec<Cells> {
        self.flows.iter().map(|entry| self.row(entry)).collect()
    }

    fn row(&self, entry: &FlowEntry) -> Cells {
        let flow = &entry.figures;
        Cells::default()
            .with("probe", "goodput")
            .fields(flow, "from to sent_bps received_bytes", ("", ""))
            .fields(self, "protocol ip streams intended_bps", ("", ""))
            .fields(self, "mtu", ("", "_bytes"))
            .with("payload_size_bytes", self.datagram_size)
            .with("goodput_bps", flow.goodput_bps.mean)
            .fields(&flow.goodput_bps, "min max", ("goodput_", "_bps"))
            .with("sent_packets", flow.datagrams_sent)
            .with("received_packets", flow.datagrams_received)
            .fields(flow, "lost duplicated reordered overflowed", ("", "_packets"))
            .with("retransmitted_segments", flow.retransmits)
            .with("limited_by", entry.limited_by.as_ref().map(|by| &by.place))
    }
}

fn share(trial: &Trial, result: &GoodputResult, flow: &Flow) -> Option<f64> {
    let same_way = |other: &&Flow| (other.to == trial.endpoint_to) == (flow.to == trial.endpoint_to);
    let all: f64 = result.flows.iter().filter(same_way).map(|flow| flow.received.mean_bps()).sum();
    (all > 0.0).then(|| flow.received.mean_bps() / all)
}
