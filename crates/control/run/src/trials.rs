//! Goes through the plan, trial by trial.

use std::sync::atomic::AtomicBool;

use bed::{BedError, Session};
use model::{Doubt, ProbeSpec, Run, Trial, plan::Step};
use procedure::{Course, left_out};

use crate::{
    clock::now,
    ending::{Ending, Failures, RunError},
    estimate::estimate,
    follower::Follower,
    measure::{NoResult, measure},
    observer::{Archive, Observer},
    probes,
    record::Record,
    surroundings::after_failure,
    trial::{Heading, assemble},
};

/// Common values of all trials of a run.
pub(crate) struct Trials<'a, 'b, A: Archive> {
    pub(crate) session: &'a mut Session,
    pub(crate) record: &'a mut Record<'b, A>,
    pub(crate) observer: &'a mut dyn Observer,
    pub(crate) interrupt: &'a AtomicBool,
}

/// Why a step did not come to its end.
enum StepError {
    Interrupted,
    Failed(Box<RunError>),
}

impl From<RunError> for StepError {
    fn from(error: RunError) -> Self {
        Self::Failed(Box::new(error))
    }
}

impl<A: Archive> Trials<'_, '_, A> {
    /// Measures everything that has no whole trial in the run yet.
    pub(crate) fn go_through(mut self, run: &mut Run, mut course: Course) -> Ending {
        let mut failures = Failures::default();
        while let Some(step) = course.ask() {
            if let Some(done) = stored(run, &step).filter(|trial| trial.is_whole()) {
                course.took(Some(done));
                continue;
            }
            if let Some(why) = left_out(&step.spec, &run.bed, &run.trials) {
                course.took(None);
                say_once(&mut run.doubts, why);
                continue;
            }
            let number = number(run, &step, course.number());
            let seconds = |spec: &ProbeSpec| {
                let is_left_out = left_out(spec, &run.bed, &run.trials).is_some();
                if is_left_out { 0.0 } else { estimate(spec) }
            };
            self.observer.step(&step, course.number(), course.remaining(seconds));
            let (trial, outcome) = self.trial(run, &step, number);
            course.took(trial.as_ref().filter(|trial| trial.is_whole()));
            if let Some(trial) = trial {
                self.record.trial(&run.id, &trial);
                run.trials.retain(|known| known.number != number);
                run.trials.push(trial);
            }
            match outcome {
                Ok(()) => failures.none(),
                Err(StepError::Interrupted) => return Ending::Interrupted,
                Err(StepError::Failed(error)) => {
                    run.doubts.extend(failures.take(*error).map(|new| Doubt::Failed { what: new.to_string() }));
                    if failures.is_over() {
                        break;
                    }
                }
            }
        }
        failures.ending()
    }

    /// A trial, or its finished part and the failure that stopped it.
    fn trial(&mut self, run: &Run, step: &Step, number: u32) -> (Option<Trial>, Result<(), StepError>) {
        match self.session.adapt(Some(&step.spec.profile()), self.interrupt) {
            Ok(()) => {}
            Err(BedError::Interrupted) => return (None, Err(StepError::Interrupted)),
            Err(error) => return (None, Err(RunError::from(error).into())),
        }
        let heading = Heading { number, started: now() };
        let mut follower = Follower::new(run, step, heading, self.record, self.observer);
        let highest = run.plan.highest_load(step);
        let output = measure(step, highest, &run.bed, self.session.agents(), &mut follower, self.interrupt);
        match output {
            Ok(output) => match assemble(follower.heading, step, &run.bed, output) {
                Some(mut trial) => {
                    if let Err(error) = stats::check(&trial) {
                        return (None, Err(RunError::Impossible { step: step.spec.to_string(), error }.into()));
                    }
                    let more = probes::of(&step.spec).doubts_in_run(&trial, &run.bed, &run.trials);
                    trial.doubts.extend(more);
                    (Some(trial), Ok(()))
                }
                None => (None, Err(RunError::Confused { step: step.spec.to_string() }.into())),
            },
            Err(NoResult::Interrupted) => (follower.unfinished(), Err(StepError::Interrupted)),
            Err(NoResult::Failed(mut error)) => {
                let mut left = follower.unfinished();
                let others = after_failure(self.session, &mut error);
                left.iter_mut().for_each(|trial| trial.doubts.extend(others.clone()));
                // A missing port explains the failure better than its symptom.
                let failed = RunError::Trial { step: step.spec.to_string(), error };
                (left, Err(self.session.lost_port().map_or(failed, Into::into).into()))
            }
        }
    }
}

/// Each repeat leaves out the same.
fn say_once(doubts: &mut Vec<Doubt>, new: Doubt) {
    let is_same = |known: &Doubt| match (known, &new) {
        (Doubt::MtuDisproved { mtu, ip, .. }, Doubt::MtuDisproved { mtu: other, ip: of_other, .. }) => {
            (mtu, ip) == (other, of_other)
        }
        (known, new) => known == new,
    };
    if !doubts.iter().any(is_same) {
        doubts.push(new);
    }
}

/// The trial of a step, whole or not.
fn stored<'a>(run: &'a Run, step: &Step) -> Option<&'a Trial> {
    run.trials.iter().find(|trial| step.is_of(trial, run.bed.senders()))
}

/// The number of the trial of a step: its own where there is one already, else its place in the course, or the next free one.
fn number(run: &Run, step: &Step, place: u32) -> u32 {
    let taken = |number: u32| run.trials.iter().any(|trial| trial.number == number);
    match stored(run, step) {
        Some(trial) => trial.number,
        None if taken(place) => run.trials.iter().map(|trial| trial.number + 1).max().unwrap_or(place),
        None => place,
    }
}

#[cfg(test)]
mod tests {
    use model::IpVersion;

    use super::*;

    #[test]
    fn what_each_repeat_leaves_out_is_said_once() {
        let mtu = |mtu, forward| Doubt::MtuDisproved { mtu, ip: IpVersion::V4, forward, reverse: None };
        let mut doubts = vec![Doubt::Unprivileged];
        let no_address = Doubt::NoAddress { ip: IpVersion::V6 };
        let each =
            [mtu(9000, Some(1500)), mtu(9000, Some(1492)), mtu(4000, None), no_address.clone(), no_address.clone()];
        each.into_iter().for_each(|new| say_once(&mut doubts, new));
        let once = [mtu(9000, Some(1500)), mtu(4000, None), no_address];
        assert_eq!(doubts[1..], once);
    }
}
