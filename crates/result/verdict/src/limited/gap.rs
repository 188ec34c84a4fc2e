//! Loss between the interfaces of the ends. The device under test lost no more than what the sender's interface sent and the
//! receiver's did not receive: its counters also count the packets of others.

use model::{Delta, LossAt, Place, Run, Source, Total, Trial};

use super::{
    dut,
    end::{End, TrafficDirection, sum},
    loss::{OTHER_PROTOCOLS, link_down, ring},
};

/// How interfaces count the packets of a trial.
#[derive(Clone, Copy)]
pub(crate) enum Counted {
    /// Each interface counts each packet once.
    Each,
    /// Segmentation offload cuts large packets somewhere on the way, so that interfaces behind count more. A packet counts as so many
    /// of those that were lost.
    Large(u64),
}

impl Counted {
    fn per_packet(self) -> u64 {
        match self {
            Self::Each => 1,
            Self::Large(packets) => packets,
        }
    }
}

/// Possible losses between the interfaces of the ends, in the directions that lost packets took: at the places of the device under
/// test that counted drops, and at one that is not known.
pub(crate) fn claims(
    run: &Run,
    trial: &Trial,
    ways: &[TrafficDirection<'_>],
    lost: u64,
    counted: Counted,
) -> Vec<LossAt> {
    let gaps: Vec<_> = ways.iter().map(|way| Gap::of(trial, *way)).collect();
    let shown: Option<Vec<u64>> = gaps.iter().map(|gap| gap.shown(lost, counted)).collect();
    let mut rest = shown.map(|shown| shown.into_iter().total().saturating_mul(counted.per_packet()));
    let mut claims = Vec::new();
    for claim in dut::losses(trial) {
        let packets = claim.packets.saturating_mul(counted.per_packet());
        claims.push(bounded(LossAt { packets, ..claim }, &mut rest));
    }
    for (way, gap) in ways.iter().zip(gaps) {
        claims.push(match link_down(*way) {
            Some(down) => down,
            None => bounded(gap.claim(run), &mut rest),
        });
    }
    claims
}

/// The claim up to the rest, which is then smaller.
fn bounded(claim: LossAt, rest: &mut Option<u64>) -> LossAt {
    let packets = rest.map_or(claim.packets, |rest| claim.packets.min(rest));
    *rest = rest.map(|rest| rest - packets);
    LossAt { packets, ..claim }
}

/// Packets that interfaces of senders sent, and packets that the receiver's received or missed for want of descriptors.
struct Gap {
    sent: Vec<Delta>,
    received: Vec<Delta>,
    missed: u64,
    others_sent: u64,
}

impl Gap {
    fn of(trial: &Trial, way: TrafficDirection<'_>) -> Self {
        let of = |end: End<'_>, name: &str| end.moved(Source::Link, |delta| delta.name == name);
        // The end that all others send to receives the packets of all.
        let is_beside = |name: &&str| way.receiver.name == trial.endpoint_to && *name != way.sender.name;
        let others = trial.senders().filter(is_beside).filter_map(|name| trial.end(name));
        Self {
            sent: of(way.sender, "tx_packets"),
            received: of(way.receiver, "rx_packets"),
            missed: sum(&ring(way.receiver)),
            others_sent: others.map(|(counters, _)| counters.sum(Source::Link, "tx_packets")).total(),
        }
    }

    fn packets(&self) -> u64 {
        let sent = sum(&self.sent).saturating_add(self.others_sent);
        sent.saturating_sub(sum(&self.received)).saturating_sub(self.missed)
    }

    /// The gap, where both interfaces count the packets of the trial. One that sent fewer packets than were lost does not count those
    /// that bypass its kernel. A few packets of other protocols, which only the receiver's saw, hide as many of a gap.
    fn shown(&self, lost: u64, counted: Counted) -> Option<u64> {
        let sent = sum(&self.sent).saturating_add(self.others_sent);
        let is_cut = matches!(counted, Counted::Large(_)) && sum(&self.received) > sent;
        let gap = self.packets();
        let hidden = if gap > OTHER_PROTOCOLS { OTHER_PROTOCOLS } else { 0 };
        (sent > 0 && sent.saturating_mul(counted.per_packet()) >= lost && !is_cut).then(|| gap.saturating_add(hidden))
    }

    /// A loss at a place that no counter names.
    fn claim(self, run: &Run) -> LossAt {
        let place = if run.bed.dut.is_some() { Place::DeviceUnderTest } else { Place::Path };
        let packets = self.packets();
        LossAt { place, endpoint: None, packets, shown_by: self.sent.into_iter().chain(self.received).collect() }
    }
}
