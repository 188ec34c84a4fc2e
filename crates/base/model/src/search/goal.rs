//! Goals of a search, read from TOML.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Ratio;
use crate::{probe::LONGEST, toml_text::from_toml, units::Nanos};

/// A search goal (RFC 9971): what the trials at a load have to uphold, and how closely the highest such load is found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Goal {
    /// Name.
    pub name: String,
    /// Shortest trial that a search asks for; as long as the final ones unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub initial_trial_duration: Option<Nanos>,
    /// Duration from which a trial is full-length.
    pub final_trial_duration: Nanos,
    /// Sum of the durations of full-length trials that decides a load for certain.
    pub duration_sum: Nanos,
    /// Largest loss of a low-loss trial.
    pub loss_ratio: Ratio,
    /// Share of the time in which trials may lose more than that.
    pub exceed_ratio: Ratio,
    /// Largest difference of the two bounds, as a share of the upper one (0.005).
    #[serde(default = "usual_width")]
    pub width: Ratio,
}

/// A file of goals.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct GoalFile {
    #[serde(default)]
    goal: Vec<Goal>,
}

crate::json!(GoalFile);

/// Goals that cannot be searched for.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum GoalError {
    /// Not TOML, an unknown key, a wrong type or unit; the text carries line and column.
    #[error("{0}")]
    Toml(String),
    /// No goal, or too many.
    #[error("{0}")]
    Number(String),
    /// A goal asks for something that cannot be.
    #[error("goal \"{goal}\": {why}")]
    Meaning {
        /// Name, or its number where that is wrong.
        goal: String,
        /// The fault and its remedy.
        why: String,
    },
}

const MOST_GOALS: usize = 20;
const LONGEST_NAME: usize = 64;
const SHORTEST_TRIAL: Nanos = Nanos::from_millis(1);

/// More trials at one load cannot be meant.
const MOST_TRIALS: u64 = 100_000;

/// Finer differences are those of single frames.
const FINEST_WIDTH: Ratio = Ratio(1e-6);

fn usual_width() -> Ratio {
    Ratio(0.005)
}

/// Reads the `[[goal]]` tables of a TOML file.
pub fn parse_goals(toml: &str) -> Result<Vec<Goal>, GoalError> {
    let GoalFile { goal: goals } = from_toml(toml).map_err(|error| GoalError::Toml(error.in_text))?;
    check_goals(&goals)?;
    Ok(goals)
}

/// Whether these goals can be searched for together.
pub fn check_goals(goals: &[Goal]) -> Result<(), GoalError> {
    if goals.is_empty() || goals.len() > MOST_GOALS {
        let count = goals.len();
        return Err(GoalError::Number(format!("{count} goals: write 1 to {MOST_GOALS} tables [[goal]]")));
    }
    let mut names = BTreeSet::new();
    for (index, goal) in goals.iter().enumerate() {
        let meaning = |goal: &str, why: String| GoalError::Meaning { goal: goal.to_owned(), why };
        check_name(&goal.name).map_err(|why| meaning(&(index + 1).to_string(), why))?;
        if !names.insert(&goal.name) {
            return Err(meaning(&goal.name, "there are two of this name; give each a name of its own".to_owned()));
        }
        goal.check().map_err(|why| meaning(&goal.name, why))?;
    }
    Ok(())
}

fn check_name(name: &str) -> Result<(), String> {
    if name.trim().is_empty() || name.chars().count() > LONGEST_NAME || name.chars().any(char::is_control) {
        return Err(format!("a goal's name has 1 to {LONGEST_NAME} characters, and no control characters"));
    }
    Ok(())
}

impl Goal {
    /// The throughput of RFC 2544 in trials of this duration, which trials of a second or less may approach.
    pub fn throughput(duration: Nanos) -> Self {
        Self {
            name: "throughput".to_owned(),
            initial_trial_duration: Some(duration.min(Nanos::from_secs(1))),
            final_trial_duration: duration,
            duration_sum: duration,
            loss_ratio: Ratio(0.0),
            exceed_ratio: Ratio(0.0),
            width: usual_width(),
        }
    }

    fn check(&self) -> Result<(), String> {
        let (last, sum) = (self.final_trial_duration, self.duration_sum);
        let first = self.initial_trial_duration.unwrap_or(last);
        for (key, duration) in
            [("final_trial_duration", last), ("initial_trial_duration", first), ("duration_sum", sum)]
        {
            if duration < SHORTEST_TRIAL || duration > LONGEST {
                return Err(format!("{key} is {duration}; it is between {SHORTEST_TRIAL} and {LONGEST}"));
            }
        }
        if first > last {
            return Err(format!(
                "initial_trial_duration is {first}, longer than final_trial_duration ({last}); shorten it"
            ));
        }
        if sum.0 / first.0 > MOST_TRIALS {
            return Err(format!("{sum} in trials of {first} are more than {MOST_TRIALS} trials; ask for longer ones"));
        }
        for (key, Ratio(ratio)) in [("loss_ratio", self.loss_ratio), ("exceed_ratio", self.exceed_ratio)] {
            if !(0.0..1.0).contains(&ratio) {
                return Err(format!("{key} is {ratio}; it is 0 or more and less than 1, like 0.005 or \"0.5 %\""));
            }
        }
        if !(FINEST_WIDTH.0..1.0).contains(&self.width.0) {
            let width = self.width;
            return Err(format!(
                "width is {width}; it is {FINEST_WIDTH} or more and less than 1, like 0.005 or \"0.5 %\""
            ));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NDR: &str = r#"
[[goal]]
name = "NDR"
initial_trial_duration = "1s"
final_trial_duration = "60s"
duration_sum = "60s"
loss_ratio = 0
exceed_ratio = 0
"#;

    fn error(toml: &str) -> String {
        parse_goals(toml).expect_err("a fault").to_string()
    }

    #[test]
    fn goals_are_read_with_ratios_as_shares_or_percent() {
        let pdr = NDR.replace("NDR", "PDR").replace("loss_ratio = 0", "loss_ratio = \"0.5 %\"");
        let goals = parse_goals(&format!("{NDR}{pdr}width = 0.01")).expect("goals");
        let [ndr, pdr] = goals.as_slice() else { panic!("{goals:?}") };
        assert_eq!((ndr.duration_sum, ndr.loss_ratio, ndr.width), (Nanos::from_secs(60), Ratio(0.0), Ratio(0.005)));
        assert_eq!((pdr.name.as_str(), pdr.loss_ratio, pdr.width), ("PDR", Ratio(0.005), Ratio(0.01)));
        let written = crate::json::Json::to_json(&GoalFile { goal: goals.clone() });
        assert_eq!(<GoalFile as crate::json::Json>::from_json(&written).expect("goals").goal, goals);
    }

    #[test]
    fn a_goal_that_cannot_be_reached_is_refused_with_its_remedy() {
        let with = |from: &str, to: &str| error(&NDR.replace(from, to));
        assert_eq!(error(""), "0 goals: write 1 to 20 tables [[goal]]");
        assert!(error(&format!("{NDR}{NDR}")).contains("goal \"NDR\": there are two of this name"));
        assert!(error(&format!("{NDR}width = 0")).contains("width is 0; it is 0.000001 or more"));
        assert!(error(&format!("{NDR}width = nan")).contains("no ratio"));
        assert!(with("loss_ratio = 0", "loss_ratio = 1").contains("loss_ratio is 1; it is 0 or more and less than 1"));
        assert!(with("exceed_ratio = 0", "exceed_ratio = \"100 %\"").contains("exceed_ratio is 1;"));
        assert!(with("exceed_ratio = 0", "exceed_ratio = -0.1").contains("exceed_ratio is -0.1;"));
        assert!(with("\"1s\"", "\"61s\"").contains("initial_trial_duration is 61 s, longer than"));
        assert!(with("duration_sum = \"60s\"", "duration_sum = \"0s\"").contains("duration_sum is 0 s; it is between"));
        assert!(with("duration_sum = \"60s\"", "duration_sum = 60").contains("write it like \"10 s\""));
        assert!(with("duration_sum = \"60s\"", "duration_sum = \"48 h\"").contains("ask for longer ones"));
        assert!(with("NDR", " ").starts_with("goal \"1\": a goal's name has 1 to 64 characters"));
        assert!(with("exceed_ratio = 0\n", "").contains("missing field `exceed_ratio`"));
        assert!(with("exceed_ratio", "exceed").contains("unknown field `exceed`"));
        assert!(with("\n[[goal]]", "\n[[goals]]").contains("unknown field `goals`"));
    }
}
