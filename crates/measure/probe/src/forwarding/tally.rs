//! Counts of each check, and the first fault that it found.

use std::collections::BTreeMap;

use model::{CheckOutcome, CheckResult, ForwardingCheck, ForwardingFault, NotApplicable};

/// Counts of one check.
#[derive(Clone, Debug, Default)]
struct Count {
    frames: u64,
    wrong: u64,
    fault: Option<ForwardingFault>,
}

/// Counts of all checks of a side.
#[derive(Clone, Debug, Default)]
pub(super) struct Tally {
    counts: BTreeMap<ForwardingCheck, Count>,
    left_out: BTreeMap<ForwardingCheck, NotApplicable>,
}

impl Tally {
    /// Counts a frame, with its fault if it has one.
    pub(super) fn frame(&mut self, check: ForwardingCheck, fault: Option<ForwardingFault>) {
        self.frames(check, 1, u64::from(fault.is_some()), fault);
    }

    /// Counts frames, some of them wrong.
    pub(super) fn frames(&mut self, check: ForwardingCheck, frames: u64, wrong: u64, fault: Option<ForwardingFault>) {
        let count = self.counts.entry(check).or_default();
        count.frames += frames;
        count.wrong += wrong;
        if count.fault.is_none() {
            count.fault = fault;
        }
    }

    /// Leaves a check out, for this reason.
    pub(super) fn leave_out(&mut self, check: ForwardingCheck, reason: NotApplicable) {
        self.left_out.insert(check, reason);
    }

    /// Outcomes in the order of a report. A check that is left out has no counts; one without a frame saw nothing.
    pub(super) fn outcomes(self) -> Vec<CheckResult> {
        let Self { counts, left_out } = self;
        let made = |check: ForwardingCheck| {
            let count = counts.get(&check).cloned().unwrap_or_default();
            let outcome = match (left_out.get(&check), count.fault) {
                (Some(reason), _) => CheckOutcome::NotApplicable { reason: *reason },
                (None, Some(fault)) => CheckOutcome::Failed { fault },
                (None, None) if count.frames > 0 => CheckOutcome::Passed,
                (None, None) => CheckOutcome::NotApplicable { reason: NotApplicable::NothingArrived },
            };
            CheckResult { check, frames: count.frames, wrong: count.wrong, outcome }
        };
        let known = |check: &ForwardingCheck| counts.contains_key(check) || left_out.contains_key(check);
        ForwardingCheck::ALL.into_iter().filter(known).map(made).collect()
    }
}
