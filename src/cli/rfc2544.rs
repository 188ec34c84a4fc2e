//! Options of the command about RFC 2544.

use std::{num::NonZeroU32, path::PathBuf};

use clap::{Args, Subcommand, ValueEnum};
use model::{
    Direction, Engine, IpVersion, Modifier, Nanos, Plan, RunId,
    plan::{Ladder, PlanError},
    rfc2544::Rfc2544Test,
    search::SearchMethod,
    stream::Sizes,
};

use super::{
    numbers::from_to,
    probes::{Known, each, some},
};

/// Its plan, and how the shared options change that.
pub(crate) const KNOWN: Known = Known {
    name: "rfc2544",
    plan: include_str!("../../plans/rfc2544.toml"),
    sizes: |sizes, plan| {
        each("--frame-sizes", "rfc2544", some(sizes), &mut plan.rfc2544, |item, sizes| {
            item.frame_sizes = sizes.to_vec()
        })
    },
    duration: |options, plan| {
        each("--duration", "rfc2544", options.duration, &mut plan.rfc2544, |item, duration| item.duration = *duration)
    },
    refused: &["count", "streams", "histogram"],
};

/// Actions on trials of a device.
#[derive(Debug, Subcommand)]
pub(crate) enum Rfc2544Action {
    /// Classify recorded trials by RFC 9971: for each goal, each load as lower bound, upper bound or undecided, the relevant
    /// bounds and the conditional throughput.
    Classify(ClassifyOptions),
    /// One table of the throughputs of stored runs: device, frame size, cores, rates of each port and the sums.
    Table(TableOptions),
}

/// Tests of a device.
#[derive(Clone, Debug, Args)]
pub(crate) struct Rfc2544Options {
    /// Tests, like throughput,loss: throughput, latency, loss, back-to-back, recovery, reset (default: all but reset).
    #[arg(long, value_delimiter = ',', value_name = "TESTS")]
    tests: Vec<Rfc2544Test>,
    /// Highest load each way, best that of the link, like "10 Gbit/s L1" or "14 Mpps"; or the lowest and the highest, like
    /// "10 kpps..1 Mpps" (default: "10 Gbit/s L1").
    #[arg(long, allow_hyphen_values = true, value_name = "LOAD")]
    rate: Option<Ladder>,
    /// How the throughput is searched for: mlr (RFC 9971) or binary (default: mlr).
    #[arg(long, value_name = "WAY")]
    search: Option<SearchMethod>,
    /// File of goals for the search, as for "rfc2544 classify" (default: no loss in a trial of --duration).
    #[arg(long, value_name = "FILE.toml")]
    pub(crate) goals: Option<PathBuf>,
    /// 4 or 6 (default: 4).
    #[arg(long)]
    ip: Option<IpVersion>,
    /// Directions at the same time: one or both (default: one).
    #[arg(long, value_parser = directions, value_name = "HOW MANY")]
    directions: Option<Direction>,
    /// Duration of each latency trial (default: 120 s).
    #[arg(long, allow_hyphen_values = true, value_name = "TIME")]
    latency_duration: Option<Nanos>,
    /// Number of latency trials (default: 20).
    #[arg(long, allow_negative_numbers = true, value_parser = from_to(1_u32..=1_000), value_name = "COUNT")]
    latency_repeats: Option<u32>,
    /// Number of bursts that are searched for (default: 50).
    #[arg(long, allow_negative_numbers = true, value_parser = from_to(1_u32..=1_000), value_name = "COUNT")]
    burst_repeats: Option<u32>,
    /// Number of overloads of the recovery test (default: 3).
    #[arg(long, allow_negative_numbers = true, value_parser = from_to(1_u32..=1_000), value_name = "COUNT")]
    recovery_repeats: Option<u32>,
    /// Duration of the trial in which the device is reset (default: 120 s).
    #[arg(long, allow_hyphen_values = true, value_name = "TIME")]
    reset_duration: Option<Nanos>,
    /// Shell command that resets the device, run with the rights of the calling user a second after frames began to flow
    /// (default: you are asked to reset it by hand).
    #[arg(long, value_name = "COMMAND")]
    pub(crate) reset_by: Option<String>,
    /// Time in which the load of each trial of throughput, latency and loss rises before its frames count (default: none, the
    /// full load at once).
    #[arg(long, allow_hyphen_values = true, value_name = "TIME")]
    ramp: Option<Nanos>,
    /// Destination networks that the frames go to, 1 to 256; the device needs a route to each (default: 1).
    #[arg(long, allow_negative_numbers = true, value_parser = from_to(1_u16..=256), value_name = "COUNT")]
    networks: Option<u16>,
    /// Conditions of RFC 2544, section 11, under which all tests are made again: broadcast (1 % of the frames), 1-filter, 25-filters (at
    /// the device of lab:router or lab:bridge), route-updates (at that of lab:router or lab:xdp-router).
    #[arg(long, value_delimiter = ',', value_parser = modifier, value_name = "MODIFIERS")]
    modifiers: Vec<Modifier>,
    /// Test a mix of frame sizes too, after the frame sizes: sizes that the frames have in turn, like "64, 128, 1518" or
    /// "genome aaafg" (RFC 6985).
    #[arg(long, value_name = "SIZES")]
    sizes: Option<Sizes>,
    /// The same with the simple Internet mix: 7 frames of 64 bytes, 4 of 594, 1 of 1518.
    #[arg(long, conflicts_with = "sizes")]
    imix: bool,
    /// Number of flows that the packets rotate through, up to 1000000 (default: 1).
    #[arg(long, allow_negative_numbers = true, value_parser = from_to(1_u32..=1_000_000))]
    flows: Option<u32>,
    /// Random ports of the flows (RFC 4814).
    #[arg(long)]
    random_ports: bool,
    /// Packet engine: live, xsk, af_packet, udp or pktgen (default: the best one that works).
    #[arg(long)]
    engine: Option<Engine>,
}

/// The queries that section 11.2 asks for are refused with the reason.
fn modifier(text: &str) -> Result<Modifier, String> {
    match text {
        "management" => Err("management queries (RFC 2544, section 11.2) go by SNMP to an agent of the device, and wireproof has no SNMP; leave it out: the report names it among the modifiers that were not tested"
            .to_owned()),
        _ => text.parse().map_err(|error: model::ChoiceError| error.to_string()),
    }
}

fn directions(text: &str) -> Result<Direction, String> {
    match text {
        "one" => Ok(Direction::Forward),
        "both" => Ok(Direction::Both),
        _ => Err("write one or both".to_owned()),
    }
}

impl Rfc2544Options {
    /// Changes the tests of the plan. Goals are read later.
    pub(crate) fn apply(&self, plan: &mut Plan) -> Result<(), PlanError> {
        let items = &mut plan.rfc2544;
        let count = |count: Option<u32>| count.and_then(NonZeroU32::new);
        each("--tests", "rfc2544", some(&self.tests), items, |item, tests| item.tests = tests.to_vec())?;
        each("--rate", "rfc2544", self.rate.clone(), items, |item, rate| item.rate = rate.clone())?;
        each("--search", "rfc2544", self.search, items, |item, search| item.search = *search)?;
        each("--ip", "rfc2544", self.ip, items, |item, ip| item.ip = *ip)?;
        each("--directions", "rfc2544", self.directions, items, |item, direction| item.direction = *direction)?;
        each("--latency-duration", "rfc2544", self.latency_duration, items, |item, duration| {
            item.latency_duration = *duration;
        })?;
        each("--latency-repeats", "rfc2544", count(self.latency_repeats), items, |item, count| {
            item.latency_repeats = *count;
        })?;
        each("--burst-repeats", "rfc2544", count(self.burst_repeats), items, |item, count| {
            item.burst_repeats = *count;
        })?;
        each("--recovery-repeats", "rfc2544", count(self.recovery_repeats), items, |item, count| {
            item.recovery_repeats = *count;
        })?;
        each("--reset-duration", "rfc2544", self.reset_duration, items, |item, duration| {
            item.reset_duration = *duration;
        })?;
        each("--networks", "rfc2544", self.networks, items, |item, networks| item.networks = *networks)?;
        each("--ramp", "rfc2544", self.ramp, items, |item, ramp| item.ramp = Some(*ramp))?;
        each("--modifiers", "rfc2544", some(&self.modifiers), items, |item, all| item.modifiers = all.to_vec())?;
        let sizes = if self.imix { Some(Sizes::Imix) } else { self.sizes.clone() };
        each("--sizes", "rfc2544", sizes, items, |item, sizes| item.sizes = Some(sizes.clone()))?;
        each("--flows", "rfc2544", count(self.flows), items, |item, flows| item.flows = *flows)?;
        let random = self.random_ports.then_some(());
        each("--random-ports", "rfc2544", random, items, |item, ()| item.random_ports = true)?;
        each("--engine", "rfc2544", self.engine, items, |item, engine| item.engine = Some(*engine))
    }
}

/// Runs whose throughputs stand in one table.
#[derive(Clone, Debug, Args)]
pub(crate) struct TableOptions {
    /// Runs: a name, its beginning, or "last".
    #[arg(required = true, value_name = "RUN")]
    pub(crate) runs: Vec<RunId>,
    /// Form of the table in the place of plain text: md or csv.
    #[arg(long, value_enum, value_name = "FORM", conflicts_with = "json")]
    pub(crate) format: Option<TableFormat>,
}

/// A form of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TableFormat {
    /// Markdown, for wikis and issues.
    Md,
    /// For a spreadsheet.
    Csv,
}

/// Trials to classify, and goals to classify them by.
#[derive(Clone, Debug, Args)]
pub(crate) struct ClassifyOptions {
    /// File of goals: TOML tables named goal, each with name, final_trial_duration, duration_sum, loss_ratio, exceed_ratio and
    /// width.
    #[arg(long, value_name = "FILE.toml")]
    pub(crate) goals: PathBuf,
    /// File of trials: CSV with the columns load, duration (in seconds) and loss_ratio.
    #[arg(long, value_name = "FILE.csv", required_unless_present = "run", conflicts_with = "run")]
    pub(crate) trials: Option<PathBuf>,
    /// Instead: the trials of a stored run that have a load, as "packets --rate 1Mpps..10Mpps" makes them. A name, its
    /// beginning, or "last".
    #[arg(long, value_name = "RUN")]
    pub(crate) run: Option<RunId>,
}
