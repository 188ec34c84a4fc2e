//! IPv6.

use model::check::{Check, Finding, Lack, Severity, Subject};

use crate::Machine;

pub(crate) fn check(machine: &Machine) -> Vec<Check> {
    vec![if machine.ipv6 {
        Check::ok(Subject::Ipv6, Finding::Ipv6 { there: true })
    } else {
        Check::not(Subject::Ipv6, Severity::Info, Finding::Ipv6 { there: false }, Lack::Ipv6)
    }]
}
