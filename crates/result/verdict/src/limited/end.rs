//! The ends of a trial, as the rules see them.

use model::{CoreUse, DUT, Delta, Direction, EndCounters, Flow, Measured, Source, Trial};

use super::{BUSY_PERCENT, SOFTIRQ_PERCENT};

/// A shaping queue that held back one in a thousand packets set the pace. One that is never full holds back none; one that
/// is holds back each burst, which with segmentation offload is tens of packets.
const HELD_BACK: f64 = 0.001;

/// How far what a core has processed may be from what the interface received, as a factor either way: answers to its own
/// packets come to the same core, and aggregates count once.
const OWN_PACKETS: f64 = 2.0;

/// One end.
#[derive(Clone, Copy)]
pub(super) struct End<'a> {
    pub(super) name: &'a str,
    /// Cores that its threads ran on.
    cpus: &'a [usize],
    counters: &'a EndCounters,
}

/// One way that data or messages go.
#[derive(Clone, Copy)]
pub(super) struct Way<'a> {
    pub(super) sender: End<'a>,
    pub(super) receiver: End<'a>,
}

impl<'a> Way<'a> {
    /// From the near end to the far one.
    pub(super) fn forward(trial: &'a Trial) -> Self {
        Self { sender: End::of(trial, &trial.endpoint_from), receiver: End::of(trial, &trial.endpoint_to) }
    }

    /// The other way.
    pub(super) fn reverse(trial: &'a Trial) -> Self {
        let Self { sender, receiver } = Self::forward(trial);
        Self { sender: receiver, receiver: sender }
    }

    /// From one end to another.
    pub(super) fn between(trial: &'a Trial, from: &'a str, to: &'a str) -> Self {
        Self { sender: End::of(trial, from), receiver: End::of(trial, to) }
    }

    /// The way of a flow.
    pub(super) fn of(trial: &'a Trial, flow: &'a Flow) -> Self {
        Self::between(trial, &flow.from, &flow.to)
    }

    /// The first core of both ends, where it is the same one.
    pub(super) fn shared_core(&self) -> Option<&'a CoreUse> {
        let (ours, theirs) = (self.sender.cpus.first()?, self.receiver.cpus.first()?);
        (ours == theirs).then(|| self.sender.counters.core(*ours)).flatten()
    }
}

/// The first of an end's cores, as many as it has threads that measure: what the others did was somebody else's. An end that
/// all others send to has a side for each of them.
fn used<'a>(trial: &Trial, endpoint: &str, cpus: &'a [usize]) -> &'a [usize] {
    let sides = if endpoint == trial.endpoint_to { trial.senders().count() } else { 1 };
    let threads = match &trial.measured {
        Measured::Goodput { spec, .. } if spec.direction == Direction::Both => 2 * usize::from(spec.streams),
        Measured::Goodput { spec, .. } => usize::from(spec.streams),
        // An engine sends on all the cores that it is given.
        Measured::Packets { .. } => cpus.len(),
        Measured::Latency { .. } | Measured::Path { .. } => 1,
    };
    &cpus[..(sides * threads).min(cpus.len())]
}

impl<'a> End<'a> {
    /// The end of this name; of one that was not in the trial nothing is known.
    fn of(trial: &'a Trial, name: &'a str) -> Self {
        const UNKNOWN: &EndCounters = &EndCounters { seconds: 0.0, cpu: Vec::new(), own_cpu: 0.0, deltas: Vec::new() };
        let (counters, cpus) = trial.end(name).unwrap_or((UNKNOWN, &[]));
        Self { name, cpus: used(trial, name, cpus), counters }
    }

    /// The busiest of its own cores. Of an end that is not pinned nobody can say which these are.
    pub(super) fn busiest(&self) -> Option<&'a CoreUse> {
        let own = self.cpus.iter().filter_map(|cpu| self.counters.core(*cpu));
        own.max_by(|a, b| a.busy.total_cmp(&b.busy))
    }

    /// The busiest of its own cores, if its work leaves it hardly any time. What the hypervisor took from it was no work.
    pub(super) fn busy(&self) -> Option<&'a CoreUse> {
        self.busiest().filter(|core| core.busy - core.steal >= BUSY_PERCENT)
    }

    /// A core of its machine that does hardly anything but soft interrupts, for the packets of this interface: another
    /// card's flood is none of its limits.
    pub(super) fn softirq_core(&self) -> Option<&'a CoreUse> {
        let flooded = self.counters.cpu.iter().filter(|core| core.softirq >= SOFTIRQ_PERCENT);
        flooded.filter(|core| self.receives_on(core)).max_by(|a, b| a.softirq.total_cmp(&b.softirq))
    }

    fn receives_on(&self, core: &CoreUse) -> bool {
        let of_core = format!("cpu {}", core.cpu);
        let processed =
            sum(&self.moved(Source::Softnet, |delta| delta.of == of_core && delta.name == "processed")) as f64;
        let received = self.counters.sum(Source::Link, "rx_packets") as f64;
        processed >= received / OWN_PACKETS && processed <= received * OWN_PACKETS && received > 0.0
    }

    /// What its shaping queue held back, if that is enough to have set the pace.
    pub(super) fn held_back(&self) -> Option<Delta> {
        let overlimits = self.root_qdisc("overlimits")?;
        let packets = sum(&self.moved(Source::Qdisc, |delta| delta.of == overlimits.of && delta.name == "packets"));
        (packets > 0 && overlimits.delta as f64 >= HELD_BACK * packets as f64).then_some(overlimits)
    }

    /// Counters of this source that moved and are wanted.
    pub(super) fn moved(&self, source: Source, wanted: impl Fn(&Delta) -> bool) -> Vec<Delta> {
        let deltas = self.counters.deltas.iter().filter(|delta| delta.source == source);
        deltas.filter(|delta| wanted(delta)).cloned().collect()
    }

    /// Of a counter of this name that of which belongs to the queueing discipline that counts all below it: the root has
    /// them in its own. Those of the receiving side (`ingress`, `clsact`) are others.
    pub(super) fn root_qdisc(&self, name: &str) -> Option<Delta> {
        let sending = self.moved(Source::Qdisc, |delta| delta.name == name && !is_ingress(delta));
        sending.into_iter().max_by_key(|delta| delta.delta)
    }

    /// What an ingress hook dropped.
    pub(super) fn ingress_drops(&self) -> Vec<Delta> {
        self.moved(Source::Qdisc, |delta| delta.name == "drops" && is_ingress(delta))
    }
}

/// The device under test, where it was read.
pub(super) fn dut(trial: &Trial) -> Option<End<'_>> {
    trial.dut.as_ref().map(|counters| End { name: DUT, cpus: &[], counters })
}

fn is_ingress(delta: &Delta) -> bool {
    delta.of.starts_with("ingress ") || delta.of.starts_with("clsact ")
}

/// By how much counters grew together.
pub(super) fn sum(deltas: &[Delta]) -> u64 {
    deltas.iter().map(|delta| delta.delta).sum()
}
