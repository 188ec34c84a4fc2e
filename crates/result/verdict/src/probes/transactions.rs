//! Limits of transactions.

use model::{
    Evidence, FailureKind, LimitedBy, Place, Source, TransactionsResult, TransactionsSpec, Trial, TrialAssessment,
    WaitMode,
};

use crate::limited::{
    Load, Measures, at, between, busy_core, core,
    end::{End, Ends, TrafficDirection, sum},
    loss, not_known, queued, unexplained,
};

/// Counters of a listening socket whose queues had no room (`nstat`).
const NO_ROOM: [&str; 4] = ["ListenOverflows", "ListenDrops", "TCPReqQFullDrop", "TCPReqQFullDoCookies"];

/// Share of the transactions: fewer that failed set no figure that is shown.
const SOME: f64 = 0.001;

/// Largest distance of the mean response time and the number of connections from the rate that they make possible.
const CLOSED_LOOP: f64 = 0.1;

/// The conclusions of a trial.
pub(super) fn assess(trial: &Trial, spec: &TransactionsSpec, result: &TransactionsResult) -> TrialAssessment {
    let ends = Ends { trial, threads: Some(result.threads.max(1)) };
    TrialAssessment { limited_by: Some(limited_by(ends, spec, result)), ..TrialAssessment::default() }
}

fn limited_by(ends: Ends<'_>, spec: &TransactionsSpec, result: &TransactionsResult) -> LimitedBy {
    let way = ends.forward();
    let rules = [
        no_port(&way, result),
        no_descriptor(&way, result),
        listen_queue(&way, result),
        failures(&way, spec, result),
        as_asked(ends.trial, result),
        queued(ends),
        refused_by_filter(&way),
        // A core that spins is always busy.
        (spec.mode == WaitMode::Block).then(|| cores(&way, result)).flatten(),
        closed_loop(spec, result),
    ];
    rules.into_iter().flatten().next().unwrap_or_else(|| unexplained(&way, behind(result).into_iter().collect()))
}

fn count(result: &TransactionsResult, kind: FailureKind) -> Option<u64> {
    let failed = result.failed.iter().find(|failed| failed.kind == kind)?;
    (failed.count > 0).then_some(failed.count)
}

/// Connections that have ended keep their port for a minute (TIME_WAIT).
fn no_port(way: &TrafficDirection<'_>, result: &TransactionsResult) -> Option<LimitedBy> {
    let count = count(result, FailureKind::NoPort)?;
    let held = result.time_wait.zip(result.ports).map(|(time_wait, ports)| Evidence::Ports { time_wait, ports });
    let evidence = [Evidence::Failures { failed_by: FailureKind::NoPort, count }].into_iter().chain(held);
    Some(at(Place::EphemeralPorts, &way.sender, evidence.collect()))
}

fn no_descriptor(way: &TrafficDirection<'_>, result: &TransactionsResult) -> Option<LimitedBy> {
    let count = count(result, FailureKind::NoDescriptor)?;
    Some(at(
        Place::FileDescriptors,
        &way.sender,
        vec![Evidence::Failures { failed_by: FailureKind::NoDescriptor, count }],
    ))
}

/// The server's queues of connections were full: connections were dropped, and tried again by the client's kernel a second later.
fn listen_queue(way: &TrafficDirection<'_>, result: &TransactionsResult) -> Option<LimitedBy> {
    let counters = way.receiver.moved(Source::Netstat, |delta| NO_ROOM.contains(&delta.name.as_str()));
    if counters.is_empty() || result.connected == 0 && result.failed.is_empty() {
        return None;
    }
    let evidence = counters.into_iter().map(|counter| Evidence::Counter { counter });
    Some(at(Place::ListenQueue, &way.receiver, evidence.collect()))
}

/// So many transactions failed in another way that no place is named by the rate.
fn failures(way: &TrafficDirection<'_>, spec: &TransactionsSpec, result: &TransactionsResult) -> Option<LimitedBy> {
    let ended = result.completed + result.failures();
    let worst = result.failed.iter().max_by_key(|failed| failed.count)?;
    if (worst.count as f64) < SOME * ended as f64 {
        return None;
    }
    let evidence = Evidence::Failures { failed_by: worst.kind, count: worst.count };
    // A filter that takes first packets, or a server without time, lets connections wait until they are given up.
    let is_late = worst.kind == FailureKind::Timeout;
    let filter = is_late.then(|| refused_by_filter(way)).flatten();
    let busy =
        || (is_late && spec.mode == WaitMode::Block).then(|| busy_core(&way.receiver, Place::ReceiverCpu)).flatten();
    let mut limited = filter.or_else(busy).unwrap_or_else(|| not_known(Vec::new()));
    limited.evidence.push(evidence);
    Some(limited)
}

/// The server's packet filter takes connections' first packets, which the client then sends again after a second.
fn refused_by_filter(way: &TrafficDirection<'_>) -> Option<LimitedBy> {
    let again = way.sender.moved(Source::Netstat, |delta| delta.name == "TCPSynRetrans");
    let filtered = loss::filtered(way.receiver, 1);
    let is = sum(&again) > 0 && filtered.packets >= sum(&again);
    let evidence = again.into_iter().chain(filtered.shown_by).map(|counter| Evidence::Counter { counter });
    is.then(|| at(Place::PacketFilter, &way.receiver, evidence.collect()))
}

/// The schedule was kept: every transaction that it asked for ended well.
fn as_asked(trial: &Trial, result: &TransactionsResult) -> Option<LimitedBy> {
    let (intended, achieved) = result.intended_per_s.zip(result.per_second())?;
    // Failed transactions are not among the achieved ones.
    Load { intended, achieved, lost: 0.0 }.limit(trial, Measures::Times)
}

/// That fewer transactions ended than were asked for.
fn behind(result: &TransactionsResult) -> Option<Evidence> {
    let (intended, achieved) = result.intended_per_s.zip(result.per_second())?;
    Some(Evidence::Behind { intended, achieved })
}

/// A core of the server, or else of the client, has no time left. Where both have none, the busier one sets the pace.
fn cores(way: &TrafficDirection<'_>, result: &TransactionsResult) -> Option<LimitedBy> {
    let (server, client) = (way.receiver, way.sender);
    let busy = |end: &End<'_>| end.busy().map_or(0.0, |core| core.busy);
    let of = |end: &End<'_>, place| {
        let mut limited = busy_core(end, place)?;
        limited.evidence.extend(behind(result));
        Some(limited)
    };
    let of_server = || of(&server, Place::ReceiverCpu);
    let of_client = || of(&client, Place::SenderCpu);
    let flooded = || Some(at(Place::SoftirqCore, &server, vec![core(server.softirq_core()?)]));
    let first = if busy(&client) > busy(&server) { of_client() } else { of_server() };
    first.or_else(of_client).or_else(of_server).or_else(flooded)
}

/// Nothing was short of anything: each connection waits for its response, and what the path and the programs need for that sets the rate.
fn closed_loop(spec: &TransactionsSpec, result: &TransactionsResult) -> Option<LimitedBy> {
    let (mean_ns, achieved) = (result.response_ns.mean?, result.per_second()?);
    if result.intended_per_s.is_some() || mean_ns <= 0.0 {
        return None;
    }
    let possible = f64::from(spec.connections) * 1e9 / mean_ns;
    let matches = (possible - achieved).abs() <= CLOSED_LOOP * possible;
    let evidence = Evidence::ClosedLoop { connections: spec.connections, mean_ns, possible };
    matches.then(|| between(Place::Connections, vec![evidence]))
}
