//! What limited a figure: one place with what shows it, or that nothing shows it.
//!
//! Rules are asked in a fixed order, and the first that finds its evidence answers. Each is written so that its answer
//! changes when the fault that it names is taken away. What can look alike from the two ends is not guessed at.

mod dut;
mod end;
mod goodput;
mod latency;
mod loss;
mod packets;
mod pcie;
mod tcp;
mod too_large;
mod udp;

use end::{End, Way};
pub use loss::loss_at;
use model::{CoreUse, Evidence, Flow, LimitedBy, Measured, Place, Run, Trial};

/// A core with less than a twentieth of its time left is the limit: the kernel counts in ticks of 10 ms, and the counted
/// time begins and ends within one, so that even a core that never rests is seldom at 100.
const BUSY_PERCENT: f64 = 95.0;

/// A core that does hardly anything but soft interrupts: what is left of its time no program gets much done in.
const SOFTIRQ_PERCENT: f64 = 90.0;

/// A load that reached this share of what was asked for is what was asked for; a schedule begins and ends within the
/// counted time, and so misses a little.
const AS_ASKED: f64 = 0.99;

/// Loss that can be what set a rate: of less, so much arrives that the rate counts as the one that was sent.
const LOSS_OF_RATE: f64 = 1.0 - AS_ASKED;

/// What limited a trial's figure; `None` where that is no question: what keeps a path MTU down is a device.
///
/// Of a trial with data both ways it is what limited the slower one.
pub fn limited_by(run: &Run, trial: &Trial) -> Option<LimitedBy> {
    match &trial.measured {
        Measured::Latency { spec, result } => Some(latency::limited_by(run, trial, spec, result)),
        Measured::Goodput { spec, result } => goodput::limited_by(run, trial, spec, result),
        Measured::Packets { result, .. } => packets::limited_by(run, trial, result),
        Measured::Path { .. } => None,
    }
}

/// What limited one flow of a trial, by itself; `None` for a trial without flows.
pub fn limited_flow(run: &Run, trial: &Trial, flow: &Flow) -> Option<LimitedBy> {
    let Measured::Goodput { spec, result } = &trial.measured else { return None };
    Some(goodput::limited_flow(run, trial, spec, result, flow))
}

fn at(place: Place, end: &End<'_>, evidence: Vec<Evidence>) -> LimitedBy {
    LimitedBy { place, endpoint: Some(end.name.to_owned()), evidence }
}

fn between(place: Place, evidence: Vec<Evidence>) -> LimitedBy {
    LimitedBy { place, endpoint: None, evidence }
}

fn not_known(evidence: Vec<Evidence>) -> LimitedBy {
    between(Place::NotKnown, evidence)
}

fn core(core: &CoreUse) -> Evidence {
    Evidence::Core { cpu: core.cpu, busy: core.busy, softirq: core.softirq, steal: core.steal }
}

/// A busy core of an end as its limit: as the core that receives for the kernel, if it comes to nothing else.
fn busy_core(end: &End<'_>, otherwise: Place) -> Option<LimitedBy> {
    let busy = end.busy()?;
    let place = if busy.softirq >= SOFTIRQ_PERCENT { Place::SoftirqCore } else { otherwise };
    Some(at(place, end, vec![core(busy)]))
}

/// A receiver's buffer overflows because nobody empties it in time. A receiver whose core has no time left cannot; one whose
/// core rests now and then is too late only for bursts that a larger buffer would hold.
fn full_socket(receiver: &End<'_>, evidence: Vec<Evidence>) -> LimitedBy {
    match busy_core(receiver, Place::ReceiverCpu) {
        Some(mut limited) => {
            limited.evidence.extend(evidence);
            limited
        }
        None => {
            let idle = receiver.busiest().map(core);
            at(Place::ReceiverSocket, receiver, evidence.into_iter().chain(idle).collect())
        }
    }
}

#[cfg(test)]
pub(crate) mod tests;
