//! Flows of one configuration over all its trials.

use model::{Direction, Flow, FlowAssessment, GoodputResult, GoodputSpec, LineRate, alike::grouped};

use super::names;
use crate::{
    groups::{Group, Spread},
    texts::Texts,
};

pub(super) type GoodputGroup<'a> = Group<'a, GoodputSpec>;

/// One direction of a goodput configuration, over all its trials.
pub(super) struct FlowGroup<'a> {
    pub(super) spec: &'a GoodputSpec,
    pub(super) from: &'a str,
    pub(super) to: &'a str,
    /// Whether the way has to be named: others of the configuration go another one.
    pub(super) one_of_several: bool,
    pub(super) flows: Vec<(&'a GoodputResult, &'a Flow)>,
    /// One for each flow.
    pub(super) assessed: Vec<&'a FlowAssessment>,
    /// Seconds of the counted time of its trials in which something changed at either end.
    pub(super) events: Vec<f64>,
}

/// Each direction of each configuration by itself.
pub(super) fn flow_groups<'a>(groups: &[GoodputGroup<'a>]) -> Vec<FlowGroup<'a>> {
    groups.iter().flat_map(flows_of).collect()
}

fn flows_of<'a>(group: &GoodputGroup<'a>) -> Vec<FlowGroup<'a>> {
    let all = group.trials.iter().zip(&group.assessed).flat_map(|(&(_, result), trial)| {
        result.flows.iter().zip(&trial.flows).map(move |(flow, assessed)| (result, flow, assessed))
    });
    let ways = grouped(all, |(_, a, _), (_, b, _)| (&a.from, &a.to) == (&b.from, &b.to));
    let one_of_several = ways.len() > 1 || group.spec.direction != Direction::Forward;
    let way = |all: Vec<(&'a GoodputResult, &'a Flow, &'a FlowAssessment)>| FlowGroup {
        spec: group.spec,
        from: &all[0].1.from,
        to: &all[0].1.to,
        one_of_several,
        flows: all.iter().map(|(result, flow, _)| (*result, *flow)).collect(),
        assessed: all.iter().map(|(.., assessed)| *assessed).collect(),
        events: events(group, [&all[0].1.from, &all[0].1.to]),
    };
    ways.into_iter().map(way).collect()
}

fn events(group: &GoodputGroup<'_>, ends: [&str; 2]) -> Vec<f64> {
    let counters = group.trials.iter().flat_map(|(trial, _)| ends.map(|end| trial.end(end)));
    let events = counters.flatten().flat_map(|(counters, _)| &counters.events);
    events.map(|event| event.at_s).filter(|at_s| *at_s >= 0.0).collect()
}

impl FlowGroup<'_> {
    /// Its traffic, and the way where that has to be named.
    pub(super) fn name(&self, t: &Texts) -> String {
        names::flow(self.spec, self.one_of_several.then_some((self.from, self.to)), t)
    }

    /// A figure over those trials that have it: the sender's are unknown where a trial was cut off.
    pub(super) fn over(&self, figure: impl Fn(&Flow) -> Option<f64>) -> Option<Spread> {
        Spread::of(&self.flows.iter().filter_map(|(_, flow)| figure(flow)).collect::<Vec<_>>())
    }

    /// Whether nothing was lost, and in one of the trials at least the sender's cores did the receiving.
    pub(super) fn is_lossless_loop(&self) -> bool {
        self.loss() == Some(0.0) && self.assessed.iter().any(|assessed| assessed.synchronous)
    }

    /// Median of the link's capacity; `None` if unknown.
    pub(super) fn most(&self, figure: impl Fn(&LineRate) -> Option<f64>) -> Option<f64> {
        let rates = self.assessed.iter().filter_map(|assessed| figure(assessed.line_rate.as_ref()?));
        stats::median(&rates.collect::<Vec<_>>())
    }

    /// Goodput of whole trials, in bit/s.
    pub(super) fn mean(&self) -> Option<Spread> {
        self.over(|flow| Some(flow.received.mean_bps()))
    }

    /// Slowest and fastest second of all trials, in bit/s.
    pub(super) fn seconds(&self) -> Option<(f64, f64)> {
        let all = || self.flows.iter().flat_map(|(_, flow)| flow.received.intervals_bps.iter().copied());
        Some((all().reduce(f64::min)?, all().reduce(f64::max)?))
    }

    /// A count summed over those trials that have it; `None` if none has.
    pub(super) fn sum(&self, count: impl Fn(&Flow) -> Option<u64>) -> Option<u64> {
        self.flows.iter().filter_map(|(_, flow)| count(flow)).reduce(u64::saturating_add)
    }

    /// Datagrams that never came, as a share of those sent, from 0 to 1; `None` over TCP, or where nothing was sent.
    pub(super) fn loss(&self) -> Option<f64> {
        let sent = self.sum(|flow| flow.lost().and(flow.sent.datagrams.as_ref()).map(|datagrams| datagrams.sent))?;
        (sent > 0).then_some(self.sum(Flow::lost)? as f64 / sent as f64)
    }
}

/// Whether the sender's figures are there: they are not where a trial was cut off.
pub(super) fn knows_sender(flow: &Flow) -> bool {
    flow.sent.counted_s.is_some()
}
