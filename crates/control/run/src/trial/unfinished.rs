//! What is kept of a long trial while it is under way, or when it is cut off. Pure.

use model::{
    Doubt, EndCounters, Endpoint, Flow, GoodputReceived, GoodputResult, GoodputSent, GoodputSpec, LatencySpec,
    Measured, OtherSender, PacketsSpec, ProbeSpec, SoFar, Trial, bed::Bed, plan::Step,
};

use super::{Heading, doubts, packet_streams, packets_measured};

/// What both sides of a trial have told on the way (near, far).
#[derive(Default)]
pub(crate) struct Told {
    /// Whole seconds as they were received, in bit/s.
    pub(crate) seconds: [Vec<f64>; 2],
    /// All else, as it was told last.
    pub(crate) latest: [Option<SoFar>; 2],
}

impl Told {
    /// Whole seconds that have passed.
    pub(crate) fn passed(&self) -> usize {
        let [near, far] = &self.seconds;
        near.len().max(far.len())
    }
}

/// The trial as far as it is known, with what each pair told; `None` where nothing is, or the probe tells nothing on the way.
pub(crate) fn unfinished(heading: &Heading, step: &Step, bed: &Bed, told: &[Told]) -> Option<Trial> {
    let (senders, to) = (bed.senders().get(step.senders.clone())?, bed.receiver()?);
    let from = senders.first()?;
    let (measured, seconds) = match &step.spec {
        ProbeSpec::Latency(spec) => latency(spec, told.first()?)?,
        ProbeSpec::Goodput(spec) => goodput(spec, senders, to, told)?,
        ProbeSpec::Path(_) => return None,
        ProbeSpec::Packets(spec) => packets(spec, senders, to, told)?,
    };
    let mut doubts = vec![Doubt::Unfinished { seconds: seconds as u64 }];
    let counted: Vec<_> = senders.iter().chain([to]).map(|end| (end, EndCounters::default())).collect();
    doubts.extend(doubts::of_figures(&measured, &counted).into_iter().filter(known_before_the_end));
    let other = |end: &Endpoint| OtherSender {
        endpoint: end.name.clone(),
        cpus: end.cpus.clone(),
        counters: EndCounters::default(),
    };
    Some(Trial {
        number: heading.number,
        repeat: step.repeat,
        started: heading.started.clone(),
        duration_s: seconds,
        endpoint_from: from.name.clone(),
        endpoint_to: to.name.clone(),
        cpus: [from.cpus.clone(), to.cpus.clone()],
        measured,
        counters: Default::default(),
        others: senders[1..].iter().map(other).collect(),
        dut: None,
        doubts,
    })
}

/// What follows from replies and seconds alone. What the sender or a counter says is known at the end only.
fn known_before_the_end(doubt: &Doubt) -> bool {
    matches!(doubt, Doubt::RepliesMissing { .. } | Doubt::Stalled { .. } | Doubt::NothingToPoll { .. })
}

fn latency(spec: &LatencySpec, told: &Told) -> Option<(Measured, f64)> {
    let Some(SoFar::Latency { seconds, result }) = &told.latest[0] else { return None };
    (result.sent > 0).then(|| (Measured::Latency { spec: spec.clone(), result: result.clone() }, *seconds))
}

/// As far as the whole seconds go that each receiving side has.
fn goodput(spec: &GoodputSpec, senders: &[Endpoint], to: &Endpoint, told: &[Told]) -> Option<(Measured, f64)> {
    let whole = told.iter().filter_map(|told| whole_seconds(spec, told)).min().filter(|whole| *whole > 0)?;
    let pairs = || senders.iter().zip(told);
    let received = |told: &Told, side: usize| received(spec, &told.seconds[side][..whole], told.latest[side].as_ref());
    let mut flows = Vec::new();
    if spec.sends_forward() {
        flows.extend(pairs().map(|(from, told)| flow(from, to, received(told, 1))));
    }
    if spec.sends_back() {
        flows.extend(pairs().map(|(from, told)| flow(to, from, received(told, 0))));
    }
    let result = GoodputResult { mtu: spec.mtu.unwrap_or(senders.first()?.mtu), flows };
    Some((Measured::Goodput { spec: spec.clone(), result }, whole as f64))
}

fn whole_seconds(spec: &GoodputSpec, told: &Told) -> Option<usize> {
    let [near, far] = &told.seconds;
    let sides = [(spec.sends_forward(), far), (spec.sends_back(), near)];
    sides.into_iter().filter_map(|(sends, seconds)| sends.then_some(seconds.len())).min()
}

/// As both sides told it last. The two do not tell at one moment, so that what is missing is not known to be lost.
fn packets(spec: &PacketsSpec, senders: &[Endpoint], to: &Endpoint, told: &[Told]) -> Option<(Measured, f64)> {
    let side = |so_far: &Option<SoFar>| match so_far {
        Some(SoFar::Packets(side)) => Some((**side).clone()),
        _ => None,
    };
    let sides = told.iter().map(|Told { latest: [near, far], .. }| Some((side(near)?, side(far)?)));
    let mut streams = packet_streams(spec, senders, to, sides.collect::<Option<_>>()?);
    streams.iter_mut().for_each(|stream| stream.cut_off = true);
    packets_measured(spec, senders.first()?.mtu, streams).filter(|(_, seconds)| *seconds > 0.0)
}

/// What the sender counted is not known before the end.
fn flow(from: &Endpoint, to: &Endpoint, received: GoodputReceived) -> Flow {
    Flow { from: from.name.clone(), to: to.name.clone(), sent: GoodputSent::default(), received }
}

/// Whole seconds, and what else the receiver had counted by the latest time it told.
fn received(spec: &GoodputSpec, seconds: &[f64], latest: Option<&SoFar>) -> GoodputReceived {
    let told = match latest {
        Some(SoFar::Goodput(received)) => (**received).clone(),
        _ => GoodputReceived::default(),
    };
    let bytes = (seconds.iter().sum::<f64>() / 8.0).round() as u64;
    GoodputReceived {
        counted_bytes: bytes,
        counted_s: seconds.len() as f64,
        total_bytes: told.total_bytes.max(bytes),
        intervals_bps: seconds.to_vec(),
        warmup_s: spec.warmup.as_secs_f64(),
        ..told
    }
}

#[cfg(test)]
mod tests {
    use model::{
        LatencyResult, Plan, fixture,
        trial::{DatagramsReceived, TimeSummary},
    };

    use super::*;

    fn kept(section: &str, told: &Told) -> Option<Trial> {
        let plan = Plan::parse(&format!("name = \"t\"\n{section}"), &[]).unwrap();
        let heading = Heading { number: 3, started: "then".into() };
        unfinished(&heading, &plan.steps(1)[0], &fixture::lab(), std::slice::from_ref(told))
    }

    #[test]
    fn round_trips_are_kept_as_they_were_told_last() {
        let section = "[[latency]]\nprotocol = \"udp\"\nframe_sizes = [64]";
        assert_eq!(kept(section, &Told::default()), None);
        let rtt_ns = TimeSummary { n: 100, ..TimeSummary::default() };
        let result = LatencyResult { sent: 100, lost: None, late: 2, rtt_ns, ..LatencyResult::default() };
        let so_far = SoFar::Latency { seconds: 4.2, result: Box::new(result) };
        let trial = kept(section, &Told { latest: [Some(so_far), None], ..Told::default() }).unwrap();
        assert_eq!((trial.number, trial.duration_s, trial.is_whole()), (3, 4.2, false));
        assert_eq!(trial.doubts, [Doubt::Unfinished { seconds: 4 }, Doubt::RepliesMissing { lost: 0, late: 2 }]);
    }

    #[test]
    fn datagrams_are_kept_with_the_whole_seconds_and_without_what_the_sender_knows() {
        let section = "[[goodput]]\nprotocol = \"udp\"\nduration = \"9 s\"\nrate = \"8 bit/s\"";
        let datagrams = DatagramsReceived { received: 7, duplicated: 1, ..DatagramsReceived::default() };
        let received = GoodputReceived { total_bytes: 70, datagrams: Some(datagrams), ..GoodputReceived::default() };
        let told = Told {
            seconds: [vec![], vec![80.0, 0.0, 160.0]],
            latest: [None, Some(SoFar::Goodput(Box::new(received.clone())))],
        };
        let trial = kept(section, &told).unwrap();
        assert_eq!(trial.doubts, [Doubt::Unfinished { seconds: 3 }, Doubt::Stalled { seconds: 1 }]);
        let Measured::Goodput { result, .. } = trial.measured else { panic!("goodput") };
        let flow = &result.flows[0];
        assert_eq!((flow.received.counted_bytes, flow.received.total_bytes, flow.lost()), (30, 70, None));
        assert_eq!(flow.received.datagrams, received.datagrams);
        assert_eq!(kept(section, &Told { seconds: Default::default(), ..told }), None, "no whole second yet");
    }
}
