//! Going on with a run that was cut off.

use model::{Bed, Doubt, Environment, Privilege, Reading, Run, environment::HostFacts, run::Resumption};

/// A run that cannot be continued.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum CannotResume {
    /// Nothing is missing.
    #[error("run {run} is complete: all {trials} trials of its plan are stored; measure anew with \"{command}\"")]
    Complete {
        /// The run.
        run: String,
        /// Trials it has.
        trials: usize,
        /// The command line that repeats it.
        command: String,
    },
    /// It belongs to another machine.
    #[error(
        "run {run} was recorded by another machine ({there}; this is {here}): figures of two machines make no run; measure \
         anew here, or go on with it there"
    )]
    OtherMachine {
        /// The run.
        run: String,
        /// Machine.
        there: String,
        /// This one.
        here: String,
    },
    /// Its trials are not where this program would put them.
    #[error(
        "run {run}: trial {number} is not what this program would measure there, so it was recorded by a version that goes \
         through plans in another order; measure anew"
    )]
    OtherOrder {
        /// The run.
        run: String,
        /// The trial.
        number: u32,
    },
}

/// The run with each trial identified, if it can be continued on this machine.
pub fn resumable(mut run: Run, here: &HostFacts) -> Result<Run, CannotResume> {
    let id = run.id.0.clone();
    if !run.partial {
        let (trials, command) = (run.trials.len(), run.command.join(" "));
        return Err(CannotResume::Complete { run: id, trials, command });
    }
    if let Some(there) = run.before.hosts.first()
        && machine(there) != machine(here)
    {
        return Err(CannotResume::OtherMachine { run: id, there: machine(there), here: machine(here) });
    }
    match identify(&mut run) {
        Ok(()) => Ok(run),
        Err(number) => Err(CannotResume::OtherOrder { run: id, number }),
    }
}

/// Older versions stored no origin of a trial: its number was its place in the list of steps. The error is the number of a
/// trial that is not what this program would measure there.
fn identify(run: &mut Run) -> Result<(), u32> {
    if run.trials.iter().all(|trial| trial.origin.is_some()) {
        return Ok(());
    }
    let steps = procedure::steps(&run.plan, run.bed.senders().len());
    for trial in run.trials.iter_mut().filter(|trial| trial.origin.is_none()) {
        let step = (trial.number as usize).checked_sub(1).and_then(|index| steps.get(index));
        let step = step.filter(|step| step.repeat == trial.repeat && step.spec == trial.measured.spec());
        trial.origin = Some(step.ok_or(trial.number)?.origin());
    }
    Ok(())
}

/// Identity of a machine, which stays the same when it is started again.
fn machine(facts: &HostFacts) -> String {
    let (product, cpu) = (facts.product.known(), facts.cpu_model.known());
    let what = [Some(&facts.hostname), product, cpu, Some(&facts.architecture)].into_iter().flatten();
    what.filter(|what| !what.is_empty()).cloned().collect::<Vec<_>>().join(", ")
}

/// The run as it goes on: on the bed as it is now, with what makes its two parts differ as doubts. What was cut off stays
/// until something that got further takes its place.
pub(crate) fn taken_up(mut run: Run, mut bed: Bed, now: Environment, wireproof: String) -> Run {
    if now.is_one_kernel() {
        bed.set_one_kernel();
    }
    // Whether they hold is open again.
    run.doubts.retain(|doubt| !matches!(doubt, Doubt::Interrupted | Doubt::Failed { .. }) && !doubt.leaves_out());
    let changes = comparable(&run.before, &bed).differences(&comparable(&now, &bed));
    let changes = changes.into_iter().map(|what| Doubt::EnvironmentChanged { what });
    let other_build = (run.wireproof != wireproof)
        .then(|| Doubt::OtherBuild { first: run.wireproof.clone(), then: wireproof.clone() });
    let unprivileged = (bed.privilege == Privilege::UserNamespace).then_some(Doubt::Unprivileged);
    for doubt in changes.chain(other_build).chain(unprivileged) {
        if !run.doubts.contains(&doubt) {
            run.doubts.push(doubt);
        }
    }
    let kept = run.trials.iter().filter(|trial| trial.is_whole()).count() as u32;
    run.resumed.push(Resumption { at: now.read_at.clone(), kept, wireproof, before: now });
    run.bed = with_reasons(bed, &run.bed);
    (run.finished, run.after, run.partial) = (None, None, true);
    run
}

/// The part of the facts that is compared between the two parts. A bed that is made anew has interfaces with other MAC addresses, and other
/// link-local addresses made from these; another build is a doubt of its own.
fn comparable(environment: &Environment, bed: &Bed) -> Environment {
    let mut environment = environment.clone();
    environment.hosts.iter_mut().for_each(|host| host.wireproof.clear());
    if bed.makes_its_links() {
        for interface in environment.endpoints.iter_mut().flat_map(|endpoint| &mut endpoint.interfaces) {
            interface.mac = Reading::Absent;
            interface.addresses.retain(|address| !address.starts_with("fe80:"));
        }
    }
    environment
}

/// The same cores were asked for because they were chosen before: why they were is still why.
fn with_reasons(mut bed: Bed, before: &Bed) -> Bed {
    for (end, before) in bed.endpoints.iter_mut().zip(&before.endpoints) {
        if end.cpus == before.cpus {
            end.cpus_why.clone_from(&before.cpus_why);
        }
    }
    bed
}

#[cfg(test)]
mod tests {
    use model::{
        LatencyResult, Measured, Plan, ProbeSpec, RunId, Trial,
        environment::{EndpointFacts, InterfaceFacts},
        fixture,
        trial::Origin,
    };

    use super::*;

    fn environment(mac: &str, mtu: u32) -> Environment {
        let addresses = vec![format!("fe80::{mac}/64"), "198.18.0.1/24".to_owned()];
        let interface = InterfaceFacts { mac: mac.into(), mtu: mtu.into(), addresses, ..InterfaceFacts::default() };
        let endpoint = EndpointFacts { endpoint: "a".into(), interfaces: vec![interface], ..EndpointFacts::default() };
        let host = HostFacts { hostname: "one".into(), cpu_model: "fast".into(), ..HostFacts::default() };
        Environment { read_at: format!("at {mac}"), hosts: vec![host], endpoints: vec![endpoint] }
    }

    fn trial(number: u32, spec: &ProbeSpec, doubts: Vec<Doubt>) -> Trial {
        let ProbeSpec::Latency(spec) = spec else { panic!("latency") };
        let measured = Measured::Latency { spec: spec.clone(), result: Box::<LatencyResult>::default() };
        Trial { number, doubts, ..fixture::trial(measured) }
    }

    /// Three trials are planned; the first is whole, the second was cut off.
    fn cut_off() -> Run {
        let plan = "name = \"t\"\n[[latency]]\nprotocol = \"udp\"\nframe_sizes = [64, 128, 256]";
        let plan = Plan::parse(plan, &[]).unwrap();
        let specs = plan.specs();
        let trials = vec![trial(1, &specs[0], vec![]), trial(2, &specs[1], vec![Doubt::Unfinished { seconds: 2 }])];
        Run {
            id: RunId("r".into()),
            finished: Some(String::new()),
            wireproof: "build 1".into(),
            partial: true,
            before: environment("1", 1500),
            after: Some(environment("1", 1500)),
            doubts: vec![Doubt::Interrupted],
            trials,
            ..fixture::run(plan)
        }
    }

    #[test]
    fn a_run_that_is_complete_or_of_another_machine_is_not_gone_on_with() {
        let here = environment("2", 1500).hosts[0].clone();
        let identified = resumable(cut_off(), &here).unwrap();
        let origin = Origin { procedure: "latency.1".into(), attempt: 1 };
        assert!(identified.trials.iter().all(|trial| trial.origin == Some(origin.clone())));
        let complete = resumable(Run { partial: false, ..cut_off() }, &here).unwrap_err().to_string();
        assert!(complete.contains("is complete") && complete.contains("\"wireproof verify\""), "{complete}");
        let other = HostFacts { hostname: "two".into(), ..here.clone() };
        let elsewhere = resumable(cut_off(), &other).unwrap_err().to_string();
        assert!(elsewhere.contains("(one, fast; this is two, fast)"), "{elsewhere}");
        let mut moved = cut_off();
        moved.trials[1].number = 3;
        assert_eq!(resumable(moved, &here), Err(CannotResume::OtherOrder { run: "r".into(), number: 3 }));
    }

    #[test]
    fn a_bed_that_is_made_anew_is_no_change_and_a_new_mtu_is_one() {
        let same = taken_up(cut_off(), fixture::lab(), environment("2", 1500), "build 1".into());
        assert_eq!((same.doubts.as_slice(), same.resumed.len(), same.resumed[0].kept), ([].as_slice(), 1, 1));
        assert_eq!((same.trials.len(), same.partial, same.finished), (2, true, None));
        let other = taken_up(cut_off(), fixture::lab(), environment("2", 9000), "build 2".into());
        let what = "endpoints 1 interfaces 1 mtu: 1500 → 9000".to_owned();
        let build = Doubt::OtherBuild { first: "build 1".into(), then: "build 2".into() };
        assert_eq!(other.doubts, [Doubt::EnvironmentChanged { what }, build]);
        assert_eq!(
            taken_up(other.clone(), fixture::lab(), environment("3", 9000), "build 2".into()).doubts,
            other.doubts
        );
    }

    #[test]
    fn hosts_of_one_kernel_stay_simulated() {
        let mut now = environment("2", 1500);
        now.hosts =
            [now.hosts[0].clone(), now.hosts[0].clone()].map(|host| HostFacts { boot_id: "x".into(), ..host }).to_vec();
        let bed = Bed { simulated: false, ..fixture::lab() };
        assert!(taken_up(cut_off(), bed, now, "build 1".into()).bed.simulated);
    }
}
