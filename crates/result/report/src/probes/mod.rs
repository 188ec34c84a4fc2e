//! Content of a report for each probe. A probe is one folder; this file is the only one of the crate that names them all.

mod forwarding;
mod goodput;
mod latency;
mod packets;
mod path;
mod transactions;
mod transfer;

use model::{
    Measured, PathSpec, ProbeSpec, Run, Trial, TrialAssessment,
    alike::distinct,
    trial::{Measures, PathDevice},
};
use schemars::JsonSchema;
use serde::Serialize;

pub use self::{
    forwarding::ForwardingFigures,
    goodput::{FlowEntry, FlowFigures, GoodputBps, GoodputFigures},
    latency::LatencyFigures,
    packets::{PacketsFigures, StreamFigures},
    path::{BothWays, PathFigures, hops, path_to},
    transactions::TransactionsFigures,
    transfer::TransferFigures,
};
use crate::{
    cells::Cells,
    histogram::Times,
    material::Material,
    page::{Block, Figure},
    show,
    texts::Texts,
};

/// All probes, in the order of a report.
pub(crate) const ALL: [&dyn Probe; 7] = [
    &forwarding::Forwarding,
    &latency::Latency,
    &goodput::Goodput,
    &packets::Packets,
    &transactions::Transactions,
    &transfer::Transfer,
    &path::Path,
];

/// Content for all trials of one probe.
pub(crate) trait Probe: Sync {
    /// How it is measured; nothing where the plan does not ask for it.
    fn method(&self, material: &Material<'_>, t: &Texts) -> Option<Block>;

    /// Tables and figures; nothing where it was not measured.
    fn results(&self, material: &Material<'_>, t: &Texts) -> Option<Block>;

    /// The main figures in words, a line each.
    fn headlines(&self, material: &Material<'_>, t: &Texts) -> Vec<String>;

    /// Bypass against the kernel, a line for each kind of traffic measured with both.
    fn stack_headlines(&self, _: &Material<'_>, _: &Texts) -> Vec<String> {
        vec![]
    }

    /// Failures of a probe whose results are no figures, a line each.
    fn failures(&self, _: &Material<'_>, _: &Texts) -> Vec<String> {
        vec![]
    }

    /// The main figure of each configuration.
    fn main_figures(&self, material: &Material<'_>, t: &Texts) -> Vec<MainFigure>;

    /// The table of the terminal; nothing where it was not measured.
    fn terminal_table(&self, material: &Material<'_>, t: &Texts) -> Vec<String>;

    /// All times of each configuration, for histograms.
    fn times(&self, _: &Material<'_>, _: &Texts) -> Vec<Times> {
        vec![]
    }

    /// Keys of the terms of the glossary that its figures need.
    fn terms(&self, material: &Material<'_>) -> Vec<&'static str>;

    /// Figures that show several runs side by side.
    fn side_by_side(&self, _: &[Material<'_>], _: &Texts) -> Vec<Figure> {
        vec![]
    }
}

/// The main figure of a configuration.
pub(crate) struct MainFigure {
    pub(crate) spec: ProbeSpec,
    /// The configuration in words.
    pub(crate) name: String,
    /// The figure in words.
    pub(crate) value: String,
}

/// Words for the configuration of a probe.
pub(crate) trait Spec: model::Probe {
    /// The configuration.
    fn configuration(&self, t: &Texts) -> String;

    /// The configuration where one way of it is meant.
    fn way(&self, from: &str, to: &str, t: &Texts) -> String {
        show::with_way(self.configuration(t), Some((from, to)), t)
    }

    /// The configuration and its measured quantity.
    fn measurement(&self, t: &Texts) -> String {
        t.with(&format!("measurement-{}", self.name()), &[("name", &self.configuration(t))])
    }

    /// A load or rate of this probe: packets or bits per second.
    fn rate(&self, per_second: f64) -> String;

    /// The decimal unit that suits a load of this probe, and its size.
    fn load_unit(&self, per_second: f64) -> (f64, &'static str);
}

fn words(spec: &ProbeSpec) -> &dyn Spec {
    match spec {
        ProbeSpec::Latency(spec) => spec,
        ProbeSpec::Goodput(spec) => spec,
        ProbeSpec::Packets(spec) => spec,
        ProbeSpec::Path(spec) => spec,
        ProbeSpec::Transactions(spec) => spec,
        ProbeSpec::Forwarding(spec) => spec,
        ProbeSpec::Transfer(spec) => spec,
    }
}

/// A configuration in words.
pub(crate) fn configuration(spec: &ProbeSpec, t: &Texts) -> String {
    words(spec).configuration(t)
}

/// A configuration, and one way of it where that is given.
pub(crate) fn way(spec: &ProbeSpec, way: Option<&(String, String)>, t: &Texts) -> String {
    way.map_or_else(|| configuration(spec, t), |(from, to)| words(spec).way(from, to, t))
}

/// The name of a configuration with its amount and its warm-up, as far as they tell it from others of that name in the document.
fn told_apart(spec: &dyn model::Probe, name: String, t: &Texts) -> String {
    let amount = t.names.amount(spec).map(|amount| show::short_amount(amount, t));
    let warmup = t.names.warmup(spec).map(|warmup| show::short_warmup(warmup, t));
    show::joined([name].into_iter().chain(amount).chain(warmup), t)
}

/// A configuration with its amount, which may differ between runs of one plan.
pub(crate) fn configuration_and_amount(spec: &ProbeSpec, t: &Texts) -> String {
    let is_told = t.names.amount(spec.probe()).is_some();
    let amount = spec.probe().amount().filter(|_| !is_told).map(|amount| show::amount(amount, t));
    show::joined([configuration(spec, t)].into_iter().chain(amount), t)
}

/// A configuration and its measured quantity, for places without other context.
pub(crate) fn measurement(spec: &ProbeSpec, t: &Texts) -> String {
    words(spec).measurement(t)
}

/// A load or rate in the unit of the probe.
pub(crate) fn rate(spec: &ProbeSpec) -> impl Fn(f64) -> String + '_ {
    |per_second| words(spec).rate(per_second)
}

/// A load with as many digits as a search needs that parts loads by a thousandth.
pub(crate) fn load(spec: &ProbeSpec, per_second: f64) -> String {
    let (size, unit) = load_unit(spec, per_second);
    let amount = per_second / size;
    let decimals =
        [(100.0, 2), (10.0, 3)].iter().find(|(least, _)| amount >= *least).map_or(4, |(_, decimals)| *decimals);
    format!("{amount:.decimals$} {unit}")
}

/// The decimal unit that suits a load, and its size.
pub(crate) fn load_unit(spec: &ProbeSpec, per_second: f64) -> (f64, &'static str) {
    words(spec).load_unit(per_second)
}

/// The probe, its parameters and figures.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "probe", rename_all = "lowercase")]
pub enum Figures {
    /// Round-trip time.
    Latency(Box<LatencyFigures>),
    /// Bulk data.
    Goodput(Box<GoodputFigures>),
    /// Path MTU.
    Path(Box<PathFigures>),
    /// Numbered packets.
    Packets(Box<PacketsFigures>),
    /// Requests and their responses.
    Transactions(Box<TransactionsFigures>),
    /// Correctness of a forwarding device.
    Forwarding(Box<ForwardingFigures>),
    /// A file from one end to the other.
    Transfer(Box<TransferFigures>),
}

impl Figures {
    /// The figures of a trial; `None` for a result without a flow, which no probe makes.
    pub(crate) fn of(run: &Run, trial: &Trial, assessed: &TrialAssessment) -> Option<Self> {
        Some(match &trial.measured {
            Measured::Latency { spec, result } => Self::Latency(Box::new(LatencyFigures::of(spec, result))),
            Measured::Goodput { spec, result } => {
                Self::Goodput(Box::new(GoodputFigures::of(trial, assessed, spec, result)?))
            }
            Measured::Path { spec, result } => {
                Self::Path(Box::new(PathFigures::of(run, trial, assessed, spec, result)))
            }
            Measured::Packets { spec, result } => Self::Packets(Box::new(PacketsFigures::of(assessed, spec, result)?)),
            Measured::Transactions { spec, result } => {
                Self::Transactions(Box::new(TransactionsFigures::of(trial, spec, result)))
            }
            Measured::Forwarding { spec, result } => Self::Forwarding(Box::new(ForwardingFigures::of(spec, result))),
            Measured::Transfer { spec, result } => {
                Self::Transfer(Box::new(TransferFigures::of(trial, assessed, spec, result)))
            }
        })
    }

    /// The rows of the CSV, one for each way that is measured by itself.
    pub(crate) fn rows(&self, trial: &Trial) -> Vec<Cells> {
        match self {
            Self::Latency(figures) => vec![figures.row()],
            Self::Goodput(figures) => figures.rows(),
            Self::Path(figures) => figures.rows(trial),
            Self::Packets(figures) => figures.rows(),
            Self::Transactions(figures) => vec![figures.row()],
            Self::Forwarding(figures) => figures.rows(),
            Self::Transfer(figures) => vec![figures.row()],
        }
    }
}

/// Load of a self-test, and p99 of its RTT.
pub(crate) fn made_alone(measured: &Measured) -> [String; 2] {
    match measured {
        Measured::Latency { result, .. } => latency::made_alone(result),
        Measured::Goodput { result, .. } => [goodput::made_alone(result), show::NO_FIGURE.to_owned()],
        Measured::Packets { result, .. } => [packets::made_alone(result), show::NO_FIGURE.to_owned()],
        Measured::Transactions { result, .. } => transactions::made_alone(result),
        Measured::Path { .. } | Measured::Forwarding { .. } | Measured::Transfer { .. } => {
            [show::NO_FIGURE; 2].map(str::to_owned)
        }
    }
}

/// Devices that a trial found on its path.
pub(crate) fn devices(measured: &Measured) -> &[PathDevice] {
    measured.of::<PathSpec>().map_or(&[], |(_, result)| &result.devices)
}

/// Distinct configurations of one probe that the plan asks for.
fn asked<S: Measures + PartialEq>(run: &Run) -> Vec<S> {
    distinct(run.plan.specs().iter().filter_map(|spec| spec.of::<S>()).cloned())
}
