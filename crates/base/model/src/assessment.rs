//! All that is concluded from a run. `verdict::assess` makes it once; every form of the report shows it and concludes nothing.

use crate::{
    bufferbloat::Bufferbloat,
    card_health::CardHealth,
    doubt::Doubt,
    figure::{Interval, Metric},
    inspection::Inspection,
    limited::{Culprit, LimitedBy, LossAt, Place},
    probe::ProbeSpec,
    reference::ReferenceComparison,
    rfc2544::Rfc2544,
    search::AssessedSearch,
    verdict::{LimitOutcome, Undecided, Verdict},
};

/// The conclusions of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Assessment {
    /// Outcome of each limit, in the order of the plan.
    pub outcomes: Vec<LimitOutcome>,
    /// The worst verdict of the limits and of the items verified by a person; `None` without any.
    pub verdict: Option<Verdict>,
    /// Facts that a reader has to know first.
    pub page_one: PageOne,
    /// The run beside each chosen reference; `None` where no comparison is wanted.
    pub comparisons: Option<Vec<ReferenceComparison>>,
    /// Round trips while TCP fills the path, against those of the idle path.
    pub bufferbloat: Vec<Bufferbloat>,
    /// Results of tests of RFC 2544; empty where the plan has none.
    pub rfc2544: Vec<Rfc2544>,
    /// The searches of the plan that were begun, in its order.
    pub searches: Vec<AssessedSearch>,
    /// Health of the cards; `None` where the plan does not ask for it.
    pub card: Option<CardHealth>,
    /// Inspection of each machine that was read for it.
    pub inspections: Vec<Inspection>,
    /// One for each trial of the run, in the same order.
    pub trials: Vec<TrialAssessment>,
    /// One for each self-test of the run, in the same order.
    pub self_tests: Vec<TrialAssessment>,
    /// Each place that limited a configuration, by configuration.
    pub limited: Vec<Limited>,
    /// Numbers of the trials of which no limit is known.
    pub limit_unknown: Vec<u32>,
    /// Packets lost over all trials of a configuration, by place and endpoint. Configurations without loss are left out.
    pub losses: Vec<(ProbeSpec, Vec<LossAt>)>,
}

/// Facts that a reader has to know first: one page of any document.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PageOne {
    /// Number of criteria with each verdict.
    pub tally: Tally,
    /// Why criteria are undecided, and how many for each reason; the most frequent first.
    pub undecided: Vec<(Undecided, usize)>,
    /// Three to five figures, where there are as many.
    pub key_figures: Vec<KeyFigure>,
    /// The doubt that puts most of the run in question.
    pub worst_doubt: Option<Doubt>,
    /// Limit of most configurations; `None` where nothing was measured that has a limit.
    pub main_limit: Option<MainLimit>,
    /// Places that limited configurations with a failed criterion, and the endpoint of each; that of most configurations first.
    pub failed_by: Vec<(Place, Option<String>)>,
}

/// Number of limits and items for a person with each verdict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Met.
    pub pass: usize,
    /// Missed.
    pub fail: usize,
    /// All others.
    pub undecided: usize,
}

impl Tally {
    /// All of them.
    pub fn all(self) -> usize {
        self.pass + self.fail + self.undecided
    }
}

/// One of the figures that say most of a run.
#[derive(Clone, Debug, PartialEq)]
pub enum KeyFigure {
    /// Place of a limit among the outcomes.
    Judged(usize),
    /// One that no limit speaks of.
    Free(FreeFigure),
}

/// A figure without a limit.
#[derive(Clone, Debug, PartialEq)]
pub struct FreeFigure {
    /// The configuration.
    pub spec: ProbeSpec,
    /// The sender, where senders took turns.
    pub from: Option<String>,
    /// The metric.
    pub metric: Metric,
    /// Median over the trials, in the metric's base unit.
    pub median: f64,
    /// Interval of that median, where there are enough trials.
    pub interval: Option<Interval>,
    /// As of [`LimitOutcome`].
    pub load_reached: Option<f64>,
}

/// Limit of most configurations of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct MainLimit {
    /// The place; [`Place::NotKnown`] where none is known of any, and [`Place::IntendedLoad`] where nothing else limited.
    pub place: Place,
    /// The endpoint it is at.
    pub endpoint: Option<String>,
    /// Configurations, or ways of them, that it limited.
    pub count: usize,
    /// All configurations and ways.
    pub of: usize,
    /// Other places that limited as many, each with its endpoint.
    pub also: Vec<(Place, Option<String>)>,
}

/// The conclusions of one trial.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TrialAssessment {
    /// Limit of the figure; of several flows, of the slowest.
    pub limited_by: Option<LimitedBy>,
    /// Places where packets were lost.
    pub losses: Vec<LossAt>,
    /// Whether packets were lost, dropped or sent again.
    pub saw_loss: bool,
    /// The device that keeps the path MTU down.
    pub culprit: Option<Culprit>,
    /// One for each flow or stream of the result, in the same order.
    pub flows: Vec<FlowAssessment>,
}

/// The conclusions of one flow or stream.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FlowAssessment {
    /// The endpoint that sent.
    pub from: String,
    /// The endpoint that received.
    pub to: String,
    /// Limit of this flow; `None` where only the trial as a whole is judged.
    pub limited_by: Option<LimitedBy>,
    /// The most that the link carries of such packets, one way; `None` where its rate is not known, as on a simulated bed.
    pub line_rate: Option<LineRate>,
    /// Whether the sender's cores did the receiving too, so that no loss says nothing of the path.
    pub synchronous: bool,
}

/// The most that a link carries one way of packets of one size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LineRate {
    /// Packets per second.
    pub packets_per_second: f64,
    /// Payload in them, in bit/s; `None` for frames without a payload of their own.
    pub goodput_bps: Option<f64>,
}

/// Trials of one configuration that were limited by the same place.
#[derive(Clone, Debug, PartialEq)]
pub struct Limited {
    /// The configuration.
    pub spec: ProbeSpec,
    /// Names of the sending and the receiving end, where the flows of a configuration are judged one by one.
    pub way: Option<(String, String)>,
    /// The place, with the evidence of the middle trial.
    pub by: LimitedBy,
    /// Numbers of these trials.
    pub trials: Vec<u32>,
    /// Number of all trials of the configuration.
    pub of: usize,
}
