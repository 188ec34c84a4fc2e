//! Checks whose command gave nothing: each is unknown, and why.

use model::{
    Reading,
    inspection::{Check, Finding, Goal, ROOT},
};

use super::context::Context;

/// Words of a command that root may run.
const RIGHTS: [&str; 2] = ["ermission denied", "not permitted"];

/// Command and reason of a reading that failed, and the checks that need it.
type Failed<'r> = (Option<(&'r str, &'r str)>, &'r [Check]);

pub(super) fn check(context: &Context<'_>) -> Vec<Finding> {
    let readings = context.readings;
    let failed: [Failed<'_>; 7] = [
        (
            failure(&readings.interfaces),
            &[
                Check::LinkDown,
                Check::LinkSlow,
                Check::HalfDuplex,
                Check::MtuMember,
                Check::MtuLower,
                offloads(context),
            ],
        ),
        (
            failure(&readings.devices),
            &[Check::PcieNarrow, Check::PciePayload, Check::PcieReadRequest, Check::PcieErrors],
        ),
        (failure(&readings.mbufs), &[Check::MbufsShort]),
        (failure(&readings.counters), &[Check::Drops, Check::InputErrors]),
        (failure(&readings.protocols), &[Check::StackDrops]),
        (failure(&readings.route), &[Check::RouteMtuBelow]),
        (failure(&readings.boot), &[Check::KernelComplains]),
    ];
    let failed = failed.into_iter().filter_map(|(failure, checks)| Some((failure?, checks)));
    failed.flat_map(|((command, why), checks)| checks.iter().map(move |check| unknown(*check, command, why))).collect()
}

fn offloads(context: &Context<'_>) -> Check {
    if context.is_for(&[Goal::Router]) { Check::LroForwarding } else { Check::OffloadOff }
}

fn failure<T>(reading: &Reading<T>) -> Option<(&str, &str)> {
    match reading {
        Reading::Unreadable { path, why } => Some((path, why)),
        _ => None,
    }
}

fn unknown(check: Check, command: &str, why: &str) -> Finding {
    let finding = Finding::unknown(check, "", command, why);
    if RIGHTS.iter().any(|words| why.contains(words)) { finding.with(ROOT, true) } else { finding }
}
