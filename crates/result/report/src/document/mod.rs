//! The JSON document, `wireproof/1`: the same shape for every command that measures. Always in English.

mod cards;
mod comparison;
mod sides;
mod watch;

use std::collections::BTreeMap;

use model::{
    Assessment, Bed, CoreUse, DUT, Delta, Doubt, EndCounters, Environment, Identity, LimitOutcome, LossAt, OtherSender,
    Plan, ReferenceComparison, Run, RunId, Trial, TrialAssessment, Verdict, run::Resumption,
};
use schemars::JsonSchema;
use serde::Serialize;

pub use self::{
    cards::{CardsDocument, CardsSchemaName, cards_schema},
    comparison::{ComparisonDocument, ComparisonSchemaName, comparison_schema},
    sides::{HeardDocument, HeardSchemaName, SentDocument, SentSchemaName, heard_schema, sent_schema},
    watch::{
        MovingEntry, PeakEntry, QueueEntry, QueueWayEntry, RatesEntry, TotalEntry, WatchDocument, WatchSchemaName,
        WatchedEntry, WaysEntry, watch_schema,
    },
};
use crate::{
    doubts::advice,
    lang::Lang,
    limited::{LimitedByEntry, limited_by_entry},
    material::Material,
    probes::{Figures, rate},
};

/// A run as JSON.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Document {
    /// Name and version of this shape.
    pub schema: SchemaName,
    /// The run as a whole.
    pub run: RunEntry,
    /// Whose document the report is, and what was looked at by eye; null where nobody said. Photos are files beside it.
    pub identity: Option<Identity>,
    /// What was asked for, in full.
    pub plan: Plan,
    /// Where it happened, in full.
    pub bed: Bed,
    /// The machines before and after.
    pub environment: Environments,
    /// Each limit of the plan with what follows from it; empty when the plan has none.
    pub limits: Vec<LimitOutcome>,
    /// The run beside what others measured; empty where nothing can be compared or that is not wanted.
    pub comparisons: Vec<ReferenceComparison>,
    /// Each finished measurement, in order.
    pub trials: Vec<TrialEntry>,
    /// What the tester did alone, over the loopback of the near end, with each load that it sets the pace of.
    pub self_tests: Vec<TrialEntry>,
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
    /// Each time that the run was gone on with after it had been cut off.
    pub resumed: Vec<ResumedEntry>,
    /// What makes all of the run's figures less trustworthy.
    pub doubts: Vec<DoubtEntry>,
}

/// One time that the run was gone on with.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ResumedEntry {
    /// When (RFC 3339).
    pub at: String,
    /// Finished trials that were kept.
    pub kept: u32,
    /// Version and build of the program that went on.
    pub wireproof: String,
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
    /// The endpoint at the near side of the probe.
    pub endpoint_from: String,
    /// The endpoint at the far side.
    pub endpoint_to: String,
    /// How long the counted part took, in seconds.
    pub duration_s: f64,
    /// Cores the two ends were pinned to (near, far); empty where not pinned.
    pub cpus: [Vec<usize>; 2],
    /// What set the figure; null where it is not known.
    pub limited_by: Option<LimitedByEntry>,
    /// Packets lost, by the place that lost them, both ends together.
    pub loss_at: BTreeMap<String, u64>,
    /// The same with the end and the counters that show it.
    pub losses: Vec<LossEntry>,
    /// What both ends counted over the trial (near, far).
    pub counters: [CountersEntry; 2],
    /// The other ends that sent to the far one at the same time; empty where one sent.
    pub other_senders: Vec<OtherSenderEntry>,
    /// What the device under test counted at all of its interfaces; null where it was not read.
    pub dut: Option<CountersEntry>,
    /// What makes the figures less trustworthy.
    pub doubts: Vec<DoubtEntry>,
    /// The probe, its parameters and figures.
    #[serde(flatten)]
    pub figures: Figures,
}

/// Packets that one place lost.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct LossEntry {
    /// The place, like `receiver's socket`.
    pub place: String,
    /// The endpoint it is at; null where no counter of either end saw the loss.
    pub endpoint: Option<String>,
    /// How many.
    pub packets: u64,
    /// The counters that show it.
    pub shown_by: Vec<Delta>,
}

/// An end that sent beside the near one.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct OtherSenderEntry {
    /// Cores it was pinned to; empty where not pinned.
    pub cpus: Vec<usize>,
    /// What it counted over the trial.
    pub counters: CountersEntry,
}

/// What one end counted over a trial.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct CountersEntry {
    /// The endpoint.
    pub endpoint: String,
    /// Time between the two readings, in seconds.
    pub seconds: f64,
    /// Each core of its machine.
    pub cpu: Vec<CoreUse>,
    /// Each counter that moved.
    pub deltas: Vec<Delta>,
}

impl Document {
    /// The document of a run.
    pub fn of(material: &Material<'_>) -> Self {
        let Material { run, assessment, .. } = *material;
        let entries = |trials: &[Trial], assessments: &[TrialAssessment]| {
            trials.iter().zip(assessments).filter_map(|(trial, assessed)| trial_entry(run, trial, assessed)).collect()
        };
        Self {
            schema: SchemaName::V1,
            run: run_entry(run, assessment),
            identity: run.identity.as_ref().map(Identity::without_photos),
            plan: run.plan.clone(),
            bed: run.bed.clone(),
            environment: Environments {
                before: run.before.clone(),
                after: run.after.clone(),
                differences: run.changes(),
            },
            limits: assessment.outcomes.clone(),
            comparisons: assessment.comparisons.clone().unwrap_or_default(),
            self_tests: entries(&run.self_tests, &assessment.self_tests),
            trials: entries(&run.trials, &assessment.trials),
        }
    }
}

/// The JSON Schema of [`Document`].
pub fn schema() -> serde_json::Value {
    schemars::schema_for!(Document).to_value()
}

fn run_entry(run: &Run, assessment: &Assessment) -> RunEntry {
    RunEntry {
        id: run.id.clone(),
        started: run.started.clone(),
        finished: run.finished.clone(),
        plan: run.plan.name.clone(),
        bed: run.bed.name.clone(),
        simulated: run.bed.simulated,
        verdict: assessment.verdict,
        partial: run.partial,
        command: run.command.clone(),
        wireproof: run.wireproof.clone(),
        resumed: run.resumed.iter().map(resumed_entry).collect(),
        doubts: run.doubts.iter().map(doubt_entry).collect(),
    }
}

fn resumed_entry(resumed: &Resumption) -> ResumedEntry {
    ResumedEntry { at: resumed.at.clone(), kept: resumed.kept, wireproof: resumed.wireproof.clone() }
}

fn doubt_entry(doubt: &Doubt) -> DoubtEntry {
    DoubtEntry { doubt: doubt.clone(), advice: advice(doubt, Lang::En) }
}

fn trial_entry(run: &Run, trial: &Trial, assessed: &TrialAssessment) -> Option<TrialEntry> {
    let [near, far] = &trial.counters;
    Some(TrialEntry {
        number: trial.number,
        repeat: trial.repeat,
        started: trial.started.clone(),
        endpoint_from: trial.endpoint_from.clone(),
        endpoint_to: trial.endpoint_to.clone(),
        duration_s: trial.duration_s,
        cpus: trial.cpus.clone(),
        limited_by: assessed.limited_by.as_ref().map(|by| limited_by_entry(by, rate(&trial.measured.spec()))),
        loss_at: loss_by_place(&assessed.losses),
        losses: assessed.losses.iter().map(loss_entry).collect(),
        counters: [counters_entry(&trial.endpoint_from, near), counters_entry(&trial.endpoint_to, far)],
        dut: trial.dut.as_ref().map(|counters| counters_entry(DUT, counters)),
        other_senders: trial.others.iter().map(other_sender).collect(),
        doubts: trial.doubts.iter().map(doubt_entry).collect(),
        figures: Figures::of(run, trial, assessed)?,
    })
}

fn loss_by_place(losses: &[LossAt]) -> BTreeMap<String, u64> {
    let mut places = BTreeMap::new();
    for loss in losses {
        *places.entry(loss.place.to_string()).or_default() += loss.packets;
    }
    places
}

fn loss_entry(loss: &LossAt) -> LossEntry {
    LossEntry {
        place: loss.place.to_string(),
        endpoint: loss.endpoint.clone(),
        packets: loss.packets,
        shown_by: loss.shown_by.clone(),
    }
}

fn other_sender(other: &OtherSender) -> OtherSenderEntry {
    OtherSenderEntry { cpus: other.cpus.clone(), counters: counters_entry(&other.endpoint, &other.counters) }
}

fn counters_entry(endpoint: &str, counters: &EndCounters) -> CountersEntry {
    CountersEntry {
        endpoint: endpoint.to_owned(),
        seconds: counters.seconds,
        cpu: counters.cpu.clone(),
        deltas: counters.deltas.clone(),
    }
}
