//! From both sides' figures to a trial. Pure.

mod doubts;
mod unfinished;

use model::{
    Endpoint, Flow, GoodputResult, GoodputSide, GoodputSpec, Measured, ProbeSpec, SideFigures, Trial, bed::Bed,
    plan::Step,
};
use protocol::Outcome;

pub(crate) use self::{
    doubts::{OTHER_LOAD, path_not_proven},
    unfinished::{Told, unfinished},
};
use crate::measure::Outcomes;

/// What names a trial before there are figures.
pub(crate) struct Heading {
    /// Counts from 1 within the run.
    pub(crate) number: u32,
    /// When it began (RFC 3339).
    pub(crate) started: String,
}

/// Puts a trial together; `None` if the figures are not those of the probe.
pub(crate) fn assemble(heading: Heading, step: &Step, bed: &Bed, outcomes: Outcomes) -> Option<Trial> {
    let [from, to] = bed.endpoints.as_slice() else { return None };
    let (near, far) = outcomes;
    let mut doubts = doubts::of_place(from, to, &near, &far);
    let cpus = [near.pinned.clone(), far.pinned.clone()];
    let counters = [near.counters.clone(), far.counters.clone()];
    let (measured, duration_s) = measured(&step.spec, from, to, near, far)?;
    doubts.extend(doubts::of_figures(&measured, from, to, &counters));
    Some(Trial {
        number: heading.number,
        repeat: step.repeat,
        started: heading.started,
        duration_s,
        endpoint_from: from.name.clone(),
        endpoint_to: to.name.clone(),
        cpus,
        measured,
        counters,
        doubts,
    })
}

/// The figures, and how long the counted part took in seconds.
fn measured(spec: &ProbeSpec, from: &Endpoint, to: &Endpoint, near: Outcome, far: Outcome) -> Option<(Measured, f64)> {
    let seconds = near.counters.seconds;
    match (spec, near.figures, far.figures) {
        (
            ProbeSpec::Latency(spec),
            SideFigures::LatencyNear(mut result),
            SideFigures::LatencyFar { answered, overflowed },
        ) => {
            (result.answered, result.far_overflowed) = (answered, overflowed);
            Some((Measured::Latency { spec: spec.clone(), result }, seconds))
        }
        (ProbeSpec::Goodput(spec), SideFigures::Goodput(near), SideFigures::Goodput(far)) => {
            let result =
                GoodputResult { mtu: spec.mtu.unwrap_or(from.mtu), flows: flows(spec, from, to, *near, *far)? };
            let seconds = result.flows.first()?.received.counted_s;
            Some((Measured::Goodput { spec: spec.clone(), result }, seconds))
        }
        (ProbeSpec::Path(spec), SideFigures::PathNear(mut result), SideFigures::PathFar { devices }) => {
            result.devices.extend(devices);
            Some((Measured::Path { spec: spec.clone(), result: *result }, seconds))
        }
        _ => None,
    }
}

/// One for each direction that data went, the forward one first.
fn flows(spec: &GoodputSpec, from: &Endpoint, to: &Endpoint, near: GoodputSide, far: GoodputSide) -> Option<Vec<Flow>> {
    let flow = |from: &Endpoint, to: &Endpoint, sent, received| {
        Some(Flow { from: from.name.clone(), to: to.name.clone(), sent: sent?, received: received? })
    };
    let mut flows = Vec::new();
    if spec.sends_forward() {
        flows.push(flow(from, to, near.sent, far.received)?);
    }
    if spec.sends_back() {
        flows.push(flow(to, from, far.sent, near.received)?);
    }
    Some(flows)
}
