//! What makes a trial's figures less trustworthy, as far as the trial itself shows it. Pure.

use model::{
    Doubt, EndCounters, Endpoint, Flow, GoodputReceived, GoodputSpec, LatencyResult, LatencySpec, Measured,
    PacketStream, PathResult, Trial, WaitMode,
};

use super::End;
use crate::cross_check::{crossed, crossed_messages, crossed_packets};

/// Stolen time above both of these is a doubt: in percent of a core, and in seconds, because the kernel counts it in ticks of
/// 10 ms and one tick may belong to the time before.
const STEAL: (f64, f64) = (1.0, 0.02);

/// A sender that reaches less of its schedule than this did not keep up.
const KEPT_UP: f64 = 0.99;

/// Fewer segments than this share of the messages, and several messages shared one.
const EACH_ALONE: f64 = 0.99;

/// Of a core's time, in percent: what somebody else may have used and no doubt is raised. The kernel's own work on the core
/// stays below.
pub(crate) const OTHER_LOAD: f64 = 15.0;

/// The kernel counts a core's time in ticks of 10 ms; in less time than this (in seconds) a few of them mean nothing.
const LONG_ENOUGH: f64 = 0.3;

/// Of the RTT's 99th percentile: what may be the tester's own lateness and no doubt is raised.
const TESTERS_SHARE: f64 = 0.5;

/// A core whose frequency moved by more than this share was not the same core any more.
const SAME_FREQUENCY: f64 = 0.05;

/// Doubts about cores and clocks; the receiver is the last of the ends.
pub(super) fn of_place(ends: &[End<'_>]) -> Vec<Doubt> {
    let mut doubts = Vec::new();
    doubts.extend(shared_core(ends));
    for end in ends.iter().filter(|end| end.pinned.is_empty()) {
        doubts.push(Doubt::NotPinned { endpoint: end.end.name.clone() });
    }
    let cores_there = |machine: &str| -> Vec<usize> {
        ends.iter().filter(|end| end.end.machine == machine).flat_map(|end| end.end.cpus.clone()).collect()
    };
    let all: Vec<_> = ends.iter().map(|end| (&end.counters, cores_there(&end.end.machine))).collect();
    let steal = all.iter().map(|(counters, cores)| stolen(counters, cores)).fold(0.0, f64::max);
    if steal > 0.0 {
        doubts.push(Doubt::Steal { percent: steal });
    }
    doubts.extend(all.iter().find_map(|(counters, cores)| frequency_changed(counters, cores)));
    doubts.extend(other_load(ends));
    doubts
}

/// The first core of a sender that is the receiver's first one too.
fn shared_core(ends: &[End<'_>]) -> Option<Doubt> {
    let (to, senders) = ends.split_last()?;
    let cpu = *to.end.cpus.first()?;
    let shares = |end: &End<'_>| end.end.machine == to.end.machine && end.end.cpus.first() == Some(&cpu);
    senders.iter().any(shares).then_some(Doubt::SharedCore { cpu })
}

/// Cores of the ends that were busy with something else too. Not where two ends share a core: else it cannot be told whose
/// time was whose.
fn other_load(ends: &[End<'_>]) -> Vec<Doubt> {
    let share = |a: &End<'_>, b: &End<'_>| {
        a.end.name != b.end.name && a.end.machine == b.end.machine && a.pinned.iter().any(|cpu| b.pinned.contains(cpu))
    };
    let alone = ends.iter().filter(|end| !ends.iter().any(|other| share(end, other)));
    alone.filter_map(other_load_of).collect()
}

/// What the end's cores did beside the end's own threads, named by the core that had most of it: threads fill the cores in
/// their order, and the last may stay idle.
fn other_load_of(end: &End<'_>) -> Option<Doubt> {
    let counters = &end.counters;
    let mut own = counters.own_cpu;
    let mut others = Vec::new();
    for core in end.pinned.iter().filter_map(|cpu| counters.core(*cpu)) {
        // Soft interrupts in the middle of our own calls may be in both sums. Then less is taken for somebody else's, never
        // more.
        let used = (core.busy - core.softirq - core.steal).max(0.0);
        let ours = own.min(used);
        own -= ours;
        others.push((core.cpu, used - ours));
    }
    let percent: f64 = others.iter().map(|(_, other)| other).sum();
    let (cpu, _) = others.into_iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
    (percent > OTHER_LOAD && counters.seconds > LONG_ENOUGH).then(|| Doubt::OtherLoad {
        cpu,
        percent,
        machine: end.end.machine.clone(),
    })
}

/// What was stolen from the worst of these cores, in percent; zero where that is too little to be told.
fn stolen(counters: &EndCounters, cores: &[usize]) -> f64 {
    let worst = ours(counters, cores).map(|core| core.steal).fold(0.0, f64::max);
    let (percent, seconds) = STEAL;
    if worst > percent && worst / 100.0 * counters.seconds > seconds { worst } else { 0.0 }
}

fn frequency_changed(counters: &EndCounters, cores: &[usize]) -> Option<Doubt> {
    ours(counters, cores).find_map(|core| {
        let [before, after] = core.mhz?;
        let moved = before.abs_diff(after) as f64 > SAME_FREQUENCY * f64::from(before);
        moved.then_some(Doubt::FrequencyChanged { cpu: core.cpu, before, after })
    })
}

fn ours<'a>(counters: &'a EndCounters, cores: &'a [usize]) -> impl Iterator<Item = &'a model::CoreUse> {
    counters.cpu.iter().filter(|core| cores.contains(&core.cpu))
}

/// What an end counted.
pub(super) type Counted<'a> = (&'a Endpoint, EndCounters);

/// Doubts about what was counted by these ends, the receiver the last of them.
pub(super) fn of_figures(measured: &Measured, counted: &[Counted<'_>]) -> Vec<Doubt> {
    match (measured, counted) {
        (Measured::Latency { spec, result }, [(from, near), (to, far)]) => {
            let crossed = crossed_messages((&from.name, &to.name), spec, result, [near, far]);
            crossed.map(packets_disagree).into_iter().chain(of_latency(spec, result, from)).collect()
        }
        (Measured::Goodput { spec, result }, counted) => of_flows(spec, &result.flows, counted),
        (Measured::Packets { spec, result }, counted) => {
            let replays = spec.streams.iter().filter(|stream| stream.replay.is_some());
            let not_numbered = replays.map(|stream| Doubt::NotNumbered { stream: stream.name.clone() });
            not_numbered.chain(of_streams(&result.streams, counted)).collect()
        }
        (Measured::Latency { .. } | Measured::Path { .. }, _) => Vec::new(),
    }
}

/// What concerns several flows is said once.
fn of_flows(spec: &GoodputSpec, flows: &[Flow], counted: &[Counted<'_>]) -> Vec<Doubt> {
    let of = |name: &str| counted.iter().find(|(end, _)| end.name == name).map(|(_, counters)| counters);
    let crossed = flows.iter().filter_map(|flow| crossed(flow, flows, spec, of(&flow.from)?, of(&flow.to)?));
    let mut doubts: Vec<Doubt> = Vec::new();
    for doubt in crossed.map(packets_disagree).chain(flows.iter().flat_map(|flow| of_flow(spec, flow))) {
        if !doubts.contains(&doubt) {
            doubts.push(doubt);
        }
    }
    doubts
}

fn packets_disagree((endpoint, program, interface): (String, u64, u64)) -> Doubt {
    Doubt::PacketsDisagree { endpoint, program, interface }
}

fn of_latency(spec: &LatencySpec, result: &LatencyResult, from: &Endpoint) -> Vec<Doubt> {
    let mut doubts = Vec::new();
    if result.missing() > 0 {
        doubts.push(Doubt::RepliesMissing { lost: result.lost.unwrap_or_default(), late: result.late });
    }
    doubts.extend(result.intended_pps.and_then(|intended| too_slow(intended, result.achieved_pps)));
    doubts.extend(behind_schedule(result));
    doubts.extend(joined(result));
    if spec.mode == WaitMode::BusyPoll && result.napi.is_none() {
        doubts.push(Doubt::NothingToPoll { endpoint: from.name.clone() });
    }
    // Each message and each answer is a datagram that leaves one end and comes to the other.
    doubts.extend(through_kernel(result.through_kernel, 4 * result.answered));
    doubts
}

fn of_flow(spec: &GoodputSpec, flow: &Flow) -> Vec<Doubt> {
    let mut doubts = Vec::new();
    let (sent, received) = (&flow.sent, &flow.received);
    doubts.extend(unsteady(received));
    doubts.extend(stalled(received));
    if sent.datagrams.is_none() && sent.total_bytes != received.total_bytes {
        doubts.push(Doubt::CountersDisagree { sent: sent.total_bytes, received: received.total_bytes });
    }
    if received.ended_early {
        doubts.push(Doubt::DataEndedEarly);
    }
    let intended = sent.datagrams.as_ref().and_then(|datagrams| datagrams.intended_bps);
    doubts.extend(intended.and_then(|intended| too_slow(intended, sent.mean_bps())));
    doubts.extend(small_buffer(spec, flow));
    if let (Some(left), Some(came)) = (&sent.datagrams, &received.datagrams) {
        let through = left.through_kernel.zip(came.through_kernel).map(|(left, came)| left + came);
        doubts.extend(through_kernel(through, left.sent + came.received));
    }
    doubts
}

/// The first ones may: the kernel gives a socket its port, and looks for the neighbour.
fn through_kernel(datagrams: Option<u64>, of: u64) -> Option<Doubt> {
    const SOME: f64 = 0.01;
    let datagrams = datagrams?;
    (datagrams as f64 > SOME * of as f64).then_some(Doubt::ThroughKernel { datagrams, of })
}

fn of_streams(streams: &[PacketStream], counted: &[Counted<'_>]) -> Vec<Doubt> {
    let counted = counted.iter().map(|(end, counters)| (end.name.as_str(), counters));
    let crossed = crossed_packets(streams, counted).into_iter().map(packets_disagree);
    streams.iter().flat_map(of_stream).chain(crossed).collect()
}

/// What a sender did not send is never loss.
fn of_stream(stream: &PacketStream) -> Vec<Doubt> {
    let (sent, received) = (&stream.sent, &stream.received);
    let nothing = (sent.frames > 0 && received.frames + received.corrupt == 0).then(|| Doubt::NothingArrived {
        from: stream.from.clone(),
        to: stream.to.clone(),
        packets: sent.frames,
        engine: sent.engine,
    });
    let slow = sent.intended_pps.and_then(|intended| too_slow(intended, stream.offered_pps()));
    nothing.into_iter().chain(slow).collect()
}

/// Whole seconds without anything, among others that had something.
fn stalled(received: &GoodputReceived) -> Option<Doubt> {
    let silent = received.intervals_bps.iter().filter(|bps| **bps == 0.0).count();
    (silent > 0 && silent < received.intervals_bps.len()).then_some(Doubt::Stalled { seconds: silent as u64 })
}

/// A figure that was still on its way when the warm-up was over.
fn unsteady(received: &GoodputReceived) -> Option<Doubt> {
    let settled = stats::settled_after(&received.intervals_bps)?;
    (settled > 0).then_some(Doubt::Unsteady { settled_after_s: settled as f64 })
}

/// The RTT counts from the schedule, and so holds how late the tester itself was.
fn behind_schedule(result: &LatencyResult) -> Option<Doubt> {
    let (behind_ns, rtt_ns) = (result.pacing.as_ref()?.behind_ns.p99?, result.rtt_ns.p99?);
    (behind_ns as f64 > TESTERS_SHARE * rtt_ns as f64).then_some(Doubt::BehindSchedule { behind_ns, rtt_ns })
}

/// Messages that shared segments. Of those that were not answered it is not known whether they left the sender's buffer.
fn joined(result: &LatencyResult) -> Option<Doubt> {
    let (messages, segments) = (result.answered, result.segments?);
    ((segments as f64) < EACH_ALONE * messages as f64).then_some(Doubt::MessagesJoined { messages, segments })
}

/// A sender that could not keep up is a doubt; what it did not send is never loss.
fn too_slow(intended: f64, achieved: f64) -> Option<Doubt> {
    (achieved < KEPT_UP * intended).then_some(Doubt::SenderTooSlow { intended, achieved })
}

fn small_buffer(spec: &GoodputSpec, flow: &Flow) -> Option<Doubt> {
    let asked = spec.window?.0;
    let ends = [(&flow.from, flow.sent.buffer), (&flow.to, flow.received.buffer)];
    ends.into_iter().find_map(|(endpoint, granted)| {
        let granted = granted?.0;
        (granted < asked).then(|| Doubt::SmallBuffer { endpoint: endpoint.clone(), asked, granted })
    })
}

/// Whether full-size packets were shown to pass for a trial with an MTU of its own, by the latest path trial of the same
/// kind before it.
pub(crate) fn path_not_proven(trial: &Trial, before: &[Trial]) -> Option<Doubt> {
    let Measured::Goodput { spec, .. } = &trial.measured else { return None };
    let mtu = spec.mtu?;
    let proof = before.iter().rev().find_map(|trial| match &trial.measured {
        Measured::Path { spec: path, result } if (path.mtu, path.ip) == (Some(mtu), spec.ip) => Some(result),
        _ => None,
    });
    let passed = |leg: fn(&PathResult) -> Option<u32>| proof.and_then(leg);
    let forward = passed(|path| path.forward.mtu.map(|mtu| mtu.0));
    let reverse = passed(|path| path.reverse.mtu.map(|mtu| mtu.0));
    let is_proven = [forward, reverse].into_iter().all(|passed| passed.is_some_and(|passed| passed >= mtu.0));
    (!is_proven).then_some(Doubt::PathNotProven { mtu: mtu.0, forward, reverse })
}

#[cfg(test)]
mod tests {
    use model::CoreUse;

    use super::*;

    fn counters(steal: f64, seconds: f64) -> EndCounters {
        let core = |cpu, steal| CoreUse { cpu, busy: 100.0, steal, ..CoreUse::default() };
        EndCounters { seconds, cpu: vec![core(0, steal), core(7, 90.0)], ..EndCounters::default() }
    }

    #[test]
    fn stolen_time_counts_on_the_cores_of_the_ends_and_from_two_ticks_on() {
        let ends = [0, 1];
        assert_eq!(stolen(&counters(14.0, 0.07), &ends), 0.0, "one tick in a short trial");
        assert_eq!(stolen(&counters(14.0, 1.0), &ends), 14.0);
        assert_eq!(stolen(&counters(0.5, 100.0), &ends), 0.0);
    }

    #[test]
    fn what_somebody_else_used_on_a_core_of_the_ends_is_a_doubt() {
        let place = |index: usize, machine: &str| {
            let end = model::fixture::lab().endpoints.swap_remove(index);
            Endpoint { machine: machine.to_owned(), ..end }
        };
        let (near, far) = (place(0, ""), place(1, ""));
        let counters = |cpu: usize, busy: f64, own_cpu: f64| {
            let core = CoreUse { cpu, busy, softirq: 20.0, ..CoreUse::default() };
            EndCounters { seconds: 2.0, own_cpu, cpu: vec![core], ..EndCounters::default() }
        };
        let end = |end, cpu, busy, own_cpu| End { end, pinned: vec![cpu], counters: counters(cpu, busy, own_cpu) };
        let alone = || end(&near, 0, 100.0, 75.0);
        assert!(other_load(&[alone(), end(&far, 1, 60.0, 40.0)]).is_empty());
        let doubt = |cpu, percent, machine: &str| Doubt::OtherLoad { cpu, percent, machine: machine.to_owned() };
        assert_eq!(other_load(&[alone(), end(&far, 1, 100.0, 30.0)]), [doubt(1, 50.0, "")]);
        let (one, two) = (place(0, "near"), place(1, "far"));
        let two_machines = other_load(&[end(&one, 1, 100.0, 30.0), end(&two, 1, 100.0, 30.0)]);
        assert_eq!(two_machines, [doubt(1, 50.0, "near"), doubt(1, 50.0, "far")]);
        let one_core = [end(&near, 1, 100.0, 30.0), end(&far, 1, 100.0, 30.0)];
        assert!(other_load(&one_core).is_empty(), "one core for both ends");
        // One thread, which fills the first of two cores; the second is somebody else's.
        let mut two = end(&far, 2, 100.0, 80.0);
        two.pinned.push(3);
        two.counters.cpu.push(CoreUse { cpu: 3, busy: 40.0, ..CoreUse::default() });
        assert_eq!(other_load(&[alone(), two]), [doubt(3, 40.0, "")]);
    }

    #[test]
    fn a_core_that_changed_its_frequency_is_named() {
        let mut counters = counters(0.0, 1.0);
        counters.cpu[0].mhz = Some([3000, 2900]);
        assert_eq!(frequency_changed(&counters, &[0]), None);
        counters.cpu[0].mhz = Some([3000, 2000]);
        assert_eq!(
            frequency_changed(&counters, &[0]),
            Some(Doubt::FrequencyChanged { cpu: 0, before: 3000, after: 2000 })
        );
        assert_eq!(frequency_changed(&counters, &[1]), None);
    }

    #[test]
    fn messages_that_shared_segments_are_a_doubt() {
        let of = |answered, segments| joined(&LatencyResult { answered, segments, ..LatencyResult::default() });
        assert_eq!(of(1000, Some(995)), None);
        assert_eq!(of(1000, Some(500)), Some(Doubt::MessagesJoined { messages: 1000, segments: 500 }));
        assert_eq!(of(400, Some(500)), None, "the others may not have left");
        assert_eq!(of(1000, None), None, "over UDP");
    }

    #[test]
    fn a_sender_behind_its_schedule_is_a_doubt() {
        assert_eq!(too_slow(1000.0, 995.0), None);
        assert_eq!(too_slow(1000.0, 900.0), Some(Doubt::SenderTooSlow { intended: 1000.0, achieved: 900.0 }));
    }
}
