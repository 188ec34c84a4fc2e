//! Goes through a plan, step by step.

use std::{
    hash::{BuildHasher, RandomState},
    sync::atomic::AtomicBool,
};

use bed::{BedError, HostLoad, Session};
use jiff::{Timestamp, tz::TimeZone};
use model::{Bed, Doubt, Endpoint, Environment, Identity, Plan, Privilege, Run, RunId, Trial, plan::Step};
use protocol::{AgentError, Fault};
use stats::MIN_TRIALS_FOR_INTERVAL;

use crate::{
    alone::self_tests,
    fit::{Misfit, check},
    follower::Follower,
    measure::{NoResult, measure},
    resume::taken_up,
    trial::{Heading, OTHER_LOAD, assemble, path_not_proven},
};

/// What to run.
#[derive(Clone, Debug)]
pub struct Order {
    /// Name of the run that this makes; see [`new_id`].
    pub id: RunId,
    /// The plan.
    pub plan: Plan,
    /// The command line that repeats it.
    pub command: Vec<String>,
    /// Version and build of the program.
    pub wireproof: String,
    /// Whose document the report is to be.
    pub identity: Option<Identity>,
}

/// Told what happens, as it happens. Trials are handed over as they end, so that nothing measured can be lost.
pub trait Observer {
    /// The run begins.
    fn began(&mut self, run: &Run);
    /// A step begins: number (from 0) out of all steps.
    fn step(&mut self, step: &Step, number: usize, steps: usize);
    /// How far the step is, 0 to 1.
    fn progress(&mut self, fraction: f64);
    /// A long trial is under way, and this is what would be left of it if all ended now. Told every few seconds.
    fn unfinished(&mut self, run: &RunId, trial: &Trial);
    /// A trial is finished, or cut off.
    fn trial(&mut self, run: &RunId, trial: &Trial);
    /// The run is over; all of it is in `run`.
    fn ended(&mut self, run: &Run, ending: &Ending);
}

/// How a run ended.
#[derive(Debug)]
pub enum Ending {
    /// All steps done.
    Complete,
    /// The user interrupted.
    Interrupted,
    /// Something failed: trials, or what all of them need. All others are kept. Never empty.
    Failed(Vec<RunError>),
}

impl Ending {
    /// Whether all that there is to say of the run is why it failed: a run of no trial, which nobody has gone on with.
    pub fn left_nothing(&self, run: &Run) -> bool {
        matches!(self, Self::Failed(_)) && run.trials.is_empty() && run.resumed.is_empty()
    }
}

/// A run that could not be made, or not to its end.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The plan asks for what the bed cannot have.
    #[error(transparent)]
    Misfit(#[from] Misfit),
    /// The bed failed.
    #[error(transparent)]
    Bed(#[from] BedError),
    /// A trial failed.
    #[error("{step}: {error}")]
    Trial {
        /// The probe.
        step: String,
        /// What went wrong.
        error: AgentError,
    },
    /// The agents brought figures of another probe.
    #[error("{step}: the agents brought figures of another probe; this is a fault in wireproof, please report it")]
    Confused {
        /// The probe.
        step: String,
    },
}

/// So many trials in a row fail before nothing more is expected of the others.
const MOST_IN_A_ROW: usize = 3;

/// Conducts the plan on the bed. An error means that nothing was measured.
pub fn conduct(
    order: Order,
    session: &mut Session,
    observer: &mut dyn Observer,
    interrupt: &AtomicBool,
) -> Result<(Run, Ending), RunError> {
    check(&order.plan, &session.bed)?;
    let before = session.environment(now())?;
    carry_out(begin(order, session.bed.clone(), before), session, observer, interrupt)
}

/// Goes on with a run that was cut off: what is missing is measured on the bed, by this version and build of the program. An
/// error means that nothing more was measured.
pub fn resume(
    run: Run,
    wireproof: String,
    session: &mut Session,
    observer: &mut dyn Observer,
    interrupt: &AtomicBool,
) -> Result<(Run, Ending), RunError> {
    check(&run.plan, &session.bed)?;
    let environment = session.environment(now())?;
    carry_out(taken_up(run, session.bed.clone(), environment, wireproof), session, observer, interrupt)
}

/// Steps of the plan that have no whole trial yet.
pub fn missing_steps(run: &Run) -> Vec<Step> {
    numbered(run).filter(|(number, _)| !is_done(run, *number)).map(|(_, step)| step).collect()
}

/// Each step with the number of its trial.
fn numbered(run: &Run) -> impl Iterator<Item = (u32, Step)> {
    (1..).zip(run.plan.steps(run.bed.senders().len()))
}

fn is_done(run: &Run, number: u32) -> bool {
    run.trials.iter().any(|trial| trial.number == number && trial.is_whole())
}

fn carry_out(
    mut run: Run,
    session: &mut Session,
    observer: &mut dyn Observer,
    interrupt: &AtomicBool,
) -> Result<(Run, Ending), RunError> {
    add_other_load(&mut run, &session.load()?);
    if run.self_tests.is_empty() {
        self_tests(&mut run, session, interrupt);
    }
    observer.began(&run);
    let ending = go_through(&mut run, session, observer, interrupt);
    finish(&mut run, session, &ending, interrupt);
    observer.ended(&run, &ending);
    Ok((run, ending))
}

fn begin(order: Order, bed: Bed, before: Environment) -> Run {
    let mut doubts = Vec::new();
    if bed.privilege == Privilege::UserNamespace {
        doubts.push(Doubt::Unprivileged);
    }
    doubts.extend(speeds_differ(&bed, &before));
    let trials = order.plan.repeats.get();
    if !order.plan.limits.is_empty() && trials < MIN_TRIALS_FOR_INTERVAL {
        doubts.push(Doubt::FewTrials { trials, needed: MIN_TRIALS_FOR_INTERVAL });
    }
    Run {
        id: order.id,
        started: now(),
        finished: None,
        command: order.command,
        wireproof: order.wireproof,
        identity: order.identity,
        plan: order.plan,
        bed,
        partial: true,
        before,
        after: None,
        doubts,
        resumed: Vec::new(),
        self_tests: Vec::new(),
        trials: Vec::new(),
    }
}

/// The slower end then decides, and frames may be lost between them.
fn speeds_differ(bed: &Bed, before: &Environment) -> Option<Doubt> {
    let speed = |end: &Endpoint| {
        let facts = before.endpoints.iter().find(|facts| facts.endpoint == end.name)?;
        facts.interfaces.iter().find(|link| link.name == end.interface)?.speed_mbps
    };
    match bed.endpoints.as_slice() {
        [near, far] => match (speed(near)?, speed(far)?) {
            (near_mbps, far_mbps) if near_mbps != far_mbps => Some(Doubt::SpeedsDiffer { near_mbps, far_mbps }),
            _ => None,
        },
        _ => None,
    }
}

fn go_through(run: &mut Run, session: &mut Session, observer: &mut dyn Observer, interrupt: &AtomicBool) -> Ending {
    let steps: Vec<(u32, Step)> = numbered(run).collect();
    let mut failures = Failures::default();
    for (number, step) in &steps {
        if is_done(run, *number) {
            continue;
        }
        observer.step(step, *number as usize - 1, steps.len());
        let (trial, outcome) = trial(run, step, *number, session, observer, interrupt);
        if let Some(trial) = trial {
            observer.trial(&run.id, &trial);
            run.trials.retain(|known| known.number != *number);
            run.trials.push(trial);
        }
        match outcome {
            Ok(()) => failures.in_a_row = 0,
            Err(Trouble::Interrupted) => return Ending::Interrupted,
            Err(Trouble::Failed(error)) => {
                let doubt = Doubt::Failed { what: error.to_string() };
                if !run.doubts.contains(&doubt) {
                    run.doubts.push(doubt);
                }
                if !failures.let_go_on(*error) {
                    break;
                }
            }
        }
    }
    if failures.all.is_empty() { Ending::Complete } else { Ending::Failed(failures.all) }
}

/// Why a step did not come to its end.
enum Trouble {
    Interrupted,
    Failed(Box<RunError>),
}

/// What failed so far.
#[derive(Default)]
struct Failures {
    all: Vec<RunError>,
    in_a_row: usize,
}

impl Failures {
    /// Takes one more. It lets the run go on if it says nothing of the next step, like packets of one size that do not pass:
    /// whoever measures for hours shall not lose them for one configuration.
    fn let_go_on(&mut self, error: RunError) -> bool {
        let is_of_this_step = match &error {
            RunError::Trial { error, .. } => matches!(error.fault, Fault::Failed(_) | Fault::Stuck { .. }),
            RunError::Misfit(_) | RunError::Bed(_) | RunError::Confused { .. } => false,
        };
        self.in_a_row += 1;
        // Each repeat of a configuration says the same.
        if self.all.iter().all(|known| known.to_string() != error.to_string()) {
            self.all.push(error);
        }
        is_of_this_step && self.in_a_row < MOST_IN_A_ROW
    }
}

/// A trial, or what was left of it, and what stopped it.
fn trial(
    run: &Run,
    step: &Step,
    number: u32,
    session: &mut Session,
    observer: &mut dyn Observer,
    interrupt: &AtomicBool,
) -> (Option<Trial>, Result<(), Trouble>) {
    let failed = |error: RunError| Err(Trouble::Failed(Box::new(error)));
    match session.set_mtu(step.spec.mtu(), interrupt) {
        Ok(()) => {}
        Err(BedError::Interrupted) => return (None, Err(Trouble::Interrupted)),
        Err(error) => return (None, failed(error.into())),
    }
    let heading = Heading { number, started: now() };
    let mut follower = Follower::new(run, step, heading, observer);
    let brought = measure(step, &run.bed, session.agents(), &mut follower, interrupt);
    let name = step.spec.to_string();
    match brought {
        Ok(brought) => match assemble(follower.heading, step, &run.bed, brought) {
            Some(mut trial) => {
                trial.doubts.extend(path_not_proven(&trial, &run.trials));
                (Some(trial), Ok(()))
            }
            None => (None, failed(RunError::Confused { step: name })),
        },
        Err(NoResult::Interrupted) => (follower.unfinished(), Err(Trouble::Interrupted)),
        Err(NoResult::Failed(error)) => {
            let left = follower.unfinished();
            // A port that is gone explains the failure better than what the failure looked like.
            let error = session.lost_port().map_or(RunError::Trial { step: name, error }, Into::into);
            (left, failed(error))
        }
    }
}

/// Reads the environment again, and closes the run's record.
fn finish(run: &mut Run, session: &mut Session, ending: &Ending, interrupt: &AtomicBool) {
    // Where this fails, the bed puts it back as it is closed, and says so if it cannot.
    let _ = session.set_mtu(None, interrupt);
    run.finished = Some(now());
    run.partial = !matches!(ending, Ending::Complete);
    if let Ending::Interrupted = ending {
        run.doubts.push(Doubt::Interrupted);
    }
    // After a failure an agent may be gone; the run is then partial, and its environment after it unknown.
    if let Ok(load) = session.load() {
        add_other_load(run, &load);
    }
    if let Ok(after) = session.environment(now()) {
        run.after = Some(after);
        let changes = run.changes().into_iter().map(|what| Doubt::EnvironmentChanged { what });
        run.doubts.extend(changes.collect::<Vec<_>>());
    }
}

/// Our own agents take next to nothing while nothing is measured.
fn add_other_load(run: &mut Run, loads: &[HostLoad]) {
    for HostLoad { machine, cores } in loads {
        for core in cores.iter().filter(|core| core.busy > OTHER_LOAD) {
            let doubt = Doubt::OtherLoad { cpu: core.cpu, percent: core.busy, machine: machine.clone() };
            if !run.doubts.iter().any(|known| is_same_core(known, &doubt)) {
                run.doubts.push(doubt);
            }
        }
    }
}

fn is_same_core(a: &Doubt, b: &Doubt) -> bool {
    let core = |doubt: &Doubt| match doubt {
        Doubt::OtherLoad { cpu, machine, .. } => Some((*cpu, machine.clone())),
        _ => None,
    };
    core(a).is_some_and(|a| core(b) == Some(a))
}

pub(crate) fn now() -> String {
    jiff::fmt::temporal::DateTimePrinter::new().precision(Some(0)).timestamp_to_string(&Timestamp::now())
}

/// A name for a run that begins now, which no other has.
pub fn new_id() -> RunId {
    let time = Timestamp::now().to_zoned(TimeZone::UTC).strftime("%Y%m%d-%H%M%S").to_string();
    RunId(format!("{time}-{:04x}", RandomState::new().hash_one(()) & 0xffff))
}

#[cfg(test)]
mod tests {
    use model::{
        Measured, ProbeSpec,
        environment::{EndpointFacts, InterfaceFacts},
    };
    use protocol::Failure;

    use super::*;

    fn failed(fault: Fault) -> RunError {
        RunError::Trial { step: "step".to_owned(), error: AgentError { agent: "agent".to_owned(), fault } }
    }

    fn no_answer(size: u32) -> RunError {
        failed(Fault::Failed(Failure { text: format!("no answer to {size} bytes"), cancelled: false }))
    }

    #[test]
    fn a_trial_that_fails_lets_the_run_go_on_until_three_in_a_row_do() {
        let mut failures = Failures::default();
        assert!(failures.let_go_on(no_answer(1)) && failures.let_go_on(failed(Fault::Stuck { within: STUCK })));
        assert!(!failures.let_go_on(no_answer(3)));
        assert_eq!(failures.all.len(), 3);

        let mut failures = Failures::default();
        for _ in 0..9 {
            assert!(failures.let_go_on(no_answer(1)) && failures.let_go_on(no_answer(2)));
            failures.in_a_row = 0;
        }
        assert_eq!(failures.all.len(), 2, "each said once");
    }

    #[test]
    fn a_run_that_failed_and_measured_nothing_leaves_nothing() {
        let failed = || Ending::Failed(vec![no_answer(1)]);
        let plan = Plan::parse("name = \"t\"\n[[packets]]\nduration = \"1 s\"\nframe_sizes = [64]", &[]).unwrap();
        let ProbeSpec::Packets(spec) = plan.specs().remove(0) else { panic!("planned") };
        let empty = model::fixture::run(plan);
        assert!(failed().left_nothing(&empty));
        assert!(!Ending::Interrupted.left_nothing(&empty), "it can be gone on with");
        let stream = model::fixture::packet_stream(1, 1);
        let result = model::PacketsResult { mtu: model::Mtu(1500), streams: vec![stream] };
        let trials = vec![model::fixture::trial(Measured::Packets { spec, result })];
        assert!(!failed().left_nothing(&Run { trials, ..empty }));
    }

    #[test]
    fn two_ports_of_different_speeds_are_a_doubt() {
        let (bed, end) = (model::fixture::lab(), |name: &str, speed_mbps| EndpointFacts {
            endpoint: name.into(),
            interfaces: vec![InterfaceFacts { name: "eth0".into(), speed_mbps, ..InterfaceFacts::default() }],
            ..EndpointFacts::default()
        });
        let doubt = |near, far| {
            let mut bed = bed.clone();
            bed.endpoints.iter_mut().for_each(|end| end.interface = "eth0".into());
            let before = Environment { endpoints: vec![end("a", near), end("b", far)], ..Environment::default() };
            speeds_differ(&bed, &before)
        };
        let differ = Doubt::SpeedsDiffer { near_mbps: 10_000, far_mbps: 1_000 };
        assert_eq!(doubt(Some(10_000), Some(1_000)), Some(differ));
        assert_eq!(doubt(Some(10_000), Some(10_000)), None);
        assert_eq!(doubt(Some(10_000), None), None, "who knows");
    }

    #[test]
    fn an_agent_that_is_gone_ends_the_run() {
        assert!(!Failures::default().let_go_on(failed(Fault::Silent(STUCK))));
        assert!(!Failures::default().let_go_on(RunError::Confused { step: "step".to_owned() }));
    }

    const STUCK: std::time::Duration = std::time::Duration::from_secs(30);
}
