//! One run of one plan on one bed.

use std::str::FromStr;

use derive_more::Display;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{bed::Bed, doubt::Doubt, environment::Environment, identity::Identity, plan::Plan, trial::Trial};

/// Names a run: its start in UTC and four random hex digits, like `20261121-101500-3fa9`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema, Display)]
#[display("{_0}")]
#[serde(transparent)]
pub struct RunId(pub String);

/// No name of a run is longer.
const LONGEST_ID: usize = 64;

impl RunId {
    /// Whether a run can have this name, which is part of names of files: letters, digits, `-` and `_` only.
    pub fn is_well_formed(&self) -> bool {
        let is_fit = |letter: u8| letter.is_ascii_alphanumeric() || matches!(letter, b'-' | b'_');
        (1..=LONGEST_ID).contains(&self.0.len()) && self.0.bytes().all(is_fit)
    }
}

/// A run: order, bed and results.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// Its name.
    pub id: RunId,
    /// When it began (RFC 3339).
    pub started: String,
    /// When it ended; `None` while it runs, or when it was killed.
    pub finished: Option<String>,
    /// The command line that repeats it.
    pub command: Vec<String>,
    /// Version and build of the program.
    pub wireproof: String,
    /// Whose document its report is; `None` where nobody said.
    #[serde(default)]
    pub identity: Option<Identity>,
    /// The plan.
    pub plan: Plan,
    /// Where it happened.
    pub bed: Bed,
    /// Whether trials of the plan are missing.
    pub partial: bool,
    /// The machines before the first trial.
    pub before: Environment,
    /// The machines after the last trial.
    pub after: Option<Environment>,
    /// Doubts about all figures of the run.
    pub doubts: Vec<Doubt>,
    /// Resumptions after it was cut off; empty if it ran through.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub resumed: Vec<Resumption>,
    /// The tester alone, over the loopback of the near end, with each load that it paces: its own limit, beyond which a figure says
    /// nothing about the path.
    #[serde(default)]
    pub self_tests: Vec<Trial>,
    /// Each finished measurement, in order.
    pub trials: Vec<Trial>,
}

crate::json!(Run);

/// A resumption of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Resumption {
    /// When (RFC 3339).
    pub at: String,
    /// Whole trials that there were.
    pub kept: u32,
    /// Version and build of the program that went on.
    pub wireproof: String,
    /// The machines then, with the bed as it was made again.
    pub before: Environment,
}

impl Run {
    /// What changed on the machines while it was measured, in words: since it began, or since it was gone on with. Empty
    /// where nothing did, or where it is not known.
    pub fn changes(&self) -> Vec<String> {
        let before = self.resumed.last().map_or(&self.before, |resumed| &resumed.before);
        self.after.as_ref().map_or(Vec::new(), |after| before.differences(after))
    }
}

impl FromStr for RunId {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(Self(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_run_leads_nowhere() {
        for right in ["20261121-101500-3fa9", "r1", "a_B"] {
            assert!(RunId(right.to_owned()).is_well_formed(), "{right}");
        }
        for wrong in ["", "../../../x", "a/b", "a.b", "\u{1b}]0;x", "a\n", &"x".repeat(65)] {
            assert!(!RunId(wrong.to_owned()).is_well_formed(), "{wrong:?}");
        }
    }
}
