//! The clock: its source, and what reading it takes.

use model::{
    Reading,
    check::{Check, Finding, Lack, Severity, Subject},
};

use crate::Machine;

/// Reading the clock this slowly (in nanoseconds) shows in a round-trip time.
const SLOW: f64 = 100.0;

pub(crate) fn check(Machine { host, clock_cost: cost, .. }: &Machine) -> Vec<Check> {
    let source = match &host.clock_source {
        Reading::Unreadable { path, why } => return vec![Check::unreadable(Subject::Clock, path, why)],
        known => known.clone().or_default(),
    };
    let read = Finding::Clock { source, cost: *cost };
    vec![if *cost < SLOW {
        Check::ok(Subject::Clock, read)
    } else {
        Check::not(Subject::Clock, Severity::Warn, read, Lack::FastClock)
    }]
}
