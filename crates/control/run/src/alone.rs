//! Trials of the tester alone, before anything between its ends is judged.

use std::sync::atomic::AtomicBool;

use bed::{Agents, Alone, Session};
use model::{Doubt, ProbeSpec, Run, Side, SoFar, Trial, plan::Step};

use crate::{
    clock::now,
    ending::RunError,
    measure::{NoResult, TrialObserver, measure},
    probes::Seconds,
    trial::{Heading, assemble},
};

/// Measures the rate of the tester alone, once for each load of the plan that the tester paces. Where that does not work,
/// it is a doubt.
pub(crate) fn self_tests(run: &mut Run, session: &Session, interrupt: &AtomicBool) {
    let mut specs: Vec<ProbeSpec> = Vec::new();
    for spec in run.plan.specs().iter().filter_map(|spec| spec.profile().self_test) {
        if !specs.contains(&spec) {
            specs.push(spec);
        }
    }
    if specs.is_empty() {
        return;
    }
    match session.alone() {
        Ok(mut alone) => {
            for spec in specs {
                match self_test(run, spec, &mut alone, interrupt) {
                    Ok(trial) => run.self_tests.extend(trial),
                    Err(error) => run.doubts.push(Doubt::NoSelfTest { what: error.to_string() }),
                }
            }
        }
        Err(error) => run.doubts.push(Doubt::NoSelfTest { what: error.to_string() }),
    }
}

/// One load; `None` where the user interrupted, which the run notices by itself.
fn self_test(run: &Run, spec: ProbeSpec, alone: &mut Alone, interrupt: &AtomicBool) -> Result<Option<Trial>, RunError> {
    let heading = Heading { number: run.self_tests.len() as u32 + 1, started: now() };
    let step = Step { procedure: "self-test".to_owned(), spec, senders: 0..1, repeat: 1, attempt: 1 };
    match measure(&step, None, &alone.bed, Agents { ports: &mut alone.ports, dut: None }, &mut NoObserver, interrupt) {
        Ok(output) => Ok(assemble(heading, &step, &alone.bed, output)),
        Err(NoResult::Interrupted) => Ok(None),
        Err(NoResult::Failed(error)) => Err(RunError::Trial { step: step.spec.to_string(), error }),
    }
}

/// Nobody looks on.
pub(crate) struct NoObserver;

impl TrialObserver for NoObserver {
    fn progress(&mut self, _fraction: f64) {}
    fn seconds(&mut self, _pair: usize, _side: Side, _seconds: Seconds) {}
    fn so_far(&mut self, _pair: usize, _side: Side, _so_far: SoFar) {}
}
