//! The JSON document, `wireproof/1`: the same shape for every command that measures. Always in English.

use model::{
    Bed, Doubt, Environment, GoodputResult, GoodputSpec, IpVersion, LatencyResult, LatencySpec, LimitOutcome,
    LimitedBy, Measured, Mtu, PayloadSize, Plan, Protocol, RttSummary, Run, RunId, Trial, Verdict, WaitMode,
    frame_size::FrameSize, trial::CoreUse,
};
use schemars::JsonSchema;
use serde::Serialize;

use crate::{doubts::advice, lang::Lang};

/// A run as JSON.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Document {
    /// Name and version of this shape.
    pub schema: SchemaName,
    /// The run as a whole.
    pub run: RunEntry,
    /// What was asked for, in full.
    pub plan: Plan,
    /// Where it happened, in full.
    pub bed: Bed,
    /// The machines before and after.
    pub environment: Environments,
    /// Each limit of the plan with what follows from it; empty when the plan has none.
    pub limits: Vec<LimitOutcome>,
    /// Each finished measurement, in order.
    pub trials: Vec<TrialEntry>,
}

/// Name and version of the shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub enum SchemaName {
    /// The first version.
    #[serde(rename = "wireproof/1")]
    V1,
}

/// The run as a whole.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct RunEntry {
    /// Its name.
    pub id: RunId,
    /// When it began (RFC 3339).
    pub started: String,
    /// When it ended; null while it runs, or when it was killed.
    pub finished: Option<String>,
    /// Name of the plan.
    pub plan: String,
    /// Name of the bed.
    pub bed: String,
    /// Whether no real wire or card was involved.
    pub simulated: bool,
    /// What all limits say together; null when the plan has none.
    pub verdict: Option<Verdict>,
    /// Whether trials of the plan are missing.
    pub partial: bool,
    /// The command line that repeats it.
    pub command: Vec<String>,
    /// Version and build of the program.
    pub wireproof: String,
    /// What makes all of the run's figures less trustworthy.
    pub doubts: Vec<DoubtEntry>,
}

/// The machines before and after the run.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Environments {
    /// Before the first trial.
    pub before: Environment,
    /// After the last trial; null when the run did not get there.
    pub after: Option<Environment>,
    /// What differs between the two, in words.
    pub differences: Vec<String>,
}

/// One reason to trust a figure less, with what to do.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct DoubtEntry {
    /// The doubt: its kind and the numbers that belong to it.
    #[serde(flatten)]
    pub doubt: Doubt,
    /// What it means and what to do about it.
    pub advice: String,
}

/// One finished measurement.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct TrialEntry {
    /// Counts from 1 within the run.
    pub number: u32,
    /// In which repeat of the plan, from 1.
    pub repeat: u32,
    /// When it began (RFC 3339).
    pub started: String,
    /// The endpoint that sends first.
    pub endpoint_from: String,
    /// The endpoint that answers or receives.
    pub endpoint_to: String,
    /// How long the counted part took, in seconds.
    pub duration_s: f64,
    /// Cores the two ends were pinned to (sender, receiver); null where not pinned.
    pub cpus: [Option<usize>; 2],
    /// What set the figure; null where it is not known.
    pub limited_by: Option<LimitedBy>,
    /// What makes the figures less trustworthy.
    pub doubts: Vec<DoubtEntry>,
    /// The probe, its parameters and figures.
    #[serde(flatten)]
    pub figures: Figures,
}

/// The probe, its parameters and figures.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "probe", rename_all = "lowercase")]
pub enum Figures {
    /// Round-trip time by ping-pong.
    Latency(LatencyFigures),
    /// Bulk data one way.
    Goodput(GoodputFigures),
}

/// Whose network stack carried the packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Stack {
    /// The kernel's.
    Kernel,
}

/// Parameters and figures of a ping-pong.
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
    /// Size of each frame with FCS, in bytes.
    pub frame_size: FrameSize,
    /// Bytes in each message.
    pub payload_size: PayloadSize,
    /// Whether TCP segments carried timestamps, 12 bytes each.
    pub tcp_timestamps: bool,
    /// Round trips made first and not counted.
    pub warmup: u64,
    /// After how long a reply counts as late, in nanoseconds.
    pub timeout_ns: u64,
    /// Messages sent, warm-up not counted.
    pub sent: u64,
    /// Replies that never came.
    pub lost: u64,
    /// Replies that came after the timeout.
    pub late: u64,
    /// Replies that came after the reply to a later message.
    pub reordered: u64,
    /// Round-trip times in nanoseconds, as far as the sample carries them.
    pub rtt_ns: RttSummary,
    /// Messages a second that the schedule asked for; null for ping-pong, where each reply triggers the next message.
    pub intended_pps: Option<f64>,
    /// Round trips a second that were made.
    pub achieved_pps: f64,
    /// What reading the clock once costs, in nanoseconds.
    pub clock_cost_ns: f64,
    /// The whole sample: HDR histogram in nanoseconds, V2 encoding, base64.
    pub rtt_histogram: String,
}

/// Parameters and figures of bulk data one way.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct GoodputFigures {
    /// TCP.
    pub protocol: Protocol,
    /// IP version.
    pub ip: IpVersion,
    /// Whose network stack.
    pub stack: Stack,
    /// Connections at the same time.
    pub streams: u16,
    /// MTU of the sending interface, in bytes.
    pub mtu: Mtu,
    /// Payload that arrived, in bit/s.
    pub goodput_bps: GoodputBps,
    /// Payload that the sender gave to its sockets, in bit/s.
    pub sent_bps: f64,
    /// Goodput of each second, in bit/s.
    pub intervals: Vec<f64>,
    /// Payload bytes that arrived.
    pub received_bytes: u64,
    /// Payload bytes that the sender gave to its sockets.
    pub sent_bytes: u64,
    /// Segments sent again.
    pub retransmits: u64,
    /// Messages lost; null for TCP, which delivers all or fails.
    pub lost: Option<u64>,
    /// Warm-up left out, in seconds.
    pub warmup_s: f64,
    /// How busy each core was, in percent, in the order of `cores`.
    pub cpu: Vec<f64>,
    /// What each core was busy with.
    pub cores: Vec<CoreUse>,
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

impl Document {
    /// The document of a run, with what its limits say.
    pub fn of(run: &Run, outcomes: &[LimitOutcome]) -> Self {
        Self {
            schema: SchemaName::V1,
            run: run_entry(run, outcomes),
            plan: run.plan.clone(),
            bed: run.bed.clone(),
            environment: Environments {
                before: run.before.clone(),
                after: run.after.clone(),
                differences: run.after.as_ref().map_or(vec![], |after| run.before.differences(after)),
            },
            limits: outcomes.to_vec(),
            trials: run.trials.iter().map(trial_entry).collect(),
        }
    }
}

/// The JSON Schema of [`Document`].
pub fn schema() -> serde_json::Value {
    schemars::schema_for!(Document).to_value()
}

fn run_entry(run: &Run, outcomes: &[LimitOutcome]) -> RunEntry {
    RunEntry {
        id: run.id.clone(),
        started: run.started.clone(),
        finished: run.finished.clone(),
        plan: run.plan.name.clone(),
        bed: run.bed.name.clone(),
        simulated: run.bed.simulated,
        verdict: verdict::overall(outcomes),
        partial: run.partial,
        command: run.command.clone(),
        wireproof: run.wireproof.clone(),
        doubts: run.doubts.iter().map(doubt_entry).collect(),
    }
}

fn doubt_entry(doubt: &Doubt) -> DoubtEntry {
    DoubtEntry { doubt: doubt.clone(), advice: advice(doubt, Lang::En) }
}

fn trial_entry(trial: &Trial) -> TrialEntry {
    TrialEntry {
        number: trial.number,
        repeat: trial.repeat,
        started: trial.started.clone(),
        endpoint_from: trial.endpoint_from.clone(),
        endpoint_to: trial.endpoint_to.clone(),
        duration_s: trial.duration_s,
        cpus: trial.cpus,
        limited_by: trial.limited_by.clone(),
        doubts: trial.doubts.iter().map(doubt_entry).collect(),
        figures: match &trial.measured {
            Measured::Latency { spec, result } => Figures::Latency(latency_figures(spec, result)),
            Measured::Goodput { spec, result } => Figures::Goodput(goodput_figures(spec, result)),
        },
    }
}

fn latency_figures(spec: &LatencySpec, result: &LatencyResult) -> LatencyFigures {
    LatencyFigures {
        protocol: spec.protocol,
        ip: spec.ip,
        stack: Stack::Kernel,
        mode: spec.mode,
        frame_size: spec.frame_size,
        payload_size: result.payload_size,
        tcp_timestamps: result.tcp_timestamps,
        warmup: spec.warmup,
        timeout_ns: spec.timeout.0,
        sent: result.sent,
        lost: result.lost,
        late: result.late,
        reordered: result.reordered,
        rtt_ns: result.rtt_ns.clone(),
        intended_pps: None,
        achieved_pps: result.achieved_pps,
        clock_cost_ns: result.clock_cost_ns,
        rtt_histogram: result.histogram.clone(),
    }
}

fn goodput_figures(spec: &GoodputSpec, result: &GoodputResult) -> GoodputFigures {
    let seconds = || result.intervals_bps.iter().copied();
    GoodputFigures {
        protocol: spec.protocol,
        ip: spec.ip,
        stack: Stack::Kernel,
        streams: spec.streams,
        mtu: result.mtu,
        goodput_bps: GoodputBps {
            mean: result.mean_bps,
            max: seconds().reduce(f64::max),
            min: seconds().reduce(f64::min),
        },
        sent_bps: result.sent_bps,
        intervals: result.intervals_bps.clone(),
        received_bytes: result.received_bytes,
        sent_bytes: result.sent_bytes,
        retransmits: result.retransmits,
        lost: None,
        warmup_s: result.warmup_s,
        cpu: result.cpu.iter().map(|core| core.busy).collect(),
        cores: result.cpu.clone(),
    }
}
