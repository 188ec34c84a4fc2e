//! Searches for the highest load.

use model::search::{AssessedGoal, AssessedSearch, GoalResult, SearchMethod, SearchedTrial};

use crate::{probes::load_unit, shape::document};

document! {
    /// A search of the plan: one configuration in one repeat. Loads are in packets, bits or transactions a second.
    SearchEntry of (search: &AssessedSearch) {
        /// The section of the plan, like `packets.1`.
        section: String = search.procedure.clone(),
        /// The probe without its load, in words.
        configuration: String = search.spec.to_string(),
        /// Sending and receiving end, where senders took turns; null otherwise.
        way: Option<(String, String)> = search.way.clone(),
        /// In which repeat of the plan, from 1.
        repeat: u32 = search.repeat,
        /// `mlr` or `binary`.
        method: SearchMethod = search.method,
        /// Unit of all loads: `pps`, `bit/s` or `tps`.
        unit: String = load_unit(&search.spec, 1.0).1.to_owned(),
        /// Its trials, in the order in which they were asked for.
        trials: Vec<SearchedEntry> = search.trials.iter().map(SearchedEntry::of).collect(),
        /// Each goal with the classification of each load, both bounds and the conditional throughput.
        goals: Vec<AssessedGoal> = search.goals.clone(),
        /// Result of each goal without the device between the ends; absent where that was not measured.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        tester: Vec<GoalResult> = search.tester.clone(),
        /// Whether the tester alone reaches the bounds of each goal; where it does not, the result is INCONCLUSIVE. Absent likewise.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        vouched: Vec<bool> = (0..search.goals.len()).filter_map(|goal| search.is_vouched(goal)).collect(),
    }
}

document! {
    /// A trial of a search.
    SearchedEntry of (trial: &SearchedTrial) {
        /// Number within the run.
        number: u32 = trial.number,
        /// Load asked for.
        load: f64 = trial.trial.load,
        /// Duration asked for, in seconds.
        duration_s: f64 = trial.trial.duration_s,
        /// Share that was lost; null where the sender did not reach the load, so that no goal counts the trial.
        loss_ratio: Option<f64> = trial.is_valid.then_some(trial.trial.loss_ratio),
    }
}
