//! Recorded trials, assessed by the goals of RFC 9971.

use std::{collections::BTreeMap, path::Path};

use model::{
    Run, Trial,
    search::{AssessedGoal, Goal, LoadedTrial, TrialResult, parse_goals, parse_trials},
};
use procedure::search::assess;
use report::ClassifiedDocument;

use super::{
    answer, device_table, language,
    runs::{load, open},
};
use crate::{
    cli::{ClassifyOptions, Common, Rfc2544Action},
    exit::{Exit, Words},
    paths,
};

/// A file of as many trials as are accepted is smaller, in MiB.
const LONGEST: u64 = 8;

/// `wireproof rfc2544 …`
pub(super) fn act(action: &Rfc2544Action, common: &Common) -> anyhow::Result<Exit> {
    match action {
        Rfc2544Action::Classify(options) => classify(options, common),
        Rfc2544Action::Table(options) => device_table::table(options, common),
    }
}

fn classify(options: &ClassifyOptions, common: &Common) -> anyhow::Result<Exit> {
    let goals = goals(&options.goals)?;
    let mut assessed = Vec::new();
    if let Some(file) = &options.trials {
        let trials = read(file, "a file of trials", LONGEST, parse_trials)?;
        assessed.extend(goals.iter().map(|goal| assess(goal, &trials)));
    }
    if let Some(run) = &options.run {
        assessed.extend(of_run(&load(&open(common)?, run)?, &goals)?);
    }
    answer(&ClassifiedDocument::of(&assessed), || report::classified(&assessed, language(common)), common)?;
    Ok(Exit::Done)
}

/// Each goal for each configuration of the run.
fn of_run(run: &Run, goals: &[Goal]) -> Result<Vec<AssessedGoal>, Words> {
    let mut configurations: BTreeMap<String, Vec<TrialResult>> = BTreeMap::new();
    for LoadedTrial { configuration, trial } in run.trials.iter().filter_map(Trial::at_load) {
        configurations.entry(configuration).or_default().push(trial);
    }
    if configurations.is_empty() {
        let why = "has no trial at a load that its sender reached; measure some, like \"wireproof packets --rate 1Mpps..10Mpps\"";
        return Err(Words(format!("run {} {why}", run.id.0)));
    }
    let assessed = |(configuration, trials): (String, Vec<TrialResult>)| {
        let of = move |goal| AssessedGoal { configuration: Some(configuration.clone()), ..assess(goal, &trials) };
        goals.iter().map(of)
    };
    Ok(configurations.into_iter().flat_map(assessed).collect())
}

/// Goals of a file.
pub(super) fn goals(path: &Path) -> Result<Vec<Goal>, Words> {
    read(path, "a file of goals", paths::LONGEST, parse_goals)
}

fn read<T, E: ToString>(
    path: &Path,
    what: &str,
    longest: u64,
    parse: impl FnOnce(&str) -> Result<T, E>,
) -> Result<T, Words> {
    let words = |why: String| Words(format!("{}: {why}", path.display()));
    let text = paths::read_text(path, what, longest).map_err(words)?;
    parse(&text).map_err(|error| words(error.to_string()))
}
