//! Each check over all trials of a configuration.

use model::{CheckOutcome, CheckResult, ForwardingCheck, ForwardingFault, ForwardingSpec};

use super::super::Spec;
use crate::{
    groups::Group,
    show::{self, grouped},
    texts::Texts,
};

pub(super) type ForwardingGroup<'a> = Group<'a, ForwardingSpec>;

impl ForwardingGroup<'_> {
    /// Its configuration.
    pub(super) fn name(&self, t: &Texts) -> String {
        show::with_way(self.spec.configuration(t), self.way, t)
    }
}

/// A check over all trials: failed where one trial failed it.
pub(super) struct Merged<'a> {
    pub(super) check: ForwardingCheck,
    pub(super) outcome: &'a CheckOutcome,
    pub(super) frames: u64,
    pub(super) wrong: u64,
    /// Numbers of the trials that failed it.
    pub(super) failed_in: Vec<u32>,
}

/// All checks of a configuration.
pub(super) fn merged<'a>(group: &ForwardingGroup<'a>) -> Vec<Merged<'a>> {
    let one = |check: ForwardingCheck| {
        let of = |it: &'a model::ForwardingResult| it.checks.iter().find(|made| made.check == check);
        let made: Vec<(u32, &'a CheckResult)> =
            group.trials.iter().filter_map(|(trial, result)| Some((trial.number, of(result)?))).collect();
        let failed = || made.iter().filter(|(_, made)| made.has_failed());
        let passed = || made.iter().find(|(_, made)| made.outcome == CheckOutcome::Passed);
        let (_, shown) = failed().next().or_else(passed).or_else(|| made.first())?;
        Some(Merged {
            check,
            outcome: &shown.outcome,
            frames: made.iter().map(|(_, made)| made.frames).sum(),
            wrong: made.iter().map(|(_, made)| made.wrong).sum(),
            failed_in: failed().map(|(number, _)| *number).collect(),
        })
    };
    ForwardingCheck::ALL.into_iter().filter_map(one).collect()
}

/// Numbers of checks that passed, failed, and could not be made.
pub(super) fn counts(checks: &[Merged<'_>]) -> [usize; 3] {
    let failed = checks.iter().filter(|it| !it.failed_in.is_empty()).count();
    let passed = checks.iter().filter(|it| *it.outcome == CheckOutcome::Passed).count();
    [passed, failed, checks.len() - failed - passed]
}

impl Merged<'_> {
    /// Name of the check.
    pub(super) fn name(&self, t: &Texts) -> String {
        t.of_value("forwarding-check", &self.check)
    }

    /// The first fault, or the reason for which the check could not be made; nothing where it passed.
    pub(super) fn found(&self, t: &Texts) -> String {
        match self.outcome {
            CheckOutcome::Passed => String::new(),
            CheckOutcome::Failed { fault } => words(fault, t),
            CheckOutcome::NotApplicable { reason } => t.of_value("forwarding-reason", reason),
        }
    }
}

fn words(fault: &ForwardingFault, t: &Texts) -> String {
    let count = |value: &u64| grouped(*value);
    match fault {
        ForwardingFault::Changed { field, .. } => {
            t.of_value_with("forwarding-fault", fault, &[("field", &t.of_value("forwarding-field", field))])
        }
        ForwardingFault::Missing { sent, arrived }
        | ForwardingFault::NotDropped { sent, arrived }
        | ForwardingFault::MissingLengths { sent, arrived, .. } => {
            let counts: [(&str, &dyn std::fmt::Display); 2] = [("sent", &count(sent)), ("arrived", &count(arrived))];
            t.of_value_with("forwarding-fault", fault, &counts)
        }
        plain => t.of_value("forwarding-fault", plain),
    }
}
