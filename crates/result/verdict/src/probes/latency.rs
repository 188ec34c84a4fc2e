//! Limits of round trips.

use model::{
    Evidence, LatencyResult, LatencySpec, LimitedBy, LossAt, Place, Protocol, Run, Trial, TrialAssessment,
    trial::{Stage, StageName},
};

use crate::limited::{
    AS_ASKED, Load, Measures, at, core, dut,
    end::{Ends, TrafficDirection},
    full_socket,
    gap::{self, Counted},
    loss, not_known, queued, unexplained,
};

/// Loss that can be what set a figure: less changes no percentile that is shown, of which p99.9 is the last.
const LOSS: f64 = 0.001;

/// Times the tester's own median: below this, the kernel's path between two namespaces or hosts may be all there is to it.
const FAR_LONGER: u64 = 10;

/// The conclusions of a latency trial.
pub(super) fn assess(run: &Run, trial: &Trial, spec: &LatencySpec, result: &LatencyResult) -> TrialAssessment {
    let ends = Ends { trial, threads: Some(1) };
    let losses = losses(run, ends, spec, result);
    TrialAssessment {
        limited_by: Some(limited_by(run, ends, spec, result, &losses)),
        losses,
        saw_loss: result.missing() + result.overflowed > 0,
        ..TrialAssessment::default()
    }
}

fn limited_by(run: &Run, ends: Ends<'_>, spec: &LatencySpec, result: &LatencyResult, losses: &[LossAt]) -> LimitedBy {
    let (trial, way) = (ends.trial, ends.forward());
    // Beside a load of TCP, that is the load, and not the messages that measure.
    let is_of_messages = |it: &LimitedBy| spec.tcp_load.is_none() || it.place != Place::IntendedLoad;
    let scheduled = spec.rate.and_then(|_| schedule(run, trial, &way, result)).filter(is_of_messages);
    let rules = [lost(ends, result, losses), shared(run, &way), queued(ends), scheduled, stage(&way, result)];
    rules.into_iter().flatten().next().unwrap_or_else(|| unexplained(&way, Vec::new()))
}

/// Places where datagrams were lost. TCP sends segments again.
fn losses(run: &Run, ends: Ends<'_>, spec: &LatencySpec, result: &LatencyResult) -> Vec<LossAt> {
    if spec.protocol == Protocol::Tcp {
        return Vec::new();
    }
    let there = loss::claims(run, ends.forward(), spec.stack, result.far_overflowed, 1);
    let back = loss::claims(run, ends.reverse(), spec.stack, result.overflowed, 1);
    let lost = result.lost.unwrap_or_default();
    let between = gap::claims(run, ends.trial, &[ends.reverse(), ends.forward()], lost, Counted::Each);
    loss::share_out(lost, back.into_iter().chain(there).chain(between))
}

/// The place that dropped most, and whether the schedule was kept meanwhile.
fn lost(ends: Ends<'_>, result: &LatencyResult, losses: &[LossAt]) -> Option<LimitedBy> {
    let lost = result.lost.filter(|lost| *lost > 0)?;
    if (lost as f64) < LOSS * result.sent as f64 {
        return None;
    }
    let worst = losses.iter().max_by_key(|loss| loss.packets)?.clone();
    if let Some(mut limited) = dut::dropped(ends.trial, &worst) {
        limited.evidence.extend(behind(result));
        return Some(limited);
    }
    let (place, endpoint, counters) = (worst.place, worst.endpoint.clone(), loss::evidence(worst));
    let mut limited = match (place, endpoint) {
        // The far end receives the messages, the near one the answers.
        (Place::ReceiverSocket, Some(end)) if end == ends.trial.endpoint_to => {
            full_socket(&ends.forward().receiver, counters)
        }
        (Place::ReceiverSocket, Some(_)) => full_socket(&ends.reverse().receiver, counters),
        (place, endpoint) => LimitedBy { place, endpoint, evidence: counters },
    };
    limited.evidence.extend(behind(result));
    Some(limited)
}

/// That fewer messages were sent than were asked for.
fn behind(result: &LatencyResult) -> Option<Evidence> {
    let (intended, achieved) = (result.intended_pps?, result.achieved_pps);
    (achieved < AS_ASKED * intended).then_some(Evidence::Behind { intended, achieved })
}

/// Messages by a schedule: it was kept, and then the load is what was asked for; or it was not, and then by whom. A load that
/// was made, but to which the answers took far longer than the tester alone needs, was limited by something that is not seen.
fn schedule(run: &Run, trial: &Trial, way: &TrafficDirection<'_>, result: &LatencyResult) -> Option<LimitedBy> {
    let (intended, achieved) = (result.intended_pps?, result.achieved_pps);
    if let Some(behind) = behind(result) {
        return Some(match way.sender.busy() {
            Some(busy) => at(Place::SenderCpu, &way.sender, vec![core(busy), behind]),
            None => not_known(vec![behind]),
        });
    }
    let load = Load { intended, achieved, lost: result.missing() as f64 / result.sent.max(1) as f64 };
    let is_longer = result.missing() > 0 || is_late(result) || is_slow(run, trial, result);
    let limit = load.limit(trial, Measures::Times).filter(|_| !is_longer);
    Some(limit.unwrap_or_else(|| load.not_known()))
}

/// The tester's own lateness makes up most of the RTT's tail.
fn is_late(result: &LatencyResult) -> bool {
    let behind = result.pacing.as_ref().and_then(|pacing| pacing.behind_ns.p99);
    behind.zip(result.rtt_ns.p99).is_some_and(|(behind, rtt)| behind * 2 > rtt)
}

/// Half of the answers took far longer than they take the tester alone.
fn is_slow(run: &Run, trial: &Trial, result: &LatencyResult) -> bool {
    let same = trial.measured.spec().profile().self_test;
    let alone = run.self_tests.iter().find(|alone| Some(alone.measured.spec()) == same);
    let alone = alone.and_then(|alone| alone.measured.of::<LatencySpec>()?.1.rtt_ns.p50);
    alone.zip(result.rtt_ns.p50).is_some_and(|(alone, p50)| p50 > FAR_LONGER * alone)
}

/// Both ends on one core take turns: each message waits until the other end has gone to sleep.
fn shared(run: &Run, way: &TrafficDirection<'_>) -> Option<LimitedBy> {
    let shared = way.shared_core().filter(|_| run.bed.is_one_machine())?;
    Some(at(Place::SenderCpu, &way.sender, vec![core(shared)]))
}

/// The longest part of the round trip. The near end sends the message and receives the answer; what is on the wire and
/// beyond is more than one place.
fn stage(way: &TrafficDirection<'_>, result: &LatencyResult) -> Option<LimitedBy> {
    let median = |stage: &Stage| Some((stage.time_ns.p50?, stage.stage));
    let (p50_ns, stage) = result.stages.iter().filter_map(median).max_by_key(|(p50, _)| *p50)?;
    let evidence = vec![Evidence::LongestStage { stage, p50_ns }];
    Some(match stage {
        StageName::NearSend => at(Place::SenderCpu, &way.sender, evidence),
        StageName::NearReceive => at(Place::ReceiverCpu, &way.sender, evidence),
        StageName::WireAndFar => not_known(evidence),
    })
}
