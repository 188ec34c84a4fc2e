//! What several senders brought to one end together, over all trials of a configuration.

use model::{PacketsResult, PacketsSpec, trial::AllSenders};

use crate::groups::{PacketGroup, Spread};

/// One end that several sent to.
pub(crate) struct TogetherGroup<'a> {
    pub(crate) spec: &'a PacketsSpec,
    /// Never empty.
    pub(crate) trials: Vec<AllSenders>,
}

/// Each end that several sent to; empty where one sent.
pub(crate) fn together_groups<'a>(group: &PacketGroup<'a>) -> Vec<TogetherGroup<'a>> {
    let trials: Vec<Vec<AllSenders>> = group.trials.iter().map(|(_, result)| PacketsResult::together(result)).collect();
    let ends = trials.first().map_or(0, Vec::len);
    let of_end = |end: usize| TogetherGroup {
        spec: group.spec,
        trials: trials.iter().filter_map(|together| together.get(end).cloned()).collect(),
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
}
