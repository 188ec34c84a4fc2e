//! The ends of a trial, as the rules see them.

use model::{CoreUse, DUT, Delta, EndCounters, Source, Total, Trial};

use super::{BUSY_PERCENT, SOFTIRQ_PERCENT};

/// A shaping queue that held back one in a thousand packets set the pace. One that is never full holds back none; one that
/// is holds back each burst, which with segmentation offload is tens of packets.
const HELD_BACK: f64 = 0.001;

/// Largest distance of what a core has processed from what the interface received, as a factor either way: answers to its own
/// packets come to the same core, and aggregates count once.
const OWN_PACKETS: f64 = 2.0;

/// One end.
#[derive(Clone, Copy)]
pub(crate) struct End<'a> {
    pub(crate) name: &'a str,
    /// Cores that its threads ran on.
    cpus: &'a [usize],
    counters: &'a EndCounters,
}

/// One way that data or messages go.
#[derive(Clone, Copy)]
pub(crate) struct TrafficDirection<'a> {
    pub(crate) sender: End<'a>,
    pub(crate) receiver: End<'a>,
}

/// The ends of a trial.
#[derive(Clone, Copy)]
pub(crate) struct Ends<'a> {
    pub(crate) trial: &'a Trial,
    /// Threads of each side that measure; `None` where they use all cores of their end.
    pub(crate) threads: Option<usize>,
}

impl<'a> Ends<'a> {
    /// From the near end to the far one.
    pub(crate) fn forward(&self) -> TrafficDirection<'a> {
        self.between(&self.trial.endpoint_from, &self.trial.endpoint_to)
    }

    /// From the far end to the near one.
    pub(crate) fn reverse(&self) -> TrafficDirection<'a> {
        self.between(&self.trial.endpoint_to, &self.trial.endpoint_from)
    }

    /// From one end to another.
    pub(crate) fn between(&self, from: &'a str, to: &'a str) -> TrafficDirection<'a> {
        TrafficDirection { sender: self.end(from), receiver: self.end(to) }
    }

    /// The end of this name; nothing is known of one that was not in the trial.
    fn end(&self, name: &'a str) -> End<'a> {
        const UNKNOWN: &EndCounters = &EndCounters {
            seconds: 0.0,
            cpu: Vec::new(),
            own_cpu: 0.0,
            deltas: Vec::new(),
            unread: Vec::new(),
            events: Vec::new(),
        };
        let (counters, cpus) = self.trial.end(name).unwrap_or((UNKNOWN, &[]));
        End { name, cpus: &cpus[..self.used(name).min(cpus.len())], counters }
    }

    /// Number of an end's cores that measure, from the first. The end that all others send to has a side for each of them.
    fn used(&self, endpoint: &str) -> usize {
        let sides = if endpoint == self.trial.endpoint_to { self.trial.senders().count() } else { 1 };
        self.threads.map_or(usize::MAX, |threads| sides * threads)
    }
}

impl<'a> TrafficDirection<'a> {
    /// The first core of both ends, where it is the same one.
    pub(crate) fn shared_core(&self) -> Option<&'a CoreUse> {
        let (ours, theirs) = (self.sender.cpus.first()?, self.receiver.cpus.first()?);
        (ours == theirs).then(|| self.sender.counters.core(*ours)).flatten()
    }
}

impl<'a> End<'a> {
    /// The busiest of its own cores. Of an end that is not pinned nobody can say which these are.
    pub(crate) fn busiest(&self) -> Option<&'a CoreUse> {
        let own = self.cpus.iter().filter_map(|cpu| self.counters.core(*cpu));
        own.max_by(|a, b| a.busy.total_cmp(&b.busy))
    }

    /// The busiest of its own cores, or of its machine's where it is not pinned.
    pub(crate) fn busiest_of_all(&self) -> Option<&'a CoreUse> {
        self.busiest().or_else(|| self.counters.cpu.iter().max_by(|a, b| a.busy.total_cmp(&b.busy)))
    }

    /// The busiest of its own cores, if it is near its limit. Steal is no work.
    pub(crate) fn busy(&self) -> Option<&'a CoreUse> {
        self.busiest().filter(|core| core.busy - core.steal >= BUSY_PERCENT)
    }

    /// A core of its machine that does hardly anything but soft interrupts, for the packets of this interface: another
    /// card's flood is none of its limits.
    pub(crate) fn softirq_core(&self) -> Option<&'a CoreUse> {
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

    /// Packets held back by its shaping queue, if enough to have set the pace.
    pub(crate) fn held_back(&self) -> Option<Delta> {
        self.held_back_share(HELD_BACK)
    }

    /// Overlimits of its shaping queue, if it held back this share of its packets.
    pub(crate) fn held_back_share(&self, least: f64) -> Option<Delta> {
        let overlimits = self.root_qdisc("overlimits")?;
        let packets = sum(&self.moved(Source::Qdisc, |delta| delta.of == overlimits.of && delta.name == "packets"));
        (packets > 0 && overlimits.delta as f64 >= least * packets as f64).then_some(overlimits)
    }

    /// Counters of this source that moved and are wanted.
    pub(crate) fn moved(&self, source: Source, wanted: impl Fn(&Delta) -> bool) -> Vec<Delta> {
        let deltas = self.counters.deltas.iter().filter(|delta| delta.source == source);
        deltas.filter(|delta| wanted(delta)).cloned().collect()
    }

    /// The root queueing discipline's counter of this name, which includes those below it. The receiving side's (`ingress`,
    /// `clsact`) are not among them.
    pub(crate) fn root_qdisc(&self, name: &str) -> Option<Delta> {
        let sending = self.moved(Source::Qdisc, |delta| delta.name == name && !is_ingress(delta));
        sending.into_iter().max_by_key(|delta| delta.delta)
    }

    /// Times that its interface lost its carrier.
    pub(crate) fn link_losses(&self) -> Vec<Delta> {
        self.moved(Source::Link, |delta| delta.name == "carrier_down_count")
    }

    /// Packets dropped by an ingress hook.
    pub(crate) fn ingress_drops(&self) -> Vec<Delta> {
        self.moved(Source::Qdisc, |delta| delta.name == "drops" && is_ingress(delta))
    }
}

/// The device under test, where it was read.
pub(crate) fn dut(trial: &Trial) -> Option<End<'_>> {
    dut_on(&[], trial)
}

/// The same with cores of its own.
pub(crate) fn dut_on<'a>(cpus: &'a [usize], trial: &'a Trial) -> Option<End<'a>> {
    trial.dut.as_ref().map(|counters| End { name: DUT, cpus, counters })
}

fn is_ingress(delta: &Delta) -> bool {
    delta.of.starts_with("ingress ") || delta.of.starts_with("clsact ")
}

/// By how much counters grew together.
pub(crate) fn sum(deltas: &[Delta]) -> u64 {
    deltas.iter().map(|delta| delta.delta).total()
}
