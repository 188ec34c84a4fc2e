//! Keys of a section that searches for a load.

use super::Method;
use crate::{
    search::{Goal, PlannedSearch, SearchMethod, check_goals, least_load},
    units::Nanos,
};

/// Without a lowest load a search begins at this part of the highest one.
const LOWEST: u64 = 1_000;

/// Two loads without a search.
pub(super) const ONE_LOAD: &str =
    "a lowest and a highest load are those of a search; write search = \"mlr\" too, or one load";

/// A search as a section asks for it.
pub(super) struct Searched<'a> {
    /// The way; `None` where it searches for nothing.
    pub(super) method: Option<SearchMethod>,
    pub(super) goals: &'a [Goal],
    /// Duration of a trial where there is no goal.
    pub(super) duration: Nanos,
    /// Shortest trial of the probe.
    pub(super) shortest: Nanos,
    /// The lowest load, where it is said, and the highest one; `None` where the section says no load.
    pub(super) loads: Option<(Option<u64>, u64)>,
    /// A load in words.
    pub(super) words: &'a dyn Fn(u64) -> String,
    /// Lowest and highest load, as they are written.
    pub(super) example: &'static str,
}

impl Searched<'_> {
    pub(super) fn check(&self) -> Result<(), String> {
        let Some(method) = self.method else {
            let why = "goals are those of a search; write search = \"mlr\" too, or leave them out";
            return if self.goals.is_empty() { Ok(()) } else { Err(why.to_owned()) };
        };
        let goals = self.goals();
        let Some((min, _)) = self.range(&goals) else {
            let example = self.example;
            return Err(format!(
                "a search takes its lowest and its highest load, like rate = \"{example}\", or the highest one alone"
            ));
        };
        check_goals(&goals).map_err(|error| error.to_string())?;
        if method == SearchMethod::Binary && goals.len() > 1 {
            return Err("halving has one goal; write search = \"mlr\" for several".to_owned());
        }
        let shortest = self.shortest;
        if goals.iter().any(|goal| goal.initial_trial_duration.unwrap_or(goal.final_trial_duration) < shortest) {
            return Err(format!("trials of a search last {shortest} or more"));
        }
        let least = least_load(&goals);
        if min < least {
            let least = (self.words)(least);
            return Err(format!(
                "a search for goals of this width begins at {least} or more; raise the lowest load of rate"
            ));
        }
        Ok(())
    }

    /// Loads from the lowest to the highest, for a section that searches, or `otherwise`.
    pub(super) fn method(&self, otherwise: Method) -> Method {
        let goals = self.goals();
        let planned = self.method.zip(self.range(&goals));
        planned.map_or(otherwise, |(method, (min, max))| Method::Search(PlannedSearch { method, goals, min, max }))
    }

    fn range(&self, goals: &[Goal]) -> Option<(u64, u64)> {
        let (lowest, max) = self.loads?;
        let min = lowest.unwrap_or_else(|| (max / LOWEST).max(least_load(goals)));
        (min < max).then_some((min, max))
    }

    /// Goals of the plan, or the throughput of RFC 2544, which short trials approach.
    fn goals(&self) -> Vec<Goal> {
        if self.goals.is_empty() { vec![Goal::throughput(self.duration)] } else { self.goals.to_vec() }
    }
}
