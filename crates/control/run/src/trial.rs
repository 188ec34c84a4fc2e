//! From both sides' figures to a trial. Pure.

mod doubts;
mod unfinished;

use model::{Doubt, EndCounters, Endpoint, OtherSender, Trial, bed::Bed, plan::Step};
use protocol::Outcome;

pub(crate) use self::{doubts::OTHER_LOAD, unfinished::unfinished};
use crate::{
    measure::TrialOutput,
    probes::{self, Assembled, Ends},
};

/// Identity of a trial before there are figures.
pub(crate) struct Heading {
    /// Counts from 1 within the run.
    pub(crate) number: u32,
    /// When it began (RFC 3339).
    pub(crate) started: String,
}

/// Composes a trial from the figures of each pair; `None` if these belong to another probe.
pub(crate) fn assemble(heading: Heading, step: &Step, bed: &Bed, output: TrialOutput) -> Option<Trial> {
    let TrialOutput { pairs, dut } = output;
    let (senders, to) = (bed.senders().get(step.senders.clone())?, bed.receiver()?);
    let far_pinned = union(pairs.iter().map(|(_, far)| far.pinned.as_slice()));
    let far_counters = pairs.first()?.1.counters.clone();
    let mut ends: Vec<End<'_>> = senders.iter().zip(&pairs).map(|(end, (near, _))| End::of(end, near)).collect();
    ends.push(End { end: to, pinned: far_pinned, counters: far_counters });
    let counters = ends.iter().map(|end| end.counters.clone()).collect();
    let sides = pairs.into_iter().map(|(near, far)| (near.figures, far.figures)).collect();
    let assembled = probes::of(&step.spec).assemble(&Ends { senders, receiver: to, counters }, sides)?;
    let Assembled { measured, seconds: duration_s, doubts: of_figures } = assembled;
    let shared = bed.core_shared_by(ends.iter().map(|end| end.end));
    let mut doubts: Vec<Doubt> = shared.map(|cpu| Doubt::SharedCore { cpu }).into_iter().collect();
    doubts.extend(doubts::of_place(&ends, duration_s));
    doubts.extend(doubts::of_programs(&ends, step.spec.profile().agentless));
    doubts.extend(of_figures.into_iter().map(|doubt| doubts::unless_paused(doubt, &ends)));
    let far = ends.pop()?;
    let mut senders = ends.into_iter();
    let near = senders.next()?;
    Some(Trial {
        number: heading.number,
        origin: Some(step.origin()),
        repeat: step.repeat,
        started: heading.started,
        duration_s,
        endpoint_from: near.end.name.clone(),
        endpoint_to: far.end.name.clone(),
        cpus: [near.pinned, far.pinned],
        measured,
        counters: [near.counters, far.counters],
        others: senders.map(OtherSender::from).collect(),
        dut,
        doubts,
    })
}

/// One end of the trial, with what all its sides brought.
pub(crate) struct End<'a> {
    pub(crate) end: &'a Endpoint,
    /// Cores that its threads were pinned to.
    pub(crate) pinned: Vec<usize>,
    pub(crate) counters: EndCounters,
}

impl<'a> End<'a> {
    fn of(end: &'a Endpoint, outcome: &Outcome) -> Self {
        Self { end, pinned: outcome.pinned.clone(), counters: outcome.counters.clone() }
    }
}

impl From<End<'_>> for OtherSender {
    fn from(end: End<'_>) -> Self {
        Self { endpoint: end.end.name.clone(), cpus: end.pinned, counters: end.counters }
    }
}

/// Each core once, in the order in which they come.
fn union<'a>(cores: impl Iterator<Item = &'a [usize]>) -> Vec<usize> {
    let mut all = Vec::new();
    for core in cores.flatten() {
        if !all.contains(core) {
            all.push(*core);
        }
    }
    all
}
