//! Limits of datagrams.

use model::{Evidence, Flow, GoodputSpec, LimitedBy, LossAt, Place};

use super::{Case, losses};
use crate::limited::{AS_ASKED, LOSS_OF_RATE, Load, Measures, at, core, dut, full_socket, loss};

/// A sender that waited for its socket less often than once in a thousand datagrams hardly waited: each wait frees the
/// buffer of tens of them.
const WAITS: f64 = 0.001;

/// Share of the tester's own limit above which the tester itself is measured.
const ALONE: f64 = 0.95;

/// The intended load arrived.
pub(super) fn as_asked(case: &Case<'_>) -> Option<LimitedBy> {
    let intended = case.flow.sent.datagrams.as_ref()?.intended_bps?;
    let load = Load { intended, achieved: case.flow.received.mean_bps(), lost: lost_share(case.flow) };
    load.limit(case.trial, Measures::Rate)
}

/// The place that dropped most.
pub(super) fn lost(case: &Case<'_>) -> Option<LimitedBy> {
    if lost_share(case.flow) < LOSS_OF_RATE {
        return None;
    }
    let worst = losses(case).into_iter().max_by_key(|loss| loss.packets)?;
    Some(because_of(case, worst))
}

fn because_of(case: &Case<'_>, worst: LossAt) -> LimitedBy {
    if let Some(limited) = dut::dropped(case.trial, &worst) {
        return limited;
    }
    let (place, endpoint) = (worst.place, worst.endpoint.clone());
    let mut evidence = Vec::new();
    let overflowed = case.flow.received.datagrams.as_ref().map_or(0, |datagrams| datagrams.overflowed);
    if place == Place::ReceiverSocket && overflowed > 0 {
        evidence.push(Evidence::Overflow { datagrams: overflowed });
    }
    evidence.extend(loss::evidence(worst));
    match (place, endpoint) {
        (Place::ReceiverSocket, _) => full_socket(&case.way.receiver, evidence),
        (Place::SoftirqCore, endpoint) => {
            evidence.extend(case.way.receiver.softirq_core().map(core));
            LimitedBy { place, endpoint, evidence }
        }
        (place, endpoint) => LimitedBy { place, endpoint, evidence },
    }
}

/// The sender could not send faster.
pub(super) fn sender_core(case: &Case<'_>) -> Option<LimitedBy> {
    let mut limited = case.sender_core()?;
    limited.evidence.extend(behind(case));
    Some(limited)
}

/// The sender waited for its socket, which something behind it did not empty faster.
pub(super) fn sender_socket(case: &Case<'_>) -> Option<LimitedBy> {
    let (times, sent) = (case.flow.sent.buffer_full, case.flow.sent.datagrams.as_ref()?.sent);
    let waited = times > 0 && times as f64 >= WAITS * sent as f64;
    let evidence = [Evidence::BufferFull { times }].into_iter().chain(behind(case));
    waited.then(|| at(Place::SenderSocket, &case.way.sender, evidence.collect()))
}

/// The tester alone, over its own loopback, does no more: what is between the ends cannot be judged beyond that.
pub(super) fn tester_alone(case: &Case<'_>) -> Option<LimitedBy> {
    let same = case.trial.measured.spec().profile().self_test?;
    let alone = case.run.self_tests.iter().find(|trial| trial.measured.spec() == same)?;
    let (alone_bps, bps) =
        (alone.measured.of::<GoodputSpec>()?.1.flows.first()?.received.mean_bps(), case.flow.received.mean_bps());
    let evidence = vec![Evidence::TesterAlone { alone_bps, bps }];
    (bps >= ALONE * alone_bps).then(|| at(Place::SenderCpu, &case.way.sender, evidence))
}

/// That the sender sent less than was asked of it.
pub(super) fn behind(case: &Case<'_>) -> Option<Evidence> {
    let intended = case.flow.sent.datagrams.as_ref()?.intended_bps?;
    let achieved = case.flow.sent.mean_bps()?;
    (achieved < AS_ASKED * intended).then_some(Evidence::Behind { intended, achieved })
}

fn lost_share(flow: &Flow) -> f64 {
    let sent = flow.sent.datagrams.as_ref().map_or(0, |datagrams| datagrams.sent);
    flow.lost().unwrap_or_default() as f64 / sent.max(1) as f64
}
