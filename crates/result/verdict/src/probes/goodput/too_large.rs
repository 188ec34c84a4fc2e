//! Packets of full size that the path does not take.

use model::{Doubt, Evidence, LimitedBy, Mtu, PathSpec, Place, Trial};

use super::Case;
use crate::limited::{LOSS_OF_RATE, between};

/// The flow's packets exceed the path MTU.
///
/// A connection that has noticed sends smaller ones, and is not limited by it; datagrams that arrive all the same were
/// fragmented on the way.
pub(super) fn path(case: &Case<'_>) -> Option<LimitedBy> {
    let path_mtu = path_mtu(case)?;
    let (_, packet) = case.packet_size()?;
    let packet = packet.min(case.result.mtu.0);
    let sent = case.flow.sent.datagrams.as_ref().map(|datagrams| datagrams.sent);
    let arrive = case.flow.lost().zip(sent).is_some_and(|(lost, sent)| (lost as f64) < LOSS_OF_RATE * sent as f64);
    let evidence = || vec![Evidence::PathMtu { mtu: case.result.mtu.0, path_mtu }];
    (packet > path_mtu && !arrive).then(|| between(Place::PathMtu, evidence()))
}

/// Largest packet that passes in the flow's direction: as tried before this trial, or else by a path probe of the same run. Nothing is 0.
fn path_mtu(case: &Case<'_>) -> Option<u32> {
    let forward = case.flow.from == case.trial.endpoint_from;
    let tried = case.trial.doubts.iter().find_map(|doubt| match doubt {
        Doubt::PathNotProven { forward: there, reverse: back, .. } => Some(if forward { *there } else { *back }),
        _ => None,
    });
    let before = case.run.trials.iter().filter(|trial| trial.number < case.trial.number);
    let probed = || before.rev().find_map(|trial| leg(case, trial, forward));
    match tried.or_else(probed) {
        Some(passed) => Some(passed.unwrap_or(0)),
        None => peers_mtu(case),
    }
}

/// The MTU of the receiver's interface as it was before the run. A veth takes in a VLAN tag more than that.
fn peers_mtu(case: &Case<'_>) -> Option<u32> {
    const VLAN_TAG: u32 = 4;
    let end = case.run.bed.endpoints.iter().find(|end| end.name == case.flow.to)?;
    let facts = case.run.before.endpoints.iter().find(|facts| facts.endpoint == end.name)?;
    let interface = facts.interfaces.iter().find(|interface| interface.name == end.interface)?;
    let mtu = interface.mtu.copied()?;
    (case.spec.mtu.is_none()).then_some(mtu.saturating_add(VLAN_TAG))
}

/// The leg of a path probe that speaks of the same ends, IP version and MTU.
fn leg(case: &Case<'_>, trial: &Trial, forward: bool) -> Option<Option<u32>> {
    let (spec, result) = trial.measured.of::<PathSpec>()?;
    let same = spec.ip == case.spec.ip
        && spec.mtu == case.spec.mtu
        && (&trial.endpoint_from, &trial.endpoint_to) == (&case.trial.endpoint_from, &case.trial.endpoint_to);
    let leg = if forward { &result.forward } else { &result.reverse };
    same.then(|| leg.mtu.map(|Mtu(bytes)| bytes))
}
