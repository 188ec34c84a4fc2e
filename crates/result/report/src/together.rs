//! What several senders brought to one end together, over all trials of a configuration.

use model::{PacketsResult, PacketsSpec, Run, trial::AllSenders};
use verdict::is_stream_synchronous;

use crate::groups::{PacketGroup, Spread};

/// One end that several sent to.
pub(crate) struct TogetherGroup<'a> {
    pub(crate) spec: &'a PacketsSpec,
    /// Never empty.
    pub(crate) trials: Vec<AllSenders>,
    /// Whether a sender's own cores did the receiving.
    is_loop: bool,
}

/// Each end that several sent to; empty where one sent.
pub(crate) fn together_groups<'a>(run: &Run, group: &PacketGroup<'a>) -> Vec<TogetherGroup<'a>> {
    let trials: Vec<Vec<AllSenders>> = group.trials.iter().map(|(_, result)| PacketsResult::together(result)).collect();
    let ends = trials.first().map_or(0, Vec::len);
    let is_loop = |to: &str| {
        let streams = group.trials.iter().flat_map(|(trial, result)| result.streams.iter().map(move |it| (trial, it)));
        streams.filter(|(_, stream)| stream.to == to).any(|(trial, stream)| is_stream_synchronous(run, trial, stream))
    };
    let of_end = |end: usize| TogetherGroup {
        spec: group.spec,
        trials: trials.iter().filter_map(|together| together.get(end).cloned()).collect(),
        is_loop: is_loop(&trials[0][end].to),
    };
    (0..ends).map(of_end).collect()
}

impl TogetherGroup<'_> {
    /// From which ends to which.
    pub(crate) fn way(&self) -> (String, &str) {
        (self.trials[0].from.join(", "), &self.trials[0].to)
    }

    /// A figure over all trials.
    pub(crate) fn over(&self, figure: impl Fn(&AllSenders) -> f64) -> Option<Spread> {
        Spread::of(&self.trials.iter().map(figure).collect::<Vec<_>>())
    }

    /// Frames of all trials that never came.
    pub(crate) fn lost(&self) -> u64 {
        self.trials.iter().map(|together| together.lost).sum()
    }

    /// The same as a share of those sent, from 0 to 1; `None` where nothing was sent.
    pub(crate) fn loss(&self) -> Option<f64> {
        let sent: u64 = self.trials.iter().map(|together| together.sent).sum();
        (sent > 0).then(|| self.lost() as f64 / sent as f64)
    }

    /// Whether nothing was lost, and a sender's own cores did the receiving, so that it says nothing.
    pub(crate) fn is_lossless_loop(&self) -> bool {
        self.is_loop && self.lost() == 0
    }
}

#[cfg(test)]
mod tests {
    use model::{Measured, Mtu, PacketStream, Plan, ProbeSpec, fixture, trial::ReceivedOn};

    use super::*;
    use crate::groups::packet_groups;

    /// 10 frames from core 0 of this end, received on this core.
    fn stream(from: &str, received_on: usize) -> PacketStream {
        let mut stream = fixture::packet_stream(10, 10);
        stream.from = from.to_owned();
        stream.received.cpus = vec![ReceivedOn { cpu: received_on, frames: 10 }];
        stream
    }

    #[test]
    fn no_loss_of_all_together_is_no_claim_where_a_sender_did_the_receiving() {
        let is_loop = |received_on| {
            let plan = Plan::parse("name = \"t\"\n[[packets]]\nduration = \"1 s\"\nframe_sizes = [64]", &[]).unwrap();
            let ProbeSpec::Packets(spec) = plan.specs().remove(0) else { panic!("planned") };
            let streams = vec![stream("a1", received_on), stream("a2", 1)];
            let trial = fixture::trial(Measured::Packets { spec, result: PacketsResult { mtu: Mtu(1500), streams } });
            let run = Run { trials: vec![trial], ..fixture::run(plan) };
            let groups = packet_groups(&run);
            let together = together_groups(&run, &groups[0]);
            assert_eq!((together.len(), together[0].loss()), (1, Some(0.0)));
            together[0].is_lossless_loop()
        };
        assert!(is_loop(0) && !is_loop(1));
    }
}
