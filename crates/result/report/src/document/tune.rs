//! Tuning as JSON.

use model::tuning::{ByHand, Deviation, Kept, LeftOut, PlannedChange, Setting, TuningPlan, TuningState, Undone};

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

schema!("wireproof-tune-plan/1": TunePlanSchemaName, tune_plan_schema of TunePlanDocument);
schema!("wireproof-tune/1": TuneSchemaName, tune_schema of TuneDocument);
schema!("wireproof-tune-undone/1": TuneUndoneSchemaName, tune_undone_schema of TuneUndoneDocument);
