//! Evidence from the counters of a device under test, at all of its interfaces.

use model::{
    Delta, Evidence, LimitedBy, LossAt, Place, Run, Source, Trial,
    drop_counters::{IP_REFUSED, LINK_DROPPED},
};

use super::{
    at, core,
    end::{End, dut, dut_on, sum},
};

/// Its queueing discipline held packets back.
pub(crate) fn shaped(trial: &Trial) -> Option<LimitedBy> {
    let end = dut(trial)?;
    let counter = end.held_back()?;
    Some(at(Place::Qdisc, &end, vec![Evidence::Counter { counter }]))
}

/// Packets that it dropped, as a limit. Packets that it could not receive (a full ring, a full backlog) are put down to a core
/// without time, if there was one.
pub(crate) fn dropped(trial: &Trial, loss: &LossAt) -> Option<LimitedBy> {
    let end = dut(trial).filter(|end| loss.endpoint.as_deref() == Some(end.name))?;
    let not_taken = |delta: &Delta| match delta.source {
        Source::Softnet => true,
        Source::Link => delta.name.starts_with("rx_"),
        _ => false,
    };
    let full = core_full(trial).filter(|_| loss.shown_by.iter().any(not_taken));
    let mut limited = full.unwrap_or_else(|| at(loss.place, &end, Vec::new()));
    for counter in &loss.shown_by {
        let shown = Evidence::Counter { counter: counter.clone() };
        if !limited.evidence.contains(&shown) {
            limited.evidence.push(shown);
        }
    }
    Some(limited)
}

/// A core of its own has no time left, on which no end works. Threads receive there, whose work counts as no soft interrupt.
pub(crate) fn own_core_full(run: &Run, trial: &Trial) -> Option<LimitedBy> {
    let own = run.bed.dut.as_ref().filter(|_| run.bed.core_shared_with_dut().is_none())?;
    let end = dut_on(&own.cpus, trial)?;
    let busy = end.busy()?;
    Some(at(Place::DeviceUnderTest, &end, vec![core(busy)]))
}

/// A core of it does hardly anything but receive packets for its kernel.
pub(crate) fn core_full(trial: &Trial) -> Option<LimitedBy> {
    let end = dut(trial)?;
    let busy = end.softirq_core()?;
    let squeezed = end.moved(Source::Softnet, |delta| {
        delta.of == format!("cpu {}", busy.cpu) && ["dropped", "time_squeeze"].contains(&delta.name.as_str())
    });
    let counters = squeezed.into_iter().map(|counter| Evidence::Counter { counter });
    Some(at(Place::SoftirqCore, &end, [core(busy)].into_iter().chain(counters).collect()))
}

/// Places where it may have dropped packets, the surest first.
pub(crate) fn losses(trial: &Trial) -> Vec<LossAt> {
    let Some(end) = dut(trial) else { return vec![] };
    let named = |source: Source, names: &[&str]| end.moved(source, |delta| names.contains(&delta.name.as_str()));
    let is_ip = |delta: &Delta| ["Ip", "Ip6"].contains(&delta.of.as_str());
    let mut refused = named(Source::Snmp, &IP_REFUSED);
    refused.retain(is_ip);
    refused.extend(named(Source::Netstat, &["InNoRoutes"]));
    vec![
        claim(Place::Qdisc, &end, end.moved(Source::Qdisc, |delta| delta.name == "drops")),
        claim(Place::SoftirqCore, &end, named(Source::Softnet, &["dropped"])),
        claim(Place::DeviceUnderTest, &end, named(Source::Link, &LINK_DROPPED)),
        claim(Place::DeviceUnderTest, &end, refused),
        claim(Place::DeviceUnderTest, &end, named(Source::Conntrack, &["drop", "insert_failed"])),
    ]
}

fn claim(place: Place, end: &End<'_>, shown_by: Vec<Delta>) -> LossAt {
    LossAt { place, endpoint: Some(end.name.to_owned()), packets: sum(&shown_by), shown_by }
}
