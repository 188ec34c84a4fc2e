//! One trial through two port agents: prepare both, start both, follow, collect.

use std::{
    net::{IpAddr, SocketAddr},
    sync::atomic::{AtomicBool, Ordering::Relaxed},
    time::{Duration, Instant},
};

use model::{Bed, IpVersion, Nanos, ProbeSpec};
use protocol::{AgentError, AgentLink, CANCEL, Failure, Fault, FromAgent, Outcome, Task, ToAgent};

/// Opening sockets and connecting is done in this time.
const PREPARE: Duration = Duration::from_secs(15);

/// A measurement that comes no further for this long is stuck; longer where a single reply may take longer.
const STALL: Duration = Duration::from_secs(30);

/// Between the order to start and the start, so that both sides have the order in time.
const LEAD: Duration = Duration::from_millis(20);

/// How often the controller looks at interrupts and at the other agent.
const GLANCE: Duration = Duration::from_millis(100);

/// Why there is no result.
pub(crate) enum NoResult {
    /// The user interrupted.
    Interrupted,
    /// An agent failed.
    Failed(AgentError),
}

impl From<AgentError> for NoResult {
    fn from(error: AgentError) -> Self {
        Self::Failed(error)
    }
}

/// What both sides brought: sender, receiver.
pub(crate) type Outcomes = (Outcome, Outcome);

/// Runs one probe between the two ends and brings back both sides' figures.
pub(crate) fn measure(
    spec: &ProbeSpec,
    bed: &Bed,
    ports: &mut [AgentLink],
    progress: &mut dyn FnMut(f64),
    interrupt: &AtomicBool,
) -> Result<Outcomes, NoResult> {
    let [sender, receiver] = ports else { unreachable!("a bed has two ends") };
    let mut receiver = Side { id: receiver.new_id(), link: receiver, ready: None, outcome: None, done: false };
    let mut sender = Side { id: sender.new_id(), link: sender, ready: None, outcome: None, done: false };
    let outcome = follow(spec, bed, &mut sender, &mut receiver, progress, interrupt);
    if outcome.is_err() {
        sender.cancel();
        receiver.cancel();
    }
    outcome
}

fn follow(
    spec: &ProbeSpec,
    bed: &Bed,
    sender: &mut Side<'_>,
    receiver: &mut Side<'_>,
    progress: &mut dyn FnMut(f64),
    interrupt: &AtomicBool,
) -> Result<Outcomes, NoResult> {
    receiver.prepare(receiver_task(spec, bed), interrupt)?;
    let peer = receiver.address()?;
    sender.prepare(sender_task(spec, bed, peer), interrupt)?;
    receiver.start()?;
    sender.start()?;
    let (stall, mut furthest, mut moved) = (stall(spec), 0.0, Instant::now());
    while !sender.done {
        check(interrupt)?;
        let mut watched = |fraction: f64| {
            if fraction > furthest {
                (furthest, moved) = (fraction, Instant::now());
            }
            progress(fraction);
        };
        sender.step(GLANCE, &mut watched)?;
        receiver.step(Duration::ZERO, &mut |_| {})?;
        if moved.elapsed() > stall {
            return Err(sender.deadline("come any further with its measurement", stall).into());
        }
    }
    if matches!(spec, ProbeSpec::Latency(_)) {
        // A goodput receiver ends by itself, with the data.
        receiver.link.send(&ToAgent::Finish { id: receiver.id })?;
    }
    let asked = Instant::now();
    while !receiver.done {
        check(interrupt)?;
        receiver.step(GLANCE, &mut |_| {})?;
        if asked.elapsed() > PREPARE {
            return Err(receiver.deadline("finish", PREPARE).into());
        }
    }
    Ok((sender.take_outcome()?, receiver.take_outcome()?))
}

fn stall(spec: &ProbeSpec) -> Duration {
    match spec {
        ProbeSpec::Latency(spec) => STALL.max(4 * Duration::from(spec.timeout)),
        ProbeSpec::Goodput(_) => STALL,
    }
}

fn check(interrupt: &AtomicBool) -> Result<(), NoResult> {
    if interrupt.load(Relaxed) { Err(NoResult::Interrupted) } else { Ok(()) }
}

/// One end of the trial.
struct Side<'a> {
    link: &'a mut AgentLink,
    id: u64,
    ready: Option<Ready>,
    outcome: Option<Outcome>,
    done: bool,
}

struct Ready {
    address: Option<SocketAddr>,
    agent_clock: Nanos,
    heard: Instant,
}

impl Side<'_> {
    fn prepare(&mut self, task: Task, interrupt: &AtomicBool) -> Result<(), NoResult> {
        self.link.send(&ToAgent::Prepare { id: self.id, task })?;
        let until = Instant::now() + PREPARE;
        while self.ready.is_none() {
            check(interrupt)?;
            if Instant::now() > until {
                return Err(self.deadline("get ready", PREPARE).into());
            }
            self.step(GLANCE, &mut |_| {})?;
        }
        Ok(())
    }

    fn address(&self) -> Result<SocketAddr, AgentError> {
        let address = self.ready.as_ref().and_then(|ready| ready.address);
        address.ok_or_else(|| self.link.error(Fault::Confused("ready, but listening nowhere".to_owned())))
    }

    /// Orders the start a little ahead, by the agent's own clock.
    fn start(&mut self) -> Result<(), AgentError> {
        let at = self.ready.as_ref().map_or(Nanos(0), |ready| {
            let ahead = ready.heard.elapsed() + LEAD;
            Nanos(ready.agent_clock.0 + ahead.as_nanos() as u64)
        });
        self.link.send(&ToAgent::Start { id: self.id, at })
    }

    /// Takes the next message about this trial, if one comes within `patience`.
    fn step(&mut self, patience: Duration, progress: &mut dyn FnMut(f64)) -> Result<(), AgentError> {
        match self.link.next(patience)? {
            Some(FromAgent::Ready { id, address, now }) if id == self.id => {
                self.ready = Some(Ready { address, agent_clock: now, heard: Instant::now() });
            }
            Some(FromAgent::Progress { id, fraction }) if id == self.id => progress(fraction),
            Some(FromAgent::Result { id, outcome }) if id == self.id => self.outcome = Some(outcome),
            Some(FromAgent::Done { id }) if id == self.id => self.done = true,
            Some(FromAgent::Failed { id, failure }) if id == self.id => {
                self.done = true;
                return Err(self.link.error(Fault::Failed(failure)));
            }
            // Leftovers of an earlier trial that was cancelled.
            Some(_) | None => {}
        }
        Ok(())
    }

    fn take_outcome(&mut self) -> Result<Outcome, AgentError> {
        let confused = || Fault::Confused("done, without a result".to_owned());
        self.outcome.take().ok_or_else(|| self.link.error(confused()))
    }

    /// Stops the trial at this end and waits until it holds nothing any more. An agent that is gone holds nothing.
    fn cancel(&mut self) {
        if self.done || self.link.send(&ToAgent::Cancel { id: self.id }).is_err() {
            return;
        }
        let until = Instant::now() + CANCEL;
        while !self.done && Instant::now() < until {
            if let Err(error) = self.step(GLANCE, &mut |_| {})
                && !matches!(error.fault, Fault::Failed(Failure { cancelled: true, .. }))
            {
                return;
            }
        }
    }

    fn deadline(&self, what: &str, within: Duration) -> AgentError {
        self.link.error(Fault::Deadline { what: what.to_owned(), within })
    }
}

fn receiver_task(spec: &ProbeSpec, bed: &Bed) -> Task {
    let end = &bed.endpoints[1];
    match spec {
        ProbeSpec::Latency(spec) => {
            Task::LatencyServer { spec: spec.clone(), local: address(end, spec.ip), mtu: end.mtu, cpu: end.cpu }
        }
        ProbeSpec::Goodput(spec) => {
            Task::GoodputReceiver { spec: spec.clone(), local: address(end, spec.ip), cpu: end.cpu }
        }
    }
}

fn sender_task(spec: &ProbeSpec, bed: &Bed, peer: SocketAddr) -> Task {
    let end = &bed.endpoints[0];
    match spec {
        ProbeSpec::Latency(spec) => {
            Task::LatencyClient { spec: spec.clone(), local: address(end, spec.ip), peer, mtu: end.mtu, cpu: end.cpu }
        }
        ProbeSpec::Goodput(spec) => {
            Task::GoodputSender { spec: spec.clone(), local: address(end, spec.ip), peer, cpu: end.cpu }
        }
    }
}

/// The bed was checked against the plan, so the address is there.
fn address(endpoint: &model::Endpoint, ip: IpVersion) -> IpAddr {
    endpoint.address(ip).unwrap_or_else(|| unreachable!("checked before the run"))
}
