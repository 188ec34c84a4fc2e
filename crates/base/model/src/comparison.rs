//! Result of a comparison of runs.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    figure::{Interval, Metric, Quantity},
    probe::ProbeSpec,
    run::RunId,
};

/// Runs side by side; all others are compared with the first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Comparison {
    /// The first run.
    pub reference: ComparedRun,
    /// Largest increase of a time, or decrease of a rate, that does not count, as a share of the reference: 0.05 is 5 %. With loss and
    /// sizes nothing is tolerated.
    pub tolerance: f64,
    /// Summary of all comparisons.
    pub conclusion: Conclusion,
    /// Each other run.
    pub runs: Vec<RunComparison>,
}

/// A run as far as a comparison names it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ComparedRun {
    /// Name.
    pub id: RunId,
    /// When it began (RFC 3339).
    pub started: String,
    /// Name of its plan.
    pub plan: String,
    /// Name of its bed.
    pub bed: String,
    /// Whether no real wire or card was involved.
    pub simulated: bool,
    /// Whether trials of its plan are missing.
    pub partial: bool,
}

/// One run beside the reference.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunComparison {
    /// The run.
    pub run: ComparedRun,
    /// Differences between the runs beside the figures, in words: program, plan, bed, machines.
    pub changed: Vec<String>,
    /// Each configuration that both have measured.
    pub configurations: Vec<ConfigurationComparison>,
    /// Configurations that the reference alone has measured.
    pub only_reference: Vec<ProbeSpec>,
    /// Configurations that this run alone has measured.
    pub only_run: Vec<ProbeSpec>,
}

/// One configuration in both runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ConfigurationComparison {
    /// The configuration in words, like `latency UDP IPv4 spin 64 B`.
    pub configuration: String,
    /// The same in full.
    pub spec: ProbeSpec,
    /// Each figure that at least one of the runs has.
    pub figures: Vec<FigureComparison>,
}

/// One figure in both runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FigureComparison {
    /// The figure.
    pub figure: Metric,
    /// Over the reference's trials.
    pub reference: TrialFigures,
    /// Over the run's trials.
    pub run: TrialFigures,
    /// The run less the reference, as a share of the reference (0.1 is 10 % more). For figures that are shares, in points of these
    /// (0.01 is one percentage point); for sizes, in bytes. Null where missing replies leave it unknown.
    pub difference: Option<f64>,
    /// Range of that difference; an end that is null is not known.
    pub interval: Option<DifferenceInterval>,
    /// Result.
    pub finding: Finding,
    /// Whether it is worse by more than is tolerated: the whole interval is beyond that.
    pub beyond_tolerance: bool,
    /// Trials of each run that are always enough for an interval; null where it is there.
    pub trials_needed: Option<u32>,
}

/// A figure over the trials of one run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TrialFigures {
    /// Trials that have the figure.
    pub trials: u32,
    /// Median over these, in the base unit (nanoseconds, bit/s, bytes, or a share of 1); null where it is not known.
    pub median: Option<f64>,
    /// Interval of that median, where there are enough trials.
    pub interval: Option<Interval>,
}

/// Figures of one configuration of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ConfigurationFigures {
    /// The configuration in words, like `latency UDP IPv4 spin 64 B`.
    pub configuration: String,
    /// The same in full.
    pub spec: ProbeSpec,
    /// Each figure that its trials have.
    pub figures: Vec<MetricFigures>,
}

/// One figure over the trials of a configuration.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MetricFigures {
    /// The figure.
    pub figure: Metric,
    /// Base unit.
    pub unit: String,
    /// Values.
    #[serde(flatten)]
    pub over_trials: TrialFigures,
}

/// Range of a difference, with the stated confidence. Without an end it is open on that side.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DifferenceInterval {
    /// It is not below this.
    pub low: Option<f64>,
    /// It is not above this.
    pub high: Option<f64>,
    /// Confidence reached, between 0 and 1.
    pub confidence: f64,
}

/// Statement of the difference of a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DifferenceKind {
    /// Share of the reference.
    Share,
    /// The figure is a share; in points of it.
    Points,
    /// In bytes.
    Bytes,
    /// Number of things.
    Count,
}

/// Meaning of a difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Finding {
    /// The whole interval is on the good side.
    Better,
    /// The whole interval is on the bad side.
    Worse,
    /// The interval contains no difference: none is shown, which does not mean that there is none.
    NoDifference,
    /// Too few trials for an interval.
    NotDecidable,
}

/// Summary of all comparisons.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Conclusion {
    /// Nothing is worse by more than is tolerated, and all could be decided.
    NothingWorse,
    /// Nothing is shown to be worse, but something could not be decided, or was measured in the reference alone.
    NotDecidable,
    /// A run is compared with itself: nothing new was measured.
    NothingNew,
    /// A run has no configuration in common with the reference.
    NothingInCommon,
    /// Something is worse by more than is tolerated.
    Worse,
}

impl DifferenceKind {
    /// Statement of the difference of this metric.
    pub fn of(metric: Metric) -> Self {
        match metric.quantity() {
            Quantity::Time | Quantity::Rate | Quantity::PacketRate | Quantity::TransactionRate | Quantity::FileRate => {
                Self::Share
            }
            Quantity::Share => Self::Points,
            Quantity::Size => Self::Bytes,
            Quantity::Count => Self::Count,
        }
    }
}

impl Comparison {
    /// Every figure of every configuration of every run.
    pub fn figures(&self) -> impl Iterator<Item = &FigureComparison> {
        self.runs.iter().flat_map(RunComparison::figures)
    }
}

impl RunComparison {
    /// Every figure of every configuration.
    pub fn figures(&self) -> impl Iterator<Item = &FigureComparison> {
        self.configurations.iter().flat_map(|configuration| &configuration.figures)
    }

    /// A figure of a configuration.
    pub fn figure(&self, spec: &ProbeSpec, metric: Metric) -> Option<&FigureComparison> {
        let configuration = self.configurations.iter().find(|it| it.spec == *spec)?;
        configuration.figures.iter().find(|it| it.figure == metric)
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Better => "better",
            Self::Worse => "worse",
            Self::NoDifference => "no difference",
            Self::NotDecidable => "not decidable",
        })
    }
}
