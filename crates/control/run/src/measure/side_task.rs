//! The sides of a trial, as the controller sees them.

use std::net::{IpAddr, SocketAddr};

use model::{
    Bed, ClockRelation, Endpoint, ProbeSpec, Profile, Side, SideSetup, SoFar,
    plausible::{self, Implausible},
    probe::LAB_CONGESTION,
};
use protocol::{Failure, FailureKind, Fault, FromAgent, Outcome, Task};

use crate::probes::Seconds;

/// A sender of the trial and its counterpart at the end that all send to.
pub(super) struct Pair {
    pub(super) near: SideTask,
    pub(super) far: SideTask,
}

/// One side.
pub(super) struct SideTask {
    /// Index of the bed's agent that has it.
    pub(super) link: usize,
    pub(super) id: u64,
    pub(super) ready: Option<Ready>,
    pub(super) reports: Reports,
    pub(super) outcome: Option<Outcome>,
    pub(super) done: bool,
}

pub(super) struct Ready {
    pub(super) address: Option<SocketAddr>,
}

/// Reports on the way.
pub(super) struct Reports {
    pub(super) fraction: f64,
    /// Not passed on yet.
    pub(super) seconds: Seconds,
    pub(super) so_far: Option<SoFar>,
}

impl Pair {
    pub(super) fn both(&mut self) -> [&mut SideTask; 2] {
        [&mut self.near, &mut self.far]
    }
}

impl SideTask {
    /// A side of a trial with so many whole seconds.
    pub(super) fn new(link: usize, id: u64, whole_seconds: usize) -> Self {
        let reports = Reports { fraction: 0.0, seconds: Seconds::at_most(whole_seconds), so_far: None };
        Self { link, id, ready: None, reports, outcome: None, done: false }
    }

    /// Agent, and the number that the agent knows it by.
    pub(super) fn place(&self) -> (usize, u64) {
        (self.link, self.id)
    }

    /// Handles a message about it; the error is a failed task's.
    pub(super) fn take(&mut self, message: FromAgent) -> Result<(), Failure> {
        match message {
            FromAgent::Ready { address, .. } => self.ready = Some(Ready { address }),
            FromAgent::Progress { fraction, seconds, retransmits, so_far, .. } => {
                plausible::whole_seconds(&seconds).map_err(impossible)?;
                so_far.as_ref().map_or(Ok(()), SoFar::check).map_err(impossible)?;
                self.reports.fraction = fraction;
                self.reports.seconds.add(seconds, retransmits);
                self.reports.so_far = so_far.or(self.reports.so_far.take());
            }
            FromAgent::Result { outcome, .. } => {
                outcome.figures.check().and_then(|()| outcome.counters.check()).map_err(impossible)?;
                self.outcome = Some(outcome);
            }
            FromAgent::Done { .. } => self.done = true,
            FromAgent::Failed { failure, .. } => {
                self.done = true;
                return Err(failure);
            }
            FromAgent::Hello(_) | FromAgent::Answer { .. } | FromAgent::Heartbeat => {}
        }
        Ok(())
    }

    /// Its listening port, at this address of its endpoint: another one would aim the near side at a stranger.
    pub(super) fn address(&self, local: Option<IpAddr>) -> Result<SocketAddr, Fault> {
        match self.ready.as_ref().and_then(|ready| ready.address) {
            Some(address) if Some(address.ip()) == local => Ok(address),
            Some(address) => Err(Fault::Confused(format!("ready at {address}, which is not its endpoint's address"))),
            None => Err(Fault::Confused("ready, but listening nowhere".to_owned())),
        }
    }

    pub(super) fn take_outcome(&mut self) -> Result<Outcome, Fault> {
        self.outcome.take().ok_or_else(|| Fault::Confused("done, without a result".to_owned()))
    }
}

fn impossible(error: Implausible) -> Failure {
    let what = format!("told a figure that is not possible: {error}");
    Failure::new(FailureKind::Measurement, error.field, what)
}

/// The task that a message is about.
pub(super) fn task_of(message: &FromAgent) -> Option<u64> {
    match message {
        FromAgent::Ready { id, .. }
        | FromAgent::Progress { id, .. }
        | FromAgent::Result { id, .. }
        | FromAgent::Done { id }
        | FromAgent::Failed { id, .. } => Some(*id),
        FromAgent::Hello(_) | FromAgent::Answer { .. } | FromAgent::Heartbeat => None,
    }
}

/// One side's task at this end, of this sender of so many. `turn` counts the sides that one end has of the same trial: each begins at a
/// core of its own.
pub(super) fn task(
    (spec, profile, side): (&ProbeSpec, &Profile, Side),
    bed: &Bed,
    (end, turn): (&Endpoint, usize),
    (sender, senders): (usize, usize),
    peer: Option<SocketAddr>,
    token: u32,
) -> Task {
    // The bed was checked against the plan, so the address is there.
    let local = end.address(profile.ip).unwrap_or_else(|| unreachable!("checked before the run"));
    let setup = SideSetup {
        endpoint: end.name.clone(),
        local,
        peer,
        interface: end.interface.clone(),
        mtu: profile.mtu.unwrap_or(end.mtu),
        cpus: dealt(&end.cpus, turn * profile.threads),
        peer_cpus: others(bed, side, end).map_or(0, |other| other.cpus.len()),
        same_clock: bed.clocks == ClockRelation::Same,
        agentless_peer: others(bed, side, end).is_some_and(|other| other.agentless),
        congestion: bed.makes_its_links().then(|| LAB_CONGESTION.to_owned()),
        token,
        sender,
        senders,
        highest: None,
    };
    Task { spec: spec.clone(), side, setup }
}

/// An end at the other side: all senders have as many cores.
fn others<'a>(bed: &'a Bed, side: Side, end: &Endpoint) -> Option<&'a Endpoint> {
    match side {
        Side::Near => bed.receiver(),
        Side::Far => bed.senders().iter().find(|other| other.name != end.name),
    }
}

/// The same cores, those first that come after so many threads of others.
fn dealt(cpus: &[usize], taken: usize) -> Vec<usize> {
    let mut cpus = cpus.to_vec();
    let first = taken.checked_rem(cpus.len()).unwrap_or_default();
    cpus.rotate_left(first);
    cpus
}

#[cfg(test)]
mod tests {
    use model::{EndCounters, GoodputSent, GoodputSide, SideFigures};

    use super::*;

    #[test]
    fn a_side_listens_at_its_endpoint_or_not_at_all() {
        let local = IpAddr::from([198, 18, 0, 2]);
        let ready_at = |address: Option<&str>| {
            let mut side_task = SideTask::new(1, 1, 0);
            side_task.ready = Some(Ready { address: address.map(|address| address.parse().unwrap()) });
            side_task.address(Some(local)).map_err(|fault| fault.to_string())
        };
        assert_eq!(ready_at(Some("198.18.0.2:7")), Ok(SocketAddr::from((local, 7))));
        let elsewhere = ready_at(Some("192.0.2.1:22")).unwrap_err();
        assert!(elsewhere.contains("192.0.2.1:22, which is not its endpoint's"), "{elsewhere}");
        assert!(ready_at(None).is_err());
    }

    #[test]
    fn figures_that_are_not_possible_end_a_trial_and_are_named() {
        let result = |counted_s| {
            let sent = GoodputSent { counted_s: Some(counted_s), ..GoodputSent::default() };
            let figures = SideFigures::Goodput(Box::new(GoodputSide { sent: Some(sent), received: None }));
            let outcome = Outcome { pinned: vec![], counters: EndCounters::default(), figures };
            let mut side_task = SideTask::new(1, 1, 9);
            side_task.take(FromAgent::Result { id: 1, outcome }).map_err(|failure| failure.what)
        };
        assert_eq!(result(10.0), Ok(()));
        let error = result(-10.0).unwrap_err();
        assert!(error.contains("not possible: sent.counted_s cannot be: -10 is not from 0"), "{error}");
        let mut side_task = SideTask::new(1, 1, 9);
        let mut told = |seconds| {
            let progress = FromAgent::Progress { id: 1, fraction: 0.5, seconds, retransmits: vec![], so_far: None };
            side_task.take(progress).map_err(|it| it.object)
        };
        assert_eq!(told(vec![1e9; 9]), Ok(()));
        assert_eq!(told(vec![1e9, f64::NAN]), Err("seconds 2.bps".to_owned()));
    }

    #[test]
    fn each_side_at_an_end_begins_at_a_core_of_its_own() {
        assert_eq!(dealt(&[1, 2, 3], 0), [1, 2, 3]);
        assert_eq!(dealt(&[1, 2, 3], 2), [3, 1, 2]);
        assert_eq!((dealt(&[1], 7), dealt(&[], 7)), (vec![1], vec![]));
    }
}
