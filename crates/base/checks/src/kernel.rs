//! The kernel.

use model::check::{Check, Finding, Subject};

use crate::Machine;

pub(crate) fn check(Machine { host, .. }: &Machine) -> Vec<Check> {
    let read = Finding::Kernel { version: host.kernel.clone(), architecture: host.architecture.clone() };
    vec![Check::ok(Subject::Kernel, read)]
}
