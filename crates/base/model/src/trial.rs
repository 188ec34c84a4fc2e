//! One finished measurement: its figures, its raw sample, and what makes it less trustworthy.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    doubt::Doubt,
    frame_size::PayloadSize,
    probe::{GoodputSpec, LatencySpec, ProbeSpec},
    units::Mtu,
};

/// One finished measurement between two endpoints.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Trial {
    /// Counts from 1 within the run.
    pub number: u32,
    /// In which repeat of the plan, from 1.
    pub repeat: u32,
    /// When it began (RFC 3339).
    pub started: String,
    /// How long the counted part took, in seconds.
    pub duration_s: f64,
    /// The endpoint that sends first.
    pub endpoint_from: String,
    /// The endpoint that answers or receives.
    pub endpoint_to: String,
    /// CPUs the two ends were pinned to (sender, receiver); `None` where not pinned.
    pub cpus: [Option<usize>; 2],
    /// What was measured, and the figures.
    pub measured: Measured,
    /// What set the figure, where it is known.
    pub limited_by: Option<LimitedBy>,
    /// What makes the figures less trustworthy.
    pub doubts: Vec<Doubt>,
}

/// The probe with its parameters and its figures.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "probe", rename_all = "lowercase")]
pub enum Measured {
    /// Round-trip time.
    Latency {
        /// What was asked for.
        spec: LatencySpec,
        /// What came out.
        result: LatencyResult,
    },
    /// Goodput.
    Goodput {
        /// What was asked for.
        spec: GoodputSpec,
        /// What came out.
        result: GoodputResult,
    },
}

/// The place that set a figure, with the evidence read from counters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LimitedBy {
    /// The place, like `receiver CPU`.
    pub place: String,
    /// What was read that shows it.
    pub evidence: String,
}

/// Figures of a ping-pong.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LatencyResult {
    /// Bytes in each message.
    pub payload_size: PayloadSize,
    /// Whether TCP segments carried timestamps, which take 12 bytes of each frame (read from the connection).
    pub tcp_timestamps: bool,
    /// Messages sent, warm-up not counted.
    pub sent: u64,
    /// Replies that never came.
    pub lost: u64,
    /// Replies that came after the timeout.
    pub late: u64,
    /// Replies that came after the reply to a later message.
    pub reordered: u64,
    /// Round-trip times in nanoseconds; lost and late replies count as over the timeout.
    pub rtt_ns: RttSummary,
    /// Round trips per second that were made.
    pub achieved_pps: f64,
    /// What reading the clock once costs, in nanoseconds (two readings are inside each round trip).
    pub clock_cost_ns: f64,
    /// The whole sample: HDR histogram in nanoseconds, V2 encoding, base64.
    pub histogram: String,
}

/// What a sample of round-trip times supports. A percentile p is there only if n(1-p) ≥ 10; mean and maximum only if
/// no reply is missing, because they are unknown otherwise.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RttSummary {
    /// Size of the sample, lost and late replies included.
    pub n: u64,
    /// Smallest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min: Option<u64>,
    /// Arithmetic mean.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mean: Option<f64>,
    /// Median.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p50: Option<u64>,
    /// 90th percentile.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p90: Option<u64>,
    /// 99th percentile.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p99: Option<u64>,
    /// 99.9th percentile.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p999: Option<u64>,
    /// Largest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max: Option<u64>,
}

/// Figures of a bulk transfer, counted where the data arrived.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GoodputResult {
    /// MTU of the sending interface.
    pub mtu: Mtu,
    /// Payload bytes that arrived in the counted time.
    pub received_bytes: u64,
    /// Payload bytes given to the sender's sockets in the counted time.
    pub sent_bytes: u64,
    /// Goodput of each whole second, in bit/s.
    pub intervals_bps: Vec<f64>,
    /// Goodput over all counted time, in bit/s.
    pub mean_bps: f64,
    /// What the sender gave to its sockets, in bit/s.
    pub sent_bps: f64,
    /// TCP segments sent again, warm-up included.
    pub retransmits: u64,
    /// How long the warm-up was that is left out, in seconds.
    pub warmup_s: f64,
    /// Each core over the counted time.
    pub cpu: Vec<CoreUse>,
}

/// What a goodput receiver counted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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
}

/// What a goodput sender counted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GoodputSent {
    /// Payload bytes given to the sockets in the counted time.
    pub counted_bytes: u64,
    /// The counted time as it really was, in seconds.
    pub counted_s: f64,
    /// Payload bytes given to the sockets in all, warm-up included.
    pub total_bytes: u64,
    /// TCP segments sent again, warm-up included.
    pub retransmits: u64,
}

/// Use of one core over a trial, in percent of its time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CoreUse {
    /// Number of the core.
    pub cpu: usize,
    /// All but idle and waiting for disks.
    pub busy: f64,
    /// In soft interrupts, where the kernel receives packets.
    pub softirq: f64,
    /// Taken by the hypervisor for somebody else.
    pub steal: f64,
}

impl Measured {
    /// The probe with its parameters.
    pub fn spec(&self) -> ProbeSpec {
        match self {
            Self::Latency { spec, .. } => ProbeSpec::Latency(spec.clone()),
            Self::Goodput { spec, .. } => ProbeSpec::Goodput(spec.clone()),
        }
    }
}
