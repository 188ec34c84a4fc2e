//! Figures of bulk data.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    Measures, Pacing,
    times::{pacing, pacing_fits},
};
use crate::{
    Total,
    figure::{Figure, Metric},
    frame_size::PayloadSize,
    plausible::{
        Checked, FLOWS, SECONDS, Within, arrived, at_most, bytes, count, counts, each, entries, no_more_than, optional,
        optional_packet, packet, rate, seconds, text, whole_seconds, within_trial,
    },
    probe::{Conditions, GoodputSpec, Probe},
    search::{LoadedTrial, TrialResult},
    units::{Bytes, Mtu},
};

/// Figures of a bulk transfer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GoodputResult {
    /// MTU of the near interface.
    pub mtu: Mtu,
    /// One for each sender and direction that data went, the forward ones first. Never empty.
    pub flows: Vec<Flow>,
}

/// Data one way, counted where it arrived.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Flow {
    /// The endpoint that sent.
    pub from: String,
    /// The endpoint that received.
    pub to: String,
    /// Counts of the sender.
    pub sent: GoodputSent,
    /// Counts of the receiver.
    pub received: GoodputReceived,
}

/// Counts of one side of a goodput probe; both parts with data both ways.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct GoodputSide {
    /// Counts as a sender.
    pub sent: Option<GoodputSent>,
    /// Counts as a receiver.
    pub received: Option<GoodputReceived>,
}

/// Counts of a goodput receiver.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct GoodputReceived {
    /// Payload bytes in the counted time.
    pub counted_bytes: u64,
    /// The counted time as it really was, in seconds.
    pub counted_s: f64,
    /// Payload bytes in all, warm-up and drain included.
    pub total_bytes: u64,
    /// Goodput of each whole second, in bit/s.
    pub intervals_bps: Vec<f64>,
    /// Warm-up left out, in seconds.
    pub warmup_s: f64,
    /// Whether the data ended before the counted time was over.
    pub ended_early: bool,
    /// Datagrams, over UDP.
    pub datagrams: Option<DatagramsReceived>,
    /// Receive buffer of each socket as the kernel granted it, without the as much again that it takes for its own headers
    /// (socket(7), SO_RCVBUF); `None` where the kernel tunes it.
    pub buffer: Option<Bytes>,
}

/// Counts of a goodput sender.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct GoodputSent {
    /// Payload bytes given to the sockets in the counted time.
    pub counted_bytes: u64,
    /// The counted time as it really was, in seconds; `None` where the sender did not tell, as where a trial was cut off.
    #[serde(default, deserialize_with = "super::known_seconds")]
    pub counted_s: Option<f64>,
    /// Payload bytes given to the sockets in all, warm-up included.
    pub total_bytes: u64,
    /// State of each connection at the end of the counted time, over TCP.
    pub tcp: Vec<TcpState>,
    /// Datagrams, over UDP.
    pub datagrams: Option<DatagramsSent>,
    /// Outcome of `MSG_ZEROCOPY` sends.
    pub zero_copied: Option<ZeroCopied>,
    /// Times that a socket's full send buffer made the sender wait.
    pub buffer_full: u64,
    /// Send buffer of each socket as the kernel granted it, in the same way; `None` where the kernel tunes it.
    pub buffer: Option<Bytes>,
}

/// The kernel's readings of a TCP connection (`TCP_INFO`).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TcpState {
    /// Congestion control that was used.
    pub congestion: String,
    /// Smoothed RTT, in microseconds.
    pub rtt_us: u32,
    /// Mean deviation, in microseconds.
    pub rtt_var_us: u32,
    /// Smallest RTT seen, in microseconds.
    pub min_rtt_us: u32,
    /// Congestion window, in segments.
    pub cwnd_segments: u32,
    /// Largest segment's payload, in bytes (timestamps not counted).
    pub mss: u32,
    /// Path MTU that the connection believes in.
    pub path_mtu: Mtu,
    /// Segments sent again since the connection began, those of the warm-up included.
    pub retransmits: u64,
    /// Segments among them of the warm-up; `None` in runs of before they were counted apart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warmup_retransmits: Option<u64>,
    /// Times that this end saw its segments arrive out of order, by what the other end acknowledged (`TCP_INFO`,
    /// tcpi_reord_seen).
    pub reorderings: u64,
    /// Time with data to send, in microseconds.
    pub busy_us: u64,
    /// Part of it that waited for the receiver's window, in microseconds.
    pub receive_window_limited_us: u64,
    /// Part of it that waited for this side's send buffer, in microseconds.
    pub send_buffer_limited_us: u64,
    /// Whether segments carry timestamps, 12 bytes each.
    pub timestamps: bool,
    /// The same connection at the end of each whole second; empty in runs of before it was read.
    #[serde(default)]
    pub seconds: TcpSeconds,
}

/// The kernel's state of a TCP connection second by second, beside the goodput of the same whole seconds. Lists of one
/// length: of a long trial with many connections, a value for each second of each would be written with its name.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TcpSeconds {
    /// Segments sent again in each second.
    pub retransmits: Vec<u64>,
    /// Smoothed RTT at the end of each second, in microseconds.
    pub rtt_us: Vec<u32>,
    /// Congestion window at the end of each second, in segments.
    pub cwnd_segments: Vec<u32>,
    /// Pacing rate at the end of each second, in bit/s; empty in runs of before it was read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pacing_bps: Vec<u64>,
    /// Rate at which segments were last delivered, at the end of each second, in bit/s; empty in runs of before it was read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub delivery_bps: Vec<u64>,
}

impl TcpSeconds {
    /// Length of the longest list.
    fn longest(&self) -> usize {
        let numbers = [&self.rtt_us, &self.cwnd_segments].map(Vec::len);
        let rates = [&self.retransmits, &self.pacing_bps, &self.delivery_bps].map(Vec::len);
        numbers.into_iter().chain(rates).max().unwrap_or_default()
    }
}

/// Datagrams as the receiver counted them, over the whole transfer, by the number that each carries.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DatagramsReceived {
    /// Different datagrams.
    pub received: u64,
    /// Copies of datagrams that had come before (RFC 5560).
    pub duplicated: u64,
    /// Datagrams with a smaller number than one that came before (RFC 4737).
    pub reordered: u64,
    /// Distance back of a number that can still be distinguished from a copy.
    pub window: u64,
    /// Datagrams that carried something else than was sent.
    pub corrupt: u64,
    /// Datagrams whose whole payload was compared with what was sent, one in 64; `None` in runs of before it was counted. Of all, label
    /// and last bytes are compared.
    #[serde(default)]
    pub compared: Option<u64>,
    /// Datagrams that the full socket buffers dropped (`SO_MEMINFO`; with `gso` a large one counts once).
    pub overflowed: u64,
    /// Datagrams among them that went through the kernel, where they were to go past it; `None` where they were not.
    #[serde(default)]
    pub through_kernel: Option<u64>,
    /// Whether this end's card read or wrote the memory of these packets itself (zero-copy AF_XDP); `None` where all went through the kernel.
    #[serde(default)]
    pub zero_copy: Option<bool>,
}

/// Datagrams as the sender counted them, over the whole transfer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DatagramsSent {
    /// Payload of each.
    pub payload_size: PayloadSize,
    /// Datagrams that the kernel took.
    pub sent: u64,
    /// Datagrams among them that went through the kernel, where they were to go past it; `None` where they were not.
    #[serde(default)]
    pub through_kernel: Option<u64>,
    /// Whether this end's card read or wrote the memory of these packets itself (zero-copy AF_XDP); `None` where all went through the kernel.
    #[serde(default)]
    pub zero_copy: Option<bool>,
    /// Payload asked for in the counted time, in bit/s; `None` is flat out.
    pub intended_bps: Option<f64>,
    /// Adherence to the schedule; `None` is flat out.
    pub pacing: Option<Pacing>,
}

/// Outcome of `MSG_ZEROCOPY` sends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ZeroCopied {
    /// Sends that the kernel reported as really not copied.
    pub zero_copied: u64,
    /// Sends that it copied after all.
    pub copied: u64,
}

/// A whole second of a transfer under way.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct GoodputSecond {
    /// Number in the counted time, from 1.
    pub number: usize,
    /// To the receiver, and back; `None` where no data goes that way.
    pub ways: [Option<DirectionSecond>; 2],
}

/// One way of a whole second, all senders together.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct DirectionSecond {
    /// Goodput, in bit/s.
    pub bps: f64,
    /// Segments sent again, over TCP.
    pub retransmits: Option<u64>,
}

/// Sum over all senders of a trial one way, in bit/s.
#[derive(Clone, Debug, PartialEq)]
pub struct Together {
    /// Over all counted time.
    pub mean_bps: f64,
    /// Rate of each whole second that all of them have.
    pub intervals_bps: Vec<f64>,
}

impl Together {
    fn of(flows: &[&Flow]) -> Self {
        let seconds = flows.iter().map(|flow| flow.received.intervals_bps.len()).min().unwrap_or_default();
        let second = |number: usize| flows.iter().map(|flow| flow.received.intervals_bps[number]).sum();
        Self {
            mean_bps: flows.iter().map(|flow| flow.received.mean_bps()).sum(),
            intervals_bps: (0..seconds).map(second).collect(),
        }
    }
}

impl GoodputResult {
    /// All that was sent to the trial's far end, then all that it sent; a way that nothing went is left out.
    pub fn ways(&self, far: &str) -> impl Iterator<Item = Together> {
        let (to, from): (Vec<&Flow>, Vec<&Flow>) = self.flows.iter().partition(|flow| flow.to == far);
        [to, from].into_iter().filter(|flows| !flows.is_empty()).map(|flows| Together::of(&flows))
    }
}

impl Measures for GoodputSpec {
    type Result = GoodputResult;

    fn figures(&self, result: &GoodputResult, far: &str) -> Vec<Figure> {
        let ways: Vec<Together> = result.ways(far).collect();
        let fastest = |way: &Together| way.intervals_bps.iter().copied().reduce(f64::max);
        let slowest_second = ways.iter().flat_map(|way| way.intervals_bps.iter().copied()).reduce(f64::min);
        let figures = [
            Figure::known(Metric::GoodputMean, ways.iter().map(|way| way.mean_bps).reduce(f64::min)),
            Figure::known(Metric::GoodputMin, slowest_second),
            Figure::known(Metric::GoodputMax, ways.iter().filter_map(fastest).reduce(f64::min)),
            Figure::known(Metric::Loss, result.loss()),
        ];
        figures.into_iter().flatten().collect()
    }

    fn conditions_met(&self, result: &GoodputResult) -> Conditions {
        let datagrams = result.flows.first().and_then(|flow| flow.sent.datagrams.as_ref());
        Conditions {
            payload_size: datagrams.map(|datagrams| datagrams.payload_size),
            mtu: Some(result.mtu),
            ..Conditions::default()
        }
    }

    /// The load counts one way; datagrams of the warm-up count in the loss.
    fn at_load(&self, result: &GoodputResult) -> Option<LoadedTrial> {
        let (load, duration_s) = (self.rate?.0 as f64, self.duration.as_secs_f64());
        let trial = TrialResult { load, duration_s, effective_s: duration_s, loss_ratio: result.loss()? };
        Some(LoadedTrial { configuration: self.without_load()?.to_string(), trial })
    }

    fn check(&self, result: &GoodputResult, seconds: f64) -> Checked {
        optional_packet("spec.mtu", self.mtu.map(|mtu| mtu.0))?;
        optional_packet("spec.datagram", self.datagram.map(|datagram| datagram.0))?;
        packet("mtu", result.mtu.0)?;
        entries("flows", result.flows.len(), FLOWS)?;
        let lasted = self.lasted(seconds);
        each("flows", &result.flows, |flow| check_flow(flow, lasted))
    }
}

impl GoodputSpec {
    /// Seconds of a trial with its waits. Its first receiver, whose seconds are the trial's, may have ended early.
    pub(super) fn lasted(&self, seconds: f64) -> f64 {
        self.warmup.as_secs_f64() + self.duration.as_secs_f64().max(seconds)
    }
}

impl GoodputResult {
    /// Share of all datagrams, both ways, that did not come; `None` over TCP.
    fn loss(&self) -> Option<f64> {
        let counts = |flow: &Flow| Some((flow.lost()?, flow.sent.datagrams.as_ref()?.sent));
        let all = self.flows.iter().map(counts).collect::<Option<Vec<_>>>()?;
        let (lost, sent) = all.into_iter().fold((0, 0), |(lost, sent), (l, s)| (lost + l, sent + s));
        (sent > 0).then(|| lost as f64 / sent as f64)
    }
}

impl GoodputReceived {
    /// Goodput over the counted time, in bit/s.
    pub fn mean_bps(&self) -> f64 {
        bps(self.counted_bytes, self.counted_s)
    }
}

impl GoodputSent {
    /// Data written to the sockets over the counted time, in bit/s; `None` if unknown.
    pub fn mean_bps(&self) -> Option<f64> {
        Some(bps(self.counted_bytes, self.counted_s?))
    }

    /// TCP segments sent again, warm-up included.
    pub fn retransmits(&self) -> u64 {
        self.tcp.iter().map(|connection| connection.retransmits).total()
    }

    /// TCP segments sent again in the counted time; warm-up included where that was not counted apart.
    pub fn counted_retransmits(&self) -> u64 {
        self.retransmits().saturating_sub(self.warmup_retransmits().unwrap_or_default())
    }

    /// TCP segments sent again during the warm-up; `None` where they were not counted apart.
    pub fn warmup_retransmits(&self) -> Option<u64> {
        let each = self.tcp.iter().map(|connection| connection.warmup_retransmits);
        Some(each.collect::<Option<Vec<_>>>()?.into_iter().total())
    }
}

impl Flow {
    /// Datagrams that were sent and never came; `None` over TCP, which delivers all or fails.
    pub fn lost(&self) -> Option<u64> {
        let (sent, received) = (self.sent.datagrams.as_ref()?, self.received.datagrams.as_ref()?);
        Some(sent.sent.saturating_sub(received.received))
    }
}

fn bps(bytes: u64, seconds: f64) -> f64 {
    if seconds > 0.0 { bytes as f64 * 8.0 / seconds } else { 0.0 }
}

/// Whether the counts of one side are possible.
pub(super) fn check(side: &GoodputSide) -> Checked {
    side.sent.as_ref().map_or(Ok(()), check_sent).within("sent")?;
    side.received.as_ref().map_or(Ok(()), check_received).within("received")
}

fn check_sent(sent: &GoodputSent) -> Checked {
    bytes("total_bytes", sent.total_bytes)?;
    no_more_than("counted_bytes", sent.counted_bytes, "total_bytes", sent.total_bytes)?;
    sent.counted_s.map_or(Ok(()), |counted| seconds("counted_s", counted))?;
    sent.mean_bps().map_or(Ok(()), |mean| rate("mean_bps", mean))?;
    count("buffer_full", sent.buffer_full)?;
    each("tcp", &sent.tcp, connection)?;
    if let Some(copies) = &sent.zero_copied {
        count("zero_copied.zero_copied", copies.zero_copied)?;
        count("zero_copied.copied", copies.copied)?;
    }
    let Some(datagrams) = &sent.datagrams else { return Ok(()) };
    packet("datagrams.payload_size", datagrams.payload_size.0)?;
    count("datagrams.sent", datagrams.sent)?;
    optional("datagrams.through_kernel", datagrams.through_kernel)?;
    datagrams.intended_bps.map_or(Ok(()), |intended| rate("datagrams.intended_bps", intended))?;
    datagrams.pacing.as_ref().map_or(Ok(()), pacing).within("datagrams.pacing")
}

pub(super) fn connection(tcp: &TcpState) -> Checked {
    text("congestion", &tcp.congestion)?;
    packet("mss", tcp.mss)?;
    packet("path_mtu", tcp.path_mtu.0)?;
    count("retransmits", tcp.retransmits)?;
    let warmup = tcp.warmup_retransmits.unwrap_or_default();
    no_more_than("warmup_retransmits", warmup, "retransmits", tcp.retransmits)?;
    count("reorderings", tcp.reorderings)?;
    let lists = &tcp.seconds;
    at_most("seconds", lists.longest() as f64, SECONDS)?;
    each("seconds.retransmits", &lists.retransmits, |again| count("count", *again))
}

/// Whether the times of a sender fit into a trial that lasted so many seconds with its waits.
fn sent_fits(sent: &GoodputSent, lasted: f64) -> Checked {
    within_trial("counted_s", sent.counted_s.unwrap_or_default(), lasted)?;
    each("tcp", &sent.tcp, |tcp| within_trial("seconds", tcp.seconds.longest() as f64, lasted))?;
    let pacing = sent.datagrams.as_ref().and_then(|datagrams| datagrams.pacing.as_ref());
    pacing.map_or(Ok(()), |pacing| pacing_fits(pacing, lasted)).within("datagrams.pacing")
}

/// The same of a receiver.
fn received_fits(received: &GoodputReceived, lasted: f64) -> Checked {
    within_trial("counted_s", received.counted_s, lasted)?;
    within_trial("intervals_bps", received.intervals_bps.len() as f64, lasted)
}

pub(super) fn check_received(received: &GoodputReceived) -> Checked {
    bytes("total_bytes", received.total_bytes)?;
    no_more_than("counted_bytes", received.counted_bytes, "total_bytes", received.total_bytes)?;
    seconds("counted_s", received.counted_s)?;
    rate("mean_bps", received.mean_bps())?;
    seconds("warmup_s", received.warmup_s)?;
    whole_seconds(&received.intervals_bps).within("intervals_bps")?;
    let Some(datagrams) = &received.datagrams else { return Ok(()) };
    counts(&[
        ("received", datagrams.received),
        ("duplicated", datagrams.duplicated),
        ("reordered", datagrams.reordered),
        ("window", datagrams.window),
        ("corrupt", datagrams.corrupt),
        ("compared", datagrams.compared.unwrap_or_default()),
        ("overflowed", datagrams.overflowed),
        ("through_kernel", datagrams.through_kernel.unwrap_or_default()),
    ])
    .within("datagrams")
}

/// Whether a flow is possible, in a trial that lasted so many seconds with its waits. Without a count of the sender, as where a trial
/// was cut off, there is nothing to compare with.
pub(super) fn check_flow(flow: &Flow, lasted: f64) -> Checked {
    let way = || format!("{} → {}", flow.from, flow.to);
    check_sent(&flow.sent).and_then(|()| sent_fits(&flow.sent, lasted)).within("sent").within(way())?;
    check_received(&flow.received).within("received").within(way())?;
    received_fits(&flow.received, lasted).within("received").within(way())?;
    match (&flow.sent.datagrams, &flow.received.datagrams) {
        (Some(sent), Some(received)) if sent.sent > 0 => {
            arrived("received.datagrams.received", received.received, "sent.datagrams.sent", sent.sent).within(way())
        }
        _ => Ok(()),
    }
}
