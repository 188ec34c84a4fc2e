//! Tests of RFC 2544 (IPv4), RFC 5180 (IPv6), RFC 9004 (back-to-back frames) and RFC 6201 (reset) on a device under test.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    choice::choice,
    frame_size::FrameSize,
    modifier::Modifier,
    probe::{PacketsSpec, ProbeSpec},
    search::{AssessedGoal, AssessedSearch, Goal, SearchMethod, least_load},
    stream::{Load, Rate, Sizes, Stream},
    units::{Nanos, PacketRate},
};

choice!(
    /// A test of a device.
    Rfc2544Test, "a test of RFC 2544", {
        /// The highest load without loss (26.1).
        Throughput = "throughput",
        /// Time on the way at the throughput (26.2).
        Latency = "latency",
        /// Loss at loads from the highest down (26.3).
        Loss = "loss",
        /// The longest burst at the highest load without loss (26.4, RFC 9004).
        BackToBack = "back-to-back",
        /// Time from the end of an overload to the last lost frame (26.5).
        Recovery = "recovery",
        /// Time without forwarding while the device is reset (26.6, RFC 6201).
        Reset = "reset",
    }
);

impl Rfc2544Test {
    /// Tests that need nobody at the device, in the order in which they are made.
    pub const ALONE: [Self; 5] = [Self::Throughput, Self::Latency, Self::Loss, Self::BackToBack, Self::Recovery];
}

/// Name of the stream that goes on after an overload.
pub const STEADY: &str = "steady";

/// Name of the stream whose end ends an overload.
pub const OVERLOAD: &str = "overload";

/// Name of the stream during which the device is reset.
pub const RESET: &str = "reset";

/// Whether the device is reset during this measurement.
pub fn is_reset(spec: &ProbeSpec) -> bool {
    streams(spec).iter().any(|stream| stream.name == RESET)
}

/// Condition of section 11 under which a test is made.
pub fn modifier(spec: &ProbeSpec) -> Option<Modifier> {
    spec.of::<PacketsSpec>()?.modifier
}

/// The streams that a test sends: its probe is numbered packets.
pub fn streams(spec: &ProbeSpec) -> &[Stream] {
    spec.of::<PacketsSpec>().map_or(&[], |spec| &spec.streams)
}

/// Time in which the load rises before its frames count.
pub fn ramp(spec: &ProbeSpec) -> Nanos {
    spec.of::<PacketsSpec>().map(PacketsSpec::ramp).unwrap_or_default()
}

/// The same without a ramp.
pub fn at_once(spec: &ProbeSpec) -> ProbeSpec {
    spec.of::<PacketsSpec>().map_or_else(|| spec.clone(), |spec| spec.at_once().into())
}

/// The same with these streams in the place of its own: their names, packets a second, and times.
pub fn with_streams(spec: &ProbeSpec, streams: &[(&str, u64, Option<Nanos>)], duration: Nanos) -> Option<ProbeSpec> {
    let spec = spec.of::<PacketsSpec>()?;
    let own = spec.streams.first()?;
    let stream = |(name, pps, time): &(&str, u64, Option<Nanos>)| {
        let load = Load { rate: Rate::Packets(PacketRate(*pps)), time: *time, after: None, ..own.load };
        Stream { name: (*name).to_owned(), load, ..own.clone() }
    };
    Some(PacketsSpec { streams: streams.iter().map(stream).collect(), duration, ..spec.clone() }.into())
}

/// Frame sizes for Ethernet, with FCS (RFC 2544, section 9.1; RFC 5180, section 5.1).
pub const FRAME_SIZES: [u32; 7] = [64, 128, 256, 512, 1024, 1280, 1518];

/// Tests as a plan asks for them, at each frame size.
#[derive(Clone, Debug, PartialEq)]
pub struct PlannedRfc2544 {
    /// The tests, each once.
    pub tests: Vec<Rfc2544Test>,
    /// The way to search for the throughput.
    pub search: SearchMethod,
    /// Goals of that search; the first one gives the throughput of the other tests.
    pub goals: Vec<Goal>,
    /// Lowest load of the search, as a share of the highest.
    pub lowest: f64,
    /// Duration of each trial of the loss test.
    pub duration: Nanos,
    /// Duration of each trial of the latency test.
    pub latency_duration: Nanos,
    /// Trials of the latency test.
    pub latency_repeats: u32,
    /// Loads of one more trial each, as shares of the throughput.
    pub latency_loads: Vec<f64>,
    /// Bursts that are searched for.
    pub burst_repeats: u32,
    /// Duration of the longest burst.
    pub longest_burst: Nanos,
    /// Overloads of the recovery test.
    pub recovery_repeats: u32,
    /// Duration of the trial in which the device is reset.
    pub reset_duration: Nanos,
}

impl PlannedRfc2544 {
    /// Whether a test is asked for.
    pub fn has(&self, test: Rfc2544Test) -> bool {
        self.tests.contains(&test)
    }

    /// Whether the throughput is searched for: by itself, or for tests that rest on it.
    pub fn is_searched(&self) -> bool {
        let rests_on_none = |test: &Rfc2544Test| matches!(test, Rfc2544Test::Loss | Rfc2544Test::BackToBack);
        !self.tests.iter().all(rests_on_none)
    }

    /// The search alone, as the tester makes it without the device.
    pub fn search_alone(&self) -> Self {
        Self { tests: vec![Rfc2544Test::Throughput], ..self.clone() }
    }

    /// Lowest load of a search up to this one.
    pub fn min(&self, max: u64) -> u64 {
        let share = (max as f64 * self.lowest).ceil() as u64;
        share.max(least_load(&self.goals)).min(max)
    }
}

/// Results of one section of a plan in one repeat.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Rfc2544 {
    /// The section, like `rfc2544.1`.
    pub section: String,
    /// The repeat of the plan, from 1.
    pub repeat: u32,
    /// Differences to the RFC.
    pub deviations: Vec<Deviation>,
    /// Filters that the device had in some of the tests, as nft reads them: one set for each IP version and number.
    pub filters: Vec<String>,
    /// Each frame size, in the order of the plan.
    pub sizes: Vec<TestedSize>,
}

/// Results at one frame size, under one modifier or none.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct TestedSize {
    /// Size of the frames as they were asked for, with FCS; null for a mix of sizes.
    pub frame_size: Option<FrameSize>,
    /// The mix of sizes, like `imix`; null for one size.
    pub mix: Option<Sizes>,
    /// Condition of section 11 under which the tests were made; null for none.
    pub modifier: Option<Modifier>,
    /// Size of the frames as they were sent, of a mix the mean; null where none was.
    pub sent_size: Option<FrameSize>,
    /// Highest load of the tests, in frames a second each way: that of the plan, or what the sender reached.
    pub max_pps: f64,
    /// The most that the link carries of such frames each way, in frames a second; null where its rate is not known.
    pub line_pps: Option<f64>,
    /// Cores of the device under test; null where they are not known.
    pub dut_cores: Option<usize>,
    /// The search for the throughput; `None` without one.
    #[serde(skip)]
    pub search: Option<AssessedSearch>,
    /// Each goal of the search for the throughput, with its result; empty where it was not searched for.
    pub goals: Vec<AssessedGoal>,
    /// Whether a load failed the first goal and a higher one upheld it: the device changed with time, or its loss is chance.
    pub is_contradictory: bool,
    /// Highest load that the tester upheld without the device; null where it was not measured first.
    pub tester_pps: Option<f64>,
    /// Whether the tester alone reaches the loads that bound the throughput, so that these are the device's; null as above.
    pub is_vouched: Option<bool>,
    /// The longest trial at the throughput; null where there is none.
    pub throughput: Option<AtThroughput>,
    /// Time on the way at the throughput, for each direction.
    pub latency: Vec<TestedLatency>,
    /// Time on the way at shares of the throughput, for each direction.
    pub latency_loads: Vec<LatencyAtLoad>,
    /// Loss at loads from the highest down.
    pub loss: Vec<TestedLoss>,
    /// Bursts at the highest load; null where none was sent.
    pub back_to_back: Option<BackToBack>,
    /// Overloads, and how the device came out of them; null where there was none.
    pub recovery: Option<Recovery>,
    /// The reset of the device; null where it was not tested.
    pub reset: Option<Reset>,
}

/// Overloads, each followed by half the load (RFC 2544, section 26.5).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Recovery {
    /// The overload, in frames a second each way.
    pub overload_pps: f64,
    /// The load after it.
    pub after_pps: f64,
    /// Duration of each of the two, in seconds.
    pub seconds: f64,
    /// Trials whose sender reached the loads and whose last lost frame is known.
    pub trials: usize,
    /// Trials that lost frames in the overload: the others did not overload the device.
    pub overloaded: usize,
    /// Trials that still lost frames at their end.
    pub not_recovered: usize,
    /// Time from the drop to the last lost frame, in seconds, averaged over the trials that recovered; null without any.
    pub mean_s: Option<f64>,
    /// The longest of them.
    pub max_s: Option<f64>,
}

/// Time without forwarding while the device was reset (RFC 6201).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Reset {
    /// Number of the trial.
    pub trial: u32,
    /// Load during the reset, in frames a second each way.
    pub load_pps: f64,
    /// Whether frames were lost at all: otherwise nothing was reset while the trial lasted.
    pub is_seen: bool,
    /// Whether frames came again before the trial ended.
    pub is_back: bool,
    /// Missing frames divided by the load, in seconds (section 4.1.1, frame loss method); null where the receiver does not know them.
    pub by_loss_s: Option<f64>,
    /// Longest time between two frames that came, in seconds (section 4.1.2, timestamp method); null where it was not measured.
    pub by_time_s: Option<f64>,
}

/// A trial at the throughput.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct AtThroughput {
    /// Number of the trial.
    pub trial: u32,
    /// The throughput: frames a second each way.
    pub load_pps: f64,
    /// Frames a second that were forwarded, all directions together, each frame counted once.
    pub forwarded_pps: f64,
    /// Bits a second that were forwarded on layer 1, all directions together, each frame counted once.
    pub forwarded_l1_bps: f64,
    /// Frames that the trial sent, all directions together. A device that loses one in more of them may lose none in it.
    pub frames: u64,
    /// Frames of them that did not arrive. None is no bound of the loss rate, as the search chose the trial by its result.
    pub lost: u64,
    /// Whether a higher load was shown to fail; otherwise the device may forward more.
    pub is_bounded: bool,
    /// Rates at each port of the tester.
    pub ports: Vec<PortRates>,
}

/// Rates at a port of the tester; bits on layer 1: with preamble, start delimiter and gap.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct PortRates {
    /// The port.
    pub port: String,
    /// Frames a second that it sent.
    pub tx_pps: f64,
    /// Frames a second that it received.
    pub rx_pps: f64,
    /// Bits a second that it sent.
    pub tx_l1_bps: f64,
    /// Bits a second that it received.
    pub rx_l1_bps: f64,
}

/// Time on the way at the throughput, in nanoseconds.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct TestedLatency {
    /// The sending end.
    pub from: String,
    /// The receiving end.
    pub to: String,
    /// Load of the trials, in frames a second each way.
    pub load_pps: f64,
    /// Trials that have times.
    pub trials: usize,
    /// Smallest time of all trials; null where a trial does not know it.
    pub min_ns: Option<u64>,
    /// Average over the trials of the mean of each.
    pub mean_ns: Option<f64>,
    /// Median of each trial.
    pub medians_ns: Vec<f64>,
    /// Median over the trials of the median of each.
    pub p50_ns: Option<f64>,
    /// Median over the trials of the 90th percentile of each.
    pub p90_ns: Option<f64>,
    /// Median over the trials of the 99th percentile of each.
    pub p99_ns: Option<f64>,
    /// Median over the trials of the 99.9th percentile of each.
    pub p999_ns: Option<f64>,
    /// Largest time of all trials.
    pub max_ns: Option<u64>,
}

/// Time on the way at a share of the throughput.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct LatencyAtLoad {
    /// The load as a share of the throughput.
    pub share: f64,
    /// The times.
    #[serde(flatten)]
    pub latency: TestedLatency,
}

/// Loss at one load.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct TestedLoss {
    /// Number of the trial.
    pub trial: u32,
    /// The load as a share of the highest.
    pub share: f64,
    /// Frames a second that were offered each way.
    pub offered_pps: f64,
    /// Share of the frames sent that did not arrive.
    pub loss_ratio: f64,
}

/// Bursts at the highest load (RFC 9004).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct BackToBack {
    /// Rate at which the bursts were sent, in frames a second each way.
    pub rate_pps: f64,
    /// Bursts that were searched for.
    pub repeats: usize,
    /// Whether the longest burst of the test had no loss, and ended the test: a limit would lie above it.
    pub is_unlimited: bool,
    /// Frames sent in the longest burst without loss, averaged over the repeats.
    pub mean_frames: f64,
    /// The shortest of them.
    pub min_frames: u64,
    /// The longest of them.
    pub max_frames: u64,
    /// Their standard deviation.
    pub deviation_frames: f64,
    /// Time that the device's buffer holds at this rate, in seconds, corrected by the frames that it forwards meanwhile (RFC 9004,
    /// section 5.4); null without a limit, or without a throughput below this rate that allows no loss.
    pub buffer_s: Option<f64>,
}

/// A difference to RFC 2544.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Deviation {
    /// There is no device between the ends: the tester was measured.
    NoDevice,
    /// The bed is simulated: there is no link with a rate of its own.
    Simulated,
    /// The sender's cores did the forwarding and receiving too, so that nothing could be overrun: no loss says nothing of the device.
    SynchronousLoop,
    /// Full-length trials of the throughput are shorter than 60 s.
    ShortTrials {
        /// Their duration.
        duration: Nanos,
    },
    /// Trials of the throughput may lose frames.
    LossAllowed {
        /// Share that a trial may lose.
        loss_ratio: f64,
        /// Share of the trials that may lose more.
        exceed_ratio: f64,
    },
    /// Trials of the loss test are shorter than 60 s.
    ShortLossTrials {
        /// Their duration.
        duration: Nanos,
    },
    /// Trials of the latency test are shorter than 120 s.
    ShortLatencyTrials {
        /// Their duration.
        duration: Nanos,
    },
    /// The latency test has fewer than 20 trials.
    FewLatencyTrials {
        /// Their number.
        trials: u32,
    },
    /// The times of many frames of a trial are averaged, in the place of one tagged frame after 60 s.
    ManyFramesTimed,
    /// Fewer than 50 bursts were searched for, at one frame size or more.
    FewBursts {
        /// Their smallest number.
        bursts: u32,
    },
    /// The longest burst is shorter than 2 s.
    ShortBursts {
        /// Duration.
        duration: Nanos,
    },
    /// Overloads last less than 60 s.
    ShortOverloads {
        /// Their duration.
        duration: Nanos,
    },
    /// The overload of the recovery test is no load that the device was shown to fail at.
    NoOverload,
    /// Trials begin with a rising load whose frames do not count.
    Ramp {
        /// Time of the rise.
        duration: Nanos,
    },
    /// No section of the plan goes to 256 networks.
    FewNetworks {
        /// Networks that this one goes to.
        networks: u16,
    },
    /// Modifiers of section 11 were not tested. Management queries never are.
    FewModifiers {
        /// The others of them.
        missing: Vec<Modifier>,
    },
    /// Frame sizes of the RFC are missing.
    FewSizes {
        /// Sizes of the RFC that were tested.
        tested: usize,
        /// Sizes of the RFC.
        of: usize,
    },
    /// The sender did not reach the highest load of the plan: the tests took what it reached for the highest load.
    SenderLimited,
    /// The highest load is below what the link carries, at one frame size or more.
    BelowLine,
    /// After a trial 200 ms without a frame are waited for, in the place of 2 s for the last frames and 5 s for the device (section 23).
    ShortWaits,
}
