//! Takes the bed, goes through the plan on it, keeps what comes of it, and gives the bed back.

use std::sync::atomic::AtomicBool;

use bed::{BedError, HostLoad, Session, Wanted};
use model::{Doubt, Run};

use crate::{
    alone::self_tests,
    clock::now,
    ending::{Ending, RunError},
    fit::check,
    observer::{Archive, Observer},
    order::Order,
    record::Record,
    trial::OTHER_LOAD,
    trials::Trials,
};

/// Outcome of an order.
#[derive(Debug)]
pub struct Conducted<E> {
    /// The run; the error where nothing was measured.
    pub made: Result<Made<E>, RunError>,
    /// Whether the bed was given back.
    pub given_back: Result<(), BedError>,
}

/// A run that was made, to its end or not.
#[derive(Debug)]
pub struct Made<E> {
    /// The run.
    pub run: Run,
    /// How it ended.
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
) -> Result<Conducted<A::Error>, BedError> {
    let mut session = Session::open(wanted, interrupt)?;
    let made = make(order, &mut session, archive, observer, interrupt);
    observer.undoing();
    Ok(Conducted { made, given_back: session.close() })
}

fn make<A: Archive>(
    order: Order,
    session: &mut Session,
    archive: &mut A,
    observer: &mut dyn Observer,
    interrupt: &AtomicBool,
) -> Result<Made<A::Error>, RunError> {
    check(order.plan(), &session.bed)?;
    let environment = session.environment(now())?;
    observer.ready(session, &environment);
    let mut run = order.begin(session.bed.clone(), environment);
    add_other_load(&mut run, &session.load()?);
    if run.self_tests.is_empty() {
        self_tests(&mut run, session, interrupt);
    }
    let mut record = Record::begin(archive, &run);
    let ending = Trials { session, record: &mut record, observer, interrupt }.go_through(&mut run);
    finish(&mut run, session, &ending, interrupt);
    let kept = record.end(&run, &ending);
    Ok(Made { run, ending, kept })
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
