//! The JSON document, `wireproof/1`: the same shape for every command that measures. Always in English.

mod beds;
mod bypass;
mod comparison;
mod doctor;
mod dry_run;
mod error;
mod history;
mod inspection;
mod kept;
mod path_to;
mod rfc2544;
mod router;
mod searches;
mod sides;
mod summary;
mod tune;
mod watch;

use std::collections::BTreeMap;

use model::{
    Assessment, Bed, Bufferbloat, CardHealth, CoreUse, DUT, Delta, Doubt, EndCounters, Environment, Identity,
    LimitOutcome, LossAt, OtherSender, Plan, ReferenceComparison, Run, RunId, Trial, TrialAssessment, Verdict,
    counters::Event, rfc2544::Rfc2544, run::Resumption,
};

pub use self::{
    beds::{BedsDocument, BedsSchemaName, UndoneDocument, UndoneSchemaName},
    bypass::{BypassDocument, BypassSchemaName, BypassedProgram, KernelEntry, XdpEntry},
    comparison::{ComparisonDocument, ComparisonSchemaName},
    doctor::{CheckEntry, DoctorDocument, DoctorSchemaName},
    dry_run::{DryRunDocument, DryRunSchemaName, PlannedLimitEntry, StepEntry},
    error::{ErrorDocument, ErrorSchemaName, FailureCategory, FailureEntry},
    history::{HistoryEntry, RunsDocument, RunsSchemaName, runs_csv},
    inspection::{FindingEntry, InspectedHost, InspectionDocument, InspectionEntry, InspectionSchemaName},
    kept::{
        BaselineEntry, BaselinesDocument, BaselinesSchemaName, CheckDocument, CheckSchemaName, ImportDocument,
        ImportSchemaName, LeftOut, ReferencesDocument, ReferencesSchemaName,
    },
    path_to::{PathToDocument, PathToEntry, PathToSchemaName},
    rfc2544::{ClassifiedDocument, ClassifiedSchemaName, DeviceTableDocument, DeviceTableSchemaName},
    router::{RouterDocument, RouterSchemaName},
    searches::{SearchEntry, SearchedEntry},
    sides::{CaptureDocument, CaptureSchemaName, ReceivedDocument, ReceivedSchemaName, SentDocument, SentSchemaName},
    summary::{KeyFigureEntry, MainLimitEntry, SummaryEntry, TallyEntry, UndecidedEntry},
    tune::{
        PlannedChangeEntry, StepEffectEntry, TuneDocument, TunePlanDocument, TunePlanSchemaName, TuneSchemaName,
        TuneUndoneDocument, TuneUndoneSchemaName, TuningEffectDocument, TuningEffectSchemaName, TuningInspectionEntry,
    },
    watch::{
        MovingEntry, PeakEntry, QueueEntry, QueueWayEntry, RatesEntry, TotalEntry, WatchDocument, WatchSchemaName,
        WatchedEntry, WaysEntry,
    },
};
use crate::{
    doubts::advice,
    lang::Lang,
    limited::LimitedByEntry,
    material::Material,
    probes::{Figures, rate},
    shape::{document, schema},
};

/// A JSON document that the program prints.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Its name for `schema`.
    pub name: &'static str,
    /// The commands that print it.
    pub of: &'static str,
    /// Its JSON Schema.
    pub schema: fn() -> serde_json::Value,
}

/// All documents.
pub const SHAPES: [Shape; 26] = {
    const fn of(name: &'static str, of: &'static str, schema: fn() -> serde_json::Value) -> Shape {
        Shape { name, of, schema }
    }
    [
        of("run", "The measuring commands and \"report\"", schema),
        of("dry-run", "The measuring commands with \"--dry-run\"", dry_run::dry_run_schema),
        of("compare", "\"compare\"", comparison::comparison_schema),
        of("check", "\"report --check\"", kept::check_schema),
        of("runs", "\"runs\"", history::runs_schema),
        of("baseline", "\"baseline show\" and \"baseline set\"", kept::baselines_schema),
        of("references", "\"references\"", kept::references_schema),
        of("import", "\"import\"", kept::import_schema),
        of("bed", "\"bed list\" and \"bed up\"", beds::beds_schema),
        of("clean", "\"clean\", \"bed down\" and \"router down\"", beds::undone_schema),
        of("router", "\"router up\" and \"router stats\"", router::router_schema),
        of("tune-plan", "\"tune plan\"", tune::tune_plan_schema),
        of("tune", "\"tune apply\", \"tune status\" and \"tune confirm\"", tune::tune_schema),
        of("tune-undone", "\"tune undo\"", tune::tune_undone_schema),
        of("tuning-effect", "\"verify --tune\"", tune::tuning_effect_schema),
        of("doctor", "\"doctor\" and \"doctor --cabling\"", doctor::doctor_schema),
        of("inspect", "\"inspect\"", inspection::inspection_schema),
        of("watch", "Each line of \"watch\"", watch::watch_schema),
        of("packets-send", "\"packets send\"", sides::sent_schema),
        of("packets-receive", "\"packets receive\"", sides::received_schema),
        of("packets-capture", "\"packets capture\"", sides::capture_schema),
        of("path", "\"path DEST\"", path_to::path_to_schema),
        of("rfc2544-classify", "\"rfc2544 classify\"", rfc2544::classified_schema),
        of("rfc2544-table", "\"rfc2544 table\" and \"rfc2544 --dut-cpus N,N\"", rfc2544::device_table_schema),
        of("bypass", "\"bypass\", on standard error", bypass::bypass_schema),
        of("error", "Commands that fail", error::error_schema),
    ]
};

document! {
    /// A run as JSON.
    Document of (material: &Material<'_>);
    let Material { run, assessment, .. } = *material;
    let entries = |trials: &[Trial], assessments: &[TrialAssessment]| {
        trials.iter().zip(assessments).filter_map(|(trial, assessed)| TrialEntry::of(run, trial, assessed)).collect()
    };
    {
        /// Name and version of this shape.
        schema: SchemaName = SchemaName::V1,
        /// The run as a whole.
        run: RunEntry = RunEntry::of(run, assessment),
        /// The first page of the report.
        summary: SummaryEntry = SummaryEntry::of(assessment),
        /// Identity of the report and manual inspections; null without any. Photos are files beside it.
        identity: Option<Identity> = run.identity.as_ref().map(Identity::without_photos),
        /// The plan, in full.
        plan: Plan = run.plan.clone(),
        /// Where it happened, in full.
        bed: Bed = run.bed.clone(),
        /// The machines before and after.
        environment: Environments = Environments::of(run),
        /// Each limit of the plan with its verdict; empty if the plan has none.
        limits: Vec<LimitOutcome> = assessment.outcomes.clone(),
        /// Latency of the path while TCP fills it, against that of the idle path; empty where the plan has no TCP load.
        bufferbloat: Vec<Bufferbloat> = assessment.bufferbloat.clone(),
        /// Searches for the highest load; absent where the plan has none.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        searches: Vec<SearchEntry> = assessment.searches.iter().map(SearchEntry::of).collect(),
        /// Results of tests of RFC 2544; left out where the plan has none.
        #[serde(skip_serializing_if = "Option::is_none")]
        rfc2544: Option<Vec<Rfc2544>> = Some(assessment.rfc2544.clone()).filter(|all| !all.is_empty()),
        /// Health of the cards at the ends; null where the plan does not ask for it.
        card: Option<CardHealth> = assessment.card.clone(),
        /// Inspection of each machine for what the plan measures; left out in runs of before machines were read for it.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        inspections: Vec<InspectionEntry> = assessment.inspections.iter().map(InspectionEntry::of).collect(),
        /// The run beside published or imported figures; empty if none is comparable or wanted.
        comparisons: Vec<ReferenceComparison> = assessment.comparisons.clone().unwrap_or_default(),
        /// Each finished measurement, in order.
        trials: Vec<TrialEntry> = entries(&run.trials, &assessment.trials),
        /// The tester alone, over the loopback of the near end, with each load that it paces.
        self_tests: Vec<TrialEntry> = entries(&run.self_tests, &assessment.self_tests),
    }
}

schema!("wireproof/1": SchemaName, schema of Document);

document! {
    /// The run as a whole.
    RunEntry of (run: &Run, assessment: &Assessment) {
        /// Its name.
        id: RunId = run.id.clone(),
        /// When it began (RFC 3339).
        started: String = run.started.clone(),
        /// When it ended; null while it runs, or when it was killed.
        finished: Option<String> = run.finished.clone(),
        /// Name of the plan.
        plan: String = run.plan.name.clone(),
        /// Name of the bed.
        bed: String = run.bed.name.clone(),
        /// Whether no real wire or card was involved.
        simulated: bool = run.bed.simulated,
        /// Verdict over all limits; null if the plan has none.
        verdict: Option<Verdict> = assessment.verdict,
        /// Whether trials of the plan are missing.
        partial: bool = run.partial,
        /// The command line that repeats it.
        command: Vec<String> = run.command.clone(),
        /// Version and build of the program.
        wireproof: String = run.wireproof.clone(),
        /// Each time that the run was gone on with after it had been cut off.
        resumed: Vec<ResumedEntry> = run.resumed.iter().map(ResumedEntry::of).collect(),
        /// Doubts about all figures of the run.
        doubts: Vec<DoubtEntry> = run.doubts.iter().map(DoubtEntry::of).collect(),
    }
}

document! {
    /// One time that the run was gone on with.
    ResumedEntry of (resumed: &Resumption) {
        /// When (RFC 3339).
        at: String = resumed.at.clone(),
        /// Finished trials that were kept.
        kept: u32 = resumed.kept,
        /// Version and build of the program that went on.
        wireproof: String = resumed.wireproof.clone(),
    }
}

document! {
    /// The machines before and after the run.
    Environments of (run: &Run) {
        /// Before the first trial.
        before: Environment = run.before.clone(),
        /// After the last trial; null when the run did not get there.
        after: Option<Environment> = run.after.clone(),
        /// Differences between the two, in words.
        differences: Vec<String> = run.changes(),
    }
}

document! {
    /// One reason to trust a figure less, with what to do.
    DoubtEntry of (doubt: &Doubt) {
        /// The doubt: its kind and the numbers that belong to it.
        #[serde(flatten)]
        doubt: Doubt = doubt.clone(),
        /// Its meaning and its remedy.
        advice: String = advice(doubt, Lang::En),
    }
}

document! {
    /// One finished measurement.
    TrialEntry of (run: &Run, trial: &Trial, assessed: &TrialAssessment) -> Option;
    let [near, far] = &trial.counters;
    let limited_by = assessed.limited_by.as_ref();
    {
        /// Counts from 1 within the run.
        number: u32 = trial.number,
        /// In which repeat of the plan, from 1.
        repeat: u32 = trial.repeat,
        /// When it began (RFC 3339).
        started: String = trial.started.clone(),
        /// The endpoint at the near side of the probe.
        endpoint_from: String = trial.endpoint_from.clone(),
        /// The endpoint at the far side.
        endpoint_to: String = trial.endpoint_to.clone(),
        /// How long the counted part took, in seconds.
        duration_s: f64 = trial.duration_s,
        /// Cores the two ends were pinned to (near, far); empty where not pinned.
        cpus: [Vec<usize>; 2] = trial.cpus.clone(),
        /// Limit of the figure; null where it is not known.
        limited_by: Option<LimitedByEntry> = limited_by.map(|by| LimitedByEntry::of(by, &rate(&trial.measured.spec()))),
        /// Packets lost, by the place that lost them, both ends together.
        loss_at: BTreeMap<String, u64> = loss_by_place(&assessed.losses),
        /// The same with the end and the counters that show it.
        losses: Vec<LossEntry> = assessed.losses.iter().map(LossEntry::of).collect(),
        /// Counts of both ends over the trial (near, far).
        counters: [CountersEntry; 2] = [CountersEntry::of(&trial.endpoint_from, near), CountersEntry::of(&trial.endpoint_to, far)],
        /// The other ends that sent to the far one at the same time; empty where one sent.
        other_senders: Vec<OtherSenderEntry> = trial.others.iter().map(OtherSenderEntry::of).collect(),
        /// Counters of the device under test at all of its interfaces; null if they were not read.
        dut: Option<CountersEntry> = trial.dut.as_ref().map(|counters| CountersEntry::of(DUT, counters)),
        /// Doubts about the figures.
        doubts: Vec<DoubtEntry> = trial.doubts.iter().map(DoubtEntry::of).collect(),
        /// The probe, its parameters and figures.
        #[serde(flatten)]
        figures: Figures = Figures::of(run, trial, assessed)?,
    }
}

document! {
    /// Packets that one place lost.
    LossEntry of (loss: &LossAt) {
        /// The place, like `receiver's socket`.
        place: String = loss.place.to_string(),
        /// The endpoint it is at; null where no counter of either end saw the loss.
        endpoint: Option<String> = loss.endpoint.clone(),
        /// How many.
        packets: u64 = loss.packets,
        /// The counters that show it.
        shown_by: Vec<Delta> = loss.shown_by.clone(),
    }
}

document! {
    /// An end that sent beside the near one.
    OtherSenderEntry of (other: &OtherSender) {
        /// Cores it was pinned to; empty where not pinned.
        cpus: Vec<usize> = other.cpus.clone(),
        /// Its counters over the trial.
        counters: CountersEntry = CountersEntry::of(&other.endpoint, &other.counters),
    }
}

document! {
    /// Counters of one end over a trial.
    CountersEntry of (endpoint: &str, counters: &EndCounters) {
        /// The endpoint.
        endpoint: String = endpoint.to_owned(),
        /// Time between the two readings, in seconds.
        seconds: f64 = counters.seconds,
        /// Each core of its machine.
        cpu: Vec<CoreUse> = counters.cpu.clone(),
        /// Each counter that moved.
        deltas: Vec<Delta> = counters.deltas.clone(),
        /// Changes at this end from its start to the end of the counted time.
        events: Vec<Event> = counters.events.clone(),
    }
}

fn loss_by_place(losses: &[LossAt]) -> BTreeMap<String, u64> {
    let mut places = BTreeMap::new();
    for loss in losses {
        *places.entry(loss.place.to_string()).or_default() += loss.packets;
    }
    places
}
