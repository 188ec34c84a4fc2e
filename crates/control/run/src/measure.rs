//! One trial through the port agents: prepare all sides, start all, follow, collect.

mod side_task;

use std::{
    hash::{BuildHasher, RandomState},
    sync::atomic::{AtomicBool, Ordering::Relaxed},
    time::{Duration, Instant},
};

use bed::{Agents, DutReader};
use model::{Bed, EndCounters, Endpoint, ProbeSpec, Profile, Side, SideSetup, SoFar, counters::Event, plan::Step};
use protocol::{AgentError, AgentLink, CANCEL, ClockReading, Fault, Outcome, Task, ToAgent};

use self::side_task::{Pair, SideTask, task, task_of};
use crate::probes::Seconds;

/// Time limit to open sockets and connect.
const PREPARE: Duration = Duration::from_secs(15);

/// Time limit for packets that are still on a slow path.
const DRAIN: Duration = Duration::from_secs(75);

/// Time limit to read counters after the last packet, on a core that others may keep busy.
const FINISH: Duration = Duration::from_secs(60);

/// Slack between the start order and the start, beside the time that the order travels.
const LEAD: Duration = Duration::from_millis(20);

/// Longest wait before interrupts and the other agents are looked at again.
const POLL: Duration = Duration::from_millis(100);

/// Changes at the ends that an error names.
const TOLD: usize = 3;

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

impl NoResult {
    /// The same with changes at the ends before it, which may be the cause. Of other ends than the failed one, the end is named.
    fn after(mut self, elsewhere: &[(String, Vec<Event>)]) -> Self {
        let Self::Failed(AgentError { fault: Fault::Failed(failure), .. }) = &mut self else { return self };
        let here = failure.events.iter().map(said);
        let there =
            elsewhere.iter().flat_map(|(end, events)| events.iter().map(move |it| format!("{end}: {}", said(it))));
        let told: Vec<String> = here.chain(there).take(TOLD).collect();
        if !told.is_empty() {
            failure.what = format!("{}; after that: {}", told.join(", "), failure.what);
        }
        self
    }
}

fn said(event: &Event) -> String {
    format!("{event} ({:.1} s into the measurement)", event.at_s)
}

/// Results of both sides of a pair: near, far.
pub(crate) type Outcomes = (Outcome, Outcome);

/// Told how a trial goes on. A pair is counted from the first sender of the step.
pub(crate) trait TrialObserver {
    /// Progress, 0 to 1.
    fn progress(&mut self, fraction: f64);
    /// Whole seconds, as they pass at this side.
    fn seconds(&mut self, pair: usize, side: Side, seconds: Seconds);
    /// Replaces the interim figures of this side.
    fn so_far(&mut self, pair: usize, side: Side, so_far: SoFar);
}

/// All that a trial brought.
pub(crate) struct TrialOutput {
    /// The figures of both sides of each pair.
    pub(crate) pairs: Vec<Outcomes>,
    /// Counts of the device under test.
    pub(crate) dut: Option<EndCounters>,
}

/// Runs one probe between the senders of a step and the receiver. `highest` is the highest load of its ladder.
pub(crate) fn measure(
    step: &Step,
    highest: Option<ProbeSpec>,
    bed: &Bed,
    agents: Agents<'_>,
    watch: &mut dyn TrialObserver,
    interrupt: &AtomicBool,
) -> Result<TrialOutput, NoResult> {
    let mut trial = UnderWay::new(step, highest, bed, agents);
    trial.follow(watch, interrupt).map_err(|error| error.after(&trial.cancel()))
}

/// A trial with its sides.
struct UnderWay<'a> {
    spec: &'a ProbeSpec,
    highest: Option<ProbeSpec>,
    profile: Profile,
    bed: &'a Bed,
    /// One for each end, as the bed has them.
    links: &'a mut [AgentLink],
    dut: Option<&'a mut DutReader>,
    pairs: Vec<Pair>,
    /// Token by which all sides of the trial know each other.
    token: u32,
}

impl<'a> UnderWay<'a> {
    fn new(step: &'a Step, highest: Option<ProbeSpec>, bed: &'a Bed, Agents { ports: links, dut }: Agents<'a>) -> Self {
        let receiver = links.len() - 1;
        let most = step.spec.profile().whole_seconds;
        let mut side_task = |link: usize| SideTask::new(link, links[link].new_id(), most);
        let pairs =
            step.senders.clone().map(|sender| Pair { near: side_task(sender), far: side_task(receiver) }).collect();
        let token = RandomState::new().hash_one(()) as u32;
        Self { spec: &step.spec, highest, profile: step.spec.profile(), bed, links, dut, pairs, token }
    }

    fn follow(&mut self, watch: &mut dyn TrialObserver, interrupt: &AtomicBool) -> Result<TrialOutput, NoResult> {
        let clocks = self.read_clocks()?;
        for pair in 0..self.pairs.len() {
            self.prepare(pair, interrupt)?;
        }
        self.dut.as_mut().map_or(Ok(()), |dut| dut.begin())?;
        self.start(&clocks)?;
        self.watch(watch, interrupt)?;
        let dut = self.dut.as_mut().map(|dut| dut.counted()).transpose()?;
        self.finish(watch, interrupt)?;
        let mut pairs = Vec::new();
        for pair in 0..self.pairs.len() {
            pairs.push((self.outcome(pair, Side::Near)?, self.outcome(pair, Side::Far)?));
        }
        Ok(TrialOutput { pairs, dut })
    }

    /// Counters of each end that is in it; others are not asked.
    fn read_clocks(&mut self) -> Result<Vec<Option<ClockReading>>, AgentError> {
        let is_in = |link: usize| self.pairs.iter().any(|pair| [pair.near.link, pair.far.link].contains(&link));
        let links = self.links.iter_mut().enumerate();
        links.map(|(link, agent)| is_in(link).then(|| agent.read_clock()).transpose()).collect()
    }

    /// Gets both sides of a pair ready: the far one has to listen before the near one connects.
    fn prepare(&mut self, pair: usize, interrupt: &AtomicBool) -> Result<(), NoResult> {
        let (token, place) = (self.token, (pair, self.pairs.len()));
        let far = self.pairs[pair].far.link;
        self.get_ready(
            pair,
            Side::Far,
            task((self.spec, &self.profile, Side::Far), self.bed, (self.end(far), pair), place, None, token),
            interrupt,
        )?;
        let local = self.end(far).address(self.profile.ip);
        let peer = self.pairs[pair].far.address(local).map_err(|fault| self.links[far].error(fault))?;
        let near = self.end(self.pairs[pair].near.link);
        self.get_ready(
            pair,
            Side::Near,
            task((self.spec, &self.profile, Side::Near), self.bed, (near, 0), place, Some(peer), token),
            interrupt,
        )
    }

    fn get_ready(&mut self, pair: usize, side: Side, task: Task, interrupt: &AtomicBool) -> Result<(), NoResult> {
        let (link, id) = self.side_task(pair, side).place();
        let setup = SideSetup { highest: self.highest.clone().map(Box::new), ..task.setup };
        self.links[link].send(&ToAgent::Prepare { id, task: Task { setup, ..task } })?;
        let until = Instant::now() + PREPARE;
        while self.side_task(pair, side).ready.is_none() {
            check(interrupt)?;
            if Instant::now() > until {
                return Err(self.deadline(link, "get ready", PREPARE).into());
            }
            self.hear(link, POLL)?;
        }
        Ok(())
    }

    /// Orders all to start, each by its own clock. The far sides serve and are there first, whatever the readings are off by.
    fn start(&mut self, clocks: &[Option<ClockReading>]) -> Result<(), AgentError> {
        let mut errors: Vec<Duration> = clocks.iter().flatten().map(|clock| clock.error).collect();
        errors.sort_unstable();
        // Error of two clocks; of the two worst, where there are more.
        let doubtful = errors.iter().rev().take(2).sum::<Duration>();
        // An order takes half the round trip of a question, which is the error of the clocks' comparison.
        let at = Instant::now() + LEAD + 2 * doubtful;
        for (side, at) in [(Side::Far, at - doubtful), (Side::Near, at)] {
            for pair in 0..self.pairs.len() {
                let (link, id) = self.side_task(pair, side).place();
                let Some(clock) = &clocks[link] else { continue };
                self.links[link].send(&ToAgent::Start { id, at: clock.at(at) })?;
            }
        }
        Ok(())
    }

    /// Passes messages on until all near sides are done.
    fn watch(&mut self, watch: &mut dyn TrialObserver, interrupt: &AtomicBool) -> Result<(), NoResult> {
        let (mut furthest, mut moved) = (0.0, Instant::now());
        let stall = Duration::from(self.profile.stall);
        while let Some(waiting) = self.pairs.iter().find(|pair| !pair.near.done).map(|pair| pair.near.link) {
            check(interrupt)?;
            self.hear_all(waiting)?;
            let fraction = self.pass_on(watch);
            if fraction > furthest {
                (furthest, moved) = (fraction, Instant::now());
            }
            // Everything has been sent; packets on the way are waited for.
            let within = if furthest < 1.0 { stall } else { stall.max(DRAIN) };
            if moved.elapsed() > within {
                return Err(self.links[waiting].error(Fault::Stuck { within }).into());
            }
        }
        Ok(())
    }

    /// Has the far sides come to their end.
    fn finish(&mut self, watch: &mut dyn TrialObserver, interrupt: &AtomicBool) -> Result<(), NoResult> {
        for pair in self.pairs.iter().filter(|_| self.profile.far_serves_until_told) {
            self.links[pair.far.link].send(&ToAgent::Finish { id: pair.far.id })?;
        }
        let asked = Instant::now();
        while let Some(waiting) = self.pairs.iter().find(|pair| !pair.far.done).map(|pair| pair.far.link) {
            check(interrupt)?;
            self.hear(waiting, POLL)?;
            self.pass_on(watch);
            if asked.elapsed() > FINISH {
                return Err(self.deadline(waiting, "finish", FINISH).into());
            }
        }
        Ok(())
    }

    /// Reports progress: the slowest side's.
    fn pass_on(&mut self, watch: &mut dyn TrialObserver) -> f64 {
        let fraction = self.pairs.iter().map(|pair| pair.near.reports.fraction).fold(1.0, f64::min);
        watch.progress(fraction);
        for (number, pair) in self.pairs.iter_mut().enumerate() {
            for (side_task, side) in pair.both().into_iter().zip([Side::Near, Side::Far]) {
                if !side_task.reports.seconds.is_empty() {
                    watch.seconds(number, side, side_task.reports.seconds.take());
                }
                if let Some(so_far) = side_task.reports.so_far.take() {
                    watch.so_far(number, side, so_far);
                }
            }
        }
        fraction
    }

    /// Takes one message of each agent that has said something, or waits for the next one of this agent.
    fn hear_all(&mut self, waiting: usize) -> Result<(), AgentError> {
        let mut heard = false;
        for link in 0..self.links.len() {
            heard |= self.hear(link, Duration::ZERO)?;
        }
        if heard { Ok(()) } else { self.hear(waiting, POLL).map(drop) }
    }

    /// Takes the next message of this agent, if one comes within `patience`; whether one came.
    fn hear(&mut self, link: usize, patience: Duration) -> Result<bool, AgentError> {
        let Some(message) = self.links[link].next(patience)? else { return Ok(false) };
        let id = task_of(&message);
        let mut parties = self.pairs.iter_mut().flat_map(Pair::both);
        // Others are leftovers of an earlier trial that was cancelled.
        if let Some(side_task) = parties.find(|side_task| side_task.link == link && Some(side_task.id) == id) {
            side_task.take(message).map_err(|failure| self.links[link].error(Fault::Failed(Box::new(failure))))?;
        }
        Ok(true)
    }

    /// Stops the trial at all ends and waits until they hold nothing any more. An agent that has ended holds nothing. What changed at these
    /// ends.
    fn cancel(&mut self) -> Vec<(String, Vec<Event>)> {
        let mut changed = Vec::new();
        let mut waiting: Vec<(usize, Side)> = Vec::new();
        for pair in 0..self.pairs.len() {
            for side in [Side::Near, Side::Far] {
                let (link, id) = self.side_task(pair, side).place();
                if !self.side_task(pair, side).done && self.links[link].send(&ToAgent::Cancel { id }).is_ok() {
                    waiting.push((pair, side));
                }
            }
        }
        let until = Instant::now() + CANCEL;
        for (pair, side) in waiting {
            let (link, _) = self.side_task(pair, side).place();
            while !self.side_task(pair, side).done && Instant::now() < until {
                match self.hear(link, POLL).map_err(|error| error.fault) {
                    Ok(_) => {}
                    Err(Fault::Failed(failure)) => {
                        changed.push((format!("endpoint {}", self.end(link).name), failure.events))
                    }
                    Err(_) => break,
                }
            }
        }
        changed
    }

    fn outcome(&mut self, pair: usize, side: Side) -> Result<Outcome, AgentError> {
        let (link, _) = self.side_task(pair, side).place();
        self.side_task(pair, side).take_outcome().map_err(|fault| self.links[link].error(fault))
    }

    fn side_task(&mut self, pair: usize, side: Side) -> &mut SideTask {
        let pair = &mut self.pairs[pair];
        match side {
            Side::Near => &mut pair.near,
            Side::Far => &mut pair.far,
        }
    }

    fn end(&self, link: usize) -> &'a Endpoint {
        &self.bed.endpoints[link]
    }

    fn deadline(&self, link: usize, what: &str, within: Duration) -> AgentError {
        self.links[link].error(Fault::Deadline { what: what.to_owned(), within })
    }
}

fn check(interrupt: &AtomicBool) -> Result<(), NoResult> {
    if interrupt.load(Relaxed) { Err(NoResult::Interrupted) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use model::counters::EventKind;
    use protocol::{Failure, FailureKind};

    use super::*;

    #[test]
    fn what_changed_at_either_end_stands_before_a_failure() {
        let event = |before: &str, at_s| Event {
            at_s,
            kind: EventKind::Neighbour,
            what: "198.18.0.2".to_owned(),
            before: before.to_owned(),
            after: "none".to_owned(),
        };
        let failure = Failure::new(FailureKind::Measurement, "198.18.0.1", "no answer");
        let failed = |events| {
            let fault = Fault::Failed(Box::new(Failure { events, ..failure.clone() }));
            NoResult::Failed(AgentError { agent: "agent at endpoint b".to_owned(), fault })
        };
        let elsewhere = [("endpoint a".to_owned(), vec![event("02:00:00:00:00:99", 1.14)])];
        let said = |no_result| match no_result {
            NoResult::Failed(AgentError { fault: Fault::Failed(failure), .. }) => failure.what,
            _ => String::new(),
        };
        assert_eq!(
            said(failed(vec![event("02:00:00:00:00:01", 2.0)]).after(&elsewhere)),
            "neighbour 198.18.0.2: 02:00:00:00:00:01 → none (2.0 s into the measurement), \
             endpoint a: neighbour 198.18.0.2: 02:00:00:00:00:99 → none (1.1 s into the measurement); after that: no answer"
        );
        assert_eq!(said(failed(Vec::new()).after(&[])), "no answer");
    }
}
