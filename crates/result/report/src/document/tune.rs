//! Tuning as JSON.

use model::{
    comparison::{ComparedRun, RunComparison},
    tuning::{
        ByHand, Deviation, Kept, LeftOut, PlannedChange, Setting, StepEffect, StepOutcome, TunedState, TuningEffect,
        TuningInspection, TuningPlan, TuningState, Undone,
    },
};

use super::FindingEntry;
use crate::shape::{document, schema};

document! {
    /// A change that would be made.
    PlannedChangeEntry of (planned: &PlannedChange) {
        /// The setting, as a profile names it.
        setting: Setting = planned.setting.clone(),
        /// The interface; null for a setting of the machine.
        interface: Option<String> = planned.interface.clone(),
        /// The value that was read.
        before: String = planned.before.clone(),
        /// The value that is wanted.
        wanted: String = planned.wanted.clone(),
        /// The reason: a key of the texts, or the words of the profile.
        why: String = planned.why.clone(),
        /// Document and section that recommends it.
        source: String = planned.source.clone(),
        /// Whether it could cut the caller's way to the machine.
        can_cut: bool = planned.can_cut,
    }
}

document! {
    /// JSON document of `tune plan`.
    TunePlanDocument of (plan: &TuningPlan) {
        /// Name and version of this shape.
        schema: TunePlanSchemaName = TunePlanSchemaName::V1,
        /// Name of the goal or the profile.
        profile: String = plan.profile.clone(),
        /// Interfaces that are tuned.
        interfaces: Vec<String> = plan.interfaces.clone(),
        /// The changes, in the order in which they would be made.
        changes: Vec<PlannedChangeEntry> = plan.changes.iter().map(PlannedChangeEntry::of).collect(),
        /// Settings that are as wanted already.
        kept: Vec<Kept> = plan.kept.clone(),
        /// Values that are not set, each with the reason.
        left_out: Vec<LeftOut> = plan.left_out.clone(),
        /// Parameters of the kernel's command line, which take a reboot.
        by_hand: Vec<ByHand> = plan.by_hand.clone(),
        /// Programs on the machine that set the same things by themselves.
        rivals: Vec<String> = plan.rivals.clone(),
        /// Lines of a profile of another program that have no meaning here.
        not_understood: Vec<String> = plan.not_understood.clone(),
    }
}

document! {
    /// JSON document of `tune apply`, `tune status` and `tune confirm`.
    TuneDocument of (state: Option<&TuningState>) {
        /// Name and version of this shape.
        schema: TuneSchemaName = TuneSchemaName::V1,
        /// The tuning that stands; null without one.
        tuning: Option<TuningState> = state.cloned(),
    }
}

document! {
    /// JSON document of `tune undo`.
    TuneUndoneDocument of (undone: &Undone) {
        /// Name and version of this shape.
        schema: TuneUndoneSchemaName = TuneUndoneSchemaName::V1,
        /// Changes that were undone, in words.
        undone: Vec<String> = undone.undone.clone(),
        /// Changes that somebody else has changed again since; they stand.
        left: Vec<Deviation> = undone.left.clone(),
    }
}

document! {
    /// A step of a tuning, and what it brought.
    StepEffectEntry of (step: &StepEffect) {
        /// The setting, as a profile names it.
        setting: Setting = step.setting.clone(),
        /// Its changes.
        changes: Vec<PlannedChangeEntry> = step.changes.iter().map(PlannedChangeEntry::of).collect(),
        /// Outcome.
        outcome: StepOutcome = step.outcome,
    }
}

document! {
    /// Inspection of the machine, for the goal of the tuning.
    TuningInspectionEntry of (inspected: &TuningInspection) {
        /// The goal.
        goal: model::inspection::Goal = inspected.goal,
        /// Findings that cost it before any change, the worst first.
        before: Vec<FindingEntry> = inspected.before.iter().map(FindingEntry::of).collect(),
        /// Findings that all steps mended.
        mended: Vec<FindingEntry> = inspected.mended.iter().map(FindingEntry::of).collect(),
    }
}

document! {
    /// JSON document of `verify --tune`.
    TuningEffectDocument of (effect: &TuningEffect) {
        /// Name and version of this shape.
        schema: TuningEffectSchemaName = TuningEffectSchemaName::V1,
        /// Name of the goal or the profile.
        profile: String = effect.plan.profile.clone(),
        /// Interfaces that were tuned.
        interfaces: Vec<String> = effect.plan.interfaces.clone(),
        /// The measurement before any change.
        first: ComparedRun = effect.first.clone(),
        /// The measurements of tuned states, each compared with the first one; that of all steps is the last. None where there is
        /// nothing to change.
        states: Vec<TunedState> = effect.states.clone(),
        /// The measurement after the undoing, compared with the first one: drift. Null where nothing was changed.
        undone: Option<RunComparison> = effect.undone.clone(),
        /// The steps, in the order in which they are made.
        steps: Vec<StepEffectEntry> = effect.steps.iter().map(StepEffectEntry::of).collect(),
        /// Figures of all tuned states, compared at once.
        compared: usize = effect.compared,
        /// Confidence of the interval of each of these, by Bonferroni: all of them hold together with 0.95.
        confidence: f64 = effect.confidence,
        /// Inspection of the machine.
        inspection: TuningInspectionEntry = TuningInspectionEntry::of(&effect.inspected),
        /// Settings that are as wanted already.
        kept: Vec<Kept> = effect.plan.kept.clone(),
        /// Values that are not set, each with the reason.
        left_out: Vec<LeftOut> = effect.plan.left_out.clone(),
        /// Parameters of the kernel's command line, which take a reboot.
        by_hand: Vec<ByHand> = effect.plan.by_hand.clone(),
        /// Programs on the machine that set the same things by themselves.
        rivals: Vec<String> = effect.plan.rivals.clone(),
        /// Changes that somebody else changed again meanwhile; they stand.
        left: Vec<Deviation> = effect.left.clone(),
    }
}

schema!("wireproof-tuning-effect/1": TuningEffectSchemaName, tuning_effect_schema of TuningEffectDocument);
schema!("wireproof-tune-plan/1": TunePlanSchemaName, tune_plan_schema of TunePlanDocument);
schema!("wireproof-tune/1": TuneSchemaName, tune_schema of TuneDocument);
schema!("wireproof-tune-undone/1": TuneUndoneSchemaName, tune_undone_schema of TuneUndoneDocument);
