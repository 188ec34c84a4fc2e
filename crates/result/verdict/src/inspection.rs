//! Inspection of the machines of a run, for what its plan measures.

use model::{
    Environment, ProbeSpec, Quantity, Run, Stack,
    inspection::{Conditions, Finding, Goal, HostReadings, Inspection, Severity},
};

/// One for each machine that was read for it.
pub(crate) fn inspections(run: &Run) -> Vec<Inspection> {
    let conditions = Conditions { goal: goal(run), ..Conditions::default() };
    let machines: Vec<(String, String)> =
        run.bed.endpoints.iter().map(|end| (end.name.clone(), end.machine.clone())).collect();
    let of = |environment: &Environment| -> Vec<(String, Vec<Finding>)> {
        let inspected = HostReadings::of_run(environment, &machines)
            .into_iter()
            .filter(|readings| readings.host.processor.is_some());
        inspected
            .map(|readings| (readings.host.hostname.clone(), judged(&checks::host(&readings, &conditions))))
            .collect()
    };
    let after = run.after.as_ref().map(of);
    let inspection = |(number, (host, before)): (usize, (String, Vec<Finding>))| {
        let after = after.as_ref().and_then(|all| all.get(number)).map(|(_, findings)| findings);
        let without = |some: &[Finding], others: &[Finding]| -> Vec<Finding> {
            let is_new = |finding: &&Finding| !others.iter().any(|other| is_same(finding, other));
            some.iter().filter(is_new).cloned().collect()
        };
        let appeared = after.map(|after| without(after, &before)).unwrap_or_default();
        let gone = after.map(|after| without(&before, after)).unwrap_or_default();
        Inspection { host, goal: conditions.goal, before, appeared, gone }
    };
    of(&run.before).into_iter().enumerate().map(inspection).collect()
}

/// Findings that cost the goal.
fn judged(findings: &[Finding]) -> Vec<Finding> {
    findings.iter().filter(|finding| finding.severity < Severity::Info).cloned().collect()
}

/// Whether two findings say the same: counters go on by themselves.
fn is_same(one: &Finding, other: &Finding) -> bool {
    (one.check, &one.object, one.severity) == (other.check, &other.object, other.severity)
}

/// Round trips alone ask for latency, a stack past the kernel for bypassing, everything else for throughput.
fn goal(run: &Run) -> Goal {
    let specs = run.plan.specs();
    let is_short =
        |spec: &ProbeSpec| spec.probe().compared().first().is_some_and(|metric| metric.quantity() == Quantity::Time);
    if specs.iter().any(|spec| spec.profile().stack == Stack::Bypass) {
        Goal::Bypass
    } else if specs.iter().all(is_short) {
        Goal::Latency
    } else {
        Goal::Throughput
    }
}
