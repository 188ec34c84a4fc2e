//! State of the machines before the first trial and after the last: environment and load.

use std::sync::atomic::AtomicBool;

use bed::{HostLoad, Session};
use model::{Doubt, Run};

use crate::{
    clock::now,
    ending::{Ending, RunError},
    observer::Observer,
    one_kernel::on_one_kernel,
    order::Order,
    trial::OTHER_LOAD,
};

/// Begins the run of an order on the machines as they are now.
pub(crate) fn begin(order: Order, session: &mut Session, observer: &mut dyn Observer) -> Result<Run, RunError> {
    let environment = session.environment(now())?;
    let shared = on_one_kernel(&mut session.bed, &environment);
    observer.ready(session, &environment);
    let mut run = order.begin(session.bed.clone(), environment);
    run.doubts.extend(shared);
    add_other_load(&mut run, &session.load()?);
    Ok(run)
}

/// Reads the environment again, and closes the run.
pub(crate) fn end(run: &mut Run, session: &mut Session, ending: &Ending, interrupt: &AtomicBool) {
    // Where this fails, the bed puts it back as it is closed, and says so if it cannot.
    let _ = session.set_mtu(None, interrupt);
    run.finished = Some(now());
    run.partial = !matches!(ending, Ending::Complete) || run.doubts.iter().any(Doubt::leaves_out);
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

/// Adds a doubt for each core that other programs use; the agents use next to nothing between trials.
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
