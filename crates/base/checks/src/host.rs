//! Checks of a host for a goal, a file a subject: pure functions of its readings.
//!
//! A new check is a function in the file of its subject, a line of `SUBJECTS` for a new one, a name in
//! `model::inspection::Check`, and its title and reason in `report/texts/*/inspection.ftl`.

mod conntrack;
mod context;
mod driver;
mod drops;
mod forwarding;
mod link;
mod path;
mod pcie;
mod placement;
mod processor;
mod services;
mod tcp;
#[cfg(test)]
mod tests;

use model::inspection::{Conditions, Finding, HostReadings};

use self::context::Context;

/// A subject.
type Subject = fn(&Context<'_>) -> Vec<Finding>;

const SUBJECTS: [Subject; 11] = [
    link::check,
    pcie::check,
    placement::check,
    driver::check,
    processor::check,
    tcp::check,
    path::check,
    forwarding::check,
    conntrack::check,
    drops::check,
    services::check,
];

/// Findings in the readings of a host, the worst first, those of one severity by subject.
pub fn host(readings: &HostReadings, conditions: &Conditions) -> Vec<Finding> {
    let context = Context::of(readings, conditions);
    let mut findings: Vec<Finding> = SUBJECTS.iter().flat_map(|subject| subject(&context)).collect();
    findings.sort_by_key(|finding| (finding.severity, finding.check.group(), finding.check));
    findings
}
