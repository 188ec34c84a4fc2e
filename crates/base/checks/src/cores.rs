//! Cores: each end needs one of its own.

use model::check::{Check, Finding, Lack, Severity, Subject};

use crate::Machine;

const WANTED: usize = 2;

pub(crate) fn check(machine: &Machine) -> Vec<Check> {
    let read = Finding::Cores { count: machine.cores };
    vec![if machine.cores >= WANTED {
        Check::ok(Subject::Cores, read)
    } else {
        Check::not(Subject::Cores, Severity::Warn, read, Lack::Cores)
    }]
}
