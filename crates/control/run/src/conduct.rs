//! Takes the bed, measures the plan, stores each trial, and gives the bed back.

use std::sync::atomic::AtomicBool;

use bed::{BedError, Session, Wanted};
use model::Run;
use procedure::Course;

use crate::{
    alone::self_tests,
    ending::{Ending, RunError},
    fit::{Misfit, check, check_lines},
    observer::{Archive, Observer},
    order::Order,
    record::Record,
    surroundings,
    tester::{Tester, tester},
    trials::Trials,
};

/// Outcome of an order.
#[derive(Debug)]
pub struct OrderOutcome<E> {
    /// The run; the error where nothing was measured.
    pub made: Result<RunOutcome<E>, RunError>,
    /// Whether the bed was given back.
    pub given_back: Result<(), BedError>,
}

/// A run that was made, to its end or not.
#[derive(Debug)]
pub struct RunOutcome<E> {
    /// The run.
    pub run: Run,
    /// Its end.
    pub ending: Ending,
    /// Whether all of it is kept.
    pub kept: Result<(), E>,
}

/// Takes the bed, measures, keeps each trial as it ends, and gives the bed back. The error says why there is no bed.
pub fn conduct<A: Archive>(
    order: Order,
    wanted: &Wanted,
    archive: &mut A,
    observer: &mut dyn Observer,
    interrupt: &AtomicBool,
) -> Result<OrderOutcome<A::Error>, BedError> {
    let Some(tester) = tester(&order, wanted, observer, interrupt)? else {
        let misfit = Misfit::NoTester { bed: wanted.bed.to_string() };
        return Ok(OrderOutcome { made: Err(misfit.into()), given_back: Ok(()) });
    };
    let mut session = Session::open(wanted, interrupt)?;
    let made = make(order, tester, &mut session, archive, observer, interrupt);
    observer.undoing();
    Ok(OrderOutcome { made, given_back: session.close() })
}

fn make<A: Archive>(
    order: Order,
    tester: Tester,
    session: &mut Session,
    archive: &mut A,
    observer: &mut dyn Observer,
    interrupt: &AtomicBool,
) -> Result<RunOutcome<A::Error>, RunError> {
    check(order.plan(), &session.bed)?;
    session.prove_filters(order.plan())?;
    let mut run = surroundings::begin(order, session, observer)?;
    check_lines(&run.plan, &run.bed, &run.before)?;
    run.tester.extend(tester.trials);
    run.doubts.extend(tester.doubts);
    if run.self_tests.is_empty() {
        self_tests(&mut run, session, interrupt);
    }
    let mut record = Record::begin(archive, &run);
    let course = Course::of(&run.plan, run.bed.senders().len());
    let ending = Trials { session, record: &mut record, observer, interrupt }.go_through(&mut run, course);
    surroundings::end(&mut run, session, &ending, interrupt);
    let kept = record.end(&run, &ending);
    Ok(RunOutcome { run, ending, kept })
}
