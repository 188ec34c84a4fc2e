//! From both sides' figures to a trial. Pure.

mod doubts;
mod unfinished;

use model::{
    EndCounters, Endpoint, Flow, GoodputResult, GoodputSide, GoodputSpec, Measured, Mtu, OtherSender, PacketStream,
    PacketsReceived, PacketsResult, PacketsSent, PacketsSide, PacketsSpec, ProbeSpec, SideFigures, Trial, bed::Bed,
    plan::Step,
};
use protocol::Outcome;

pub(crate) use self::{
    doubts::{OTHER_LOAD, path_not_proven},
    unfinished::{Told, unfinished},
};
use crate::measure::{Brought, Outcomes};

/// What names a trial before there are figures.
pub(crate) struct Heading {
    /// Counts from 1 within the run.
    pub(crate) number: u32,
    /// When it began (RFC 3339).
    pub(crate) started: String,
}

/// Puts a trial together from what each pair brought; `None` if the figures are not those of the probe.
pub(crate) fn assemble(heading: Heading, step: &Step, bed: &Bed, brought: Brought) -> Option<Trial> {
    let Brought { pairs, dut } = brought;
    let (senders, to) = (bed.senders().get(step.senders.clone())?, bed.receiver()?);
    let far_pinned = union(pairs.iter().map(|(_, far)| far.pinned.as_slice()));
    let far_counters = pairs.first()?.1.counters.clone();
    let mut ends: Vec<End<'_>> = senders.iter().zip(&pairs).map(|(end, (near, _))| End::of(end, near)).collect();
    ends.push(End { end: to, pinned: far_pinned, counters: far_counters });
    let mut doubts = doubts::of_place(&ends);
    let counted: Vec<_> = ends.iter().map(|end| (end.end, end.counters.clone())).collect();
    let (measured, duration_s) = measured(&step.spec, senders, to, pairs)?;
    doubts.extend(doubts::of_figures(&measured, &counted));
    let far = ends.pop()?;
    let mut senders = ends.into_iter();
    let near = senders.next()?;
    Some(Trial {
        number: heading.number,
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

/// The figures, and how long the counted part took in seconds.
fn measured(spec: &ProbeSpec, senders: &[Endpoint], to: &Endpoint, pairs: Vec<Outcomes>) -> Option<(Measured, f64)> {
    let seconds = pairs.first()?.0.counters.seconds;
    if let ProbeSpec::Goodput(spec) = spec {
        let sides = pairs.into_iter().map(|(near, far)| Some((goodput_side(near)?, goodput_side(far)?)));
        let flows = flows(spec, senders, to, sides.collect::<Option<_>>()?)?;
        let result = GoodputResult { mtu: spec.mtu.unwrap_or(senders.first()?.mtu), flows };
        let seconds = result.flows.first()?.received.counted_s;
        return Some((Measured::Goodput { spec: spec.clone(), result }, seconds));
    }
    if let ProbeSpec::Packets(spec) = spec {
        let sides = pairs.into_iter().map(|(near, far)| Some((packets_side(near)?, packets_side(far)?)));
        let streams = packet_streams(spec, senders, to, sides.collect::<Option<_>>()?);
        return packets_measured(spec, senders.first()?.mtu, streams);
    }
    let (near, far) = pairs.into_iter().next()?;
    match (spec, near.figures, far.figures) {
        (
            ProbeSpec::Latency(spec),
            SideFigures::LatencyNear(mut result),
            SideFigures::LatencyFar { answered, overflowed, through_kernel, zero_copy },
        ) => {
            (result.answered, result.far_overflowed) = (answered, overflowed);
            result.through_kernel = result.through_kernel.zip(through_kernel).map(|(near, far)| near + far);
            result.zero_copy = result.zero_copy.zip(zero_copy).map(|(near, far)| near && far);
            Some((Measured::Latency { spec: spec.clone(), result }, seconds))
        }
        (ProbeSpec::Path(spec), SideFigures::PathNear(mut result), SideFigures::PathFar { devices }) => {
            result.devices.extend(devices);
            Some((Measured::Path { spec: spec.clone(), result: *result }, seconds))
        }
        _ => None,
    }
}

fn goodput_side(outcome: Outcome) -> Option<GoodputSide> {
    match outcome.figures {
        SideFigures::Goodput(side) => Some(*side),
        _ => None,
    }
}

fn packets_side(outcome: Outcome) -> Option<PacketsSide> {
    match outcome.figures {
        SideFigures::Packets(side) => Some(*side),
        _ => None,
    }
}

/// Each stream of each sender and direction, the forward ones first: what one side sent beside what the other received of it.
fn packet_streams(
    spec: &PacketsSpec,
    senders: &[Endpoint],
    to: &Endpoint,
    sides: Vec<(PacketsSide, PacketsSide)>,
) -> Vec<PacketStream> {
    let one_way = |from: &Endpoint, to: &Endpoint, sent: Vec<PacketsSent>, received: Vec<PacketsReceived>| {
        let (from, to) = (from.name.clone(), to.name.clone());
        let stream =
            move |(sent, received)| PacketStream { from: from.clone(), to: to.clone(), sent, received, cut_off: false };
        sent.into_iter().zip(received).map(stream).collect::<Vec<_>>()
    };
    let (mut forward, mut back) = (Vec::new(), Vec::new());
    for (from, (near, far)) in senders.iter().zip(sides) {
        if spec.sends_forward() {
            forward.extend(one_way(from, to, near.sent, far.received));
        }
        if spec.sends_back() {
            back.extend(one_way(to, from, far.sent, near.received));
        }
    }
    [forward, back].concat()
}

/// The figures of packets, and how long they were sent in seconds; `None` without a stream.
fn packets_measured(spec: &PacketsSpec, mtu: Mtu, streams: Vec<PacketStream>) -> Option<(Measured, f64)> {
    let seconds = streams.iter().map(|stream| stream.sent.seconds).reduce(f64::max)?;
    let result = PacketsResult { mtu: spec.mtu.unwrap_or(mtu), streams };
    Some((Measured::Packets { spec: spec.clone(), result }, seconds))
}

/// One for each sender and direction that data went, the forward ones first.
fn flows(
    spec: &GoodputSpec,
    senders: &[Endpoint],
    to: &Endpoint,
    sides: Vec<(GoodputSide, GoodputSide)>,
) -> Option<Vec<Flow>> {
    let flow = |from: &Endpoint, to: &Endpoint, sent, received| {
        Some(Flow { from: from.name.clone(), to: to.name.clone(), sent: sent?, received: received? })
    };
    let (mut forward, mut back) = (Vec::new(), Vec::new());
    for (from, (near, far)) in senders.iter().zip(sides) {
        if spec.sends_forward() {
            forward.push(flow(from, to, near.sent, far.received)?);
        }
        if spec.sends_back() {
            back.push(flow(to, from, far.sent, near.received)?);
        }
    }
    Some([forward, back].concat())
}
