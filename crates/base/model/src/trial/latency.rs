//! Figures of round trips.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    Flow, Measures, Pacing, Sample, TimeSummary, goodput,
    times::{fit, pacing, pacing_fits, supports, times},
};
use crate::{
    figure::{Figure, Metric, Range},
    frame_size::{FrameSize, PayloadSize},
    plausible::{
        Checked, FLOWS, HISTOGRAM, Within, arrived, counts, each, entries, finite, no_more_than, packet, rate, refuse,
    },
    probe::{Conditions, LatencySpec},
};

/// Figures of round trips.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LatencyResult {
    /// Size of each frame on the wire with FCS: the one asked for, or the smallest that the headers leave room in.
    pub frame_size: FrameSize,
    /// Bytes in each message.
    pub payload_size: PayloadSize,
    /// Whether TCP segments carried timestamps, which take 12 bytes of each frame (read from the connection).
    pub tcp_timestamps: bool,
    /// Messages sent, warm-up not counted.
    pub sent: u64,
    /// Replies that never came; `None` where the trial was cut off while replies were out, which may still have come.
    pub lost: Option<u64>,
    /// Replies that came after the timeout.
    pub late: u64,
    /// Replies that came after the reply to a later message (RFC 4737).
    pub reordered: u64,
    /// Copies of replies that had come before (RFC 5560).
    pub duplicated: u64,
    /// Replies that this side's full socket buffer dropped (`SO_MEMINFO`), warm-up included.
    pub overflowed: u64,
    /// Messages that the far side answered, warm-up included.
    #[serde(default)]
    pub answered: u64,
    /// Messages that the far side's full socket buffer dropped, warm-up included.
    #[serde(default)]
    pub far_overflowed: u64,
    /// Datagrams of both ends, each way, that went through the kernel, where they were to go past it; warm-up included. `None` where they were not.
    #[serde(default)]
    pub through_kernel: Option<u64>,
    /// Whether the cards of both ends read and wrote the memory of these packets themselves (zero-copy AF_XDP); `None` where all went through the
    /// kernel.
    #[serde(default)]
    pub zero_copy: Option<bool>,
    /// TCP segments in which the messages left this end, warm-up included: where there are fewer than messages, several
    /// shared one. `None` over UDP.
    #[serde(default)]
    pub segments: Option<u64>,
    /// Round-trip times in nanoseconds, under load from the time the schedule meant the message to leave; lost and late
    /// replies count as over the timeout.
    pub rtt_ns: TimeSummary,
    /// Messages a second that the schedule asked for; `None` for ping-pong.
    pub intended_pps: Option<f64>,
    /// Messages a second that were sent (under load) or round trips a second that were made (ping-pong).
    pub achieved_pps: f64,
    /// Adherence to the schedule; `None` for ping-pong.
    pub pacing: Option<Pacing>,
    /// Variation of the delay from one packet to the next (RFC 5481, IPDV).
    pub variation: Variation,
    /// One-way delays; `None` unless both sides' stamps come from one clock and fit into the payload.
    pub one_way: Option<OneWay>,
    /// The RTT split by the kernel's stamps; empty unless asked for.
    pub stages: Vec<Stage>,
    /// Whether the stages' stamps on the wire were made by the card.
    pub hardware_stamps: bool,
    /// Queue that the kernel polls for this socket (`SO_INCOMING_NAPI_ID`); `None` where the driver has none to poll.
    pub napi: Option<u32>,
    /// Time that one reading of the clock takes, in nanoseconds (two readings are inside each round trip).
    pub clock_cost_ns: f64,
    /// The whole sample: HDR histogram in nanoseconds, V2 encoding, base64.
    pub histogram: String,
    /// The TCP load, one for each direction that it went, the forward one first; empty without any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub load: Vec<Flow>,
}

impl LatencyResult {
    /// Replies that are known not to have come in time.
    pub fn missing(&self) -> u64 {
        self.lost.unwrap_or_default() + self.late
    }
}

impl Measures for LatencySpec {
    type Result = LatencyResult;

    fn figures(&self, result: &LatencyResult, _far: &str) -> Vec<Figure> {
        let rtt = &result.rtt_ns;
        let timeout = self.timeout.0 as f64;
        let nanos = |nanos: Option<u64>| nanos.map(|nanos| nanos as f64);
        // A missing reply took longer than the timeout: to judge by the replies that came would flatter.
        let missing = result.missing() > 0;
        let supported = |per_mille| (missing && supports(rtt.n, per_mille)).then_some(timeout);
        let any = missing.then_some(timeout);
        let rtts = [
            // There is a minimum as soon as one reply came: without it, none did.
            (Metric::RttMin, nanos(rtt.min), any),
            (Metric::RttMean, rtt.mean, missing.then(|| mean_at_least(result, timeout))),
            (Metric::RttP50, nanos(rtt.p50), supported(500)),
            (Metric::RttP90, nanos(rtt.p90), supported(900)),
            (Metric::RttP99, nanos(rtt.p99), supported(990)),
            (Metric::RttP999, nanos(rtt.p999), supported(999)),
            (Metric::RttMax, nanos(rtt.max), any),
        ];
        let at_least =
            |metric, low: Option<f64>| low.map(|low| Figure { metric, value: Range { low, high: f64::INFINITY } });
        let rtts = rtts.map(|(metric, known, low)| Figure::known(metric, known).or_else(|| at_least(metric, low)));
        let loaded = rtts[2].filter(|_| self.tcp_load.is_some());
        let loaded = loaded.map(|p50| Figure { metric: Metric::LoadedRtt, ..p50 });
        let goodput = result.load.iter().map(|flow| flow.received.mean_bps()).reduce(f64::min);
        let others = [loaded, Figure::known(Metric::Loss, result.loss()), Figure::known(Metric::GoodputMean, goodput)];
        rtts.into_iter().chain(others).flatten().collect()
    }

    fn conditions_met(&self, result: &LatencyResult) -> Conditions {
        let (frame_size, payload_size) = (Some(result.frame_size), Some(result.payload_size));
        Conditions { frame_size, payload_size, ..Conditions::default() }
    }

    fn check(&self, result: &LatencyResult, seconds: f64) -> Checked {
        packet("spec.frame_size", self.frame_size.0)?;
        check(result)?;
        let messages = result.sent.saturating_add(self.warmup);
        arrived("answered", result.answered, "messages sent", messages)?;
        let lasted = seconds + self.timeout.as_secs_f64();
        fit("rtt_ns", &result.rtt_ns, lasted)?;
        result.pacing.as_ref().map_or(Ok(()), |pacing| pacing_fits(pacing, lasted)).within("pacing")?;
        let load = self.transfer().map_or(seconds, |transfer| transfer.lasted(seconds));
        each("load", &result.load, |flow| goodput::check_flow(flow, load))
    }

    fn sample<'r>(&self, result: &'r LatencyResult) -> Option<Sample<'r>> {
        Some(Sample { name: "rtt_ns", summary: &result.rtt_ns, histogram: &result.histogram })
    }
}

impl LatencyResult {
    /// Share of all messages whose reply did not come in time; `None` where that is not known.
    fn loss(&self) -> Option<f64> {
        let lost = self.lost? + self.late;
        (self.sent > 0).then(|| lost as f64 / self.sent as f64)
    }
}

/// The mean if each reply that came had been the fastest and each missing one had only just been late.
fn mean_at_least(result: &LatencyResult, timeout: f64) -> f64 {
    let n = result.rtt_ns.n as f64;
    let missing = result.missing() as f64;
    let fastest = result.rtt_ns.min.unwrap_or(0) as f64;
    ((n - missing) * fastest + missing * timeout) / n
}

/// Size of the difference between the delays of two packets sent one after the other, in nanoseconds (RFC 5481, section
/// 4.1, IPDV, without its sign).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Variation {
    /// Variation of the round trip.
    pub rtt_ns: TimeSummary,
    /// Variation of the way there; absent without one-way delays.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub forward_ns: Option<TimeSummary>,
    /// Variation of the way back; absent without one-way delays.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reverse_ns: Option<TimeSummary>,
}

/// Delays from program to program, by one clock.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OneWay {
    /// From the near side's send to the far side's receive, in nanoseconds.
    pub forward_ns: TimeSummary,
    /// From the far side's send to the near side's receive, in nanoseconds.
    pub reverse_ns: TimeSummary,
}

/// One part of the round trip.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Stage {
    /// Which.
    pub stage: StageName,
    /// Share of each round trip, in nanoseconds.
    pub time_ns: TimeSummary,
}

/// Parts of the round trip between stamps, in the order a message passes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum StageName {
    /// From the near program's send call to the kernel's handing the frame to the driver.
    NearSend,
    /// From there until the far side's answer is in the near kernel: wire and far side.
    WireAndFar,
    /// From there until the near program has it: waking up and the receive call.
    NearReceive,
}

/// Whether the result of the near side is possible.
pub(super) fn check(result: &LatencyResult) -> Checked {
    counts(&[
        ("sent", result.sent),
        ("lost", result.lost.unwrap_or_default()),
        ("late", result.late),
        ("reordered", result.reordered),
        ("duplicated", result.duplicated),
        ("overflowed", result.overflowed),
        ("answered", result.answered),
        ("far_overflowed", result.far_overflowed),
        ("through_kernel", result.through_kernel.unwrap_or_default()),
        ("segments", result.segments.unwrap_or_default()),
    ])?;
    packet("frame_size", result.frame_size.0)?;
    packet("payload_size", result.payload_size.0)?;
    entries("load", result.load.len(), FLOWS)?;
    if result.missing() > result.rtt_ns.n {
        return refuse("lost and late", format!("{} are more than rtt_ns.n, {}", result.missing(), result.rtt_ns.n));
    }
    no_more_than("rtt_ns.n", result.rtt_ns.n, "sent", result.sent)?;
    times("rtt_ns", &result.rtt_ns)?;
    rate("achieved_pps", result.achieved_pps)?;
    result.intended_pps.map_or(Ok(()), |intended| rate("intended_pps", intended))?;
    result.pacing.as_ref().map_or(Ok(()), pacing).within("pacing")?;
    let variation = &result.variation;
    times("variation.rtt_ns", &variation.rtt_ns)?;
    variation.forward_ns.as_ref().map_or(Ok(()), |way| times("variation.forward_ns", way))?;
    variation.reverse_ns.as_ref().map_or(Ok(()), |way| times("variation.reverse_ns", way))?;
    if let Some(one_way) = &result.one_way {
        times("one_way.forward_ns", &one_way.forward_ns)?;
        times("one_way.reverse_ns", &one_way.reverse_ns)?;
    }
    each("stages", &result.stages, |stage| times("time_ns", &stage.time_ns))?;
    finite("clock_cost_ns", result.clock_cost_ns)?;
    entries("histogram", result.histogram.len(), HISTOGRAM)
}
