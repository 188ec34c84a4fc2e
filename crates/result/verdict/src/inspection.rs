//! Inspection of the machines of a run, for what its plan measures.

use model::{
    Environment, Plan, ProbeSpec, Quantity, Run, Stack,
    environment::EndpointFacts,
    inspection::{Check, Conditions, Finding, Goal, Group, HostReadings, Inspection, Severity},
};

/// One for each machine that was read for it.
pub(crate) fn inspections(run: &Run) -> Vec<Inspection> {
    let conditions = Conditions { goal: goal(&run.plan), ..Conditions::default() };
    let machines: Vec<(String, String)> =
        run.bed.endpoints.iter().map(|end| (end.name.clone(), end.machine.clone())).collect();
    let is_made = |end: &&mut EndpointFacts| {
        run.bed.endpoints.iter().any(|it| it.name == end.endpoint && !it.namespace.is_empty())
    };
    let of = |environment: &Environment| -> Vec<(String, Vec<Finding>)> {
        let mut inspected = HostReadings::of_run(environment, &machines);
        inspected.retain(|readings| readings.host.processor.is_some());
        // The settings of a namespace that was made for the run are the run's, and gone with it.
        inspected
            .iter_mut()
            .flat_map(|readings| &mut readings.ends)
            .filter(is_made)
            .for_each(|end| end.sysctls.clear());
        inspected
            .iter()
            .map(|readings| (readings.host.hostname.clone(), judged(&checks::host(readings, &conditions))))
            .collect()
    };
    let after = run.after.as_ref().map(of);
    let inspection = |(number, (host, before)): (usize, (String, Vec<Finding>))| {
        let after = after.as_ref().and_then(|all| all.get(number)).map(|(_, findings)| findings);
        let appeared = after.map(|after| without(after, &before, has_moved)).unwrap_or_default();
        let gone = after.map(|after| without(&before, after, |_, _| false)).unwrap_or_default();
        Inspection { host, goal: conditions.goal, before, appeared, gone }
    };
    of(&run.before).into_iter().enumerate().map(inspection).collect()
}

/// Findings that cost the goal.
fn judged(findings: &[Finding]) -> Vec<Finding> {
    findings.iter().filter(|finding| finding.severity < Severity::Info).cloned().collect()
}

/// Findings that the others do not have, and those that differ from them by this.
fn without(some: &[Finding], others: &[Finding], differs: fn(&Finding, &Finding) -> bool) -> Vec<Finding> {
    let is_same = |one: &Finding, other: &Finding| {
        (one.check, &one.object, one.severity) == (other.check, &other.object, other.severity) && !differs(one, other)
    };
    let is_new = |finding: &&Finding| !others.iter().any(|other| is_same(finding, other));
    some.iter().filter(is_new).cloned().collect()
}

/// Whether a counter has another value.
fn has_moved(one: &Finding, other: &Finding) -> bool {
    let is_counter = one.check.group() == Group::Drops || one.check == Check::PcieErrors;
    is_counter && one.read.value != other.read.value
}

/// Round trips alone ask for latency, a stack that bypasses the kernel for bypassing, everything else for throughput.
pub fn goal(plan: &Plan) -> Goal {
    let specs = plan.specs();
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

#[cfg(test)]
mod tests {
    use model::{Reading, environment::HostFacts, fixture, settings::ProcessorFacts};

    use super::*;

    fn environment(huge_pages: &str, sack: &str) -> Environment {
        let processor = ProcessorFacts { huge_pages: huge_pages.into(), ..ProcessorFacts::default() };
        let host = HostFacts { hostname: "bench1".into(), processor: Some(processor), ..HostFacts::default() };
        let sysctls = [("net.ipv4.tcp_sack".to_owned(), Reading::from(sack))].into();
        let end = EndpointFacts { endpoint: "a".into(), sysctls, ..EndpointFacts::default() };
        Environment { hosts: vec![host], endpoints: vec![end], ..Environment::default() }
    }

    #[test]
    fn a_run_has_the_findings_of_its_goal_and_those_that_came_or_went() {
        let plan =
            Plan::parse("name = \"p\"\n[[latency]]\nprotocol = \"udp\"\nframe_sizes = [64]\n", &[]).expect("a plan");
        let mut run = fixture::run(plan);
        run.bed.endpoints[0].namespace.clear();
        run.before = environment("always", "1");
        run.after = Some(environment("never", "0"));
        let found = inspections(&run);
        let checks = |findings: &[Finding]| findings.iter().map(|finding| finding.check).collect::<Vec<_>>();
        assert_eq!((found.len(), found[0].goal, found[0].host.as_str()), (1, Goal::Latency, "bench1"));
        assert_eq!(checks(&found[0].before), [Check::HugePages]);
        assert_eq!(checks(&found[0].appeared), [Check::SelectiveAcks]);
        assert_eq!(checks(&found[0].gone), [Check::HugePages]);
        run.bed.endpoints[0].namespace = "wp0-a".to_owned();
        assert_eq!(checks(&inspections(&run)[0].appeared), [], "a setting of a namespace that the run made");
        run.before.hosts[0].processor = None;
        assert_eq!(inspections(&run), [], "a run of before machines were read for it");
    }

    #[test]
    fn a_counter_that_moved_is_told_again() {
        let finding = |value: &str| {
            let read = model::inspection::Read::of(value, "ip -s link");
            Finding::of(Check::Damage, "eth1", read, 0, &[]).unless(false, Severity::Warn, None)
        };
        let moved = |before, after| without(&[finding(after)], &[finding(before)], has_moved).len();
        assert_eq!((moved("7", "7"), moved("7", "9")), (0, 1));
    }
}
