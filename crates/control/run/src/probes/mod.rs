//! Special parts of each probe while it is conducted, a module each: whether a bed can have it, how the figures of both sides
//! make those of a trial, and what makes them less trustworthy. Pure.

mod doubts;
mod forwarding;
mod goodput;
mod latency;
mod packets;
mod path;
mod seconds;
mod transactions;
mod transfer;

use model::{Bed, Doubt, EndCounters, Endpoint, GoodputSecond, Measured, Mtu, ProbeSpec, SideFigures, SoFar, Trial};

pub(crate) use self::{
    packets::{counted_frames, few_frames},
    seconds::Seconds,
};
use crate::misfit::Misfit;

/// The rules of a probe.
pub(crate) trait Rules {
    /// Whether a bed of this MTU can have it.
    fn fit(&self, probe: String, mtu: Mtu) -> Result<(), Misfit>;

    /// Whether it is left out where the bed has no address for it, and others of the plan are measured.
    fn may_be_left_out(&self) -> bool {
        false
    }

    /// Figures of a trial from both sides of each pair (near, far); `None` if a side has figures of another probe.
    fn assemble(&self, ends: &Ends<'_>, sides: Vec<Sides>) -> Option<Assembled>;

    /// Figures of a trial under way; `None` where nothing is known yet.
    fn so_far(&self, _ends: &Ends<'_>, _reports: &[PairReports]) -> Option<Assembled> {
        None
    }

    /// Doubts about a finished trial that the bed or the trials before it raise.
    fn doubts_in_run(&self, _trial: &Trial, _bed: &Bed, _before: &[Trial]) -> Vec<Doubt> {
        Vec::new()
    }

    /// The whole second behind so many others; `None` until all sides have reported it.
    fn second(&self, _reports: &[PairReports], _before: usize) -> Option<GoodputSecond> {
        None
    }
}

/// The one place of this crate that tells probes apart.
pub(crate) fn of(spec: &ProbeSpec) -> &dyn Rules {
    match spec {
        ProbeSpec::Latency(spec) => spec,
        ProbeSpec::Goodput(spec) => spec,
        ProbeSpec::Path(spec) => spec,
        ProbeSpec::Packets(spec) => spec,
        ProbeSpec::Transactions(spec) => spec,
        ProbeSpec::Forwarding(spec) => spec,
        ProbeSpec::Transfer(spec) => spec,
    }
}

/// Figures of both sides of a pair: near, far.
pub(crate) type Sides = (SideFigures, SideFigures);

/// Figures of a trial.
pub(crate) struct Assembled {
    pub(crate) measured: Measured,
    /// Duration of the counted part.
    pub(crate) seconds: f64,
    pub(crate) doubts: Vec<Doubt>,
}

/// Ends of a trial.
pub(crate) struct Ends<'a> {
    pub(crate) senders: &'a [Endpoint],
    pub(crate) receiver: &'a Endpoint,
    /// Counters of each sender and of the receiver.
    pub(crate) counters: Vec<EndCounters>,
}

impl Ends<'_> {
    /// Names of the ends with their counters, the receiver last.
    fn counted(&self) -> impl Iterator<Item = (&str, &EndCounters)> {
        let ends = self.senders.iter().chain([self.receiver]);
        ends.map(|end| end.name.as_str()).zip(&self.counters)
    }

    fn counters_of(&self, name: &str) -> Option<&EndCounters> {
        self.counted().find(|(end, _)| *end == name).map(|(_, counters)| counters)
    }

    /// MTU of the near interface.
    fn mtu(&self) -> Option<Mtu> {
        self.senders.first().map(|end| end.mtu)
    }
}

/// Reports of both sides of a pair on the way (near, far).
#[derive(Default)]
pub(crate) struct PairReports {
    /// Whole seconds as they passed.
    pub(crate) seconds: [Seconds; 2],
    /// Latest interim figures of each side.
    pub(crate) latest: [Option<SoFar>; 2],
}

impl PairReports {
    /// Whole seconds that have passed.
    pub(crate) fn passed(&self) -> usize {
        let [near, far] = &self.seconds;
        near.bps.len().max(far.bps.len())
    }
}
