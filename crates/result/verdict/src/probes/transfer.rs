//! Limits of a transfer: those of one TCP connection, by the rules of goodput.

use model::{
    Batch, Evidence, Flow, GoodputReceived, GoodputResult, GoodputSent, GoodputSpec, LimitedBy, Nanos, Place, Protocol,
    ReceiveMethod, Run, SendMethod, Stack, TransferResult, TransferSpec, Trial, TrialAssessment, probe::Direction,
};

use super::goodput;
use crate::limited::not_known;

/// Least time of a transfer whose limit is told, in seconds: the kernel counts the time of cores in ticks of 10 ms, and the start of a
/// program takes a share of a short transfer.
const LEAST_SECONDS: f64 = 1.0;

/// Part of a disk's own rate from which on it is what limits.
const AS_DISK: f64 = 0.9;

/// The conclusions of a trial: nothing where nothing arrived, or something else.
pub(super) fn assess(run: &Run, trial: &Trial, spec: &TransferSpec, result: &TransferResult) -> TrialAssessment {
    if result.bps().is_none() {
        return TrialAssessment::default();
    }
    if result.seconds < LEAST_SECONDS {
        let evidence = Evidence::TooShort { seconds: result.seconds, least: LEAST_SECONDS };
        return TrialAssessment { limited_by: Some(not_known(vec![evidence])), ..TrialAssessment::default() };
    }
    if let Some(by) = disk(trial, spec, result) {
        return TrialAssessment { limited_by: Some(by), ..TrialAssessment::default() };
    }
    let (as_goodput, flow) = (goodput_spec(spec, result), flow(trial, spec, result));
    let assessed = goodput::assess(run, trial, &as_goodput, &GoodputResult { mtu: result.mtu, flows: vec![flow] });
    TrialAssessment { limited_by: assessed.limited_by, ..TrialAssessment::default() }
}

/// The slower disk, where the file moved about as quickly as that alone reads or writes.
fn disk(trial: &Trial, spec: &TransferSpec, result: &TransferResult) -> Option<LimitedBy> {
    let (disks, bps) = result.disks.zip(result.bps())?;
    let reads = disks.read_bps <= disks.write_bps;
    let disk_bps = disks.read_bps.min(disks.write_bps);
    let at_near = reads == (spec.method.direction() == Direction::Forward);
    let endpoint = if at_near { &trial.endpoint_from } else { &trial.endpoint_to };
    (bps >= AS_DISK * disk_bps).then(|| LimitedBy {
        place: Place::Disk,
        endpoint: Some(endpoint.clone()),
        evidence: vec![Evidence::Disk { reads, disk_bps, bps }],
    })
}

/// Goodput by one connection in the same direction.
fn goodput_spec(spec: &TransferSpec, result: &TransferResult) -> GoodputSpec {
    GoodputSpec {
        protocol: Protocol::Tcp,
        ip: spec.ip,
        stack: Stack::Kernel,
        direction: spec.method.direction(),
        streams: 1,
        duration: Nanos((result.seconds * 1e9) as u64),
        warmup: Nanos(0),
        mtu: spec.mtu,
        window: None,
        congestion: None,
        send: SendMethod::default(),
        receive: ReceiveMethod::default(),
        datagram: None,
        batch: Batch::default(),
        rate: None,
    }
}

/// The contents as a flow.
fn flow(trial: &Trial, spec: &TransferSpec, result: &TransferResult) -> Flow {
    let (near, far) = (trial.endpoint_from.clone(), trial.endpoint_to.clone());
    let (from, to) = if spec.method.direction() == Direction::Reverse { (far, near) } else { (near, far) };
    let sent = GoodputSent {
        counted_bytes: result.size,
        counted_s: Some(result.seconds),
        total_bytes: result.size,
        tcp: result.tcp.clone(),
        ..GoodputSent::default()
    };
    let received = GoodputReceived {
        counted_bytes: result.arrived,
        counted_s: result.seconds,
        total_bytes: result.arrived,
        ..GoodputReceived::default()
    };
    Flow { from, to, sent, received }
}
