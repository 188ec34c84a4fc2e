//! Evidence for any probe: counters and cores of the ends, and of the device under test.
//!
//! Rules are asked in a fixed order, and the first that finds its evidence answers. Each rule's answer changes when the fault that it
//! names is taken away. Faults that look alike from both ends are not guessed at.

pub(crate) mod dut;
pub(crate) mod end;
pub(crate) mod gap;
pub(crate) mod loss;

use model::{CoreUse, Doubt, Evidence, LimitedBy, Place, Trial};

use self::end::{End, Ends, TrafficDirection};

/// A core with less than a twentieth of its time left is the limit: the kernel counts in ticks of 10 ms, and the counted
/// time begins and ends within one, so that even a core that never rests is seldom at 100.
const BUSY_PERCENT: f64 = 95.0;

/// Share of soft interrupts above which a core has hardly any time left for programs.
const SOFTIRQ_PERCENT: f64 = 90.0;

/// Share of the intended load that counts as reached; a schedule begins and ends within the counted time, and so misses a
/// little.
pub(crate) const AS_ASKED: f64 = 0.99;

/// Least loss that can have set a rate; with less, the received rate counts as the sent one.
pub(crate) const LOSS_OF_RATE: f64 = 0.01;

pub(crate) fn at(place: Place, end: &End<'_>, evidence: Vec<Evidence>) -> LimitedBy {
    LimitedBy { place, endpoint: Some(end.name.to_owned()), evidence }
}

pub(crate) fn between(place: Place, evidence: Vec<Evidence>) -> LimitedBy {
    LimitedBy { place, endpoint: None, evidence }
}

pub(crate) fn not_known(evidence: Vec<Evidence>) -> LimitedBy {
    between(Place::NotKnown, evidence)
}

/// The same with links that were down meanwhile, and the busiest cores of both ends where there is no other evidence, or that none
/// could be read.
pub(crate) fn unexplained(way: &TrafficDirection<'_>, mut evidence: Vec<Evidence>) -> LimitedBy {
    evidence.extend(loss::link_down(*way).into_iter().flat_map(loss::evidence));
    if evidence.is_empty() {
        evidence.extend([way.sender, way.receiver].into_iter().filter_map(|end| end.busiest_of_all()).map(core));
        evidence.dedup();
    }
    if evidence.is_empty() {
        evidence.push(Evidence::NothingRead);
    }
    not_known(evidence)
}

/// The figure of a trial with an intended load.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Measures {
    /// A rate. Without loss, no other program made it smaller.
    Rate,
    /// Times. Other programs on the cores make them longer, although the load was made.
    Times,
}

/// An intended load, what was achieved of it, and the share that was lost.
#[derive(Clone, Copy)]
pub(crate) struct Load {
    pub(crate) intended: f64,
    pub(crate) achieved: f64,
    pub(crate) lost: f64,
}

impl Load {
    /// The intended load as the limit, where it was made. A load that was made beside other programs, which may be why packets were lost or
    /// times are long, has a limit that is not known.
    pub(crate) fn limit(self, trial: &Trial, measures: Measures) -> Option<LimitedBy> {
        let is_made = self.achieved >= AS_ASKED * self.intended && self.lost < LOSS_OF_RATE;
        let is_beside_others = trial.doubts.iter().any(|doubt| matches!(doubt, Doubt::OtherLoad { .. }));
        let is_its_own = !is_beside_others || (measures == Measures::Rate && self.lost <= 0.0);
        is_made.then(|| if is_its_own { between(Place::IntendedLoad, self.evidence()) } else { self.not_known() })
    }

    /// That the load was made, and that something else set the figure.
    pub(crate) fn not_known(self) -> LimitedBy {
        not_known(self.evidence())
    }

    fn evidence(self) -> Vec<Evidence> {
        vec![Evidence::AsAsked { intended: self.intended, achieved: self.achieved }]
    }
}

/// Whether all that the interfaces take passes: a limit of what was asked for, and of no other figure.
pub(crate) fn is_whole_path(by: &LimitedBy) -> bool {
    matches!(by.evidence.as_slice(), [Evidence::PathMtu { mtu, path_mtu }] if path_mtu >= mtu)
}

pub(crate) fn core(core: &CoreUse) -> Evidence {
    Evidence::Core { cpu: core.cpu, busy: core.busy, softirq: core.softirq, steal: core.steal }
}

/// The queueing discipline of a sender held packets back.
pub(crate) fn held_back(sender: &End<'_>) -> Option<LimitedBy> {
    let counter = sender.held_back()?;
    Some(at(Place::Qdisc, sender, vec![Evidence::Counter { counter }]))
}

/// The same either way, or at the device under test.
pub(crate) fn queued(ends: Ends<'_>) -> Option<LimitedBy> {
    let [there, back] = [ends.forward(), ends.reverse()];
    held_back(&there.sender).or_else(|| held_back(&back.sender)).or_else(|| dut::shaped(ends.trial))
}

/// A busy core of an end as its limit: as the core that receives for the kernel, if it comes to nothing else.
pub(crate) fn busy_core(end: &End<'_>, otherwise: Place) -> Option<LimitedBy> {
    let busy = end.busy()?;
    let place = if busy.softirq >= SOFTIRQ_PERCENT { Place::SoftirqCore } else { otherwise };
    Some(at(place, end, vec![core(busy)]))
}

/// A receiver's buffer overflows because nobody empties it in time. A receiver whose core has no time left cannot; one whose
/// core rests now and then is too late only for bursts that a larger buffer would hold.
pub(crate) fn full_socket(receiver: &End<'_>, evidence: Vec<Evidence>) -> LimitedBy {
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
