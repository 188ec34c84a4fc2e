//! The tester alone: the searches of a plan on the bed without the device between its ends.

use std::{convert::Infallible, sync::atomic::AtomicBool};

use bed::{BedError, Session, Wanted};
use model::{Doubt, Run, RunId, Trial};
use procedure::Course;

use crate::{
    ending::Ending,
    observer::{Archive, Observer},
    order::{Order, foreseen},
    record::Record,
    trials::Trials,
};

/// Searches that the tester made alone.
#[derive(Default)]
pub(crate) struct Tester {
    pub(crate) trials: Vec<Trial>,
    /// Failures among them.
    pub(crate) doubts: Vec<Doubt>,
}

/// Nothing where the order does not ask for it, or has it already. `None` where the bed is not known without its device.
pub(crate) fn tester(
    order: &Order,
    wanted: &Wanted,
    observer: &mut dyn Observer,
    interrupt: &AtomicBool,
) -> Result<Option<Tester>, BedError> {
    let plan = order.plan();
    if !plan.tester_first || matches!(order, Order::Rest { .. }) {
        return Ok(Some(Tester::default()));
    }
    let Some(bed) = wanted.bed.without_device() else { return Ok(None) };
    let mut session = Session::open(&Wanted { bed, ..wanted.clone() }, interrupt)?;
    session.prove_filters(plan)?;
    let mut run = foreseen(plan, session.bed.clone());
    let mut archive = NoArchive;
    let mut record = Record::begin(&mut archive, &run);
    let course = Course::of_searches(plan, session.bed.senders().len());
    let trials = Trials { session: &mut session, record: &mut record, observer, interrupt };
    let ending = trials.go_through(&mut run, course);
    session.close()?;
    if let Ending::Interrupted = ending {
        return Err(BedError::Interrupted);
    }
    let doubts = run.doubts.into_iter().filter(|doubt| matches!(doubt, Doubt::Failed { .. })).collect();
    Ok(Some(Tester { trials: run.trials, doubts }))
}

/// Keeps nothing: the trials become part of the run that follows.
struct NoArchive;

impl Archive for NoArchive {
    type Error = Infallible;

    fn begin(&mut self, _run: &Run) -> Result<(), Infallible> {
        Ok(())
    }

    fn resume(&mut self, _run: &Run) -> Result<(), Infallible> {
        Ok(())
    }

    fn keep_trial(&mut self, _run: &RunId, _trial: &Trial) -> Result<(), Infallible> {
        Ok(())
    }

    fn finish(&mut self, _run: &Run) -> Result<(), Infallible> {
        Ok(())
    }

    fn forget(&mut self, _run: &RunId) -> Result<(), Infallible> {
        Ok(())
    }
}
