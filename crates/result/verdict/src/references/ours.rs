//! Conditions of one of our configurations.

use model::{BitRate, ProbeSpec, Run, reference::Conditions};

use crate::link;

/// One of our configurations.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct OurConfiguration {
    pub(super) spec: ProbeSpec,
    /// Conditions, in the terms of a reference.
    pub(super) conditions: Conditions,
}

impl OurConfiguration {
    /// As measured, or as planned where nothing is measured yet.
    pub(super) fn of(run: &Run, spec: &ProbeSpec) -> Self {
        let measured = run.trials.iter().map(|trial| &trial.measured).find(|measured| measured.spec() == *spec);
        let own = measured.map_or_else(|| spec.probe().conditions(), |measured| measured.conditions());
        Self { spec: spec.clone(), conditions: own.or(&of_bed(run, spec)) }
    }
}

/// Conditions of every configuration on the bed.
fn of_bed(run: &Run, spec: &ProbeSpec) -> Conditions {
    let profile = spec.profile();
    let mtu = run.bed.endpoints.iter().map(|end| end.mtu).min();
    Conditions {
        simulated: Some(run.bed.simulated),
        ip: Some(profile.ip),
        mtu: profile.mtu.or(mtu),
        link_rate: link::speed_mbps(run).map(|mbps| BitRate(u64::from(mbps) * 1_000_000)),
        // A wrapper may change the sockets in unknown ways.
        stack: run.bed.wrap.is_empty().then_some(profile.stack),
        ..Conditions::default()
    }
}
