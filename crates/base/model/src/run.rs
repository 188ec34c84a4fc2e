//! One run of one plan on one bed.

use std::str::FromStr;

use derive_more::Display;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    bed::Bed,
    doubt::Doubt,
    environment::Environment,
    identity::Identity,
    plan::Plan,
    plausible::{self, Checked, Within},
    trial::Trial,
};

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
    /// Name.
    pub id: RunId,
    /// When it began (RFC 3339).
    pub started: String,
    /// When it ended; `None` while it runs, or when it was killed.
    pub finished: Option<String>,
    /// The command line that repeats it.
    pub command: Vec<String>,
    /// Version and build of the program.
    pub wireproof: String,
    /// Document of its report; `None` where nobody said.
    #[serde(default)]
    pub identity: Option<Identity>,
    /// The plan.
    pub plan: Plan,
    /// Place.
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
    /// Searches without the device between the ends, each made once; empty where the plan does not ask for them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tester: Vec<Trial>,
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
    /// Whether all is possible that a store says beside trials and self-tests, which `stats::check` reads.
    pub fn check(&self) -> Checked {
        let texts = [("started", &self.started), ("wireproof", &self.wireproof)];
        texts.into_iter().try_for_each(|(field, words)| plausible::text(field, words))?;
        plausible::list("command", &self.command)?;
        plausible::list("doubts", &self.doubts)?;
        self.plan.check_stored().within("plan")?;
        self.bed.check().within("bed")?;
        self.before.check().within("before")?;
        self.after.as_ref().map_or(Ok(()), Environment::check).within("after")?;
        plausible::entries("resumed", self.resumed.len(), plausible::ENTRIES)?;
        plausible::each("resumed", &self.resumed, |resumed| resumed.before.check().within("before"))?;
        // Photos are as long as photos are.
        let words = self.identity.clone().map(|identity| Identity { photos: Vec::new(), ..identity });
        words.as_ref().map_or(Ok(()), plausible::parts).within("identity")
    }

    /// Changes on the machines while it was measured, in words: since it began, or since it was continued. Empty
    /// where nothing did, or where it is not known.
    pub fn changes(&self) -> Vec<String> {
        let before = self.resumed.last().map_or(&self.before, |resumed| &resumed.before);
        self.after.as_ref().map_or(Vec::new(), |after| before.differences(after))
    }

    /// The run with captures named as if they stood beside its plan: a report tells no folder of the person who measured.
    pub fn with_captures_beside(&self) -> Self {
        let mut run = Self { plan: self.plan.with_captures_beside(), ..self.clone() };
        run.trials.iter_mut().chain(&mut run.self_tests).chain(&mut run.tester).for_each(Trial::leave_folders);
        let doubts = run.trials.iter_mut().flat_map(|trial| &mut trial.doubts).chain(&mut run.doubts);
        for error in doubts.filter_map(Doubt::error_mut) {
            *error = self.plan.without_folders(error);
        }
        run
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
    use crate::{Json as _, Measured, Mtu, PacketsResult, ProbeSpec, fixture};

    #[test]
    fn captures_are_named_without_the_folder_that_they_were_in() {
        let plan =
            "name = \"p\"\n[[packets]]\nduration = \"1 s\"\nstream = [{ name = \"r\", replay = \"/home/x/a.pcap\" }]";
        let plan = Plan::parse(plan, &[]).unwrap();
        let ProbeSpec::Packets(spec) = plan.specs().remove(0) else { panic!("planned") };
        let result = PacketsResult { mtu: Mtu(1500), streams: vec![fixture::packet_stream(1, 1)] };
        let trials = vec![fixture::trial(Measured::Packets { spec, result })];
        let doubts = vec![Doubt::Failed { what: "the replay of /home/x/a.pcap: No such file".to_owned() }];
        let beside = Run { trials, doubts, ..fixture::run(plan) }.with_captures_beside();
        assert!(!beside.to_json().contains("/home/x"), "{}", beside.to_json());
        assert_eq!(beside.plan.captures(), ["a.pcap"]);
        assert!(beside.trials[0].measured.spec() == beside.plan.specs()[0], "resumed and counted by equality");
        assert_eq!(beside.doubts, [Doubt::Failed { what: "the replay of a.pcap: No such file".to_owned() }]);
        assert_eq!(beside.with_captures_beside(), beside);
    }

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
