//! State of the machines before the first trial and after the last: environment and load.

use std::sync::atomic::AtomicBool;

use bed::{HostLoad, Session};
use model::{Doubt, Run};
use protocol::{AgentError, Fault};

use crate::{
    clock::now,
    ending::{Ending, RunError},
    observer::Observer,
    order::Order,
    trial::OTHER_LOAD,
};

/// Begins the run of an order on the machines as they are now.
pub(crate) fn begin(order: Order, session: &mut Session, observer: &mut dyn Observer) -> Result<Run, RunError> {
    let environment = session.environment(now())?;
    if environment.is_one_kernel() {
        session.bed.set_one_kernel();
    }
    observer.ready(session, &environment);
    let mut run = order.begin(session.bed.clone(), environment);
    run.doubts.extend(run.bed.core_shared_with_dut().map(|cpu| Doubt::DutSharesCore { cpu }));
    add_other_load(&mut run, &session.load()?);
    Ok(run)
}

/// Reads the environment again, and closes the run.
pub(crate) fn end(run: &mut Run, session: &mut Session, ending: &Ending, interrupt: &AtomicBool) {
    // Where this fails, the bed puts it back as it is closed, and says so if it cannot.
    let _ = session.adapt(None, interrupt);
    run.finished = Some(now());
    run.partial = !matches!(ending, Ending::Complete) || run.doubts.iter().any(Doubt::leaves_out);
    if let Ending::Interrupted = ending {
        run.doubts.push(Doubt::Interrupted);
    }
    // After a failure an agent may have ended; the run is then partial, and its environment after it unknown.
    if let Ok(load) = session.load() {
        add_other_load(run, &load);
    }
    if let Ok(after) = session.environment(now()) {
        run.after = Some(after);
        let changes = run.changes().into_iter().map(|what| Doubt::EnvironmentChanged { what });
        run.doubts.extend(changes.collect::<Vec<_>>());
    }
}

/// Adds a doubt for each core that other programs use.
fn add_other_load(run: &mut Run, loads: &[HostLoad]) {
    for doubt in other_load(loads) {
        if !run.doubts.iter().any(|known| is_same_core(known, &doubt)) {
            run.doubts.push(doubt);
        }
    }
}

/// A doubt for each core that other programs use; the agents use next to nothing between trials.
fn other_load(loads: &[HostLoad]) -> Vec<Doubt> {
    let of_host = |HostLoad { machine, cores }: &HostLoad| -> Vec<Doubt> {
        let busy = cores.iter().filter(|core| core.busy > OTHER_LOAD);
        busy.map(|core| Doubt::OtherLoad { cpu: core.cpu, percent: core.busy, machine: machine.clone() }).collect()
    };
    loads.iter().flat_map(of_host).collect()
}

/// Load of other programs right after a trial failed, whose words it joins: a program that gets no time answers nothing. Agents that are
/// gone or silent are not asked.
pub(crate) fn after_failure(session: &mut Session, error: &mut AgentError) -> Vec<Doubt> {
    let loads = match &error.fault {
        Fault::Failed(_) | Fault::Stuck { .. } => session.load().unwrap_or_default(),
        _ => Vec::new(),
    };
    let doubts = other_load(&loads);
    if let Fault::Failed(failure) = &mut error.fault {
        failure.what.extend(doubts.iter().filter_map(in_words));
    }
    doubts
}

fn in_words(doubt: &Doubt) -> Option<String> {
    let Doubt::OtherLoad { cpu, percent, machine } = doubt else { return None };
    let of = if machine.is_empty() { String::new() } else { format!(" of {machine}") };
    Some(format!("; other programs use {percent:.0} % of core {cpu}{of}"))
}

fn is_same_core(a: &Doubt, b: &Doubt) -> bool {
    let core = |doubt: &Doubt| match doubt {
        Doubt::OtherLoad { cpu, machine, .. } => Some((*cpu, machine.clone())),
        _ => None,
    };
    core(a).is_some_and(|a| core(b) == Some(a))
}

#[cfg(test)]
mod tests {
    use model::CoreUse;

    use super::*;

    #[test]
    fn cores_that_other_programs_use_are_named_with_their_machine() {
        let core = |cpu, busy| CoreUse { cpu, busy, ..CoreUse::default() };
        let load = |machine: &str, cores| HostLoad { machine: machine.to_owned(), cores };
        let doubts = other_load(&[load("", vec![core(0, 3.0), core(1, 99.7)]), load("far", vec![core(4, 40.0)])]);
        let words: Vec<String> = doubts.iter().filter_map(in_words).collect();
        assert_eq!(words, ["; other programs use 100 % of core 1", "; other programs use 40 % of core 4 of far"]);
        assert_eq!(in_words(&Doubt::Interrupted), None);
    }
}
