//! Round trips of one configuration over all its trials.

use model::{LatencyResult, LatencySpec, TimeSummary, alike::grouped};
use stats::TimeHistogram;

use super::names;
use crate::{
    figure,
    groups::{Group, Spread},
    probes::Spec,
    show,
    texts::Texts,
};

pub(super) type LatencyGroup<'a> = Group<'a, LatencySpec>;

impl LatencyGroup<'_> {
    /// Kind of traffic, frame size left out.
    pub(super) fn traffic(&self, t: &Texts) -> String {
        show::with_way(names::traffic(self.spec, t), self.way, t)
    }

    /// Its traffic and the frame size asked for.
    pub(super) fn name(&self, t: &Texts) -> String {
        show::with_way(self.spec.configuration(t), self.way, t)
    }

    /// A figure of RTT over all trials.
    pub(super) fn rtt(&self, figure: impl Fn(&TimeSummary) -> Option<u64>) -> Option<Spread> {
        self.over(|result| figure(&result.rtt_ns).map(|ns| ns as f64))
    }

    /// The RTTs of all trials; `None` when one cannot be read.
    pub(super) fn sample(&self) -> Option<TimeHistogram> {
        figure::merged(self.trials.iter().map(|(_, result)| result.histogram.as_str()))
    }

    /// Numbers of the ways that a TCP load went.
    pub(super) fn load_ways(&self) -> std::ops::Range<usize> {
        0..self.first().load.len()
    }

    /// The first trial's result, for properties that all of them share.
    pub(super) fn first(&self) -> &LatencyResult {
        // A group is made with its first trial.
        self.trials[0].1
    }

    /// Whether two configurations differ in their frame size alone, so that one line joins them.
    fn same_traffic(&self, other: &Self) -> bool {
        let key =
            |spec: &LatencySpec| (spec.protocol, spec.ip, spec.stack, spec.mode, spec.rate, spec.stamps, spec.tcp_load);
        key(self.spec) == key(other.spec) && self.way == other.way
    }
}

/// Groups that differ in frame size alone, together, each ordered by frame size.
pub(super) fn by_traffic<'g, 'a>(groups: &'g [LatencyGroup<'a>]) -> Vec<Vec<&'g LatencyGroup<'a>>> {
    let mut traffics = grouped(groups, |a, b| a.same_traffic(b));
    for traffic in &mut traffics {
        traffic.sort_by_key(|group| group.first().frame_size);
    }
    traffics
}
