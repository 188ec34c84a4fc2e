//! One trial through two port agents: prepare both, start both, follow, collect.

use std::{
    hash::{BuildHasher, RandomState},
    net::SocketAddr,
    sync::atomic::{AtomicBool, Ordering::Relaxed},
    time::{Duration, Instant},
};

use model::{Bed, ClockRelation, Endpoint, ProbeSpec, Seat, Side, SoFar};
use protocol::{AgentError, AgentLink, CANCEL, ClockReading, Failure, Fault, FromAgent, Outcome, Task, ToAgent};

/// Opening sockets and connecting is done in this time.
const PREPARE: Duration = Duration::from_secs(15);

/// A measurement that comes no further for this long is stuck; longer where a single reply may take longer.
const STALL: Duration = Duration::from_secs(30);

/// A path that is slow may take a minute to bring what is still on the way.
const DRAIN: Duration = Duration::from_secs(75);

/// Between the order to start and the start, besides the time that the order takes, so that both sides have it in time.
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

/// What both sides brought: near, far.
pub(crate) type Outcomes = (Outcome, Outcome);

/// Told how a trial goes on.
pub(crate) trait Watch {
    /// How far it is, 0 to 1.
    fn progress(&mut self, fraction: f64);
    /// Goodput of whole seconds, in bit/s, as they pass at this side.
    fn seconds(&mut self, side: Side, bps: &[f64]);
    /// What this side has so far, in the place of what it told before.
    fn so_far(&mut self, side: Side, so_far: SoFar);
}

/// Runs one probe between the two ends and brings back both sides' figures.
pub(crate) fn measure(
    spec: &ProbeSpec,
    bed: &Bed,
    ports: &mut [AgentLink],
    watch: &mut dyn Watch,
    interrupt: &AtomicBool,
) -> Result<Outcomes, NoResult> {
    let [near, far] = ports else { unreachable!("a bed has two ends") };
    let mut far = Party { id: far.new_id(), link: far, ready: None, news: News::default(), outcome: None, done: false };
    let mut near =
        Party { id: near.new_id(), link: near, ready: None, news: News::default(), outcome: None, done: false };
    let outcome = follow(spec, bed, &mut near, &mut far, watch, interrupt);
    if outcome.is_err() {
        near.cancel();
        far.cancel();
    }
    outcome
}

fn follow(
    spec: &ProbeSpec,
    bed: &Bed,
    near: &mut Party<'_>,
    far: &mut Party<'_>,
    watch: &mut dyn Watch,
    interrupt: &AtomicBool,
) -> Result<Outcomes, NoResult> {
    let clocks = [near.link.read_clock()?, far.link.read_clock()?];
    let token = RandomState::new().hash_one(()) as u32;
    far.prepare(task(spec, bed, Side::Far, None, token), interrupt)?;
    let peer = far.address()?;
    near.prepare(task(spec, bed, Side::Near, Some(peer), token), interrupt)?;
    start(near, far, clocks)?;
    let (stall, mut furthest, mut moved) = (stall(spec), 0.0, Instant::now());
    while !near.done {
        check(interrupt)?;
        near.step(GLANCE)?;
        far.step(Duration::ZERO)?;
        pass_on(near, far, watch);
        if near.news.fraction > furthest {
            (furthest, moved) = (near.news.fraction, Instant::now());
        }
        // All is sent then, and what is still on the way is waited for.
        let within = if furthest < 1.0 { stall } else { stall.max(DRAIN) };
        if moved.elapsed() > within {
            return Err(near.link.error(Fault::Stuck { within }).into());
        }
    }
    if spec.far_serves_until_told() {
        far.link.send(&ToAgent::Finish { id: far.id })?;
    }
    let asked = Instant::now();
    while !far.done {
        check(interrupt)?;
        far.step(GLANCE)?;
        if asked.elapsed() > PREPARE {
            return Err(far.deadline("finish", PREPARE).into());
        }
    }
    Ok((near.take_outcome()?, far.take_outcome()?))
}

/// Orders both to start, each by its own clock. The far end serves and is there first, whatever the readings are off by.
fn start(near: &mut Party<'_>, far: &mut Party<'_>, clocks: [ClockReading; 2]) -> Result<(), AgentError> {
    let doubtful = clocks.map(|clock| clock.error).into_iter().sum::<Duration>();
    // An order takes as long as a question whose answer came back after twice the error.
    let at = Instant::now() + LEAD + 2 * doubtful;
    let [near_clock, far_clock] = clocks;
    far.link.send(&ToAgent::Start { id: far.id, at: far_clock.at(at - doubtful) })?;
    near.link.send(&ToAgent::Start { id: near.id, at: near_clock.at(at) })
}

fn pass_on(near: &mut Party<'_>, far: &mut Party<'_>, watch: &mut dyn Watch) {
    watch.progress(near.news.fraction);
    for (news, side) in [(&mut near.news, Side::Near), (&mut far.news, Side::Far)] {
        if !news.seconds.is_empty() {
            watch.seconds(side, &std::mem::take(&mut news.seconds));
        }
        if let Some(so_far) = news.so_far.take() {
            watch.so_far(side, so_far);
        }
    }
}

fn stall(spec: &ProbeSpec) -> Duration {
    match spec {
        ProbeSpec::Latency(spec) => STALL.max(4 * Duration::from(spec.timeout)),
        ProbeSpec::Goodput(_) | ProbeSpec::Path(_) => STALL,
    }
}

fn check(interrupt: &AtomicBool) -> Result<(), NoResult> {
    if interrupt.load(Relaxed) { Err(NoResult::Interrupted) } else { Ok(()) }
}

/// One side of the trial.
struct Party<'a> {
    link: &'a mut AgentLink,
    id: u64,
    ready: Option<Ready>,
    news: News,
    outcome: Option<Outcome>,
    done: bool,
}

/// What it told on the way.
#[derive(Default)]
struct News {
    fraction: f64,
    /// Not passed on yet.
    seconds: Vec<f64>,
    so_far: Option<SoFar>,
}

struct Ready {
    address: Option<SocketAddr>,
}

impl Party<'_> {
    fn prepare(&mut self, task: Task, interrupt: &AtomicBool) -> Result<(), NoResult> {
        self.link.send(&ToAgent::Prepare { id: self.id, task })?;
        let until = Instant::now() + PREPARE;
        while self.ready.is_none() {
            check(interrupt)?;
            if Instant::now() > until {
                return Err(self.deadline("get ready", PREPARE).into());
            }
            self.step(GLANCE)?;
        }
        Ok(())
    }

    fn address(&self) -> Result<SocketAddr, AgentError> {
        let address = self.ready.as_ref().and_then(|ready| ready.address);
        address.ok_or_else(|| self.link.error(Fault::Confused("ready, but listening nowhere".to_owned())))
    }

    /// Takes the next message about this trial, if one comes within `patience`.
    fn step(&mut self, patience: Duration) -> Result<(), AgentError> {
        match self.link.next(patience)? {
            Some(FromAgent::Ready { id, address }) if id == self.id => self.ready = Some(Ready { address }),
            Some(FromAgent::Progress { id, fraction, seconds, so_far }) if id == self.id => {
                self.news.fraction = fraction;
                self.news.seconds.extend(seconds);
                self.news.so_far = so_far.or(self.news.so_far.take());
            }
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
            if let Err(error) = self.step(GLANCE)
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

fn task(spec: &ProbeSpec, bed: &Bed, side: Side, peer: Option<SocketAddr>, token: u32) -> Task {
    let end = match side {
        Side::Near => &bed.endpoints[0],
        Side::Far => &bed.endpoints[1],
    };
    Task { spec: spec.clone(), side, seat: seat(spec, bed, end, peer, token) }
}

fn seat(spec: &ProbeSpec, bed: &Bed, end: &Endpoint, peer: Option<SocketAddr>, token: u32) -> Seat {
    // The bed was checked against the plan, so the address is there.
    let local = end.address(spec.ip()).unwrap_or_else(|| unreachable!("checked before the run"));
    Seat {
        endpoint: end.name.clone(),
        local,
        peer,
        interface: end.interface.clone(),
        mtu: spec.mtu().unwrap_or(end.mtu),
        cpus: end.cpus.clone(),
        same_clock: bed.clocks == ClockRelation::Same,
        token,
    }
}
