//! Checks of a FreeBSD machine for a goal, a file a subject: pure functions of what its own commands printed.
//!
//! A check that Linux has too has the name that it has there, with its title and reason. A reading that failed makes each check that
//! needs it unknown, with the words of the command.

mod context;
mod driver;
mod drops;
mod link;
mod mbufs;
mod path;
mod pcie;
mod processor;
mod setting;
mod tcp;
#[cfg(test)]
mod tests;
mod unread;

use ::freebsd::Readings;
use model::inspection::{Conditions, Finding};

use self::context::Context;

/// A subject.
type Subject = fn(&Context<'_>) -> Vec<Finding>;

const SUBJECTS: [Subject; 9] = [
    unread::check,
    link::check,
    pcie::check,
    driver::check,
    mbufs::check,
    processor::check,
    tcp::check,
    path::check,
    drops::check,
];

/// Findings in the readings of a machine, the worst first, those of one severity by subject.
pub fn freebsd(readings: &Readings, conditions: &Conditions) -> Vec<Finding> {
    let context = Context { readings, conditions };
    let mut findings: Vec<Finding> = SUBJECTS.iter().flat_map(|subject| subject(&context)).collect();
    findings.sort_by_key(|finding| (finding.severity, finding.check.group(), finding.check));
    findings
}
