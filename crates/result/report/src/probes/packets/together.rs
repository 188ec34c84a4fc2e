//! Packets of several senders to one end together, over all trials of a configuration.

use model::{PacketsResult, PacketsSpec, Total, trial::AllSenders};

use super::group::PacketGroup;
use crate::groups::Spread;

/// One end that several sent to.
pub(super) struct TogetherGroup<'a> {
    pub(super) spec: &'a PacketsSpec,
    /// Never empty.
    pub(super) trials: Vec<AllSenders>,
    /// Whether a sender's own cores did the receiving.
    is_loop: bool,
}

/// Each end that several sent to; empty where one sent.
pub(super) fn together_groups<'a>(group: &PacketGroup<'a>) -> Vec<TogetherGroup<'a>> {
    let trials: Vec<Vec<AllSenders>> = group.trials.iter().map(|(_, result)| PacketsResult::together(result)).collect();
    let ends = trials.first().map_or(0, Vec::len);
    let flows = || group.assessed.iter().flat_map(|trial| &trial.flows);
    let is_loop = |to: &str| flows().any(|flow| flow.to == to && flow.synchronous);
    let of_end = |end: usize| TogetherGroup {
        spec: group.spec,
        trials: trials.iter().filter_map(|together| together.get(end).cloned()).collect(),
        is_loop: is_loop(&trials[0][end].to),
    };
    (0..ends).map(of_end).collect()
}

impl TogetherGroup<'_> {
    /// From which ends to which.
    pub(super) fn way(&self) -> (String, &str) {
        (self.trials[0].from.join(", "), &self.trials[0].to)
    }

    /// A figure over all trials.
    pub(super) fn over(&self, figure: impl Fn(&AllSenders) -> f64) -> Option<Spread> {
        Spread::of(&self.trials.iter().map(figure).collect::<Vec<_>>())
    }

    /// Frames of all trials that never came.
    pub(super) fn lost(&self) -> u64 {
        self.trials.iter().map(|together| together.lost).total()
    }

    /// The same as a share of those sent, from 0 to 1; `None` where nothing was sent.
    pub(super) fn loss(&self) -> Option<f64> {
        let sent: u64 = self.trials.iter().map(|together| together.sent).total();
        (sent > 0).then(|| self.lost() as f64 / sent as f64)
    }

    /// Whether nothing was lost, and a sender's own cores did the receiving, so that it says nothing.
    pub(super) fn is_lossless_loop(&self) -> bool {
        self.is_loop && self.lost() == 0
    }
}

#[cfg(test)]
mod tests {
    use model::{Assessment, FlowAssessment, Measured, Mtu, PacketStream, Plan, Run, TrialAssessment, fixture};

    use super::*;
    use crate::{groups::groups, material::Material};

    fn stream(from: &str) -> PacketStream {
        PacketStream { from: from.to_owned(), ..fixture::packet_stream(10, 10) }
    }

    fn assessed(from: &str, synchronous: bool) -> FlowAssessment {
        FlowAssessment { from: from.to_owned(), to: stream(from).to, synchronous, ..FlowAssessment::default() }
    }

    #[test]
    fn no_loss_of_all_together_is_no_claim_where_a_sender_did_the_receiving() {
        let is_loop = |synchronous| {
            let plan = Plan::parse("name = \"t\"\n[[packets]]\nduration = \"1 s\"\nframe_sizes = [64]", &[]).unwrap();
            let spec = plan.specs()[0].of::<PacketsSpec>().unwrap().clone();
            let streams = vec![stream("a1"), stream("a2")];
            let trial = fixture::trial(Measured::Packets { spec, result: PacketsResult { mtu: Mtu(1500), streams } });
            let run = Run { trials: vec![trial], ..fixture::run(plan) };
            let flows = vec![assessed("a1", synchronous), assessed("a2", false)];
            let trials = vec![TrialAssessment { flows, ..TrialAssessment::default() }];
            let assessment = Assessment { trials, ..Assessment::default() };
            let groups = groups::<PacketsSpec>(&Material::of(&run, &assessment));
            let together = together_groups(&groups[0]);
            assert_eq!((together.len(), together[0].loss()), (1, Some(0.0)));
            together[0].is_lossless_loop()
        };
        assert!(is_loop(true) && !is_loop(false));
    }
}
