//! MTU of each device that the packets of an interface pass on this machine, in an order that keeps the path up.

use std::collections::BTreeSet;

use model::{
    Mtu,
    change::InterfaceMtu,
    tuning::{InterfaceReading, ProfileValue, TuningPlan, TuningReadings, WhyLeftOut},
};

use super::{LEAST_MTU, Planned, add};

/// Deepest nesting of interfaces: a ring that the kernel never makes would have no end.
const DEEPEST: usize = 16;

/// Adds the MTU of all devices of the path. A device may carry no more than those below it, so these are raised first and lowered last.
pub(super) fn plan(value: &ProfileValue, readings: &TuningReadings, plan: &mut TuningPlan) {
    let Some(wanted) = value.value.parse().ok().map(Mtu).filter(|mtu| *mtu >= LEAST_MTU) else { return };
    let mut path = path(&plan.interfaces, readings);
    let is_meant =
        |it: &&InterfaceReading| !plan.interfaces.contains(&it.name) || value.when.holds_for(it, readings.cores.len());
    if !path.iter().all(is_meant) {
        let left_out = path.first().copied();
        return add(plan, value, left_out, Err(WhyLeftOut::Condition));
    }
    let refuses = |it: &&&InterfaceReading| it.mtus.is_some_and(|(least, most)| wanted.0 < least || wanted.0 > most);
    if let Some(narrow) = path.iter().find(refuses) {
        let range = narrow.mtus.map(|(least, most)| format!("{least}-{most}")).unwrap_or_default();
        return add(plan, value, Some(narrow), Err(WhyLeftOut::OutOfRange { range }));
    }
    path.sort_by_key(|it| depth(it, readings));
    let (raised, lowered): (Vec<_>, Vec<_>) = path.into_iter().partition(|it| it.mtu <= wanted);
    for interface in raised.into_iter().chain(lowered.into_iter().rev()) {
        let outcome = match interface.mtu == wanted {
            true => Ok(Planned::Kept(wanted.0.to_string())),
            false => Ok(Planned::Change {
                before: interface.mtu.0.to_string(),
                wanted: wanted.0.to_string(),
                change: InterfaceMtu { namespace: String::new(), interface: interface.name.clone(), mtu: wanted }
                    .into(),
            }),
        };
        add(plan, value, Some(interface), outcome);
    }
}

/// The interfaces with those below and above them, and the other members of bridges among these.
fn path<'a>(interfaces: &[String], readings: &'a TuningReadings) -> Vec<&'a InterfaceReading> {
    let mut names: BTreeSet<&str> = interfaces.iter().map(String::as_str).collect();
    loop {
        let joined = readings.interfaces.iter().filter(|it| {
            let is_tied = |other: &Option<String>| other.as_deref().is_some_and(|other| names.contains(other));
            let is_below = readings.interfaces.iter().any(|above| {
                names.contains(above.name.as_str()) && [&above.master, &above.lower].contains(&&Some(it.name.clone()))
            });
            names.contains(it.name.as_str()) || is_tied(&it.master) || is_tied(&it.lower) || is_below
        });
        let grown: BTreeSet<&str> = joined.map(|it| it.name.as_str()).collect();
        if grown.len() <= names.len() {
            return readings.interfaces.iter().filter(|it| names.contains(it.name.as_str())).collect();
        }
        names = grown;
    }
}

/// Number of devices below.
fn depth(interface: &InterfaceReading, readings: &TuningReadings) -> usize {
    depth_within(interface, readings, DEEPEST)
}

fn depth_within(interface: &InterfaceReading, readings: &TuningReadings, left: usize) -> usize {
    let is_below = |it: &&InterfaceReading| {
        it.master.as_ref() == Some(&interface.name) || interface.lower.as_ref() == Some(&it.name)
    };
    let below = readings.interfaces.iter().filter(is_below);
    let Some(left) = left.checked_sub(1) else { return 0 };
    below.map(|it| 1 + depth_within(it, readings, left)).max().unwrap_or_default()
}
