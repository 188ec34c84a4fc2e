//! A dry run as JSON.

use model::{Limit, Plan, ProbeSpec, plan::Bound};

use crate::{
    preview::{Obstacle, Preview, PreviewItem, PreviewLimit},
    shape::{document, schema},
};

document! {
    /// Output of the measuring commands with `--dry-run --json`.
    DryRunDocument of (preview: &Preview<'_>, dut: &[String]) {
        /// Name and version of this shape.
        schema: DryRunSchemaName = DryRunSchemaName::V1,
        /// The plan, in full.
        plan: Plan = preview.run.plan.clone(),
        /// Each configuration once, in the order of the plan.
        steps: Vec<StepEntry> = preview.items.iter().map(StepEntry::of).collect(),
        /// About how long the trials take together, in seconds.
        seconds: f64 = preview.items.iter().map(PreviewItem::total).sum(),
        /// The same if each search lasts as long as it may.
        most_seconds: f64 = preview.items.iter().map(PreviewItem::most_total).sum(),
        /// Changes to the machine for the bed; empty for a standing bed.
        changes: Vec<String> = preview.set_up.to_vec(),
        /// Changes for single trials.
        changes_for_trials: Vec<String> = preview.for_trials.to_vec(),
        /// Commands that are run on the device under test; they read, and change nothing.
        dut_commands: Vec<String> = dut.to_vec(),
        /// Each limit of the plan, for each configuration that it speaks of.
        limits: Vec<PlannedLimitEntry> = preview.limits.iter().map(PlannedLimitEntry::of).collect(),
    }
}

schema!("wireproof-dry-run/1": DryRunSchemaName, dry_run_schema of DryRunDocument);

document! {
    /// One configuration.
    StepEntry of (item: &PreviewItem) {
        /// The configuration.
        spec: ProbeSpec = item.spec.clone(),
        /// Number of trials.
        times: usize = item.times,
        /// About how long each of them takes, in seconds.
        seconds_each: f64 = item.seconds,
        /// About how long they take together, in seconds.
        seconds: f64 = item.total(),
        /// Number of trials of the longest search, whose first load the configuration has; null where nothing is searched.
        most_times: Option<usize> = item.most.map(|most| most.times),
        /// How long these take together, in seconds; null likewise.
        most_seconds: Option<f64> = item.most.map(|most| most.seconds),
    }
}

document! {
    /// A limit for a configuration.
    PlannedLimitEntry of (limit: &PreviewLimit) {
        /// The limit.
        limit: Limit = limit.outcome.limit.clone(),
        /// The configuration in words.
        configuration: String = limit.outcome.probe.clone(),
        /// Bound in the metric's base unit; null if the reference has no such figure.
        bound: Option<Bound> = limit.outcome.bound,
        /// Why it cannot be judged, as far as that is known before; null where nothing is in the way.
        obstacle: Option<Obstacle> = limit.obstacle,
    }
}
