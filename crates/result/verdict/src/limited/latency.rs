//! What limited round trips.

use model::{
    Evidence, LatencyResult, LatencySpec, LimitedBy, Place, Trial,
    trial::{Stage, StageName},
};

use super::{AS_ASKED, Way, at, between, core, loss, not_known};

/// Loss that can be what set a figure: less changes no percentile that is shown, of which p99.9 is the last.
const LOSS: f64 = 0.001;

/// What limited them.
pub(super) fn limited_by(trial: &Trial, spec: &LatencySpec, result: &LatencyResult) -> LimitedBy {
    let way = Way::forward(trial);
    let rules =
        [lost(trial, result), spec.rate.and_then(|_| schedule(&way, result)), shared(&way), stage(&way, result)];
    rules.into_iter().flatten().next().unwrap_or_else(|| not_known(Vec::new()))
}

/// The place that dropped most.
fn lost(trial: &Trial, result: &LatencyResult) -> Option<LimitedBy> {
    if result.lost == 0 || (result.lost as f64) < LOSS * result.sent as f64 {
        return None;
    }
    let worst = loss::loss_at(trial).into_iter().max_by_key(|loss| loss.packets)?;
    let evidence = match worst.endpoint {
        None => vec![Evidence::Unseen { packets: worst.packets }],
        Some(_) => worst.shown_by.into_iter().map(|counter| Evidence::Counter { counter }).collect(),
    };
    Some(LimitedBy { place: worst.place, endpoint: worst.endpoint, evidence })
}

/// Messages by a schedule: it was kept, and then the load is what was asked for; or it was not, and then by whom.
fn schedule(way: &Way<'_>, result: &LatencyResult) -> Option<LimitedBy> {
    let (intended, achieved) = (result.intended_pps?, result.achieved_pps);
    if achieved < AS_ASKED * intended {
        let behind = Evidence::Behind { intended, achieved };
        return Some(match way.sender.busy() {
            Some(busy) => at(Place::SenderCpu, &way.sender, vec![core(busy), behind]),
            None => not_known(vec![behind]),
        });
    }
    let all_in_time = result.lost + result.late == 0;
    all_in_time.then(|| between(Place::IntendedLoad, vec![Evidence::AsAsked { intended, achieved }]))
}

/// Both ends on one core take turns: each message waits until the other end has gone to sleep.
fn shared(way: &Way<'_>) -> Option<LimitedBy> {
    let shared = way.shared_core()?;
    Some(at(Place::SenderCpu, &way.sender, vec![core(shared)]))
}

/// The longest part of the round trip. The near end sends the message and receives the answer; what is on the wire and
/// beyond is more than one place.
fn stage(way: &Way<'_>, result: &LatencyResult) -> Option<LimitedBy> {
    let median = |stage: &Stage| Some((stage.time_ns.p50?, stage.stage));
    let (p50_ns, stage) = result.stages.iter().filter_map(median).max_by_key(|(p50, _)| *p50)?;
    let evidence = vec![Evidence::LongestStage { stage, p50_ns }];
    Some(match stage {
        StageName::NearSend => at(Place::SenderCpu, &way.sender, evidence),
        StageName::NearReceive => at(Place::ReceiverCpu, &way.sender, evidence),
        StageName::WireAndFar => not_known(evidence),
    })
}
