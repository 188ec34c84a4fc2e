//! Under what one of our configurations was measured.

use model::{
    BitRate, GoodputSpec, LatencySpec, Measured, PacketsSpec, ProbeSpec, Protocol, Run, reference::Conditions,
};

use crate::link;

/// One of our configurations.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Ours {
    pub(super) spec: ProbeSpec,
    /// Under what it was measured, in the words of a reference.
    pub(super) conditions: Conditions,
}

impl Ours {
    /// As measured, or as planned where nothing is measured yet.
    pub(super) fn of(run: &Run, spec: &ProbeSpec) -> Self {
        let own = match spec {
            ProbeSpec::Latency(spec) => latency(run, spec),
            ProbeSpec::Goodput(spec) => goodput(run, spec),
            ProbeSpec::Path(_) => Conditions::default(),
            ProbeSpec::Packets(spec) => packets(spec),
        };
        Self { spec: spec.clone(), conditions: own.or(&of_bed(run, spec)) }
    }
}

/// What holds for every configuration on the bed.
fn of_bed(run: &Run, spec: &ProbeSpec) -> Conditions {
    let mtu = run.bed.endpoints.iter().map(|end| end.mtu).min();
    Conditions {
        simulated: Some(run.bed.simulated),
        ip: Some(spec.ip()),
        mtu: spec.mtu().or(mtu),
        link_rate: link::speed_mbps(run).map(|mbps| BitRate(u64::from(mbps) * 1_000_000)),
        // What a wrapper does with the sockets is its own affair.
        stack: run.bed.wrap.is_empty().then_some(spec.stack()),
        ..Conditions::default()
    }
}

fn latency(run: &Run, spec: &LatencySpec) -> Conditions {
    let sent = run.trials.iter().find_map(|trial| match &trial.measured {
        Measured::Latency { spec: measured, result } if measured == spec => Some(result),
        _ => None,
    });
    Conditions {
        protocol: Some(spec.protocol),
        frame_size: Some(sent.map_or(spec.frame_size, |result| result.frame_size)),
        payload_size: sent.map(|result| result.payload_size),
        mode: Some(spec.mode),
        rate: spec.rate,
        ..Conditions::default()
    }
}

fn packets(spec: &PacketsSpec) -> Conditions {
    Conditions {
        protocol: Some(Protocol::Udp),
        frame_size: spec.frame_size(),
        rate: spec.rate(),
        direction: Some(spec.direction),
        duration: Some(spec.duration),
        ..Conditions::default()
    }
}

fn goodput(run: &Run, spec: &GoodputSpec) -> Conditions {
    let sent = run.trials.iter().find_map(|trial| match &trial.measured {
        Measured::Goodput { spec: measured, result } if measured == spec => Some(result),
        _ => None,
    });
    let datagram = sent.and_then(|result| result.flows.first()?.sent.datagrams.as_ref()).map(|it| it.payload_size);
    Conditions {
        protocol: Some(spec.protocol),
        payload_size: datagram.or(spec.datagram),
        mtu: sent.map(|result| result.mtu),
        direction: Some(spec.direction),
        streams: Some(spec.streams),
        duration: Some(spec.duration),
        window: spec.window,
        offered: spec.rate,
        ..Conditions::default()
    }
}
